import type { PersonId } from "../base/ids.ts";
import type { Db } from "../sql/tenant-db.ts";

/** The names of people by their ID, for a page of something else. Accounts that are gone are left out. */
export async function namesOfPeople(db: Db, ids: readonly (PersonId | null)[]): Promise<ReadonlyMap<PersonId, string>> {
  const known = [...new Set(ids)].filter((id) => id !== null);
  if (known.length === 0) return new Map();
  const rows = await db.selectFrom("people").select(["id", "name"]).where("id", "in", known).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
