import type { PostgresPool, PostgresPoolClient } from "kysely";
import type { Pool, PoolClient } from "pg";
import { CopiedRows, copyRows } from "./copied-rows.ts";
import type { NamedStatements } from "./statement-names.ts";

/**
 * The same pool, but it discards a connection that did not answer in time.
 *
 * A network can drop a connection without telling either end: whatever is sent is lost, and TCP gives up only after a
 * quarter of an hour. The library would lend it to one caller after the other, and with a few of them PostgreSQL would
 * seem unavailable long after it is back.
 */
export function withoutDeadConnections(pool: Pool, named: NamedStatements): PostgresPool {
  // Kysely identifies its connections by these objects.
  const lent = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = lent.get(client) ?? watched(client, named);
      lent.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function watched(client: PoolClient, named: NamedStatements): PostgresPoolClient {
  let silent = false;
  let outdated = false;

  async function query(statement: string, parameters: unknown[]) {
    // The rollback of an unanswered transaction would wait as long again.
    if (silent) throw new Error("Connection terminated: it did not answer in time");
    try {
      const [first] = parameters;
      if (first instanceof CopiedRows) return await copyRows(client, statement, first);
      return await named.query(client, statement, parameters, () => {
        outdated = true;
      });
    } catch (error) {
      silent = error instanceof Error && error.message === "Query read timeout";
      throw error;
    }
  }

  // Without the overload for cursors, which we do not use.
  return { query: query as unknown as PostgresPoolClient["query"], release: () => client.release(silent || outdated) };
}
