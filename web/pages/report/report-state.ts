import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { listOf, oneOf } from "../../search.ts";
import { useWorkspaceZone } from "../../workspace-zone.ts";
import { type Filter, type FilterField, parseFilter, toggleValue, writeFilter } from "./filters.ts";
import { dateIn, isPreset, movedRange, type Preset, parseStep, presetOf, type Range, rangeOf } from "./periods.ts";

/** What a report shows. All of it is in the address, so that a view can be sent to somebody else and comes back with Back. */
export interface ReportState {
  /** Undefined: a range of its own. */
  readonly preset: Preset | undefined;
  /** Undefined until the workspace's zone is known. */
  readonly range: Range | undefined;
  /** The chosen zone, else that of the workspace. */
  readonly zone: string | undefined;
  /** Up to now, so that its last interval goes on. */
  readonly endsNow: boolean;
  readonly workspaceZone: string | undefined;
  readonly compare: Comparison | undefined;
  readonly interval: Interval | undefined;
  readonly traffic: Traffic;
  readonly filters: readonly Filter[];
  /** The numbers as a table instead of a chart. */
  readonly isTable: boolean;
}

export const comparisons = ["previous", "weekdays", "year"] as const;
export type Comparison = (typeof comparisons)[number];
export const intervals = ["quarter", "hour", "day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];
export const traffics = ["people", "bots", "all"] as const;
export type Traffic = (typeof traffics)[number];

export interface ReportControls extends ReportState {
  set(change: ReportChange): void;
  setFilters(filters: readonly Filter[]): void;
  toggle(field: FilterField, value: string, exclude?: boolean): void;
  reset(): void;
  /** Shows the period before or after; undefined if there is none. */
  mover(way: -1 | 1): (() => void) | undefined;
}

export interface ReportChange {
  readonly period?: Preset | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly step?: string | undefined;
  readonly zone?: string | undefined;
  readonly compare?: string | undefined;
  readonly interval?: string | undefined;
  readonly traffic?: string | undefined;
  readonly view?: string | undefined;
  readonly filter?: readonly string[] | undefined;
}

const oneIn = <Value extends string>(all: readonly Value[], text: string | undefined): Value | undefined =>
  all.find((one) => one === text);

export function useReport(usual: Preset): ReportControls {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const workspaceZone = useWorkspaceZone();
  const given = oneOf(search.zone);
  const zone = given !== undefined && isZone(given) ? given : workspaceZone;
  const [from, to, period] = [momentOf(search.from), momentOf(search.to), oneOf(search.period)];
  const step = parseStep(oneOf(search.step));
  const preset = from !== undefined ? undefined : isPreset(period) ? period : usual;
  const today = zone === undefined ? undefined : dateIn(zone, Date.now());
  const range = useMemo<Range | undefined>(() => {
    if (from !== undefined) return { from, to, step };
    return today === undefined || preset === undefined ? undefined : rangeOf(preset, today);
  }, [from, to, step, preset, today]);
  const texts = listOf(search.filter);
  const filterKey = texts.join("\n");
  const filters = useMemo(
    () => (filterKey === "" ? [] : filterKey.split("\n").flatMap((text) => parseFilter(text) ?? [])),
    [filterKey],
  );
  const set = useCallback(
    (change: ReportChange) =>
      void navigate({
        to: ".",
        // Another period does not move as the one before did.
        search: (before: object) => ({ ...before, ...("from" in change && { step: undefined }), ...change }),
        resetScroll: false,
      }),
    [navigate],
  );
  const setFilters = (next: readonly Filter[]) => set({ filter: next.map(writeFilter) });
  const compare = oneOf(search.compare);
  return {
    preset,
    range,
    zone,
    endsNow: range !== undefined && range.to === undefined,
    workspaceZone,
    compare: compare === "none" ? undefined : (oneIn(comparisons, compare) ?? "previous"),
    interval: oneIn(intervals, oneOf(search.interval)),
    // As the API: a filter on bots would find nobody among people.
    traffic: oneIn(traffics, oneOf(search.traffic)) ?? (filters.some(isOfBots) ? "all" : "people"),
    filters,
    isTable: oneOf(search.view) === "table",
    set,
    reset: () =>
      set({ period: undefined, from: undefined, to: undefined, interval: undefined, zone: undefined, filter: [] }),
    setFilters,
    toggle: (field, value, exclude) => setFilters(toggleValue(filters, field, value, exclude ? "isNot" : "is")),
    mover: (way) => {
      const moved = range && today && movedRange(range, way, Date.now(), today);
      if (!moved) return undefined;
      const period = presetOf(moved, today);
      const { from, to, step } = period === undefined ? moved : {};
      return () => set({ period, from, to, step });
    },
  };
}

/** What is no time is left out: people edit addresses. */
function momentOf(value: unknown): string | undefined {
  const text = oneOf(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}

const isOfBots = ({ field }: Filter): boolean => field === "bot" || field === "reason";

export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
