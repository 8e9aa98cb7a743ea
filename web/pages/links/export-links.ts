import { ApiError, call } from "../../api/call.ts";
import type { Link } from "../../api/generated.ts";
import { type ListAddress, listParams } from "./list-address.ts";

/** Links as a CSV file, made in the browser: of a selection, or page by page of all that match. */
const columns = [
  ...(["shortUrl", "url", "fileName", "title", "tags", "status", "expiresAt", "hitsPerMonth"] as const),
  ...(["clicks", "lastClickAt", "createdAt", "notes", "id"] as const),
] as const satisfies readonly (keyof Link)[];

/** More would take longer than people wait, and more calls than a minute has. */
export const exportedMost = 20_000;
const pageMost = 100;

export async function linksMatching(
  address: ListAddress,
  progress: (count: number) => void,
): Promise<{ links: Link[]; isWhole: boolean }> {
  const links: Link[] = [];
  let cursor: string | undefined;
  do {
    const { cursor: _, ...query } = listParams(address, pageMost);
    const page = await patiently(() =>
      call("GET /api/links", { query: { ...query, ...(cursor !== undefined && { cursor }) } }),
    );
    links.push(...page.items);
    cursor = page.nextCursor ?? undefined;
    progress(links.length);
  } while (cursor !== undefined && links.length < exportedMost);
  return { links, isWhole: cursor === undefined };
}

/** Waits as long as the server says when there were too many calls. */
async function patiently<Result>(read: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1_000 * (error.retryAfterSeconds ?? 5)));
    }
  }
}

export function downloadCsv(links: readonly Link[]): void {
  const lines = [columns.join(","), ...links.map((link) => columns.map((name) => cell(link[name])).join(","))];
  const address = URL.createObjectURL(new Blob([`\uFEFF${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = "links.csv";
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A text that a spreadsheet would take for a formula gets an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = Array.isArray(value) ? value.join("|") : String(value);
  const safe = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
