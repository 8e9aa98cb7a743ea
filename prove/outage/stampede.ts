/**
 * All caches are lost at once, in both servers and in Redis, while PostgreSQL is slow; and hundreds of visitors request
 * as many different links at the same moment. They share a few queries. Those who are told to come back, because the
 * machine is too busy, do so, and all of them are answered.
 */
import { createLine, type Line } from "../../bench/line.ts";
import { round } from "../../bench/show.ts";
import type { Claim } from "../proof.ts";
import type { Question } from "./questions.ts";
import type { Site } from "./site.ts";
import { add, askedIn, createTally, percentile, type Tally, wrongIn } from "./tally.ts";
import { startWatch } from "./watch.ts";

const visitorsEach = 300;
const slowMs = 10;
const turnsMost = 100;
const againMs = 100;

interface Visitor {
  readonly line: Line;
  readonly question: Question;
}

export const stampedeName = "stampede";

export async function stampede(site: Site): Promise<Claim[]> {
  const { redis, questions, toSql } = site;
  await redis.flush();
  await site.restart({ DATABASE_URL: site.byProxy.DATABASE_URL });
  const watch = await startWatch(site.servers);
  const ports = site.servers.map(({ port }) => port);
  const visitors: Visitor[] = questions.take(ports.length * visitorsEach).map((link, i) => {
    return { line: createLine(), question: { kind: "cold", ...link, port: Number(ports[i % ports.length]) } };
  });
  await Promise.all(visitors.map(({ line, question }) => line.ask(question.port, "/healthz")));
  toSql.delay(slowMs, "back");
  const burst = createTally();
  const startedMs = performance.now();
  let refused = await askAll(visitors, burst);
  const later = createTally();
  for (let turn = 0; refused.length > 0 && turn < turnsMost; turn++) {
    await Bun.sleep(againMs);
    refused = await askAll(refused, later);
  }
  const answeredMs = performance.now() - startedMs;
  toSql.pass();
  for (const { line } of visitors) line.hangUp();
  watch.ended();
  await watch.recovered();
  const { gained, breakers } = await watch.stop();
  const { waits, refused: told } = burst.by.cold;
  console.log(
    `row=stampede seed="jitter prevents it" requests=${askedIn(burst)} ok=${burst.ok} 503=${told} ` +
      `shed=${gained.shed} without_retry_after=${burst.withoutRetry} wrong_location=${burst.wrongLocation + later.wrongLocation} ` +
      `false_404=${burst.false404 + later.false404} p50_ms=${round(percentile(waits, 0.5), 1)} ` +
      `p99_ms=${round(percentile(waits, 0.99), 1)} never_answered=${refused.length} all_answered_ms=${Math.round(answeredMs)} ` +
      `breakers ${breakers.map(({ of }) => of).join(" ") || "closed"}`,
  );
  const scenario = stampedeName;
  const done = `${askedIn(burst)} visitors of as many links at once, without caches: ${burst.ok} answered, ${told} told to come again`;
  return [
    {
      ...{ scenario, measure: "wrong", promise: "whatever is unavailable, no visitor gets a wrong answer" },
      ...{ done, times: askedIn(burst), figure: wrongIn(burst) + wrongIn(later), bound: { exactly: 0 } },
    },
    {
      ...{ scenario, measure: "never_answered", promise: "visitors who come again are answered" },
      ...{ done: `${done}; all were answered, or gave up, after ${Math.round(answeredMs)} ms`, times: askedIn(burst) },
      ...{ figure: refused.length, bound: { exactly: 0 } },
    },
    {
      ...{ scenario, measure: "queries", promise: "links that are in no cache share queries to SQL" },
      ...{ done, times: askedIn(burst), figure: gained.queries, bound: { most: askedIn(burst) / 4 } },
    },
  ];
}

/** All at once; gives back those who were told to come again. */
async function askAll(visitors: readonly Visitor[], tally: Tally): Promise<Visitor[]> {
  const answers = await Promise.all(
    visitors.map(async ({ line, question }) => {
      const askedMs = performance.now();
      const answer = await line.ask(question.port, `/${question.code}`);
      const ms = performance.now() - askedMs;
      const refusals = answer === 503 ? 1 : 0;
      const withoutRetry = refusals > 0 && line.header("retry-after") === undefined ? 1 : 0;
      add(tally, question, { answer, location: line.header("location"), refusals, withoutRetry, ms });
      return answer;
    }),
  );
  return visitors.filter((_, i) => answers[i] === 503);
}
