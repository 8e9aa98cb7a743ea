import type { QueryClient, QueryKey } from "@tanstack/react-query";
import type { Link } from "../../api/generated.ts";

/**
 * A changed link in every list that is on screen, before the lists are read again. The answer puts all of them back as they
 * were, for a change that is refused.
 */
export function putLink(queries: QueryClient, id: string, change: (link: Link) => Link | undefined): () => void {
  const before: [QueryKey, unknown][] = [];
  for (const [key, data] of queries.getQueriesData({ predicate: ({ queryKey: [path] }) => path === "/api/links" })) {
    const next = replaced(data, id, change);
    if (next === data) continue;
    before.push([key, data]);
    queries.setQueryData(key, next);
  }
  return () => {
    for (const [key, data] of before) queries.setQueryData(key, data);
  };
}

/** A link that some list has shown already: its drawer opens at once, and is read again meanwhile. */
export function knownLink(queries: QueryClient, workspace: string, id: string): Link | undefined {
  for (const [[, where], data] of queries.getQueriesData({ queryKey: ["/api/links"] })) {
    const found = where === workspace ? itemsOf(data).find((item) => item.id === id) : undefined;
    // Some lists ask for a few fields only.
    if (found !== undefined && "rules" in found && "version" in found) return found;
  }
  return undefined;
}

function itemsOf(data: unknown): readonly Link[] {
  if (typeof data !== "object" || data === null) return [];
  if ("pages" in data && Array.isArray(data.pages)) return data.pages.flatMap(itemsOf);
  return "items" in data && Array.isArray(data.items) ? (data.items as readonly Link[]) : [];
}

/** A page, several pages, or the link itself. */
function replaced(data: unknown, id: string, change: (link: Link) => Link | undefined): unknown {
  if (typeof data !== "object" || data === null) return data;
  if ("pages" in data && Array.isArray(data.pages)) {
    const pages = data.pages.map((page) => replaced(page, id, change));
    return pages.some((page, at) => page !== (data.pages as unknown[])[at]) ? { ...data, pages } : data;
  }
  if ("items" in data && Array.isArray(data.items)) {
    const items = data.items as readonly Link[];
    if (!items.some((item) => item.id === id)) return data;
    return { ...data, items: items.flatMap((item) => (item.id === id ? (change(item) ?? []) : [item])) };
  }
  return "id" in data && data.id === id ? (change(data as Link) ?? data) : data;
}
