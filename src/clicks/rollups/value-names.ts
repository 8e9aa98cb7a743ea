import type { Sql } from "../../sql/sql.ts";
import { none, other } from "../click.ts";

/** Texts of `click_values`, kept for a run or for good: an id never gets another text. */
export interface ValueNames {
  /** What is loaded can be read from the result, even if others load at the same time. */
  load(ids: Iterable<number>): Promise<ValueNames["of"]>;
  /** Undefined if it was not loaded, or is not in the table. */
  of(id: number): string | undefined;
}

const noneId = 0;
const otherId = 1;
/** About 20 MB. */
const namesMost = 200_000;
const idsAtOnce = 500;

export function createValueNames({ db }: Pick<Sql, "db">, most = namesMost): ValueNames {
  let names = fresh();
  return {
    async load(ids) {
      const wanted = new Set(ids);
      // A caller reads the names that it has just loaded, so forgetting the others only costs time.
      if (names.size + wanted.size > most) names = fresh();
      const kept = names;
      const missing = [...wanted].filter((id) => !kept.has(id));
      for (let at = 0; at < missing.length; at += idsAtOnce) {
        const some = missing.slice(at, at + idsAtOnce);
        const rows = await db.selectFrom("click_values").select(["id", "value"]).where("id", "in", some).execute();
        for (const { id, value } of rows) kept.set(id, value);
      }
      return (id) => kept.get(id);
    },
    of: (id) => names.get(id),
  };
}

const fresh = () =>
  new Map([
    [noneId, none],
    [otherId, other],
  ]);
