import { CompiledQuery } from "kysely";
import type { Sql } from "./sql.ts";

/** The schema as the database itself describes it, for `src/sql/schema.*.txt`: what a migration really did. */
export async function dumpSchema(sql: Sql): Promise<string> {
  return sql.dialect === "sqlite" ? dumpSqlite(sql) : dumpPostgres(sql);
}

async function lines(sql: Sql, query: string): Promise<string[]> {
  const { rows } = await sql.db.executeQuery<{ line: string }>(CompiledQuery.raw(query));
  return rows.map((row) => row.line);
}

async function dumpSqlite(sql: Sql): Promise<string> {
  const statements = await lines(
    sql,
    "select sql as line from sqlite_schema where sql is not null and name not like 'sqlite_%' order by tbl_name, type desc, name",
  );
  return `${statements.map((statement) => `${withoutTrailingSpace(statement)};`).join("\n\n")}\n`;
}

/**
 * What a new SQLite file has, for `src/sql/new-file.sql`: tables, what belongs to them, and the first rows, of which those of
 * `schema_migrations` say what is included. Their time is written when a file is made.
 */
export async function dumpNewFile(sql: Sql): Promise<string> {
  const statements = await lines(
    sql,
    `select sql as line from sqlite_schema where sql is not null and name not like 'sqlite_%'
     order by case type when 'table' then 1 when 'index' then 2 else 3 end, rowid`,
  );
  const tables = await lines(
    sql,
    "select name as line from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by rowid",
  );
  const rows = await Promise.all(tables.map((table) => insertsOf(sql, table)));
  return `${[...statements.map(withoutTrailingSpace), ...rows.flat()].map((statement) => `${statement};`).join("\n")}\n`;
}

async function insertsOf(sql: Sql, table: string): Promise<string[]> {
  const { rows } = await sql.db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(`select * from ${table}`));
  return rows.map((row) => {
    const values = Object.entries(row).map(([column, value]) => literal(column === "timestamp" ? "" : value));
    return `insert into ${table} (${Object.keys(row).join(", ")}) values (${values.join(", ")})`;
  });
}

function literal(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  throw new Error(`a first row has a value of the type ${typeof value}`);
}

const withoutTrailingSpace = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");

async function dumpPostgres(sql: Sql): Promise<string> {
  const columns = await lines(
    sql,
    `select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || case when a.attnotnull then ' not null' else '' end
       || case when a.attidentity <> '' then ' identity' else '' end
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
       || case when a.attcollation <> t.typcollation then ' collate ' || l.collname else '' end as line
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     left join pg_collation l on l.oid = a.attcollation
     where c.relkind = 'r' order by c.relname, a.attnum`,
  );
  const constraints = await lines(
    sql,
    `select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as line from pg_constraint
     where connamespace = current_schema()::regnamespace and contype <> 'n' order by 1`,
  );
  const indexes = await lines(
    sql,
    "select replace(indexdef, schemaname || '.', '') as line from pg_indexes where schemaname = current_schema() order by 1",
  );
  return `${[...columns, "", ...constraints, "", ...indexes].join("\n")}\n`;
}
