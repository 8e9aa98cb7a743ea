import type { Sql } from "../../src/sql/sql.ts";

/** The same database, but the process kills itself in its n-th transaction, before the commit. */
export function killedIn(sql: Sql, transactions: number): Sql {
  let left = transactions;
  return {
    ...sql,
    transaction: (work) =>
      sql.transaction(async (trx) => {
        const result = await work(trx);
        if (--left === 0) process.kill(process.pid, "SIGKILL");
        return result;
      }),
  };
}
