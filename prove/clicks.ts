/**
 * Every redirect that was answered is counted once, and reports say exactly what happened.
 *
 * Visitors with known facts follow links on three servers with PostgreSQL and Redis, and on one with its embedded database,
 * which is all that an embedded database can have. Their facts are what they send: User-Agent, Referer, Accept-Language,
 * campaign, QR mark, and an address through a trusted proxy. Meanwhile SQL goes away for seconds, the answers to some
 * transactions are lost, one server is stopped (SIGTERM) and one is killed (kill -9), both in the middle of traffic.
 *
 * Then the database is counted: served = recorded + declared drops + lost. Nothing may be lost, except by the killed server:
 * what it answered in its last seconds. These visits have links and visitors of their own, so that for everything else
 * the truth is known exactly: reports of links and of tags, without filters and with random ones, are compared with it,
 * figure by figure, visitors included. Links with more clicks than are itemised are compared without filters; with filters,
 * "is", "is not" and "not itemised" must add up to the total.
 *
 * Then time passes, for the program's own code: parts of a day, days, a week and a month end. Each time condensing is killed in the middle
 * and run again, once while late clicks are written. After each step, the reports must be the same, and those with late
 * clicks exactly so much larger.
 *
 * Last, an address and an email address that visitors sent in every place that allows it are searched for in the database,
 * its files, logs, Redis and exports. The name of the site that these visitors came from is a fact, and must be found.
 */
import { progress } from "../bench/show.ts";
import { type Database, databases } from "../bench/subject.ts";
import { dayMs } from "../src/base/clock.ts";
import { controls } from "./clicks/controls.ts";
import { createKnownGroups, type Groups } from "./clicks/groups.ts";
import { condenseAt, condenseKilled, holdCondensing, openUnderTest, writeLate } from "./clicks/later.ts";
import { planted } from "./clicks/people.ts";
import { createQuestions } from "./clicks/questions.ts";
import { type Comparison, compare, newComparison } from "./clicks/reports.ts";
import { bytesOf, holds, placesOf } from "./clicks/search.ts";
import { type Site, startSite, untilReady } from "./clicks/site.ts";
import { readStored, type Stored } from "./clicks/stored.ts";
import { type Run, runTraffic } from "./clicks/traffic.ts";
import type { Visit } from "./clicks/truth.ts";
import type { Attempt, Bound, Proof } from "./proof.ts";

export const clicks: Proof = {
  name: "clicks",
  shows: "200,000 redirects with known facts on each database, through faults: every click counted once, reports exact",
  needs: ["postgresql", "redis-server"],
  controls,
  async run(attempt) {
    for (const database of databases) if (attempt.plays(database)) await play(attempt, database);
  },
};

/**
 * Faults take seconds. Without a pause, a fast server would be visited so often meanwhile that reports are sampled, which are not exact, and even
 * a short run would be a long one.
 */
const traffic = { full: { count: 200_000, thinkMs: 3 }, short: { count: 12_000, thinkMs: 20 } };
const serversOf = { postgres: 3, sqlite: 1 } as const;
const shownMost = 8;
/** Answers per link and tag that are asked for with random filters. */
const filtersEach = { full: 10, short: 4 };
const lateVisits = 400;
const hourMs = 3_600_000;
/** More than condensing waits after the end of a period. */
const settleMs = 20 * 60_000;

type Say = (promise: string, measure: string, done: string, times: number, figure: number, bound: Bound) => void;

async function play({ short, claim }: Attempt, database: Database): Promise<void> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const site = await startSite(database, serversOf[database]);
  const say: Say = (promise, measure, done, times, figure, bound) =>
    claim({ promise, scenario: database, measure, done, times, figure, bound });
  try {
    const groups = await createKnownGroups(site, short);
    const startDay = Math.floor(Date.now() / dayMs);
    const run = await runTraffic(site, groups, short ? traffic.short : traffic.full, shown.now);
    shown.now(`${database}: counting`);
    const stored = await readStored(site.env);
    const isOneDay = Math.floor(Date.now() / dayMs) === startDay;
    conserve(say, database, groups, run, stored);

    await site.restart(0);
    const [server = never()] = site.servers;
    run.extra.push(...Array.from({ length: await untilReady(server, groups.ready) }, () => groups.readyVisit));
    const truth: Visit[] = run.crowd.served.filter(({ link }) => link.tag === "cool" || link.tag === "hot");
    const ask = createQuestions(groups, truth, short ? filtersEach.short : filtersEach.full, short);
    const check = async (step: string): Promise<Comparison> => {
      shown.now(`${database}: reports ${step}`);
      const found = newComparison();
      for (const question of ask()) await compare(server, question, found);
      await ask.hot(server, found);
      console.log(
        `clicks: database=${database} step="${step}" reports=${found.reports} figures=${found.figures} ` +
          `differences=${found.wrong.length} breakdowns=${found.breakdowns} unbalanced=${found.unbalanced.length}`,
      );
      for (const line of [...found.wrong, ...found.unbalanced].slice(0, shownMost)) console.log(`  ${line}`);
      return found;
    };
    const checks = {
      before: await check("before condensing"),
      ...(await passTime(say, site, groups, stored, truth, check)),
    };
    for (const [step, found] of Object.entries(checks)) {
      const { reports, figures, wrong, breakdowns, unbalanced } = found;
      const done = `${reports} reports ${words[step as Step]}`;
      if (isOneDay) say(promises.exact, `${step}_differences`, done, figures, wrong.length, { exactly: 0 });
      say(promises.balanced, `${step}_unbalanced`, done, breakdowns, unbalanced.length, { exactly: 0 });
    }

    shown.now(`${database}: searching`);
    await search(say, site);
  } finally {
    shown.end();
    await site.stop();
  }
}

const never = (): never => {
  throw new Error("there is no server");
};

type Step = "before" | "parts" | "late_parts" | "days" | "late" | "recondensed" | "months";
const words: Readonly<Record<Step, string>> = {
  before: "before condensing",
  parts: "after parts of a day were condensed",
  late_parts: "after late clicks of condensed parts of a day",
  days: "after days were condensed",
  late: "after late clicks were written during condensing",
  recondensed: "after late clicks were condensed",
  months: "after months were condensed",
};

const promises = {
  conserved:
    "every redirect that was answered is recorded once, or declared as dropped; only a killed server loses its last seconds",
  exact: "reports agree with what visitors did, in every figure",
  balanced: "every breakdown and series adds up to the total",
  condensed: "condensing that is killed in the middle is repeated without a trace",
  private: "no address and no email address of a visitor is stored, logged or exported",
};

const withoutVisitor = ({ link, person }: Visit): Visit => ({ link, person: { ...person, visitor: undefined } });

/** served = recorded + declared drops + lost, for each group of links. */
function conserve(say: Say, database: Database, groups: Groups, run: Run, stored: Stored): void {
  const { crowd, killedAt, faults } = run;
  const of = (tag: string) => {
    const isOf = ({ link, person }: Visit) => link.tag === tag && !person.excluded;
    const codes = groups.links.filter((link) => link.tag === tag).map(({ code }) => code);
    const sum = (map: ReadonlyMap<string, number>) => codes.reduce((all, code) => all + (map.get(code) ?? 0), 0);
    const served = crowd.served.filter(isOf).length + run.extra.filter(isOf).length;
    return {
      served,
      askedAgain: crowd.askedAgain.filter(isOf).length,
      unknown: crowd.unknown.filter(isOf).length,
      events: sum(stored.events),
      overflow: sum(stored.overflow),
    };
  };
  const tags = ["cool", "hot", "stopped", "killed", "planted", "ready"] as const;
  const counts = Object.fromEntries(tags.map((tag) => [tag, of(tag)])) as Record<
    (typeof tags)[number],
    ReturnType<typeof of>
  >;
  const total = Object.values(counts).reduce((a, b) => ({
    ...{ served: a.served + b.served, unknown: a.unknown + b.unknown, askedAgain: a.askedAgain + b.askedAgain },
    ...{ events: a.events + b.events, overflow: a.overflow + b.overflow },
  }));
  const excluded = crowd.served.filter(({ person }) => person.excluded).length;
  const recorded = total.events + total.overflow;
  const answered = total.served + excluded;
  const missing = answered - recorded - stored.excluded - stored.dropped;
  console.log(
    `clicks: database=${database} answered=${answered} events=${total.events} overflow=${total.overflow} excluded=${stored.excluded} ` +
      `declared_dropped=${stored.dropped} lost=${missing} cut_off=${crowd.unknown.length} asked_again=${crowd.askedAgain.length} seconds=${run.seconds.toFixed(0)} faults="${faults.join(", ")}"`,
  );
  for (const [tag, { served, unknown, askedAgain, events, overflow }] of Object.entries(counts))
    console.log(
      `  tag=${tag} served=${served} cut_off=${unknown} asked_again=${askedAgain} events=${events} overflow=${overflow}`,
    );

  const done = `${shownCount(answered)} redirects by ${serversOf[database]} server${serversOf[database] === 1 ? "" : "s"}; ${faults.join(", ")}`;
  const { cool, hot, stopped, killed } = counts;
  const off = (one: ReturnType<typeof of>) => Math.abs(one.served - one.events - one.overflow);
  const lost = (one: ReturnType<typeof of>) => Math.max(0, one.served - one.events - one.overflow);
  const surplus = (one: ReturnType<typeof of>) => Math.max(0, one.events + one.overflow - one.served - one.unknown);
  const none = { exactly: 0 };
  // Their visits were never sent to a server that was about to end: none is cut off.
  say(promises.conserved, "sql_away_lost_or_doubled", done, cool.served + hot.served, off(cool) + off(hot), none);
  say(promises.conserved, "sigterm_lost", done, stopped.served, lost(stopped), none);
  const lastSeconds = crowd.served.filter(
    ({ link, at }) => link.tag === "killed" && at > killedAt - lossMs && at <= killedAt,
  ).length;
  say(promises.conserved, "kill_lost", done, killed.served, lost(killed), { most: lastSeconds });
  say(promises.conserved, "recorded_twice", done, answered, surplus(stopped) + surplus(killed), none);
  // An excluded visit that the killed server took with it is not in its count.
  const excludedOff =
    Math.max(0, excluded - stored.excluded - lastSeconds) +
    Math.max(0, stored.excluded - excluded - crowd.unknown.length);
  say(promises.conserved, "excluded_wrong", done, excluded, excludedOff, none);
  say(promises.conserved, "faults", done, faults.length, faults.length, { exactly: 4 });
}

/** "About a second, and the batch that was being written", on a machine that is busy with four other processes. */
const lossMs = 3_000;

async function passTime(
  say: Say,
  site: Site,
  groups: Groups,
  stored: Stored,
  truth: Visit[],
  check: (step: string) => Promise<Comparison>,
): Promise<Record<Exclude<Step, "before">, Comparison>> {
  const { env } = site;
  const sql = await openUnderTest(env);
  const start = Date.now();
  const midnight = (Math.floor(start / dayMs) + 1) * dayMs;
  let kills = 0;
  const killedThenWhole = async (now: number, transactions: number) => {
    if (await condenseKilled(env, now, transactions)) kills++;
    await condenseAt(sql, now);
  };
  try {
    await holdCondensing(sql);
    await killedThenWhole(start + 2 * hourMs, 2);
    const parts = await check(words.parts);
    const during = groups.lateVisits(lateVisits);
    const sameDay = start + 3 * hourMs;
    const lateSameDay = await writeLate(sql, stored, during, { at: start, now: sameDay });
    truth.push(...(sameDay < midnight ? during : during.map(withoutVisitor)));
    const lateParts = await check(words.late_parts);
    // Shortly before midnight, three hours later is the next day. Time never goes back here: that would undo what was condensed.
    const dayOver = Math.max(midnight, sameDay);
    await killedThenWhole(dayOver + settleMs, 3);
    const days = await check(words.days);

    // The first late clicks set the day back, so that there is something to condense while the next ones are written.
    const [first, second] = [groups.lateVisits(lateVisits), groups.lateVisits(lateVisits)];
    const now = dayOver + 2 * hourMs;
    let written = lateSameDay + (await writeLate(sql, stored, first, { at: start, now }));
    const [wasKilled, more] = await Promise.all([
      condenseKilled(env, now, 3),
      writeLate(sql, stored, second, { at: start, now }),
    ]);
    written += more;
    if (wasKilled) kills++;
    // Their day is over: whether they were new is not known any more, and they are not counted as visitors.
    truth.push(...[...first, ...second].map(withoutVisitor));
    const afterLate = await check(words.late);
    await condenseAt(sql, now);
    const recondensed = await check(words.recondensed);
    await killedThenWhole(start + 40 * dayMs, 1);
    const months = await check(words.months);

    const { part, day, week, month } = (await readStored(env)).rollups;
    console.log(
      `clicks: database=${site.database} condensing_killed=${kills} late=${written} part_rows=${part} day_rows=${day} week_rows=${week} month_rows=${month}`,
    );
    const done = `condensing killed ${kills} times, ${written} late clicks`;
    say(promises.condensed, "killed", done, 4, kills, { exactly: 4 });
    say(promises.condensed, "late", done, 1, written, { exactly: 3 * lateVisits });
    const grains = [part, day, week, month].filter((rows) => rows > 0).length;
    say(
      promises.condensed,
      "grains",
      `${part} parts of a day, ${day} days, ${week} weeks and ${month} months`,
      1,
      grains,
      {
        exactly: 4,
      },
    );
    return { parts, late_parts: lateParts, days, late: afterLate, recondensed, months };
  } finally {
    await sql.close();
  }
}

async function search(say: Say, site: Site): Promise<void> {
  const [server = never()] = site.servers;
  const places = await placesOf(site, server);
  const secrets = [...planted.addresses, planted.email, encodeURIComponent(planted.email), planted.email.toUpperCase()];
  const found = places.flatMap((place) =>
    secrets.filter((text) => holds(place, text)).map((text) => `${text} in ${place.name}`),
  );
  const marked = places.filter((place) => holds(place, planted.referrer)).map(({ name }) => name);
  const sizes = places.map((place) => `${place.name} ${shownCount(Math.ceil(bytesOf(place) / 1_024))} KB`).join(", ");
  console.log(
    `clicks: database=${site.database} searched="${sizes}" found=${found.length} marker_in="${marked.join(", ")}"`,
  );
  for (const line of found.slice(0, shownMost)) console.log(`  ${line}`);
  const bytes = places.reduce((sum, place) => sum + bytesOf(place), 0);
  say(promises.private, "found", `searched ${sizes}`, bytes, found.length, { exactly: 0 });
  const expected = ["database files", "tables", "exports"].filter((name) =>
    marked.some((place) => place === name),
  ).length;
  say(promises.private, "marker", `what may be kept is in ${marked.join(", ")}`, bytes, expected, { exactly: 3 });
}

const shownCount = (count: number): string => count.toLocaleString("en-US");
