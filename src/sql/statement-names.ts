import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import type { Logger } from "../base/log.ts";

/**
 * Named statements on PostgreSQL: a connection parses a statement once, and plans it a few times.
 *
 * A name is derived from the text. The same text has the same name in every connection and process, and another version
 * of the program cannot mean something else by it. The program has a fixed number of statements; the bound guards
 * against a bug, because each connection keeps a plan for each name. Statements beyond it are sent without a name.
 */
const namesMost = 500;
const names = new Map<string, string>();

export function nameStatement(text: string): void {
  if (names.size >= namesMost || names.has(text)) return;
  names.set(text, `ql_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`);
}

/**
 * Two things can go wrong with a name, both before the statement has done anything:
 *
 * - A migration has changed the type of a column since. The connection is useless for this statement: the pool replaces
 *   it.
 * - The connection is shared: a pooler gives each transaction another one, which does not know the name, or already has
 *   it. From then on this pool uses no names.
 *
 * Either way a single statement is sent again without a name. A transaction fails, and its caller gets the error.
 */
export interface NamedStatements {
  /** `replace` is called when the connection should not be used again. */
  query(client: PoolClient, text: string, values: unknown[], replace: () => void): Promise<QueryResult>;
}

export function createNamedStatements(log: Logger): NamedStatements {
  let pooled = false;

  return {
    async query(client, text, values, replace) {
      const name = pooled ? undefined : names.get(text);
      if (name === undefined) return await client.query(text, values);
      const alone = client.getTransactionStatus() === "I";
      try {
        return await client.query({ name, text, values });
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === undefined) throw error;
        if (trouble === "replanned") replace();
        else if (!pooled) {
          pooled = true;
          log.warn({ error }, poolerFound);
        }
        if (!alone) throw error;
        return await client.query(text, values);
      }
    },
  };
}

const poolerFound =
  "DATABASE_URL leads to a connection pooler that does not support prepared statements: continuing without them";

function troubleOf(error: unknown): "replanned" | "pooled" | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  if (error.code === "0A000") return "replanned"; // cached plan must not change result type
  return error.code === "26000" || error.code === "42P05" ? "pooled" : undefined; // no such statement; already exists
}
