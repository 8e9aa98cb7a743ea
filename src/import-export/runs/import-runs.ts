import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type FileId, type ImportId, newId, type TenantId } from "../../base/ids.ts";
import { type Actor, recordHistory } from "../../history/history.ts";
import type { ImportRunState, LinkImportTable } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { acrossTenants, type Db, ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import { createOneAtATime } from "../../tenants/one-at-a-time.ts";
import type { FormatName } from "../formats.ts";
import { beginning, type ImportPosition } from "../import-position.ts";

/**
 * Imports that were started through the API: checked first, which writes nothing, then run by a job until they are done,
 * cancelled or refused. All of it is in the database, so they continue after a restart, on any server.
 */
export interface ImportRun {
  readonly id: ImportId;
  readonly tenantId: TenantId;
  readonly file: FileId;
  readonly name: string;
  readonly sizeBytes: number;
  /** What the caller says it is. Null: it is recognised. */
  readonly onlyFormat: FormatName | null;
  readonly format: FormatName | null;
  readonly state: ImportRunState;
  /** Why it stopped. */
  readonly problem: string | null;
  /** What the check found, so far. */
  readonly checked: ImportPosition | null;
  readonly done: ImportPosition;
  readonly by: Actor;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface BadRow {
  readonly line: number;
  readonly problem: string;
}

export type ImportPhase = "check" | "import";

export interface ImportRuns {
  create(tenant: TenantId, given: NewRun, by: Actor): Promise<ImportRun>;
  get(tenant: TenantId, id: ImportId): Promise<ImportRun | undefined>;
  /** Newest first. */
  list(tenant: TenantId, limit: number, before?: ImportId): Promise<ImportRun[]>;
  /** Undefined if there is none, or it is not in one of these states: then it is what it is. */
  setState(
    tenant: TenantId,
    id: ImportId,
    from: readonly ImportRunState[],
    to: ImportRunState,
    by: Actor,
  ): Promise<boolean>;
  remove(tenant: TenantId, id: ImportId, by: Actor): Promise<boolean>;
  badRows(tenant: TenantId, id: ImportId, phase: ImportPhase, limit: number, after?: number): Promise<BadRow[]>;
  /** The one that has waited longest, of the tenant that has. */
  next(): Promise<ImportRun | undefined>;
  /** For the job: what it found out. Nothing if somebody cancelled it meanwhile. */
  note(run: ImportRun, about: Partial<Pick<ImportRun, "format" | "state" | "problem" | "checked">>): Promise<void>;
  addBadRows(run: ImportRun, phase: ImportPhase, rows: readonly BadRow[], trx?: Trx): Promise<void>;
}

export interface NewRun {
  readonly id: ImportId | undefined;
  readonly file: FileId;
  readonly name: string;
  readonly sizeBytes: number;
  readonly onlyFormat: FormatName | null;
}

export const runsMost = 100;
/** Of each phase: a file whose rows are all bad must not fill the database. */
export const badRowsMost = 1_000;
const unfinished = ["checking", "running"] as const;

export function createImportRuns(sql: Sql, clock: Pick<Clock, "now">): ImportRuns {
  const { db } = sql;
  const inTurn = createOneAtATime(sql);
  const subject = ({ id, name }: Pick<ImportRun, "id" | "name">) => ({ kind: "import", id, name });

  async function withPosition(own: TenantDb, row: Row): Promise<ImportRun> {
    return toRun(row, (await selectPosition.first(own, { id: row.id })) ?? beginning);
  }

  async function find(from: Db, tenant: TenantId, id: ImportId): Promise<ImportRun | undefined> {
    const own = ofTenant(from, tenant);
    const row = await selectOne.first(own, { id });
    return row && withPosition(own, row);
  }

  return {
    create: (tenant, given, by) =>
      inTurn(tenant, async (trx) => {
        const { id = newId("import", clock), file, name, sizeBytes, onlyFormat } = given;
        const made = await find(trx, tenant, id);
        if (made !== undefined) return made;
        const own = ofTenant(trx, tenant);
        const { count } = await countAll.one(own);
        if (Number(count) >= runsMost) {
          throw new Problem("collection_full", `At most ${runsMost} imports are kept. Delete old ones first.`);
        }
        const now = clock.now();
        const row = {
          ...{ id, file_id: file, name, size_bytes: sizeBytes, only_format: onlyFormat, format: null },
          ...{ state: "checking" as const, problem: null, counts: null, actor: JSON.stringify(by) },
          ...{ created_at: now, updated_at: now },
        };
        await own.insertInto("link_imports").values(row).execute();
        const entry = { tenant, actor: by, action: "import.create", subject: subject({ id, name }) };
        await recordHistory(trx, clock, { ...entry, after: { file, sizeBytes } });
        return toRun({ ...row, tenant_id: tenant }, beginning);
      }),

    get: (tenant, id) => find(db, tenant, id),

    async list(tenant, limit, before) {
      const own = ofTenant(db, tenant);
      let query = own.selectFrom("link_imports").select(columns);
      if (before !== undefined) query = query.where("id", "<", before);
      const rows = await query.orderBy("id", "desc").limit(limit).execute();
      return await Promise.all(rows.map((row) => withPosition(own, row)));
    },

    setState: (tenant, id, from, to, by) =>
      sql.transaction(async (trx) => {
        const { numUpdatedRows } = await ofTenant(trx, tenant)
          .updateTable("link_imports")
          .set({ state: to, problem: null, updated_at: clock.now() })
          .where("id", "=", id)
          .where("state", "in", from)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        const { name = "" } = (await selectOne.first(ofTenant(trx, tenant), { id })) ?? {};
        const action = to === "cancelled" ? "import.cancel" : "import.start";
        await recordHistory(trx, clock, { tenant, actor: by, action, subject: subject({ id, name }) });
        return true;
      }),

    remove: (tenant, id, by) =>
      sql.transaction(async (trx) => {
        const own = ofTenant(trx, tenant);
        const row = await selectOne.first(own, { id });
        const gone = own.deleteFrom("link_imports").where("id", "=", id).where("state", "not in", unfinished);
        if (row === undefined || (await gone.executeTakeFirst()).numDeletedRows === 0n) return false;
        await own.deleteFrom("imports").where("id", "=", id).execute();
        await recordHistory(trx, clock, { tenant, actor: by, action: "import.delete", subject: subject(row) });
        return true;
      }),

    async badRows(tenant, id, phase, limit, after = -1) {
      return await ofTenant(db, tenant)
        .selectFrom("link_import_rows")
        .select(["line", "problem"])
        .where("import_id", "=", id)
        .where("phase", "=", phase)
        .where("line", ">", after)
        .orderBy("line")
        .limit(limit)
        .execute();
    },

    async next() {
      const row = await selectNext.first(db);
      return row && withPosition(ofTenant(db, row.tenant_id), row);
    },

    async note(run, { format, state, problem, checked }) {
      await ofTenant(db, run.tenantId)
        .updateTable("link_imports")
        .set({
          updated_at: clock.now(),
          ...(format !== undefined && { format }),
          ...(state !== undefined && { state }),
          ...(problem !== undefined && { problem }),
          ...(checked !== undefined && { counts: checked && JSON.stringify(checked) }),
        })
        .where("id", "=", run.id)
        .where("state", "=", run.state)
        .execute();
    },

    async addBadRows({ id, tenantId }, phase, rows, trx) {
      if (rows.length === 0) return;
      const own = ofTenant(trx ?? db, tenantId);
      const known = own.selectFrom("link_import_rows").where("import_id", "=", id).where("phase", "=", phase);
      const { count } = await known.select((row) => row.fn.countAll<number>().as("count")).executeTakeFirstOrThrow();
      const some = rows.slice(0, Math.max(0, badRowsMost - Number(count)));
      if (some.length === 0) return;
      await own
        .insertInto("link_import_rows")
        .values(some.map(({ line, problem }) => ({ import_id: id, phase, line, problem: problem.slice(0, 500) })))
        .onConflict((conflict) => conflict.columns(["tenant_id", "import_id", "phase", "line"]).doNothing())
        .execute();
    },
  };
}

const columns = [
  ...(["id", "tenant_id", "file_id", "name", "size_bytes", "only_format", "format", "state", "problem"] as const),
  ...(["counts", "actor", "created_at", "updated_at"] as const),
] as const;

type Row = Readonly<LinkImportTable>;

const toRun = (row: Row, done: ImportPosition): ImportRun => ({
  ...{ id: row.id, tenantId: row.tenant_id, file: row.file_id, name: row.name, sizeBytes: row.size_bytes },
  onlyFormat: row.only_format as FormatName | null,
  format: row.format as FormatName | null,
  ...{ state: row.state, problem: row.problem, done },
  checked: row.counts === null ? null : (JSON.parse(row.counts) as ImportPosition),
  by: JSON.parse(row.actor) as Actor,
  ...{ createdAt: row.created_at, updatedAt: row.updated_at },
});

const selectOne = statement((own: TenantDb, { id }: Params<{ id: ImportId }>) =>
  own.selectFrom("link_imports").select(columns).where("id", "=", id),
);

const selectPosition = statement((own: TenantDb, { id }: Params<{ id: string }>) =>
  own.selectFrom("imports").select(["records", "line", "made", "present", "refused"]).where("id", "=", id),
);

const countAll = statement((own: TenantDb) =>
  own.selectFrom("link_imports").select((row) => row.fn.countAll<number>().as("count")),
);

/**
 * Tenants take turns: first the one whose imports were not worked on for longest, however many it has. Those of a suspended
 * workspace wait, and so do those of one that is being deleted.
 */
const selectNext = statement((db: Db) =>
  acrossTenants(db)
    .selectFrom("link_imports as i")
    .innerJoin("tenants as t", "t.id", "i.tenant_id")
    .leftJoin("suspended_tenants as s", "s.tenant_id", "i.tenant_id")
    .select(columns.map((column) => `i.${column}` as const))
    .where("i.state", "in", unfinished)
    .where("s.tenant_id", "is", null)
    .where("t.delete_at", "is", null)
    .orderBy(({ selectFrom, fn, lit }) =>
      fn.coalesce(
        selectFrom("link_imports as o")
          .select((row) => row.fn.max("o.updated_at").as("worked_at"))
          .whereRef("o.tenant_id", "=", "i.tenant_id")
          .whereRef("o.updated_at", ">", "o.created_at"),
        lit(0),
      ),
    )
    .orderBy("i.updated_at")
    .orderBy("i.id")
    .limit(1),
);
