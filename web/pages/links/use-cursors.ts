import { useEffect } from "react";
import type { AddressChange, ListAddress } from "./list-address.ts";

/**
 * The way back through pages. A cursor only leads forward, so those of the pages before are kept for this tab. Whoever opens
 * a later page from a link goes back to the first one.
 */
const storedName = (list: string): string => `quicklink-link-pages:${list}`;

function readCursors(list: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storedName(list)) ?? "[]");
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    return [];
  }
}

export function useCursors(
  list: string,
  { cursor, page }: ListAddress,
  next: string | null,
  go: (place: AddressChange) => void,
) {
  useEffect(() => {
    if (cursor === undefined) return;
    try {
      // The place of a cursor is its page; the first page has none.
      const known = [...readCursors(list)];
      known[page] = cursor;
      sessionStorage.setItem(storedName(list), JSON.stringify(Array.from(known, (one) => one ?? "")));
    } catch {
      // Then Previous leads to the first page.
    }
  }, [list, cursor, page]);
  return {
    hasPrevious: cursor !== undefined,
    hasNext: next !== null,
    previous: () => {
      const before = page > 2 ? readCursors(list)[page - 1] : undefined;
      go(before ? { cursor: before, page: String(page - 1) } : {});
    },
    next: () => {
      if (next !== null) go({ cursor: next, page: String(page + 1) });
      window.scrollTo({ top: 0 });
    },
  };
}
