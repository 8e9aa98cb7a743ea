import { sql as raw, type Transaction } from "kysely";
import type { Clock } from "../base/clock.ts";
import { leaseSize } from "../limits/lease-size.ts";
import type { Ask, LeaseAnswer, LeaseStore } from "../limits/leases.ts";
import type { Drained } from "../limits/meters.ts";
import { monthEnd, monthOf, secondsToMonthEnd } from "../limits/month.ts";
import type { Schema } from "./schema.ts";
import type { Sql } from "./sql.ts";

/**
 * Leases from SQL. The row of a link's month says how much is counted and how much is out on lease, and a lease of n is
 * given only while counted + reserved + n stays within the limit. A recording moves units from reserved to counted, so
 * their sum never shrinks by anything but what is given back: whatever a crash leaves behind stays reserved, and the
 * limit is never overshot.
 *
 * Asks that arrive together go into one transaction, for a commit costs more than all the rows in it.
 */
export interface SqlLeases extends LeaseStore {
  /**
   * Writes down what was spent and takes back what was not, once: `sequence` grows with every batch of a recorder, and
   * a batch that came through before, though nobody heard of it, changes nothing.
   */
  record(recorder: string, sequence: number, drained: readonly Drained[]): Promise<void>;
}

const leaseMs = 5_000;
const batchMost = 500;

interface Waiting {
  readonly ask: Ask;
  readonly answered: PromiseWithResolvers<LeaseAnswer>;
}

export function createSqlLeases(
  sql: Sql,
  clock: Clock,
  reasons: readonly string[],
  split: (key: string) => { domain: string; code: string },
  holders: () => number,
): SqlLeases {
  let queue: Waiting[] = [];
  let running = false;

  async function work(): Promise<void> {
    running = true;
    while (queue.length > 0) {
      const batch = queue.slice(0, batchMost);
      queue = queue.slice(batchMost);
      try {
        const answers = await sql.transaction((trx) =>
          grantAll(
            trx,
            batch.map((one) => one.ask),
          ),
        );
        for (const [i, one] of batch.entries()) {
          const answer = answers[i];
          if (answer) one.answered.resolve(answer);
          else one.answered.reject(new Error("the store answered less than it was asked"));
        }
      } catch (error) {
        for (const one of batch) one.answered.reject(error);
      }
    }
    running = false;
  }

  async function grantAll(trx: Transaction<Schema>, asks: readonly Ask[]): Promise<LeaseAnswer[]> {
    const now = await timeOf(trx);
    const answers: LeaseAnswer[] = [];
    // In the order of their keys, so that two servers cannot wait for each other's rows.
    const inOrder = [...asks.entries()].sort(([, a], [, b]) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    for (const [place, ask] of inOrder) answers[place] = await grant(trx, ask, now);
    return answers;
  }

  async function timeOf(trx: Transaction<Schema>): Promise<number> {
    if (sql.dialect === "sqlite") return clock.now(); // the store's clock is this machine's
    const { rows } = await raw<{
      now: number;
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(trx);
    return rows[0]?.now ?? clock.now();
  }

  async function grant(trx: Transaction<Schema>, ask: Ask, now: number): Promise<LeaseAnswer> {
    const month = monthOf(now);
    const validForMs = Math.min(leaseMs, monthEnd(now) - now);
    const given = await trx.selectFrom("leases").select(["size", "month"]).where("id", "=", ask.id).executeTakeFirst();
    // An answer that was lost before the month's end is of no use after it: the asker gives it back and asks anew.
    if (given) return { kind: "granted", ...given, validForMs: given.month === month ? validForMs : 0 };

    const row = { ...split(ask.key), month, draws: ask.draws };
    await trx
      .insertInto("quotas")
      .values({ ...row, counted: 0, reserved: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const quota = trx
      .selectFrom("quotas")
      .select(["counted", "reserved"])
      .where("domain", "=", row.domain)
      .where("code", "=", row.code)
      .where("month", "=", month)
      .where("draws", "=", ask.draws);
    const { counted, reserved } = await sql.locked(quota).executeTakeFirstOrThrow();
    const size = leaseSize({
      want: ask.want,
      max: ask.max,
      remaining: ask.max - counted - reserved,
      holders: holders(),
    });
    if (size === 0) return { kind: "denied", outstanding: reserved > 0, secondsToMonthEnd: secondsToMonthEnd(now) };

    await trx
      .updateTable("quotas")
      .set({ reserved: reserved + size })
      .where("domain", "=", row.domain)
      .where("code", "=", row.code)
      .where("month", "=", month)
      .where("draws", "=", ask.draws)
      .execute();
    await trx.insertInto("leases").values({ id: ask.id, month, size }).execute();
    return { kind: "granted", size, month, validForMs };
  }

  async function add(trx: Transaction<Schema>, drained: Drained): Promise<void> {
    const row = { ...split(drained.key), month: drained.month };
    const back = drained.leased + drained.unspent;
    if (drained.units === 0 && back === 0) return;
    await trx
      .insertInto("quotas")
      .values({ ...row, draws: drained.draws, counted: drained.units, reserved: 0 })
      .onConflict((conflict) =>
        conflict.columns(["domain", "code", "month", "draws"]).doUpdateSet((expression) => ({
          counted: expression("quotas.counted", "+", drained.units),
          reserved: expression("quotas.reserved", "-", back),
        })),
      )
      .execute();
    for (const [place, count] of drained.spent.entries()) {
      const reason = reasons[place];
      if (count === 0 || reason === undefined) continue;
      await trx
        .insertInto("hits")
        .values({ ...row, reason, hits: count })
        .onConflict((conflict) =>
          conflict.columns(["domain", "code", "month", "reason"]).doUpdateSet((expression) => ({
            hits: expression("hits.hits", "+", count),
          })),
        )
        .execute();
    }
  }

  return {
    acquire(ask) {
      const answered = Promise.withResolvers<LeaseAnswer>();
      queue.push({ ask, answered });
      // After this turn of the event loop: whoever asks in the same turn shares the commit.
      if (!running) {
        running = true;
        setImmediate(() => void work());
      }
      return answered.promise;
    },

    async record(recorder, sequence, drained) {
      const inOrder = [...drained].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      await sql.transaction(async (trx) => {
        const first = await trx
          .insertInto("recorders")
          .values({ id: recorder, sequence, seen_at: clock.now() })
          .onConflict((conflict) =>
            conflict
              .column("id")
              .doUpdateSet({ sequence, seen_at: clock.now() })
              .where("recorders.sequence", "<", sequence),
          )
          .returning("sequence")
          .executeTakeFirst();
        if (first === undefined) return;
        for (const one of inOrder) await add(trx, one);
        const ended = inOrder.flatMap(({ lease }) => (lease === undefined ? [] : [lease]));
        for (let at = 0; at < ended.length; at += batchMost) {
          await trx
            .deleteFrom("leases")
            .where("id", "in", ended.slice(at, at + batchMost))
            .execute();
        }
      });
    },
  };
}
