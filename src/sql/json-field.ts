import { type RawBuilder, sql as raw } from "kysely";
import type { Sql } from "./sql.ts";

/** A column with a JSON object, without one of its fields. Null stays null. */
export const withoutJsonField = ({ dialect }: Pick<Sql, "dialect">, column: string, field: string) =>
  (dialect === "sqlite"
    ? raw<string>`json_remove(${raw.ref(column)}, ${`$.${field}`})`
    : raw<string>`(${raw.ref(column)}::jsonb - ${field})::text`) as RawBuilder<string | null>;

/** A number in a column with JSON lists, by its places: `[0, 2]` is the third of the first list. Null if there is none. */
export const jsonNumberAt = ({ dialect }: Pick<Sql, "dialect">, column: string, places: readonly number[]) =>
  (dialect === "sqlite"
    ? raw<number>`(${raw.ref(column)} ->> ${`$${places.map((place) => `[${place}]`).join("")}`})`
    : raw<number>`(${raw.ref(column)}::json #>> ${`{${places.join()}}`}::text[])::bigint`) as RawBuilder<number | null>;
