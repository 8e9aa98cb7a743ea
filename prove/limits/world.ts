/**
 * One seed: some instances, links and stores, up to half a minute with all faults that the seed chooses, then calm, an
 * orderly stop, and the final checks.
 *
 * Five kinds of world take turns: SQL lends; Redis lends without a substitute; Redis lends, and SQL while it is
 * unavailable; the same, and Redis loses its data; one server with its database in a file. In the first two and the last no limit may
 * ever be exceeded. In the others the overshoot is bounded.
 */
import type { Lender } from "../../src/limits/leases.ts";
import { monthName } from "../../src/limits/window.ts";
import type { Sql } from "../../src/sql/sql.ts";
import type { Bounded, Row, Violation, WorldKind } from "./books.ts";
import type { Code } from "./code.ts";
import type { Tally } from "./faults.ts";
import type { Tell } from "./network.ts";
import { createScene, kindOf, type Scene } from "./scene.ts";
import { createTraffic, keepVisiting, type Traffic } from "./traffic.ts";
import { bringTrouble, endTrouble } from "./trouble.ts";

export interface Outcome {
  readonly seed: number;
  readonly kind: WorldKind;
  readonly steps: number;
  readonly granted: number;
  readonly denied: number;
  readonly unavailable: number;
  readonly tally: Tally;
  readonly violations: readonly Violation[];
  readonly overGrant: number;
  readonly overshoot: Bounded | undefined;
  readonly stranded: Bounded | undefined;
  /** Granted by each store. */
  readonly leases: Readonly<Record<Lender, number>>;
  /** Visits that were counted without a lease. */
  readonly firsts: number;
  /** Limits of a link in a month, checked at the end. */
  readonly accountsClosed: number;
}

/** When visitors come again. The breaker's longest pause is 36 s, then one of them may try, and the next get through. */
const calmMs = [12_000, 12_000, 14_000, 4_000];
const answerMs = 2_000;
const stopMs = 10_000;

export async function runWorld(seed: number, code: Code, sql: Sql, tell: Tell = () => {}): Promise<Outcome> {
  const scene = await createScene(seed, code, sql, tell);
  const { time, books, tally } = scene;
  try {
    const traffic = createTraffic(scene);
    await makeTrouble(scene, traffic);
    await calmDown(scene, traffic);
    await stop(scene);
    books.close(await rowsOf(sql), presentMonth(scene));
    const { granted, denied, unavailable } = traffic;
    const { violations, figures } = books;
    return {
      ...{ seed, kind: kindOf(seed), steps: time.events, granted, denied, unavailable, tally, violations },
      ...figures,
    };
  } finally {
    time.end();
  }
}

async function makeTrouble(scene: Scene, traffic: Traffic): Promise<void> {
  const { time, troubleMs, instanceCount, launch } = scene;
  const endsAt = time.now + troubleMs;
  const begin = () => keepVisiting(scene, traffic, launch(), endsAt);
  for (let i = 0; i < instanceCount; i++) begin();
  bringTrouble(scene, begin);
  await time.until(endsAt);
  endTrouble(scene);
}

/** Nothing may stay stuck: in the end every instance gets an answer for every limit. */
async function calmDown(scene: Scene, traffic: Traffic): Promise<void> {
  const { time, instances, links, books } = scene;
  const visitAll = (unanswered: Set<string>) => {
    for (const instance of instances) {
      for (const link of links) {
        for (const draws of ["hits", "exempt"] as const) {
          const name = `${instance.name}: ${draws} of ${link.key}`;
          unanswered.add(name);
          const visit = async () => {
            const { kind } = await traffic.visit(instance, link, draws);
            if (kind !== "unavailable") unanswered.delete(name);
          };
          time.after(0, () => void visit(), instance);
        }
      }
    }
  };
  for (const ms of calmMs) {
    await time.until(time.now + ms);
    visitAll(new Set());
  }
  await time.until(time.now + answerMs);
  const unanswered = new Set<string>();
  visitAll(unanswered);
  await time.until(time.now + answerMs);
  for (const name of unanswered) books.violate("stuck", name);
}

async function stop({ time, instances, books }: Scene): Promise<void> {
  let stopped = 0;
  for (const instance of instances) time.after(0, () => void instance.close().then(() => stopped++), instance);
  await time.until(time.now + stopMs);
  if (stopped < instances.size) books.violate("stuck", "an instance does not stop");
}

/** None if Redis came back to a month that it had left: ends of leases that came in between were for a month that was over. */
function presentMonth({ redisClock }: Scene): string | undefined {
  const month = monthName(redisClock.now());
  return monthName(Math.max(redisClock.latest, redisClock.now())) === month ? month : undefined;
}

async function rowsOf(sql: Sql): Promise<Row[]> {
  const rows = await sql.db.selectFrom("quotas").select(["code", "draws", "month", "counted", "reserved"]).execute();
  return rows.map((row) => ({ ...row, draws: row.draws === "hits" ? "hits" : "exempt" }));
}
