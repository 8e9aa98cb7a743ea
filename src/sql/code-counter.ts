import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Sql } from "./sql.ts";

/** The counter behind codes, and the salt they belong to. */

/** Advances the counter and commits before the numbers are used: a crash can only skip them. */
export async function takeCodeBlock(sql: Sql, size: number): Promise<number> {
  const { next } = await sql.db
    .updateTable("counters")
    .set((expression) => ({ next: expression("next", "+", size) }))
    .where("name", "=", "codes")
    .returning("next")
    .executeTakeFirstOrThrow();
  return next - size;
}

/**
 * Another salt is another permutation, whose codes collide with existing ones. The unique index would detect and skip
 * them, but a salt rarely changes on purpose: so it is refused until the operator confirms it.
 */
export async function requireSalt(sql: Sql, fingerprint: string, clock: Clock): Promise<void> {
  const latest = await latestEpoch(sql);
  if (latest === undefined) {
    await insertEpoch(sql, 1, fingerprint, clock);
    return requireSalt(sql, fingerprint, clock);
  }
  if (latest.fingerprint === fingerprint) return;
  throw new OperatorError(
    "QL_CODE_SALT does not match this database.\n" +
      "  Set it to the salt the database was created with. If it is lost or must be changed, run `quicklink codes rotate` once with the new salt.",
    2,
  );
}

/** The fingerprint of the salt this database started with: it stays when the salt changes. */
export async function firstFingerprint(sql: Sql): Promise<string> {
  const { fingerprint } = await sql.db
    .selectFrom("code_epochs")
    .select("fingerprint")
    .orderBy("epoch")
    .limit(1)
    .executeTakeFirstOrThrow();
  return fingerprint;
}

/** Starts a new epoch with another salt; returns its number, or `undefined` if that salt is already in use. */
export async function rotateSalt(sql: Sql, fingerprint: string, clock: Clock): Promise<number | undefined> {
  const latest = await latestEpoch(sql);
  if (latest?.fingerprint === fingerprint) return undefined;
  const epoch = (latest?.epoch ?? 0) + 1;
  await insertEpoch(sql, epoch, fingerprint, clock);
  return epoch;
}

/** The salt's latest epoch; nothing in a database without codes. */
export async function latestEpoch(
  sql: Sql,
): Promise<{ readonly epoch: number; readonly fingerprint: string } | undefined> {
  return await sql.db.selectFrom("code_epochs").selectAll().orderBy("epoch", "desc").limit(1).executeTakeFirst();
}

async function insertEpoch(sql: Sql, epoch: number, fingerprint: string, clock: Clock): Promise<void> {
  await sql.db
    .insertInto("code_epochs")
    .values({ epoch, fingerprint, created_at: clock.now() })
    .onConflict((conflict) => conflict.column("epoch").doNothing())
    .execute();
}
