import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { addressOf, send } from "../../api/call.ts";
import type { ClickPage, ClickReport } from "../../api/generated.ts";
import { useWorkspace } from "../../workspace.ts";
import { writeFilter } from "./filters.ts";
import type { ReportState, Traffic } from "./report-state.ts";

/** What a report is about. */
export type Subject = { readonly kind: "link"; readonly id: string } | { readonly kind: "workspace" };

/** A report, and when it was read: what begins later has not happened. */
export type Report = ClickReport & { readonly readAt: number };

export type Dimension =
  | "link"
  | "country"
  | "region"
  | "city"
  | "device"
  | "browser"
  | "os"
  | "referrer"
  | "language"
  | "utm_source"
  | "utm_medium"
  | "utm_campaign"
  | "source"
  | "variant"
  | "bot";

export interface Asked {
  /** None by default: figures and series only. */
  readonly breakdown?: readonly Dimension[];
  readonly limit?: number;
  readonly compare?: boolean;
}

/** The parameters of both report routes. */
export function paramsOf(state: ReportState, { breakdown = [], limit, compare = false }: Asked) {
  return {
    from: state.range?.from,
    to: state.range?.to,
    zone: state.zone === state.workspaceZone ? undefined : state.zone,
    filter: state.filters.map(writeFilter),
    interval: state.interval,
    traffic: state.traffic,
    breakdown: breakdown.join(","),
    limit,
    compare: compare ? state.compare : undefined,
  };
}

export function reportAddress(subject: Subject, query: ReturnType<typeof paramsOf> & { format?: "csv" }): string {
  return subject.kind === "link"
    ? addressOf("GET /api/links/{id}/stats", { path: { id: subject.id }, query })
    : addressOf("GET /api/stats", { query });
}

export async function readReport(
  subject: Subject,
  state: ReportState,
  asked: Asked,
  signal: AbortSignal,
): Promise<Report> {
  const query = paramsOf(state, asked);
  const answer =
    subject.kind === "link"
      ? await send("GET /api/links/{id}/stats", { path: { id: subject.id }, query, signal })
      : await send("GET /api/stats", { query, signal });
  return { ...((await answer.json()) as ClickReport), readAt: Date.now() };
}

/** While somebody looks at a period that goes on, its numbers are read again this often, besides after live clicks. */
const refetchMs = 60_000;

/** Old numbers stay until the new ones are there, unless they are of something else. */
export function useReportQuery(subject: Subject, state: ReportState, asked: Asked) {
  const { slug } = useWorkspace();
  const params = paramsOf(state, asked);
  const about = subject.kind === "link" ? subject.id : "";
  return useQuery({
    queryKey: ["/api/stats", slug, about, params],
    queryFn: ({ signal }) => readReport(subject, state, asked, signal),
    enabled: state.range !== undefined,
    placeholderData: (data, before) => (before?.queryKey[2] === about ? keepPreviousData(data) : undefined),
    staleTime: 15_000,
    refetchInterval: state.range?.to === undefined ? refetchMs : false,
  });
}

/** What single clicks are of: the same period, filters and traffic as the figures above them. */
export type ClickState = Pick<ReportState, "range" | "zone" | "filters" | "traffic">;

/** Lists of clicks have no parameter for traffic, but every click has its reason. */
const trafficFilters = { people: ["reason=counted"], bots: ["reason!=counted"], all: [] } as const satisfies Record<
  Traffic,
  readonly string[]
>;

/** The parameters of both lists of clicks. */
export const clickParams = ({ range, zone, filters, traffic }: ClickState) => ({
  ...{ from: range?.from, to: range?.to, zone },
  filter: [...filters.map(writeFilter), ...trafficFilters[traffic]],
});

export async function readClicks(
  subject: Subject,
  state: ClickState,
  page: { readonly limit: number; readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<ClickPage> {
  const options = { query: { ...clickParams(state), ...page }, ...(signal && { signal }) };
  const answer =
    subject.kind === "link"
      ? await send("GET /api/links/{id}/clicks", { path: { id: subject.id }, ...options })
      : await send("GET /api/clicks", options);
  return (await answer.json()) as ClickPage;
}
