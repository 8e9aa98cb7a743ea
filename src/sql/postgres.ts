import { CompiledQuery, Kysely, PostgresDialect, sql as raw } from "kysely";
import pg from "pg";
import type { Logger } from "../base/log.ts";
import { withoutDeadConnections } from "./dead-connections.ts";
import { type Sql, statementMs as statementMostMs } from "./sql.ts";
import { createNamedStatements } from "./statement-names.ts";
import type { SharedSchema } from "./tenant-db.ts";

/**
 * PostgreSQL. Every wait has a timeout: for a connection, for a statement, for an open transaction. Only a migration
 * may take as long as it needs.
 */
export interface PostgresOptions {
  readonly connections: number;
  /** Application name, shown by PostgreSQL. */
  readonly name?: string;
  /** How many stay open while they are not used. None by default. */
  readonly keptOpen?: number;
  /** Statement timeout. */
  readonly statementMs?: number;
  /** Without timeouts. */
  readonly patient?: boolean;
}

export function openPostgres(url: string, options: PostgresOptions, log: Logger): Sql {
  const { connections, statementMs = statementMostMs, patient = false, keptOpen = 0, name = "quicklink" } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    min: keptOpen,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 30_000,
    // The server's timeout should fire first; ours is for a dead server.
    ...(!patient && { statement_timeout: statementMs, query_timeout: statementMs + 1_000 }),
    idle_in_transaction_session_timeout: statementMostMs,
    application_name: name,
    types: { getTypeParser },
  });
  // The pool replaces a broken connection, and its user gets an error; without a listener the process would exit.
  pool.on("error", (error) => log.warn({ error }, "lost an idle PostgreSQL connection"));
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = new Kysely<SharedSchema>({
    dialect: new PostgresDialect({ pool: withoutDeadConnections(pool, createNamedStatements(log)) }),
  });
  return {
    dialect: "postgres",
    db,
    transaction: (work) => db.transaction().execute(work),
    async script(trx, text) {
      await trx.executeQuery(CompiledQuery.raw(text));
    },
    now: raw<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
    // Keys never change, and FOR UPDATE would also block rows that only refer to this one: a new link refers to its
    // tenant.
    forUpdate: (query) => query.forNoKeyUpdate(),
    forShare: (query) => query.forShare(),
    skipLocked: (query) => query.forUpdate().skipLocked(),
    lowerAscii: (column) => raw<string>`lower(${raw.ref(column)} collate "C")`,
    eachText: (column) =>
      raw<{ value: string }>`jsonb_array_elements_text(${raw.ref(column)}::jsonb)`.as<"each">(raw`each (value)`),
    // Keys are texts in byte order: with another collation their index would not be used.
    // PostgreSQL takes what comes out of jsonb_array_elements for 100 rows, and reads a table of some thousand links as a whole to find
    // them. What comes out of unnest is 10 rows to it.
    eachPlace: (json) =>
      raw<{
        domain: string;
        code: string;
      }>`(select (value ->> 0) collate "C" as domain, (value ->> 1) collate "C" as code from unnest(array(select jsonb_array_elements(${json}::jsonb))) as value)`.as<"asked">(
        raw`asked`,
      ),
    async ping() {
      await db.executeQuery(CompiledQuery.raw("select 1"));
    },
    close: () => db.destroy(),
  };
}

const int8 = pg.types.builtins.INT8;

/** All our bigints are below 2^53 (milliseconds, versions, counters), so they are numbers as on SQLite. */
function getTypeParser(oid: number, format?: "text" | "binary") {
  return oid === int8 && format !== "binary" ? Number : pg.types.getTypeParser(oid, format);
}
