import { dayMs } from "../base/clock.ts";
import type { Sql } from "../sql/sql.ts";

/**
 * Deletes sessions, links and remembered devices that have ended; returns how many. None of them works any more, so no
 * version is raised. A session that was not used is kept a day longer: its last use may not be written yet.
 */
export async function prunePeople({ db }: Sql, now: number, limit: number): Promise<number> {
  const tokens = db.selectFrom("person_tokens").select("hash").where("expires_at", "<=", now).limit(limit);
  const devices = db.selectFrom("known_devices").select("id").where("expires_at", "<=", now).limit(limit);
  const sessions = db
    .selectFrom("sessions")
    .select("id")
    .where((is) => is.or([is("expires_at", "<=", now), is(is("seen_at", "+", is.ref("idle_ms")), "<=", now - dayMs)]))
    .limit(limit);
  const results = [
    await db.deleteFrom("person_tokens").where("hash", "in", tokens).executeTakeFirstOrThrow(),
    await db.deleteFrom("known_devices").where("id", "in", devices).executeTakeFirstOrThrow(),
    await db.deleteFrom("sessions").where("id", "in", sessions).executeTakeFirstOrThrow(),
  ];
  // As many as the fullest table had, so that a caller that goes on until few are left knows when that is.
  return Math.max(...results.map(({ numDeletedRows }) => Number(numDeletedRows)));
}
