/**
 * How long reports take over 1 M, 10 M and 100 M clicks of a year.
 *
 * Method: reports are made as the server makes them (`reportOn`), with all breakdowns, one after the other, sizes
 * in turn, so that a busy moment of the machine hits all of them. A figure is the best of eight passes: the p95 of twenty runs.
 * The first run of each report is not counted. A report without filters is timed twice: "first", without the sums that the process keeps, and
 * "again", with them. Both have the same targets. With filters nothing of weight is kept, so it is timed once.
 *
 * CPU is that of this process and of PostgreSQL's, in the run that took the least: what a report costs when nothing disturbs it.
 */
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import type { LinkId } from "../../src/base/ids.ts";
import { forgetSums } from "../../src/clicks/reports/condensed-sums.ts";
import { forgetOpenSums } from "../../src/clicks/reports/open-sums.ts";
import { type Comparison, parseReport } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import type { ReportSubject } from "../../src/clicks/reports/scope.ts";
import type { Figure, Target } from "../bench.ts";
import { cpuMicros } from "../cpu.ts";
import { rotated } from "../rounds.ts";
import { type Progress, quantile, round, table } from "../show.ts";
import { databases } from "../subject.ts";
import { type Filled, reportedLinks } from "./fill.ts";
import { frozenClock, now } from "./world.ts";

const targets = {
  link: { most: 50 },
  filteredLink: { most: 150 },
  tenant: { most: 300 },
  growth: { most: 1.3 },
} as const satisfies Record<string, Target>;

const passes = 8;
const runsOfPass = 20;

interface Asked {
  readonly name: string;
  readonly subject: ReportSubject;
  readonly from: string;
  readonly filter: readonly string[];
  readonly compare?: Comparison;
  readonly target: Target;
}

/** Written one after the other, the first link has number 1. */
const link = (number: number): ReportSubject => ({ kind: "link", id: `lnk_${number - 1}` as LinkId });
const [days30, year] = ["2026-10-19", "2025-11-18"];
const filter = ["country=DE,FR", "browser!=Chrome"];

const spans = [
  { name: "30 days", from: days30 },
  { name: "a year", from: year },
];
const subjects = [
  { name: "busiest link", subject: link(reportedLinks.busiest), target: targets.link, filtered: targets.filteredLink },
  { name: "quiet link", subject: link(reportedLinks.quiet), target: targets.link, filtered: targets.filteredLink },
  { name: "10,000 links", subject: { kind: "tenant" } as const, target: targets.tenant, filtered: targets.tenant },
];
export const asked: readonly Asked[] = [
  ...subjects.flatMap(({ name, subject, target, filtered }) =>
    spans.flatMap((span) => [
      { name: `${name}, ${span.name}`, subject, from: span.from, filter: [], target },
      { name: `${name}, ${span.name}, two filters`, subject, from: span.from, filter, target: filtered },
    ]),
  ),
  {
    ...{ name: "10,000 links, 30 days, compared", subject: { kind: "tenant" }, from: days30, filter: [] },
    ...{ compare: "previous", target: targets.tenant },
  },
];

const times = ["first", "again"] as const;

export interface Timed {
  readonly asked: Asked;
  readonly time: (typeof times)[number];
  readonly filled: Filled;
  /** Milliseconds, by pass. */
  readonly passes: number[][];
  /** Of the run that took the least, in milliseconds. */
  cpu: number;
  clicks: number;
  sampled: number;
}

const timesOf = ({ filter }: Asked): readonly Timed["time"][] => (filter.length === 0 ? times : ["first"]);

export async function timeReports(all: readonly Filled[], shown: Progress): Promise<Timed[]> {
  const timed: Timed[] = [];
  for (const database of databases) {
    const sizes = all.filter((filled) => filled.database === database);
    for (const one of asked) {
      const seenOf = await Promise.all(sizes.map((filled) => seen(filled, one)));
      const ofTimes = timesOf(one).map((time) =>
        sizes.map((filled, place) => ({
          ...{
            asked: one,
            time,
            filled,
            passes: [] as number[][],
            cpu: Number.POSITIVE_INFINITY,
            clicks: 0,
            sampled: 1,
          },
          ...seenOf[place],
        })),
      );
      timed.push(...ofTimes.flat());
      for (let pass = 0; pass < passes; pass++) {
        shown.now(`${database}: ${one.name}, pass ${pass + 1} of ${passes}`);
        for (const { passes } of ofTimes.flat()) passes.push([]);
        for (let run = 0; run < runsOfPass; run++) {
          for (const ofSizes of ofTimes) {
            for (const timed of rotated(ofSizes, run)) {
              if (timed.time === "first") forget(timed.filled);
              const { ms, cpu } = await timeOf(timed.filled, one);
              timed.passes.at(-1)?.push(ms);
              timed.cpu = Math.min(timed.cpu, cpu);
            }
          }
        }
      }
    }
  }
  return timed;
}

function forget({ sql }: Filled): void {
  forgetSums(sql);
  forgetOpenSums(sql);
}

async function report({ sql, tenant }: Filled, { subject, from, filter, compare }: Asked) {
  const query = parseReport({ from, filter, compare }, "UTC", now);
  return await reportOn(sql, frozenClock(systemClock), tenant, subject, query);
}

async function seen(filled: Filled, one: Asked): Promise<Pick<Timed, "clicks" | "sampled">> {
  const { totals, sampled } = await report(filled, one);
  return { clicks: totals.clicks, sampled: sampled?.rate ?? 1 };
}

/** The process of PostgreSQL that has the only connection. An idle connection is closed, so it is not always the same. */
async function backendsOf({ database, sql }: Filled): Promise<number[]> {
  if (database === "sqlite") return [];
  const { rows } = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(sql.db);
  return rows.map(({ pid }) => Number(pid));
}

async function timeOf(filled: Filled, one: Asked): Promise<{ ms: number; cpu: number }> {
  const pids = [process.pid, ...(await backendsOf(filled))];
  const used = () => pids.reduce((sum, pid) => sum + cpuMicros(pid), 0) / 1_000;
  const [started, before] = [performance.now(), used()];
  await report(filled, one);
  return { ms: performance.now() - started, cpu: used() - before };
}

const bestOf = (timed: Timed, share: number): number => Math.min(...timed.passes.map((pass) => quantile(pass, share)));

const millions = (clicks: number): string => `${clicks / 1_000_000} M`;

export function showReports(timed: readonly Timed[]): void {
  table([
    ["a report", "asked", "over clicks", "p50 ms", "p95 ms", "CPU ms", "clicks found", "of a sample of"],
    ...timed.map((one) => [
      `${one.filled.database}: ${one.asked.name}`,
      one.time,
      millions(one.filled.clicks),
      round(bestOf(one, 0.5)),
      round(bestOf(one, 0.95)),
      round(one.cpu),
      one.clicks.toLocaleString("en-US"),
      one.sampled === 1 ? "" : `1 in ${1 / one.sampled}`,
    ]),
  ]);
  const growth = grown(timed);
  if (growth.length === 0) return;
  const ratio = (most: number, least: number) => round(most / least);
  table([
    ["a report over the most clicks / over the fewest", "p50", "p95", "CPU", "CPU / over a tenth"],
    ...growth.map(({ name, least, tenth, most }) => [
      name,
      ratio(bestOf(most, 0.5), bestOf(least, 0.5)),
      ratio(bestOf(most, 0.95), bestOf(least, 0.95)),
      ratio(most.cpu, least.cpu),
      ratio(most.cpu, tenth.cpu),
    ]),
  ]);
}

export function figuresOf(timed: readonly Timed[]): Figure[] {
  const figures = timed.map((one) => ({
    name: `${one.filled.database}: ${one.asked.name}, ${one.time}, ${millions(one.filled.clicks)}: p95 ms`,
    figure: bestOf(one, 0.95),
    target: one.asked.target,
  }));
  const growth = grown(timed).map(({ name, least, most }) => ({
    name: `${name}: p95 of ${millions(most.filled.clicks)} / ${millions(least.filled.clicks)}`,
    figure: bestOf(most, 0.95) / bestOf(least, 0.95),
    target: targets.growth,
  }));
  return [...figures, ...growth];
}

/** Each report without filters: the smallest size, the largest, and the one before it. */
function grown(timed: readonly Timed[]): { name: string; least: Timed; tenth: Timed; most: Timed }[] {
  const unfiltered = timed.filter(({ asked }) => asked.filter.length === 0);
  const nameOf = ({ asked, filled, time }: Timed) => `${filled.database}: ${asked.name}, ${time}`;
  return [...Map.groupBy(unfiltered, nameOf)].flatMap(([name, sizes]) => {
    const [least, tenth, most] = [sizes.at(0), sizes.at(-2), sizes.at(-1)];
    return least === undefined || tenth === undefined || most === undefined ? [] : { name, least, tenth, most };
  });
}
