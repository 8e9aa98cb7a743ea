import { type RawBuilder, sql as raw } from "kysely";
import type { Sql } from "./sql.ts";

/** A column with a JSON object, without one of its fields. Null stays null. */
export const withoutJsonField = ({ dialect }: Pick<Sql, "dialect">, column: string, field: string) =>
  (dialect === "sqlite"
    ? raw<string>`json_remove(${raw.ref(column)}, ${`$.${field}`})`
    : raw<string>`(${raw.ref(column)}::jsonb - ${field})::text`) as RawBuilder<string | null>;
