import { sql as raw, type Selectable } from "kysely";
import { type Clock, dayMs } from "../base/clock.ts";
import { Late } from "../base/deadline.ts";
import { gatherPerTurn } from "../base/per-turn.ts";
import { leaseSize } from "../limits/lease-size.ts";
import type {
  Ask,
  Denied,
  FirstAnswer,
  FirstVisit,
  LeaseAnswer,
  LeaseStore,
  MonthOf,
  RecordedTotal,
} from "../limits/leases.ts";
import type { Drained } from "../limits/meters.ts";
import { monthEnd, monthName, secondsToMonthEnd } from "../limits/window.ts";
import { type BulkValue, bulkInsert } from "./bulk.ts";
import { setSequence } from "./recorders.ts";
import type { HitTable, QuotaTable } from "./schema.ts";
import type { Sql } from "./sql.ts";
import { type Params, statement } from "./statement.ts";
import type { Db, Trx } from "./tenant-db.ts";
import type { Place } from "./versions.ts";

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
   * Counts visits without leases, in their order, and returns the new totals too; none of them if their visitors have given up before
   * it begins. Only for SQLite, where the fate of a commit is known, and nobody can give up between the beginning and the commit.
   */
  countFirst(visits: readonly FirstVisit[], areAwaited: () => boolean): Promise<CountedVisits>;
  /**
   * Stores what was spent and takes back what was not, once: `sequence` grows with every batch of a recorder, and
   * repeating a batch whose answer was lost changes nothing. Returns the new totals of the months.
   */
  record(recorder: string, sequence: number, drained: readonly Drained[]): Promise<RecordedTotal[]>;
  /** Counted and lent now. */
  total(month: MonthOf): Promise<number>;
}

export interface CountedVisits {
  readonly answers: readonly FirstAnswer[];
  readonly totals: readonly RecordedTotal[];
}

const leaseMs = 5_000;
const batchMost = 500;
const idsMost = 256; // in one statement
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
   * A few statements for any number of asks: the months before, the leases, the months after. Rows are locked in the
   * order of their keys, so that two servers cannot deadlock. An ask has no answer if its lease was deleted meanwhile.
   */
  async function grantAll(trx: Trx, asks: readonly Ask[]): Promise<(LeaseAnswer | undefined)[]> {
    const now = await timeOf(trx);
    const month = monthName(now);
    const validForMs = Math.min(leaseMs, monthEnd(now) - now);
    const answers = new Map<string, LeaseAnswer>();
    const grant = (id: string, lease: { size: number; month: string }) =>
      // An answer that was lost before the month's end is useless after it: the asker returns it and asks again.
      answers.set(id, {
        ...{ kind: "granted", lender: "sql", lease: id, size: lease.size, month: lease.month },
        validForMs: lease.month === month ? validForMs : 0,
      });
    const inOrder = [...asks].sort(byKey);
    const months = await lockMonths(trx, inOrder, month);
    const sizes = new Map<string, { readonly row: Month; readonly size: number }>();
    for (const [place, { id, want, max }] of inOrder.entries()) {
      const row = months[place];
      if (row === undefined || sizes.has(id)) continue;
      const size = leaseSize({ want, max, remaining: max - row.counted - row.reserved, holders: holders() });
      sizes.set(id, { row, size });
      if (size === 0) answers.set(id, deniedBy(row, now));
      row.reserved += size;
    }
    // An ask that was granted before has its lease, and gets no second one.
    const fresh = await addLeases(trx, month, sizes);
    const repeated = sizes.size === fresh.size ? [] : [...sizes.keys()].filter((id) => !fresh.has(id));
    const given = repeated.length === 0 ? [] : await selectLeases.all(trx, { ids: repeated });
    for (const { id, ...lease } of given) grant(id, lease);
    const lent = new Set<Month>();
    for (const [id, { row, size }] of sizes) {
      if (fresh.has(id)) {
        grant(id, { size, month });
        row.lent_until = now + validForMs;
        lent.add(row);
      } else {
        row.reserved -= size;
      }
    }
    await setReserved.run(trx, valuesOf(lent));
    return asks.map(({ id }) => answers.get(id));
  }

  /** What a crash left reserved is never returned; what is lent now may be. */
  const deniedBy = ({ reserved, lent_until }: Pick<Month, "reserved" | "lent_until">, now: number): Denied => ({
    ...{ kind: "denied", lender: "sql", outstanding: reserved > 0 && lent_until > now },
    secondsToMonthEnd: secondsToMonthEnd(now),
  });

  async function countAll(trx: Trx, visits: readonly FirstVisit[]): Promise<CountedVisits> {
    const now = await timeOf(trx);
    const month = monthName(now);
    const counted: FirstAnswer = { kind: "counted", month };
    const answers: FirstAnswer[] = [];
    const totals: RecordedTotal[] = [];
    const hits: BulkValue[] = [];
    for (const { key, draws, max, reason } of visits) {
      const { domain, code } = split(key);
      const row = max < 1 ? undefined : await countOne.first(trx, { domain, code, month, draws, max });
      if (row === undefined) {
        const full = await selectMonth.first(trx, { domain, code, month, draws });
        answers.push(deniedBy(full ?? { reserved: 0, lent_until: 0 }, now));
        continue;
      }
      answers.push(counted);
      totals.push({ key, draws, month, total: row.counted + row.reserved, counted: row.counted });
      if (draws !== "hits") hits.push(domain, code, month, reasons[reason] ?? "", 1);
    }
    await addHits.run(trx, hits);
    return { answers, totals };
  }

  /** The ids that had no lease before. */
  async function addLeases(
    trx: Trx,
    month: string,
    sizes: ReadonlyMap<string, { readonly size: number }>,
  ): Promise<Set<string>> {
    const rows: BulkValue[] = [];
    for (const [id, { size }] of sizes) if (size > 0) rows.push(id, month, size);
    return new Set((await insertLeases.run(trx, rows)).map(({ id }) => id));
  }

  async function timeOf(trx: Trx): Promise<number> {
    if (sql.dialect === "sqlite") return clock.now(); // the store's clock is this machine's
    return (await selectTime.one(trx)).now;
  }

  const selectTime = statement((_: Db) => raw<{ now: number }>`select ${sql.now} as now`);

  /** The month of each of these asks, locked. Asks of one limit have the same. SQLite has one writer: the rows are only read. */
  async function lockMonths(trx: Trx, inOrder: readonly Ask[], month: string): Promise<(Month | undefined)[]> {
    const months = new Map<string, Month>();
    const names: string[] = [];
    for (const { key, draws } of inOrder) {
      const { domain, code } = split(key);
      const row = { domain, code, month, draws, counted: 0, reserved: 0, lent_until: 0 };
      const name = nameOf(row);
      names.push(name);
      if (!months.has(name)) months.set(name, row);
    }
    const found = sql.dialect === "sqlite" ? await readMonths(trx, months, month) : await createMonths(trx, months);
    for (const row of found) {
      const name = nameOf(row);
      if (months.has(name)) months.set(name, row);
    }
    return names.map((name) => months.get(name));
  }

  async function readMonths(trx: Trx, months: ReadonlyMap<string, Month>, month: string): Promise<Month[]> {
    return await selectMonths.all(trx, { asked: placesOf(months.values()), month });
  }

  /** Links that are new to Redis ask for this together. */
  const total = gatherPerTurn<MonthOf, number>(idsMost, async (wanted) => {
    const found = new Map<string, Month>();
    for (const month of new Set(wanted.map((one) => one.month))) {
      const asked = placesOf(wanted.filter((one) => one.month === month).map(({ key }) => split(key)));
      for (const row of await selectMonths.all(sql.db, { asked, month })) found.set(`${month} ${nameOf(row)}`, row);
    }
    return wanted.map(({ key, draws, month }) => {
      const row = found.get(`${month} ${nameOf({ ...split(key), draws })}`);
      return row === undefined ? 0 : row.counted + row.reserved;
    });
  });

  const createMonths = (trx: Trx, months: ReadonlyMap<string, Month>): Promise<Month[]> =>
    lockQuotas.run(trx, valuesOf(months.values()));

  const selectMonths = statement((db: Db, { asked, month }: Params<{ asked: string; month: string }>) =>
    db
      .selectFrom(sql.eachPlace(asked))
      .innerJoin("quotas as q", (join) =>
        join.onRef("q.domain", "=", "asked.domain").onRef("q.code", "=", "asked.code").on("q.month", "=", month),
      )
      .select(["q.domain", "q.code", "q.month", "q.draws", "q.counted", "q.reserved", "q.lent_until"]),
  );

  const ofQuotas = (tail: string) =>
    bulkInsert<"quotas", Month>(sql.dialect, {
      into: "quotas",
      columns: quotaColumns,
      tail: `on conflict (domain, code, month, draws) do update set ${tail}`,
    });
  /** Missing rows are inserted. Setting a column to itself locks the row, and returns its values. */
  const lockQuotas = ofQuotas(`counted = quotas.counted returning ${Object.keys(quotaColumns).join(", ")}`);
  const setReserved = ofQuotas("reserved = excluded.reserved, lent_until = excluded.lent_until");
  const addCounted = ofQuotas(
    `counted = quotas.counted + excluded.counted, reserved = quotas.reserved - excluded.reserved
      returning ${Object.keys(quotaColumns).join(", ")}`,
  );
  const insertLeases = bulkInsert<"leases", { id: string }>(sql.dialect, {
    into: "leases",
    columns: { id: "text", month: "text", size: "bigint" },
    tail: "on conflict (id) do nothing returning id",
  });
  const addHits = bulkInsert<"hits">(sql.dialect, {
    into: "hits",
    columns: { domain: "text", code: "text", month: "text", reason: "text", hits: "bigint" },
    tail: "on conflict (domain, code, month, reason) do update set hits = hits.hits + excluded.hits",
  });

  /**
   * Hundreds of links per statement: on a busy server this runs every second, on the serving thread. What was drained of
   * a link is in a row: its rows are found without a name for each.
   */
  async function add(trx: Trx, inOrder: readonly Drained[]): Promise<RecordedTotal[]> {
    const keys = new Map<string, string>();
    const quotas: Month[] = [];
    const hits: BulkValue[] = [];
    const ended: string[] = [];
    let ofLink: HitTable[] = [];
    let [place, placeKey]: [{ domain: string; code: string } | undefined, string] = [undefined, ""];
    const closeLink = () => {
      ofLink.sort((a, b) => compare(a.month, b.month) || compare(a.reason, b.reason));
      for (const { domain, code, month, reason, hits: count } of ofLink) hits.push(domain, code, month, reason, count);
      ofLink = [];
    };
    for (const { key, month, draws, lender, units, leased, unspent, spent, lease } of inOrder) {
      if (place === undefined || key !== placeKey) {
        closeLink();
        [place, placeKey] = [split(key), key];
        keys.set(`${place.domain} ${place.code}`, key);
      }
      const { domain, code } = place;
      const reserved = lender === "sql" ? leased + unspent : 0;
      if (units + reserved > 0) {
        const last = quotas.at(-1);
        const isSame = last?.code === code && last.domain === domain && last.draws === draws && last.month === month;
        const quota = isSame ? last : { domain, code, month, draws, counted: 0, reserved: 0, lent_until: 0 };
        quota.counted += units;
        quota.reserved += reserved;
        if (!isSame) quotas.push(quota);
      }
      // Those of visits would repeat what the month has counted.
      if (units > 0 && draws !== "hits") addSpent(ofLink, spent, place, month);
      if (lease !== undefined && lender === "sql") ended.push(lease);
    }
    closeLink();
    // A row that does not exist yet has nothing reserved and nothing to return: both values are 0 then.
    const totals: RecordedTotal[] = [];
    for (const { domain, code, month, draws, counted, reserved } of await addCounted.run(trx, valuesOf(quotas))) {
      const key = keys.get(`${domain} ${code}`);
      if (key !== undefined) totals.push({ key, draws, month, total: counted + reserved, counted });
    }
    await addHits.run(trx, hits);
    for (let at = 0; at < ended.length; at += idsMost) {
      await deleteLeases.run(trx, { ids: ended.slice(at, at + idsMost) });
    }
    return totals;
  }

  function addSpent(ofLink: HitTable[], spent: readonly number[], place: Place, month: string): void {
    for (const [at, count] of spent.entries()) {
      const reason = reasons[at];
      if (count === 0 || reason === undefined) continue;
      const known = ofLink.find((one) => one.reason === reason && one.month === month);
      if (known === undefined) ofLink.push({ domain: place.domain, code: place.code, month, reason, hits: count });
      else known.hits += count;
    }
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

    countFirst: (visits, areAwaited) =>
      sql.transaction((trx) => {
        if (!areAwaited()) throw new Late("the visitors have given up");
        return countAll(trx, visits);
      }),

    async record(recorder, sequence, drained) {
      const inOrder = [...drained].sort(byKey);
      return await sql.transaction(async (trx) => {
        const first = await setSequence.first(trx, { id: recorder, sequence, seen_at: clock.now() });
        return first === undefined ? [] : await add(trx, inOrder);
      });
    },

    total,
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

type Month = Selectable<QuotaTable>;
type QuotaKey = Pick<QuotaTable, "domain" | "code" | "month" | "draws">;

const quotaColumns = {
  domain: "text",
  code: "text",
  month: "text",
  draws: "text",
  counted: "bigint",
  reserved: "bigint",
  lent_until: "bigint",
} as const;

/** In the order of the columns. */
function valuesOf(rows: Iterable<Month>): BulkValue[] {
  const values: BulkValue[] = [];
  for (const { domain, code, month, draws, counted, reserved, lent_until } of rows) {
    values.push(domain, code, month, draws, counted, reserved, lent_until);
  }
  return values;
}

const placesOf = (places: Iterable<Place>): string =>
  JSON.stringify(Array.from(places, ({ domain, code }) => [domain, code]));

const selectLeases = statement((db: Db, { ids }: Params<{ ids: readonly string[] }>) =>
  db.selectFrom("leases").select(["id", "month", "size"]).where("id", "in", ids),
);

const deleteLease = statement((db: Db, { id }: Params<{ id: string }>) =>
  db.deleteFrom("leases").where("id", "=", id).returning(["size", "month"]),
);

const deleteLeases = statement((db: Db, { ids }: Params<{ ids: readonly string[] }>) =>
  db.deleteFrom("leases").where("id", "in", ids),
);

const giveBack = statement((db: Db, { domain, code, month, draws, size }: Params<QuotaKey & { size: number }>) =>
  db
    .updateTable("quotas")
    .set((expression) => ({ reserved: expression("reserved", "-", size) }))
    .where((is) => is.and({ domain, code, month, draws })),
);

/** One more, if it is within the limit. */
const countOne = statement((db: Db, { domain, code, month, draws, max }: Params<QuotaKey & { max: number }>) =>
  db
    .insertInto("quotas")
    .values({ domain, code, month, draws, counted: 1, reserved: 0, lent_until: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(["domain", "code", "month", "draws"])
        .doUpdateSet((expression) => ({ counted: expression("quotas.counted", "+", 1) }))
        .where((is) => is(is("quotas.counted", "+", is.ref("quotas.reserved")), "<", max)),
    )
    .returning(["counted", "reserved"]),
);

const selectMonth = statement((db: Db, { domain, code, month, draws }: Params<QuotaKey>) =>
  db
    .selectFrom("quotas")
    .select(["reserved", "lent_until"])
    .where((is) => is.and({ domain, code, month, draws })),
);

/** Until it is deleted, the row of a month is the only place that has its visits. */
const keepVisits = statement(
  (db: Db, { domain, code, month, counted }: Params<Omit<QuotaKey, "draws"> & { counted: number }>) =>
    db
      .insertInto("hits")
      .values({ domain, code, month, reason: "counted", hits: counted })
      .onConflict((conflict) =>
        conflict
          .columns(["domain", "code", "month", "reason"])
          // Earlier versions wrote both.
          .doUpdateSet((is) => ({ hits: is.ref("excluded.hits") }))
          .where((is) => is("hits.hits", "<", is.ref("excluded.hits"))),
      ),
);

/** Deletes old months and recorders; returns how many rows. What was counted, and why, stays in `hits`. */
export async function pruneLeases(sql: Sql, now: number, limit: number): Promise<number> {
  const past = firstKeptMonth(now);
  const quotas = await sql.db
    .selectFrom("quotas")
    .select(["domain", "code", "month", "draws", "counted"])
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
    for (const { domain, code, month, draws, counted } of quotas) {
      if (draws === "hits" && counted > 0) await keepVisits.run(trx, { domain, code, month, counted });
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
