import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Link, LinkPage, LinkTrend, LinkTrends } from "../../api/generated.ts";
import { liveState, onLive, onLiveState } from "../../api/live.ts";
import { listQuery } from "../../api/queries.ts";
import { useWorkspace } from "../../workspace.ts";
import { useWorkspaceZone } from "../../workspace-zone.ts";
import { dateIn } from "../report/periods.ts";
import { countQuery, type ListAddress, listParams } from "./list-address.ts";
import { trendFrom } from "./period.ts";

const staleMs = 15_000;

/** A page of links, with its counts and trends; clicks move them while they are shown. */
export function useLinks(address: ListAddress) {
  const { slug, can } = useWorkspace();
  const zone = useWorkspaceZone();
  const page = useQuery({
    ...listQuery(slug, "GET /api/links", listParams(address)),
    placeholderData: keepPreviousData,
    staleTime: staleMs,
  });
  const counts = useQuery({
    ...listQuery(slug, "GET /api/links/counts", countQuery(address)),
    placeholderData: keepPreviousData,
    staleTime: staleMs,
  });
  const ids = page.data?.items.map(({ id }) => id).join(",") ?? "";
  const trends = useQuery({
    ...listQuery(slug, "GET /api/links/trends", {
      ids,
      from: zone && trendFrom(address.period, dateIn(zone, Date.now())),
    }),
    enabled: ids !== "" && zone !== undefined,
    placeholderData: keepPreviousData,
    staleTime: staleMs,
  });
  const byId = useMemo(() => new Map(trends.data?.items.map((one) => [one.id, one])), [trends.data]);
  useLiveClicks(can("stats:read"));
  return { page, counts, trends: byId };
}

interface LiveClick {
  readonly at: string;
  readonly link: { readonly domain: string; readonly code: string };
  readonly verdict: string;
}

interface LiveHits {
  readonly link: { readonly domain: string; readonly code: string };
  readonly used: number;
}

/** Adds clicks to the pages that are held, as they happen. */
function useLiveClicks(enabled: boolean): void {
  const queries = useQueryClient();
  const { slug } = useWorkspace();
  useEffect(() => {
    if (!enabled) return;
    return onLive(({ event, data }) => {
      if (event === "click") {
        const { at, link, verdict } = data as LiveClick;
        if (verdict === "counted") addClick(queries, slug, link, at);
      }
      if (event === "quota") {
        const { link, used } = data as LiveHits;
        changeLinks(queries, slug, (one) => (isAt(one, link) ? { ...one, hitsUsed: used } : one));
      }
    });
  }, [queries, slug, enabled]);
}

const isAt = (link: Link, { domain, code }: LiveClick["link"]): boolean => link.code === code && link.domain === domain;

function addClick(queries: QueryClient, slug: string, place: LiveClick["link"], at: string): void {
  let id: string | undefined;
  changeLinks(queries, slug, (link) => {
    if (!isAt(link, place)) return link;
    id = link.id;
    return { ...link, clicks: link.clicks + 1, lastClickAt: at };
  });
  if (id === undefined) return;
  const more = (trend: LinkTrend): LinkTrend => ({
    ...trend,
    clicks: trend.clicks + 1,
    series: trend.series.with(-1, (trend.series.at(-1) ?? 0) + 1),
  });
  queries.setQueriesData<LinkTrends>({ queryKey: ["/api/links/trends", slug] }, (held) =>
    held?.items.some((one) => one.id === id)
      ? { ...held, items: held.items.map((one) => (one.id === id ? more(one) : one)) }
      : held,
  );
}

/** Changes links in all pages that are held. Undefined takes the link away. */
export function changeLinks(queries: QueryClient, slug: string, change: (link: Link) => Link | undefined): void {
  const isList = (key: readonly unknown[]) => key[0] === "/api/links" && key[1] === slug && typeof key[2] === "object";
  queries.setQueriesData<LinkPage>({ predicate: ({ queryKey }) => isList(queryKey) }, (held) => {
    if (held === undefined) return held;
    const items = held.items.flatMap((link) => change(link) ?? []);
    const isSame = items.length === held.items.length && items.every((link, place) => link === held.items[place]);
    return isSame ? held : { ...held, items };
  });
}

export const useIsPaused = (): boolean => useSyncExternalStore(onLiveState, liveState) === "paused";
