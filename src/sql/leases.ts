import { sql as raw, type Selectable } from "kysely";
import { type Clock, dayMs } from "../base/clock.ts";
import { leaseSize } from "../limits/lease-size.ts";
import type { Ask, LeaseAnswer, LeaseStore, MonthOf, RecordedTotal } from "../limits/leases.ts";
import type { Drained } from "../limits/meters.ts";
import { monthEnd, monthName, secondsToMonthEnd } from "../limits/window.ts";
import { setSequence } from "./recorders.ts";
import type { HitTable, LeaseTable, QuotaTable } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { type Params, rowBatches, statement } from "./statement.ts";
import type { Db, Trx } from "./tenant-db.ts";

/**
 * Leases from SQL. The row of a link's month has what is counted and what is out on lease, and a lease of n is granted
 * only while counted + reserved + n stays within the limit. A recording moves units from reserved to counted, so their
 * sum shrinks only by returned units: what a crash leaves behind stays reserved, and the limit is never exceeded.
 *
 * Asks that arrive together share one transaction, because a commit costs more than all the rows in it.
 */
export interface SqlLeases extends LeaseStore {
  /** Another lender has answered: anything granted here is taken back as soon as that can be written. */
  cancel(ask: Ask): void;
  /**
   * Stores what was spent and takes back what was not, once: `sequence` grows with every batch of a recorder, and
   * repeating a batch whose answer was lost changes nothing. Returns the new totals of the months.
   */
  record(recorder: string, sequence: number, drained: readonly Drained[]): Promise<RecordedTotal[]>;
  /** Counted and lent now. */
  total(month: MonthOf): Promise<number>;
}

const leaseMs = 5_000;
const batchMost = 500;
const rowsMost = 256; // in one statement
const retryMs = 1_000;

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
  const cancelled = new Map<string, Ask>();
  let running = false;

  /** After this turn of the event loop: all asks of the same turn share the commit. */
  function wake(): void {
    if (running) return;
    running = true;
    setImmediate(() => void work());
  }

  /** One transaction at a time, so one that takes back comes after the one that may have granted. */
  async function work(): Promise<void> {
    let failed = false;
    while (queue.length > 0 || (cancelled.size > 0 && !failed)) {
      if (queue.length > 0) await answerBatch();
      else
        failed = await takeBack().then(
          () => false,
          () => true,
        );
    }
    running = false;
    if (failed) setTimeout(wake, retryMs).unref();
  }

  async function answerBatch(): Promise<void> {
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

  async function takeBack(): Promise<void> {
    const asks = [...cancelled.values()].slice(0, batchMost).sort(byKey);
    await sql.transaction(async (trx) => {
      const taken: { id: string; size: number; month: string }[] = [];
      for (const { id, key, draws } of asks) {
        const lease = await deleteLease.first(trx, { id });
        if (lease === undefined) continue;
        await giveBack.run(trx, { ...split(key), ...lease, draws });
        taken.push({ id, ...lease });
      }
      return { taken }; // for wrappers around the database: the simulation records it
    });
    for (const { id } of asks) cancelled.delete(id);
  }

  /**
   * A few statements for any number of asks: earlier grants, the months before, the months after, the leases. Rows are
   * locked in the order of their keys, so that two servers cannot deadlock.
   */
  async function grantAll(trx: Trx, asks: readonly Ask[]): Promise<LeaseAnswer[]> {
    const now = await timeOf(trx);
    const month = monthName(now);
    const validForMs = Math.min(leaseMs, monthEnd(now) - now);
    const answers = new Map<string, LeaseAnswer>();
    const grant = (id: string, lease: { size: number; month: string }) =>
      // An answer that was lost before the month's end is useless after it: the asker returns it and asks again.
      answers.set(id, {
        ...{ kind: "granted", lender: "sql", lease: id, ...lease },
        validForMs: lease.month === month ? validForMs : 0,
      });
    const ids = asks.map(({ id }) => id);
    const given = await selectLeases.all(trx, { ids });
    for (const { id, ...lease } of given) grant(id, lease);

    const fresh = asks.filter(({ id }) => !answers.has(id)).sort(byKey);
    const months = await lockMonths(trx, fresh, month);
    const leases: LeaseTable[] = [];
    for (const { id, key, draws, want, max } of fresh) {
      const row = months.get(nameOf({ ...split(key), draws }));
      if (row === undefined || answers.has(id)) continue;
      const size = leaseSize({ want, max, remaining: max - row.counted - row.reserved, holders: holders() });
      if (size === 0) {
        // What a crash left reserved is never returned; what is lent now may be.
        const outstanding = row.reserved > 0 && row.lent_until > now;
        answers.set(id, { kind: "denied", lender: "sql", outstanding, secondsToMonthEnd: secondsToMonthEnd(now) });
        continue;
      }
      row.reserved += size;
      row.lent_until = now + validForMs;
      leases.push({ id, month, size });
      grant(id, { size, month });
    }
    if (leases.length > 0) await lend(trx, [...months.values()], leases);
    return asks.flatMap(({ id }) => answers.get(id) ?? []);
  }

  async function timeOf(trx: Trx): Promise<number> {
    if (sql.dialect === "sqlite") return clock.now(); // the store's clock is this machine's
    return (await selectTime.one(trx)).now;
  }

  const selectTime = statement((_: Db) => raw<{ now: number }>`select ${sql.now} as now`);

  async function lockMonths(
    trx: Trx,
    asks: readonly Ask[],
    month: string,
  ): Promise<Map<string, Selectable<QuotaTable>>> {
    const wanted = new Map(
      asks.map(({ key, draws }) => ({ ...split(key), draws, month })).map((row) => [nameOf(row), row]),
    );
    const months = new Map<string, Selectable<QuotaTable>>();
    for (const rows of rowBatches([...wanted.values()], rowsMost)) {
      for (const row of await lockQuotas.all(trx, { rows })) months.set(nameOf(row), row);
    }
    return months;
  }

  async function lend(
    trx: Trx,
    months: readonly Selectable<QuotaTable>[],
    leases: readonly LeaseTable[],
  ): Promise<void> {
    for (const rows of rowBatches(months, rowsMost)) await setReserved.run(trx, { rows });
    for (const rows of rowBatches(leases, rowsMost)) await insertLeases.run(trx, { rows });
  }

  /** Hundreds of links per statement: on a busy server this runs every second, on the serving thread. */
  async function add(trx: Trx, drained: readonly Drained[]): Promise<RecordedTotal[]> {
    const totals: RecordedTotal[] = [];
    const keys = new Map<string, string>();
    const quotas = new Map<string, Selectable<QuotaTable>>();
    const hits = new Map<string, HitTable>();
    for (const { key, month, draws, lender, units, leased, unspent, spent } of drained) {
      const row = { ...split(key), month };
      keys.set(`${row.domain} ${row.code}`, key);
      const reserved = lender === "sql" ? leased + unspent : 0;
      if (units + reserved > 0) {
        const quota = quotas.get(`${draws} ${month} ${key}`) ?? {
          ...row,
          draws,
          counted: 0,
          reserved: 0,
          lent_until: 0,
        };
        quota.counted += units;
        quota.reserved += reserved;
        quotas.set(`${draws} ${month} ${key}`, quota);
      }
      for (const [place, count] of spent.entries()) {
        const reason = reasons[place];
        if (count === 0 || reason === undefined) continue;
        const hit = hits.get(`${reason} ${month} ${key}`) ?? { ...row, reason, hits: 0 };
        hit.hits += count;
        hits.set(`${reason} ${month} ${key}`, hit);
      }
    }
    // A row that does not exist yet has nothing reserved and nothing to return: both values are 0 then.
    for (const rows of rowBatches([...quotas.values()], rowsMost)) {
      for (const { domain, code, month, draws, counted, reserved } of await addCounted.all(trx, { rows })) {
        const key = keys.get(`${domain} ${code}`);
        if (key !== undefined) totals.push({ key, draws, month, total: counted + reserved, counted });
      }
    }
    const inOrder = [...hits.values()].sort(
      (a, b) =>
        compare(a.domain, b.domain) ||
        compare(a.code, b.code) ||
        compare(a.month, b.month) ||
        compare(a.reason, b.reason),
    );
    for (const rows of rowBatches(inOrder, rowsMost)) await addHits.run(trx, { rows });
    const ended = drained.flatMap(({ lease, lender }) => (lease === undefined || lender !== "sql" ? [] : [lease]));
    for (let at = 0; at < ended.length; at += rowsMost) {
      await deleteLeases.run(trx, { ids: ended.slice(at, at + rowsMost) });
    }
    return totals;
  }

  return {
    acquire(ask) {
      const answered = Promise.withResolvers<LeaseAnswer>();
      queue.push({ ask, answered });
      wake();
      return answered.promise;
    },

    cancel(ask) {
      // Waiting repeats of it would be granted after it was taken back.
      for (const one of queue) if (one.ask.id === ask.id) one.answered.reject(new Error("the ask was taken back"));
      queue = queue.filter((one) => one.ask.id !== ask.id);
      cancelled.set(ask.id, ask);
      wake();
    },

    async record(recorder, sequence, drained) {
      const inOrder = [...drained].sort(byKey);
      return await sql.transaction(async (trx) => {
        const first = await setSequence.first(trx, { id: recorder, sequence, seen_at: clock.now() });
        return first === undefined ? [] : await add(trx, inOrder);
      });
    },

    async total({ key, draws, month }) {
      const row = await selectQuota.first(sql.db, { ...split(key), month, draws });
      return row === undefined ? 0 : row.counted + row.reserved;
    },
  };
}

/** One order for the rows of a batch, within a link too: two servers cannot deadlock. */
const byKey = (a: Sorted, b: Sorted): number =>
  compare(a.key, b.key) || compare(a.draws, b.draws) || compare(a.month ?? "", b.month ?? "");

interface Sorted {
  readonly key: string;
  readonly draws: string;
  readonly month?: string;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One of a link's two limits, in any month. */
const nameOf = ({ domain, code, draws }: Omit<QuotaKey, "month">): string => `${draws} ${domain} ${code}`;

const quotaKey = ["domain", "code", "month", "draws"] as const;
type QuotaKey = Pick<QuotaTable, (typeof quotaKey)[number]>;

const selectLeases = statement((db: Db, { ids }: Params<{ ids: readonly string[] }>) =>
  db.selectFrom("leases").select(["id", "month", "size"]).where("id", "in", ids),
);

const insertLeases = statement((db: Db, { rows }: Params<{ rows: readonly LeaseTable[] }>) =>
  db.insertInto("leases").values(rows),
);

const deleteLease = statement((db: Db, { id }: Params<{ id: string }>) =>
  db.deleteFrom("leases").where("id", "=", id).returning(["size", "month"]),
);

const deleteLeases = statement((db: Db, { ids }: Params<{ ids: readonly string[] }>) =>
  db.deleteFrom("leases").where("id", "in", ids),
);

const selectQuota = statement((db: Db, { domain, code, month, draws }: Params<QuotaKey>) =>
  db
    .selectFrom("quotas")
    .select(["counted", "reserved"])
    .where((is) => is.and({ domain, code, month, draws })),
);

/** Missing rows are inserted. Setting a column to itself locks the row, and returns its values. */
const lockQuotas = statement((db: Db, { rows }: Params<{ rows: readonly QuotaKey[] }>) =>
  db
    .insertInto("quotas")
    .values(rows.map((row) => ({ ...row, counted: 0, reserved: 0, lent_until: 0 })))
    .onConflict((conflict) =>
      conflict.columns(quotaKey).doUpdateSet((expression) => ({ counted: expression.ref("quotas.counted") })),
    )
    .returning([...quotaKey, "counted", "reserved", "lent_until"]),
);

const setReserved = statement((db: Db, { rows }: Params<{ rows: readonly Selectable<QuotaTable>[] }>) =>
  db
    .insertInto("quotas")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(quotaKey).doUpdateSet((expression) => ({
        reserved: expression.ref("excluded.reserved"),
        lent_until: expression.ref("excluded.lent_until"),
      })),
    ),
);

const addCounted = statement((db: Db, { rows }: Params<{ rows: readonly Selectable<QuotaTable>[] }>) =>
  db
    .insertInto("quotas")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(quotaKey).doUpdateSet((expression) => ({
        counted: expression("quotas.counted", "+", expression.ref("excluded.counted")),
        reserved: expression("quotas.reserved", "-", expression.ref("excluded.reserved")),
      })),
    )
    .returning([...quotaKey, "counted", "reserved"]),
);

const giveBack = statement((db: Db, { domain, code, month, draws, size }: Params<QuotaKey & { size: number }>) =>
  db
    .updateTable("quotas")
    .set((expression) => ({ reserved: expression("reserved", "-", size) }))
    .where((is) => is.and({ domain, code, month, draws })),
);

const addHits = statement((db: Db, { rows }: Params<{ rows: readonly HitTable[] }>) =>
  db
    .insertInto("hits")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["domain", "code", "month", "reason"]).doUpdateSet((expression) => ({
        hits: expression("hits.hits", "+", expression.ref("excluded.hits")),
      })),
    ),
);

/** Deletes old months and recorders; returns how many rows. What was counted, and why, stays in `hits`. */
export async function pruneLeases(sql: Sql, now: number, limit: number): Promise<number> {
  const past = firstKeptMonth(now);
  const quotas = await sql.db
    .selectFrom("quotas")
    .select(["domain", "code", "month", "draws"])
    .where("month", "<", past)
    .limit(limit)
    .execute();
  const leases = await sql.db.selectFrom("leases").select("id").where("month", "<", past).limit(limit).execute();
  const recorders = await sql.db
    .selectFrom("recorders")
    .select("id")
    .where("seen_at", "<", now - pastMs)
    .limit(limit)
    .execute();
  await sql.transaction(async (trx) => {
    for (const { domain, code, month, draws } of quotas) {
      await trx
        .deleteFrom("quotas")
        .where((is) => is.and({ domain, code, month, draws }))
        .execute();
    }
    for (const { id } of leases) await deleteLease.run(trx, { id });
    for (const { id } of recorders) await trx.deleteFrom("recorders").where("id", "=", id).execute();
  });
  return quotas.length + leases.length + recorders.length;
}

const pastMs = 40 * dayMs; // the month before this one, and some days of grace

export const firstKeptMonth = (now: number): string => monthName(now - pastMs);
