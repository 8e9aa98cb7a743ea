/** Asks the real API for reports, and compares every figure with the truth. */
import { authorization } from "../../bench/subject.ts";
import { dayMs } from "../../src/base/clock.ts";
import { breakdownNames } from "../../src/clicks/click.ts";
import type { Server } from "../../test/ground/server.ts";
import { type Expected, expect, type Filter, filterText, type Visit } from "./truth.ts";

export interface Report {
  readonly subject: { readonly kind: string };
  readonly totals: { readonly clicks: number; readonly visitors: number; readonly bots: number };
  readonly reasons: Readonly<Record<string, number>>;
  readonly series: readonly { readonly clicks: number; readonly visitors: number }[];
  readonly breakdowns: Readonly<
    Record<
      string,
      {
        readonly values: readonly { readonly value: string; readonly clicks: number; readonly visitors: number }[];
        readonly none: number;
        readonly other: number;
        readonly notItemised: number;
      }
    >
  >;
  readonly itemised: { readonly clicks: number; readonly of: number } | null;
  readonly sampled: unknown;
}

export type Traffic = "people" | "all";

const askMs = 20_000;
const triesMost = 10;
const againMs = 1_000;
/** Around the run: whole months, so that roll-ups of months are used. */
const daysAround = 45;

export async function ask(
  server: Server,
  path: string,
  filters: readonly Filter[],
  traffic: Traffic,
  more: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
  const query = new URLSearchParams({
    ...{ from: day(-daysAround), to: day(daysAround), interval: "day", limit: "300", traffic, ...more },
  });
  for (const filter of filters) query.append("filter", filterText(filter));
  for (let tries = 1; ; tries++) {
    const response = await fetch(`${server.url}${path}?${query}`, {
      headers: authorization(server),
      signal: AbortSignal.timeout(askMs),
    });
    const body = await response.text();
    if (response.status === 200) return JSON.parse(body) as Report;
    // "Unavailable, try again": a statement may take too long on a busy machine.
    if (response.status !== 503 || tries === triesMost) {
      throw new Error(`${path}?${query} was answered with ${response.status} ${body}`);
    }
    await Bun.sleep(againMs);
  }
}

/** What was found by comparing reports. */
export interface Comparison {
  reports: number;
  figures: number;
  readonly wrong: string[];
  /** Breakdowns and series that do not add up to the total. */
  breakdowns: number;
  readonly unbalanced: string[];
}

export const newComparison = (): Comparison => ({ reports: 0, figures: 0, wrong: [], breakdowns: 0, unbalanced: [] });

export interface Question {
  readonly name: string;
  readonly path: string;
  readonly more?: Readonly<Record<string, string>>;
  readonly visits: readonly Visit[];
  readonly filters: readonly Filter[];
  readonly traffic: Traffic;
}

export async function compare(server: Server, question: Question, into: Comparison): Promise<void> {
  const { name, path, more = {}, visits, filters, traffic } = question;
  const report = await ask(server, path, filters, traffic, more);
  const what = [name, ...filters.map(filterText), traffic].join(" ");
  balance(report, what, into);
  differ(report, expect(visits, filters, traffic), what, into);
  if (report.sampled !== null) into.wrong.push(`${what}: is a sample`);
}

/** Every breakdown, and the series, must add up to the total. */
export function balance(report: Report, what: string, into: Comparison): void {
  const total = report.totals.clicks;
  const check = (part: string, sum: number) => {
    into.breakdowns++;
    if (sum !== total) into.unbalanced.push(`${what}: ${part} adds up to ${sum}, not ${total}`);
  };
  for (const name of breakdownNames) {
    if (name === "link" && report.subject.kind === "link") continue;
    const { values = [], none = 0, other = 0, notItemised = 0 } = report.breakdowns[name] ?? {};
    check(name, sumOf(values.map(({ clicks }) => clicks)) + none + other + notItemised);
  }
  check("series", sumOf(report.series.map(({ clicks }) => clicks)));
}

function differ(report: Report, expected: Expected, what: string, into: Comparison): void {
  into.reports++;
  const check = (part: string, is: number, should: number) => {
    into.figures++;
    if (is !== should) into.wrong.push(`${what}: ${part} is ${is}, not ${should}`);
  };
  for (const name of ["clicks", "visitors", "bots"] as const) check(name, report.totals[name], expected[name]);
  for (const [reason, clicks] of Object.entries(report.reasons)) check(reason, clicks, expected.reasons[reason] ?? 0);
  for (const name of breakdownNames) {
    if (name === "link" && report.subject.kind === "link") continue;
    const found = report.breakdowns[name];
    const should = expected.values.get(name) ?? new Map();
    check(`${name} none`, found?.none ?? 0, should.get("")?.clicks ?? 0);
    check(`${name} other`, found?.other ?? 0, 0);
    check(`${name} not itemised`, found?.notItemised ?? 0, 0);
    const values = new Map(found?.values.map((value) => [value.value, value]));
    for (const value of new Set([...values.keys(), ...should.keys()])) {
      if (value === "") continue;
      check(`${name} ${value}`, values.get(value)?.clicks ?? 0, should.get(value)?.clicks ?? 0);
      // Which link a visitor came to first decides its variant, so that of several links is not known; and so it is for links.
      if (name === "variant" || name === "link") continue;
      check(`visitors of ${name} ${value}`, values.get(value)?.visitors ?? 0, should.get(value)?.visitors ?? 0);
    }
    // Every visitor came to one link first.
    if (name === "link")
      check("visitors of all links", sumOf([...values.values()].map((one) => one.visitors)), expected.visitors);
  }
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
