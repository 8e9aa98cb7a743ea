import { CompiledQuery } from "kysely";
import type { Sql } from "./sql.ts";

/**
 * Whether another process or connection has written since the last call. On SQLite writers wait for each other, so who writes much can
 * ask whether somebody has.
 */
export type OthersWrote = () => Promise<boolean>;

/** Undefined if writers do not wait for each other. */
export function createOthersWrote({ dialect, transaction }: Sql): OthersWrote | undefined {
  if (dialect === "postgres") return undefined;
  let known: number | undefined;
  return async () => {
    // SQLite counts the commits of others than the connection that asks: that of transactions, on which this process writes.
    const { rows } = await transaction((trx) => trx.executeQuery<{ data_version: number }>(dataVersion));
    const now = rows[0]?.data_version;
    const hasChanged = now !== known;
    known = now;
    return hasChanged;
  };
}

const dataVersion = CompiledQuery.raw("pragma data_version");
