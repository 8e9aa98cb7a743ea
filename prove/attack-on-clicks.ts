/**
 * A million distinct values against one link fill neither memory nor the database, and harm no other link.
 *
 * On a real server: first normal visitors, then tens of thousands of requests for one link, each with a referrer, a
 * User-Agent, a language, three campaign values and an address (X-Forwarded-For from a trusted proxy) that nobody sent
 * before. In between, visitors with new referrers follow other links of the same tenant. Then, with the program's own
 * capture and writer, on each database and in this process, as many requests more as it takes to a million values.
 *
 * What must stay small: rows of values, single clicks and overflow rows of the attacked link, all of which have written
 * caps; memory of the server. What grows with the attack: two rows for every visitor of a day, which are deleted when the
 * day is over. They are counted, too. Other links must be reported exactly, with all of their new referrers.
 */
import { cpuMicros } from "../bench/cpu.ts";
import { createLine } from "../bench/line.ts";
import { progress, round } from "../bench/show.ts";
import { createLink, type Database, databases, startSubject } from "../bench/subject.ts";
import { eventsOfQuarterMost } from "../src/clicks/events/caps.ts";
import { newValuesOfLinkMost } from "../src/clicks/events/values.ts";
import { controls } from "./attack-on-clicks/controls.ts";
import { attackInProcess } from "./attack-on-clicks/in-process.ts";
import { measureRows, type Rows, residentBytes } from "./attack-on-clicks/rows.ts";
import { attackOf, countryOf, normalVisit } from "./attack-on-clicks/values.ts";
import { ask } from "./clicks/reports.ts";
import { createKnownLinks, untilStored } from "./clicks/site.ts";
import type { Attempt, Proof } from "./proof.ts";

export const attackOnClicks: Proof = {
  name: "attack-on-clicks",
  shows: "a million distinct values against one link: rows, bytes and memory stay below their caps, other links exact",
  needs: ["postgresql"],
  controls,
  async run(attempt) {
    if (attempt.plays("server")) await onServer(attempt);
    for (const database of databases) if (attempt.plays(database)) await inProcess(attempt, database);
  },
};

/** Requests. Each attack brings seven values. */
const normal = { full: 20_000, short: 3_000 };
const attacks = { full: 60_000, short: 6_000 };
const attacksInProcess = { full: 45_000, short: 6_000 };
export const valuesOfRequest = 7;

const connections = 32;
const otherLinks = 20;
/** New referrers of every other link, each of which comes so often. */
const referrersEach = 40;
const timesEach = 2;

/** Dimensions that visitors fill: referrer, three campaign values, language, browser; and the kinds of bots and systems. */
const dimensionsFilled = 10;
/**
 * Of the server, in MB: 24 of clicks that wait, 32 of headers that are being read, 14 of memos and 28 of known visitors and
 * their hashes, as the program's constants have them; and more than as much again for what is not freed yet, in the heap
 * of the serving thread and in that of the thread that writes.
 */
const memoryMost = 256;
/** For a row of a visitor with its index entry, on PostgreSQL. The rest is much less. */
const bytesOfVisitorMost = 250;

async function onServer({ short, claim }: Attempt): Promise<void> {
  const shown = progress();
  shown.now("server: starting");
  const subject = await startSubject("sqlite", { QL_TRUSTED_PROXIES: "127.0.0.1" });
  const { server } = subject;
  const env = { ...subject.env, QL_DATA: server.dataDir };
  try {
    const attacked = await createLink(server);
    const others = await createKnownLinks(server, "other", otherLinks, false);
    const send = async (count: number, next: (place: number) => { path: string; headers: string }) => {
      let place = 0;
      let served = 0;
      await Promise.all(
        Array.from({ length: connections }, async () => {
          const line = createLine();
          while (place < count) {
            const { path, headers } = next(place++);
            const answer = await line.ask(server.port, path, headers);
            if (answer === 302) served++;
          }
          line.hangUp();
        }),
      );
      return served;
    };
    const usual = (place: number) => ({ path: `/${attacked}`, headers: normalVisit(place) });
    shown.now("server: normal visitors");
    const cpuOf = async (work: () => Promise<number>) => {
      const before = cpuMicros(server.pid);
      const served = await work();
      await untilStored(server);
      return { served, micros: (cpuMicros(server.pid) - before) / Math.max(1, served) };
    };
    const half = (short ? normal.short : normal.full) / 2;
    await cpuOf(() => send(half, usual));
    const calm = await cpuOf(() => send(half, usual));
    const [rows, resident] = [await measureRows(env, attacked), residentBytes(server.pid)];

    shown.now("server: attack");
    const visits = others.flatMap(({ code }, link) =>
      Array.from({ length: referrersEach * timesEach }, (_, place) => ({
        path: `/${code}`,
        headers: normalVisit(link, `https://site-${link}-${place % referrersEach}.example/`),
      })),
    );
    const count = short ? attacks.short : attacks.full;
    const every = Math.floor(count / visits.length);
    let peak = resident;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentBytes(server.pid));
    }, 250);
    const attack = await cpuOf(() =>
      send(count, (place) => {
        const other = place % every === 0 ? visits[place / every] : undefined;
        if (other !== undefined) return other;
        const { query, headers } = attackOf(place);
        return { path: `/${attacked}?${query}`, headers };
      }),
    );
    clearInterval(sampling);
    const after = await measureRows(env, attacked);
    const memory = (peak - resident) / 1_048_576;

    shown.now("server: reports of other links");
    let wrong = 0;
    for (const [link, { id }] of others.entries()) {
      const report = await ask(server, `/api/links/${id}/stats`, [], "all");
      const found = new Map(report.breakdowns.referrer?.values.map(({ value, clicks }) => [value, clicks]));
      if (report.totals.clicks !== referrersEach * timesEach) wrong++;
      if (report.totals.visitors !== 1 || report.breakdowns.country?.values[0]?.value !== countryOf(link)) wrong++;
      for (let place = 0; place < referrersEach; place++) {
        if (found.get(`site-${link}-${place}.example`) !== timesEach) wrong++;
      }
    }
    shown.end();
    const requests = attack.served - visits.length;
    console.log(
      `attack-on-clicks: on=server requests=${requests} distinct_values=${requests * valuesOfRequest} ` +
        `values=${after.values - rows.values} events=${after.events} overflow_rows=${after.overflow} ` +
        `overflow_bytes=${after.overflowBytes} visitors=${after.visitors - rows.visitors} ` +
        `database_bytes=${after.bytes - rows.bytes} memory_mb=${round(memory)} (from ${round(resident / 1_048_576)}) ` +
        `cpu_normal_micros=${round(calm.micros)} cpu_attacked_micros=${round(attack.micros)} ` +
        `times=${round(attack.micros / calm.micros)}`,
    );
    const about = {
      promise: promises.small,
      scenario: "server",
      done: `${shownCount(requests * valuesOfRequest)} distinct values in ${shownCount(requests)} requests for one link of a server`,
      times: requests,
    };
    claimRows(claim, about, rows, after, requests, otherLinks * referrersEach);
    claim({ ...about, measure: "memory", figure: memory, unit: "MB", bound: { most: memoryMost } });
    claim({
      ...about,
      promise: promises.others,
      measure: "others_wrong",
      times: otherLinks * (referrersEach + 2),
      figure: wrong,
      bound: { exactly: 0 },
    });
  } finally {
    shown.end();
    await subject.stop();
  }
}

async function inProcess({ short, claim }: Attempt, database: Database): Promise<void> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  const { server } = subject;
  const env = { ...subject.env, QL_DATA: server.dataDir };
  try {
    const attacked = await createLink(server);
    const before = await measureRows(env, attacked);
    shown.now(`${database}: attack in this process`);
    const requests = short ? attacksInProcess.short : attacksInProcess.full;
    const { seconds, memory } = await attackInProcess(env, attacked, requests);
    const after = await measureRows(env, attacked);
    shown.end();
    console.log(
      `attack-on-clicks: on=${database} requests=${requests} distinct_values=${requests * valuesOfRequest} ` +
        `values=${after.values - before.values} events=${after.events} overflow_rows=${after.overflow} ` +
        `overflow_bytes=${after.overflowBytes} visitors=${after.visitors - before.visitors} ` +
        `database_bytes=${after.bytes - before.bytes} memory_mb=${round(memory / 1_048_576)} seconds=${round(seconds)}`,
    );
    const done = `${shownCount(requests * valuesOfRequest)} distinct values in ${shownCount(requests)} clicks on one link, by capture and writer`;
    const about = { promise: promises.small, scenario: database, done, times: requests };
    claimRows(claim, about, before, after, requests, 0);
    const counted = Math.abs(after.clicks - before.clicks - requests);
    claim({ ...about, promise: promises.others, measure: "not_counted", figure: counted, bound: { exactly: 0 } });
  } finally {
    shown.end();
    await subject.stop();
  }
}

type About = Pick<Parameters<Attempt["claim"]>[0], "promise" | "scenario" | "done" | "times">;

function claimRows(
  claim: Attempt["claim"],
  about: About,
  before: Rows,
  after: Rows,
  requests: number,
  known: number,
): void {
  const values = after.values - before.values;
  claim({
    ...about,
    ...{ measure: "values", figure: values, unit: "rows" },
    bound: { most: newValuesOfLinkMost * dimensionsFilled + known },
  });
  claim({
    ...about,
    ...{ measure: "events", figure: after.events, unit: "rows" },
    bound: { most: 2 * eventsOfQuarterMost * after.quarters },
  });
  claim({
    ...about,
    ...{ measure: "overflow", figure: after.overflow, unit: "rows" },
    bound: { most: after.quarters },
  });
  claim({
    ...about,
    ...{ measure: "overflow_bytes", figure: Math.round(after.overflowBytes / 1_024), unit: "KB a row" },
    bound: { most: overflowKbMost },
  });
  const visitors = after.visitors - before.visitors;
  claim({
    ...about,
    ...{ measure: "visitors", figure: visitors, unit: "rows" },
    bound: { most: 2 * (requests + otherLinks) },
  });
  claim({
    ...about,
    ...{ measure: "bytes", figure: Math.round((after.bytes - before.bytes) / 1_024), unit: "KB" },
    bound: {
      most: Math.round((2 * requests * bytesOfVisitorMost) / 1_024 + after.quarters * (overflowKbMost + 1_024)),
    },
  });
}

/** Two tallies of 14 dimensions with 300 values of about 20 characters, and counts. A value has at most 100 characters. */
const overflowKbMost = 512;

const promises = {
  small: "an attack with distinct values on one link takes no more rows and memory than the caps allow",
  others: "other links are reported exactly during such an attack, and every click is counted",
};

const shownCount = (count: number): string => count.toLocaleString("en-US");
