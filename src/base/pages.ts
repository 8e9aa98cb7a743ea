const pageItems = 100;

/** Iterates over a whole list page by page, so that at most one page is in memory. */
export async function* pagesOf<Item>(
  /** At most `limit` items after `last`, in the list's order. */
  next: (limit: number, last: Item | undefined) => Promise<readonly Item[]>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Item[]> {
  let left = most;
  let last: Item | undefined;
  while (left > 0) {
    const limit = Math.min(pageItems, left);
    const page = await next(limit, last);
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    left -= page.length;
    last = page.at(-1);
  }
}
