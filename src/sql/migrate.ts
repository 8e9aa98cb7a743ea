import { CompiledQuery, Migrator } from "kysely";
import { systemClock, toIso } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { foundation } from "./migrations/0001-foundation.ts";
import { hits } from "./migrations/0002-hits.ts";
import { usage } from "./migrations/0003-usage.ts";
import { instances } from "./migrations/0004-instances.ts";
import { lentUntil } from "./migrations/0005-lent-until.ts";
import { hotLinks } from "./migrations/0006-hot-links.ts";
import { jobs } from "./migrations/0007-jobs.ts";
import { email } from "./migrations/0008-email.ts";
import { files } from "./migrations/0009-files.ts";
import { rules } from "./migrations/0010-rules.ts";
import { domains } from "./migrations/0011-domains.ts";
import { idempotency } from "./migrations/0012-idempotency.ts";
import { targets } from "./migrations/0013-targets.ts";
import { abuse } from "./migrations/0014-abuse.ts";
import { imports } from "./migrations/0015-imports.ts";
import { webhookSecret } from "./migrations/0016-webhook-secret.ts";
import { blockedTargets } from "./migrations/0017-blocked-targets.ts";
import { fileCount } from "./migrations/0018-file-count.ts";
import { changeKinds } from "./migrations/0019-change-kinds.ts";
import { jobRuns } from "./migrations/0020-job-runs.ts";
import { clicks } from "./migrations/0021-clicks.ts";
import { clickNotices } from "./migrations/0022-click-notices.ts";
import { people } from "./migrations/0023-people.ts";
import { groupsSince } from "./migrations/0024-groups-since.ts";
import { packedRollups } from "./migrations/0025-packed-rollups.ts";
import { historyMailboxes } from "./migrations/0026-history-mailboxes.ts";
import { annotations } from "./migrations/0027-annotations.ts";
import { branding } from "./migrations/0028-branding.ts";
import { linkImports } from "./migrations/0029-link-imports.ts";
import { overflowRows } from "./migrations/0030-overflow-rows.ts";
import { targetTimes } from "./migrations/0031-target-times.ts";
import { rollupRows } from "./migrations/0032-rollup-rows.ts";
import { announcedFiles } from "./migrations/0033-announced-files.ts";
import { deletedEvents } from "./migrations/0034-deleted-events.ts";
import { clickWeeks } from "./migrations/0035-click-weeks.ts";
import { changesByOrder } from "./migrations/0036-changes-by-order.ts";
import { quarterYears } from "./migrations/0037-quarter-years.ts";
import { importedTotals } from "./migrations/0038-imported-totals.ts";
import newFile from "./new-file.sql" with { type: "text" };
import type { Dialect, Sql } from "./sql.ts";

/**
 * Forward only: a step that has run somewhere is never edited; a mistake is corrected by the next one. Each step is
 * written once for both dialects, with the differing words filled in. Kysely keeps the list of what has run and, on
 * PostgreSQL, the lock that lets many machines start `migrate` at once.
 */
const steps: Readonly<Record<string, (types: Types) => string[]>> = {
  "0001-foundation": foundation,
  "0002-hits": hits,
  "0003-usage": usage,
  "0004-instances": instances,
  "0005-lent-until": lentUntil,
  "0006-hot-links": hotLinks,
  "0007-jobs": jobs,
  "0008-email": email,
  "0009-files": files,
  "0010-rules": rules,
  "0011-domains": domains,
  "0012-idempotency": idempotency,
  "0013-targets": targets,
  "0014-abuse": abuse,
  "0015-imports": imports,
  "0016-webhook-secret": webhookSecret,
  "0017-blocked-targets": blockedTargets,
  "0018-file-count": fileCount,
  "0019-change-kinds": changeKinds,
  "0020-job-runs": jobRuns,
  "0021-clicks": clicks,
  "0022-click-notices": clickNotices,
  "0023-people": people,
  "0024-groups-since": groupsSince,
  "0025-packed-rollups": packedRollups,
  "0026-history-mailboxes": historyMailboxes,
  "0027-annotations": annotations,
  "0028-branding": branding,
  "0029-link-imports": linkImports,
  "0030-overflow-rows": overflowRows,
  "0031-target-times": targetTimes,
  "0032-rollup-rows": rollupRows,
  "0033-announced-files": announcedFiles,
  "0034-deleted-events": deletedEvents,
  "0035-click-weeks": clickWeeks,
  "0036-changes-by-order": changesByOrder,
  "0037-quarter-years": quarterYears,
  "0038-imported-totals": importedTotals,
};

export interface Types {
  /** Text that is compared and ordered byte by byte, whatever the database's locale. */
  readonly key: string;
  readonly text: string;
  readonly integer: string;
  readonly bytes: string;
  /** Milliseconds since 1970. */
  readonly time: string;
  /** The same in the format of better-auth's adapter: ISO text, or a timestamp. */
  readonly date: string;
  readonly serial: string;
  readonly table: string;
  /** Rows are stored in the order of the primary key, without a second copy of it. */
  readonly clusteredTable: string;
  readonly transactionColumn: string;
  readonly changesIndex: readonly string[];
  /** Statements that leave `changes` only the index that followers read in (`0036-changes-by-order.ts`). */
  readonly changesByOrder: readonly string[];
  /** A different one for each row: at least 190 random bits, in letters and digits. */
  readonly randomSecret: string;
  /** Statements that give links and tenants their numbers (`0021-clicks.ts`). */
  readonly numbers: readonly string[];
  /** The number of a group as a column, and statements that assign it. */
  readonly groupNumber: string;
  readonly groupNumbers: readonly string[];
  /** The table of events and its index. */
  readonly clickEvents: readonly string[];
  /** Numbers do not compress: trying to takes time with each row. */
  readonly packedColumns: readonly string[];
  /** A text in a column with a JSON object. */
  readonly jsonText: (column: string, field: string) => string;
  /** Statements that let an email belong to no tenant (`0023-people.ts`). */
  readonly platformEmails: readonly string[];
  /** Statements that give `click_overflow` row ids. */
  readonly overflowRows: readonly string[];
  /** The same for `click_rollups`. */
  readonly rollupRows: readonly string[];
}

/** Facts of a click: ids in `click_values`. */
const factColumns = [
  ...["country", "region", "city", "device", "browser", "os", "referrer", "language"],
  ...["utm_source", "utm_medium", "utm_campaign", "source", "variant", "bot"],
];
/** `first`: 1 for the day's first visit to the link, 2 to the tenant, 3 both, 4 for a click that came too late to tell. */
const eventColumns = ["domain", "tags", "reason", "first", ...factColumns];
/** The random level comes before the link: a sample of a tenant's clicks is one range of each day. */
const eventKey = "tenant, level, link, at, seq";

const assigned = (table: string, column: string, key: string, counter: string, step: string): string =>
  `create trigger ${table}_number after insert on ${table} when new.${column} is null begin
    update counters set next = next ${step} where name = '${counter}';
    update ${table} set ${column} = (select next from counters where name = '${counter}') where ${key};
  end`;

const types: Readonly<Record<Dialect, Types>> = {
  sqlite: {
    key: "text",
    text: "text",
    integer: "integer",
    bytes: "blob",
    time: "integer",
    date: "text",
    serial: "integer primary key autoincrement", // never reuses the ID of a pruned row, which may be a follower's position
    table: "strict",
    clusteredTable: "strict, without rowid",
    transactionColumn: "",
    changesIndex: [],
    changesByOrder: [],
    randomSecret: "lower(hex(randomblob(24)))",
    numbers: [
      "alter table links add column number integer",
      "update links set number = rowid",
      "insert into counters (name, next) select 'links', coalesce(max(number), 0) from links",
      assigned("links", "number", "id = new.id", "links", "+ 1"),
      "alter table tenants add column number integer",
      "update tenants set number = -rowid",
      "insert into counters (name, next) select 'groups', coalesce(min(number), 0) from tenants",
      assigned("tenants", "number", "id = new.id", "groups", "- 1"),
    ],
    groupNumber: "number integer",
    groupNumbers: [
      assigned(
        ...(["click_groups", "number", "tenant_id = new.tenant_id and kind = new.kind and name = new.name"] as const),
        ...(["groups", "- 1"] as const),
      ),
    ],
    packedColumns: [],
    clickEvents: [
      `create table clicks (
        day integer not null,
        tenant integer not null,
        level integer not null,
        link integer not null,
        at integer not null,
        seq integer not null,
        ${eventColumns.map((name) => `${name} integer not null`).join(",\n        ")},
        primary key (day, ${eventKey})
      ) strict, without rowid`,
    ],
    jsonText: (column, field) => `json_extract(${column}, '$.${field}')`,
    // A constraint cannot be dropped here.
    // Without row ids, a row of more than a quarter of a page (1 KB) has pages of its own, which are freed and overwritten with
    // each change: replacing one took 27 µs, and takes 7.
    overflowRows: [
      "alter table click_overflow rename to click_overflow_before",
      `create table click_overflow (
        day integer not null,
        tenant integer not null,
        link integer not null,
        quarter integer not null,
        domain integer not null,
        tags integer not null,
        writer text not null,
        tally text not null,
        tenant_tally text not null,
        unique (day, tenant, link, quarter, domain, tags, writer)
      ) strict`,
      "insert into click_overflow select * from click_overflow_before",
      "drop table click_overflow_before",
    ],
    // Without row ids, every page on the way to a row has rows, too: four, if they are long. 400,000 of them were nine pages deep, and
    // deeper with more clicks. With row ids it is two times three, whatever their length.
    rollupRows: [
      "alter table click_rollups rename to click_rollups_before",
      `create table click_rollups (
        subject integer not null,
        grain integer not null,
        start integer not null,
        until integer not null,
        reasons text not null,
        visitors integer not null,
        itemised integer not null,
        series text not null,
        facts text not null,
        packed blob,
        names blob,
        unique (subject, grain, start)
      ) strict`,
      "insert into click_rollups select * from click_rollups_before",
      "drop table click_rollups_before",
      "create index click_rollups_periods on click_rollups (subject, grain, start, until)",
    ],
    platformEmails: [
      `create table emails_of_all (
        id text primary key,
        tenant_id text not null,
        kind text not null,
        dedupe_key text,
        recipient text not null,
        reply_to text,
        subject text not null,
        text text,
        html text,
        unsubscribe integer not null default 0 check (unsubscribe in (0, 1)),
        state text not null check (state in ('queued', 'sending', 'sent', 'failed')),
        provider text,
        attempts integer not null default 0,
        unsure integer not null default 0,
        due_at integer not null,
        claimed_by text,
        claimed_until integer,
        handed_at integer,
        message_id text,
        provider_id text,
        delivery text check (delivery in ('delivered', 'bounced', 'complaint')),
        delivery_at integer,
        reason text,
        detail text,
        created_at integer not null,
        finished_at integer
      ) strict`,
      "insert into emails_of_all select * from emails",
      "drop table emails",
      "alter table emails_of_all rename to emails",
      "create unique index emails_once on emails (tenant_id, dedupe_key) where dedupe_key is not null",
      "create index emails_due on emails (due_at) where state in ('queued', 'sending')",
      "create index emails_of_tenant on emails (tenant_id, id)",
      "create index emails_handed on emails (provider, handed_at) where handed_at is not null",
      "create unique index emails_by_provider_id on emails (provider_id) where provider_id is not null",
    ],
  },
  postgres: {
    key: 'text collate "C"',
    text: "text",
    integer: "bigint",
    bytes: "bytea",
    time: "bigint",
    date: "timestamptz(3)",
    serial: "bigint generated always as identity primary key",
    table: "",
    clusteredTable: "",
    transactionColumn: "xid xid8 not null default pg_current_xact_id(),",
    changesIndex: ["create index changes_in_order on changes (xid, id)"],
    changesByOrder: [
      "alter table changes drop constraint changes_pkey",
      "drop index changes_in_order",
      "alter table changes add primary key (xid, id)",
    ],
    randomSecret: "replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')",
    numbers: [
      "create sequence link_numbers",
      "alter table links add column number bigint not null default nextval('link_numbers')",
      "create sequence group_numbers increment -1",
      "alter table tenants add column number bigint not null default nextval('group_numbers')",
    ],
    groupNumber: "number bigint not null default nextval('group_numbers')",
    groupNumbers: [],
    // The index has all columns: a report reads ranges of it, and not rows that are scattered over the table. The day comes
    // before the link, so that the last minutes of a tenant are not looked for in a week.
    packedColumns: [
      "alter table click_rollups alter column packed set storage external",
      "alter table click_rollups alter column names set storage external",
    ],
    clickEvents: [
      `create table clicks (
        at bigint not null,
        link bigint not null,
        seq bigint not null,
        day integer not null,
        tenant integer not null,
        level smallint not null,
        ${eventColumns.map((name) => `${name} integer not null`).join(",\n        ")}
      ) partition by range (day)`,
      "create table clicks_rest partition of clicks default",
      `create index clicks_in_order on clicks (tenant, level, day, link, at, seq) include (${eventColumns.join(", ")})`,
    ],
    jsonText: (column, field) => `(${column}::json ->> '${field}')`,
    overflowRows: [],
    rollupRows: [],
    platformEmails: ["alter table emails drop constraint emails_tenant_id_fkey"],
  },
};

const migrationTable = "schema_migrations";

const findMigrationTable: Readonly<Record<Dialect, string>> = {
  sqlite: `select 1 from sqlite_schema where type = 'table' and name = '${migrationTable}'`,
  postgres: `select 1 where to_regclass('${migrationTable}') is not null`,
};

export interface SchemaState {
  readonly applied: readonly string[];
  readonly pending: readonly string[];
  /** Steps that the database has and this program does not know. */
  readonly unknown: readonly string[];
}

/**
 * A name that no other database has: when its first step was applied, to the millisecond. A backup, a replica and a copy have the
 * same one, because they have the same links. Undefined before the first migration.
 */
export async function databaseName(sql: Sql): Promise<string | undefined> {
  if ((await appliedSteps(sql)).length === 0) return undefined;
  const first = `select timestamp from ${migrationTable} where name = '0001-foundation'`;
  const { rows } = await sql.db.executeQuery<{ timestamp: string }>(CompiledQuery.raw(first));
  return rows[0]?.timestamp;
}

export async function schemaState(sql: Sql): Promise<SchemaState> {
  const applied = await appliedSteps(sql);
  const known = Object.keys(steps);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  };
}

/** Upgrades the schema, fully or up to a step, and returns the steps it ran. */
export async function migrate(sql: Sql, to?: string): Promise<readonly string[]> {
  const state = await schemaState(sql);
  refuseNewer(state);
  if (state.pending.length === 0) return [];
  if (sql.dialect === "sqlite" && state.applied.length === 0 && to === undefined) return await createEmbedded(sql);
  return await runSteps(sql, to);
}

/** One after the other, as an existing database gets them. */
export async function runSteps(sql: Sql, to?: string): Promise<readonly string[]> {
  const migrator = new Migrator({
    db: sql.db,
    migrationTableName: migrationTable,
    migrationLockTableName: `${migrationTable}_lock`,
    provider: {
      async getMigrations() {
        return Object.fromEntries(
          Object.entries(steps).map(([name, statements]) => [
            name,
            {
              async up(db) {
                for (const statement of statements(types[sql.dialect])) {
                  await db.executeQuery(CompiledQuery.raw(statement));
                }
              },
            },
          ]),
        );
      },
    },
  });
  const { error, results } = await (to === undefined ? migrator.migrateToLatest() : migrator.migrateTo(to));
  if (error) throw error;
  return (results ?? []).filter((result) => result.status === "Success").map((result) => result.migrationName);
}

/**
 * A new file gets the tables of today at once, in one transaction, and then the steps that are newer than `new-file.sql`, if
 * any. Running all steps takes five times as long, most of it for tables that a later step replaces.
 */
async function createEmbedded(sql: Sql): Promise<readonly string[]> {
  return await sql.transaction(async (trx) => {
    const run = (text: string) => trx.executeQuery<{ name: string }>(CompiledQuery.raw(text));
    if ((await run(findMigrationTable.sqlite)).rows.length > 0) return []; // another process was first
    await sql.script(trx, newFile);
    const included = (await run(`select name from ${migrationTable}`)).rows.map(({ name }) => name);
    for (const [name, statements] of Object.entries(steps)) {
      if (included.includes(name)) continue;
      await sql.script(trx, statements(types.sqlite).join(";\n"));
      await run(`insert into ${migrationTable} (name, timestamp) values ('${name}', '')`);
    }
    await run(`update ${migrationTable} set timestamp = '${toIso(systemClock.now())}'`);
    return Object.keys(steps);
  });
}

/** For a start that must not migrate by itself. */
export async function requireCurrentSchema(sql: Sql): Promise<void> {
  const state = await schemaState(sql);
  refuseNewer(state);
  if (state.pending.length === 0) return;
  throw new OperatorError(
    state.applied.length === 0
      ? "The database is empty. Run `quicklink migrate` once to create the tables, then start again."
      : `The database is older than this program (missing: ${state.pending.join(", ")}). Run \`quicklink migrate\`, then start again.`,
    2,
  );
}

export function refuseNewer(state: SchemaState): void {
  if (state.unknown.length === 0) return;
  throw new OperatorError(
    `The database is newer than this program (it contains: ${state.unknown.join(", ")}). Start the newer version of QuickLink that created it, or restore a backup from before the upgrade.`,
    2,
  );
}

async function appliedSteps(sql: Sql): Promise<string[]> {
  const { rows: tables } = await sql.db.executeQuery(CompiledQuery.raw(findMigrationTable[sql.dialect]));
  if (tables.length === 0) return [];
  const { rows } = await sql.db.executeQuery<{ name: string }>(
    CompiledQuery.raw(`select name from ${migrationTable} order by name`),
  );
  return rows.map((row) => row.name);
}
