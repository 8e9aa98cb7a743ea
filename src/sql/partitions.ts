import { CompiledQuery } from "kysely";
import type { Sql } from "./sql.ts";
import type { Trx } from "./tenant-db.ts";

/**
 * Weekly partitions of `clicks` on PostgreSQL, made two weeks ahead by `quicklink migrate` and by a job: old weeks are
 * dropped as a whole, and a new week has indexes that fit into memory. Clicks of a week without a partition go to the
 * default partition, `clicks_rest`, and are moved when theirs is made.
 *
 * A partition is made apart and then attached, which locks the default partition only. All of it waits for locks for a
 * second at most: what waits for an exclusive lock stops everybody behind it. On SQLite there is nothing to do.
 */
/** They begin with the days that it divides. */
export const daysOfPartition = 7;
const weeksAhead = 2;
const lockMs = 1_000;
/** What is moved within the time of a statement. A week with more stays in the default partition. */
const movedMost = 200_000;
const rest = "clicks_rest";
const deletedAtOnce = 5_000;

/** Index-only scans need pages that a vacuum has seen: often, because clicks are only ever inserted. */
const vacuum = "autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 20000";

/** Makes the missing partitions from this week on; returns their names. `today`: days since 1970. */
export async function createPartitions(sql: Sql, today: number): Promise<string[]> {
  if (sql.dialect === "sqlite") return [];
  const made: string[] = [];
  // The week before, because its clicks may come late, and those of an upgrade are in it.
  for (let week = -1; week <= weeksAhead; week++) {
    const start = today - (today % daysOfPartition) + week * daysOfPartition;
    if (await createPartition(sql, start)) made.push(nameOf(start));
  }
  return made;
}

/**
 * Drops partitions that have only days before this one, and deletes such days from the default partition; returns the names
 * of the dropped ones. Days of other partitions stay.
 */
export async function dropPartitions(sql: Sql, beforeDay: number): Promise<string[]> {
  if (sql.dialect === "sqlite") return [];
  const dropped: string[] = [];
  for (const { name, start } of await partitions(sql)) {
    if (start + daysOfPartition > beforeDay) continue;
    await sql.transaction(async (trx) => {
      await begin(trx);
      await run(trx, `drop table if exists ${name}`);
    });
    dropped.push(name);
  }
  await emptyRest(sql, beforeDay);
  return dropped;
}

/** In short statements. The default partition has few rows, so looking at all of them costs little. */
async function emptyRest(sql: Sql, beforeDay: number): Promise<void> {
  const some = `select ctid from ${rest} where day < ${beforeDay} limit ${deletedAtOnce}`;
  for (;;) {
    const deleted = await sql.db.executeQuery(CompiledQuery.raw(`delete from ${rest} where ctid in (${some})`));
    if (Number(deleted.numAffectedRows ?? 0) < deletedAtOnce) return;
  }
}

/** Oldest first. */
export async function partitions(sql: Sql): Promise<{ readonly name: string; readonly start: number }[]> {
  const { rows } = await sql.db.executeQuery<{ name: string }>(
    CompiledQuery.raw(
      "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'clicks'::regclass order by 1",
    ),
  );
  return rows.flatMap(({ name }) => {
    const start = /^clicks_day_(\d+)$/.exec(name)?.[1];
    return start === undefined ? [] : [{ name, start: Number(start) }];
  });
}

const nameOf = (start: number): string => `clicks_day_${start}`;

async function createPartition(sql: Sql, start: number): Promise<boolean> {
  const name = nameOf(start);
  // Not to_regclass, which within a transaction may answer from before the lock.
  const exists = CompiledQuery.raw(
    `select 1 from pg_class where relname = '${name}' and relnamespace = current_schema()::regnamespace`,
  );
  if ((await sql.db.executeQuery(exists)).rows.length > 0) return false;
  return await sql.transaction(async (trx) => {
    await begin(trx);
    if ((await trx.executeQuery(exists)).rows.length > 0) return false; // by another process
    const days = `day >= ${start} and day < ${start + daysOfPartition}`;
    await run(trx, `lock table ${rest} in access exclusive mode`);
    const counted = `select count(*) as rows from (select 1 from ${rest} where ${days} limit ${movedMost + 1}) as found`;
    const { rows } = await trx.executeQuery<{ rows: number }>(CompiledQuery.raw(counted));
    if (Number(rows[0]?.rows) > movedMost) return false;
    await run(trx, `create table ${name} (like clicks including defaults including constraints including indexes)`);
    await run(trx, `alter table ${name} set (${vacuum})`);
    await run(
      trx,
      `with moved as (delete from ${rest} where ${days} returning *) insert into ${name} select * from moved`,
    );
    await run(
      trx,
      `alter table clicks attach partition ${name} for values from (${start}) to (${start + daysOfPartition})`,
    );
    return true;
  });
}

/** One process at a time. */
async function begin(trx: Trx): Promise<void> {
  await run(trx, `set local lock_timeout = ${lockMs}`);
  await run(trx, "select pg_advisory_xact_lock(hashtext('quicklink partitions'))");
}

async function run(trx: Trx, text: string): Promise<void> {
  await trx.executeQuery(CompiledQuery.raw(text));
}
