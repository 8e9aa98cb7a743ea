import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { type AnnotationId, type LinkId, newId, type PersonId, type TenantId } from "../base/ids.ts";
import { type Actor, differenceOf, type HistoryEntry, recordHistory } from "../history/history.ts";
import type { Sql } from "../sql/sql.ts";
import { type Params, statement } from "../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { createOneAtATime } from "../tenants/one-at-a-time.ts";

/** Notes at a point in time, such as "Newsletter sent", that explain the figures of a link or of the whole workspace. */
export interface Annotation {
  readonly id: AnnotationId;
  /** Null: about the whole workspace. */
  readonly link: LinkId | null;
  readonly at: number;
  readonly text: string;
  readonly createdAt: number;
  readonly createdBy: PersonId | null;
}

export interface NewAnnotation {
  /** Derived from the request: a repeated request finds what it created. */
  readonly id: AnnotationId | undefined;
  readonly link: LinkId | null;
  readonly at: number;
  readonly text: string;
}

export interface AnnotationQuery {
  /** Those of this link, and those of the workspace. Omitted: all. */
  readonly link?: LinkId | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
  readonly after?: Pick<Annotation, "at" | "id"> | undefined;
}

export interface Annotations {
  /** The latest first. */
  list(tenant: TenantId, query: AnnotationQuery): Promise<Annotation[]>;
  create(tenant: TenantId, given: NewAnnotation, by: Actor): Promise<Annotation>;
  change(tenant: TenantId, id: AnnotationId, fields: AnnotationChange, by: Actor): Promise<Annotation>;
  remove(tenant: TenantId, id: AnnotationId, by: Actor): Promise<void>;
}

export interface AnnotationChange {
  readonly at?: number | undefined;
  readonly text?: string | undefined;
}

export const annotationsMost = 2_000;

export function createAnnotations(sql: Sql, clock: Pick<Clock, "now">): Annotations {
  const inTurn = createOneAtATime(sql);

  const locked = statement((own: TenantDb, { id }: Params<{ id: AnnotationId }>) =>
    sql.forUpdate(own.selectFrom("annotations").select(columns).where("id", "=", id)),
  );

  async function lock(trx: Trx, tenant: TenantId, id: AnnotationId): Promise<Annotation> {
    const row = await locked.first(ofTenant(trx, tenant), { id });
    if (row === undefined) throw noAnnotation();
    return toAnnotation(row);
  }

  const record = (trx: Trx, tenant: TenantId, { id, text }: Annotation, by: Actor, action: string, change: Change) =>
    recordHistory(trx, clock, {
      ...{ tenant, actor: by, action, subject: { kind: "annotation", id, name: text }, ...change },
    });

  return {
    async list(tenant, { link, from, to, limit, after }) {
      let query = ofTenant(sql.db, tenant).selectFrom("annotations").select(columns);
      if (link !== undefined) {
        query = query.where((row) => row.or([row("link_id", "=", link), row("link_id", "is", null)]));
      }
      if (from !== undefined) query = query.where("at", ">=", from);
      if (to !== undefined) query = query.where("at", "<", to);
      if (after !== undefined) {
        const { at, id } = after;
        query = query.where((row) => row.or([row("at", "<", at), row.and([row("at", "=", at), row("id", "<", id)])]));
      }
      const rows = await query.orderBy("at", "desc").orderBy("id", "desc").limit(limit).execute();
      return rows.map(toAnnotation);
    },

    create: (tenant, { id = newId("annotation", clock), link, at, text }, by) =>
      inTurn(tenant, async (trx) => {
        const own = ofTenant(trx, tenant);
        const made = await locked.first(own, { id });
        if (made !== undefined) return toAnnotation(made);
        const found = link === null ? true : await selectLink.first(own, { id: link });
        if (found === undefined) throw new Problem("not_found", "No such link.");
        const { count } = await countAll.one(own);
        if (Number(count) >= annotationsMost) {
          const most = annotationsMost.toLocaleString("en");
          throw new Problem("collection_full", `A workspace can have at most ${most} annotations. Delete some first.`);
        }
        const createdBy = by.kind === "person" ? by.id : null;
        const annotation = { id, link, at, text, createdAt: clock.now(), createdBy };
        await insert.run(own, {
          ...{ id, link_id: link, at, text, created_at: annotation.createdAt, created_by: createdBy },
        });
        await record(trx, tenant, annotation, by, "annotation.create", { after: { at, text, ...(link && { link }) } });
        return annotation;
      }),

    change: (tenant, id, fields, by) =>
      sql.transaction(async (trx) => {
        const before = await lock(trx, tenant, id);
        const after = { ...before, at: fields.at ?? before.at, text: fields.text ?? before.text };
        const changed = differenceOf({ at: before.at, text: before.text }, { at: after.at, text: after.text });
        if (changed === undefined) return before;
        await update.run(ofTenant(trx, tenant), { id, at: after.at, text: after.text });
        await record(trx, tenant, after, by, "annotation.update", changed);
        return after;
      }),

    remove: (tenant, id, by) =>
      sql.transaction(async (trx) => {
        const { link, at, text, ...rest } = await lock(trx, tenant, id);
        await remove.run(ofTenant(trx, tenant), { id });
        const before = { at, text, ...(link && { link }) };
        await record(trx, tenant, { ...rest, link, at, text }, by, "annotation.delete", { before });
      }),
  };
}

type Change = Pick<HistoryEntry, "before" | "after">;

export const noAnnotation = () => new Problem("not_found", "No such annotation.");

const columns = ["id", "link_id", "at", "text", "created_at", "created_by"] as const;

interface Row {
  readonly id: AnnotationId;
  readonly link_id: LinkId | null;
  readonly at: number;
  readonly text: string;
  readonly created_at: number;
  readonly created_by: PersonId | null;
}

const toAnnotation = (row: Row): Annotation => ({
  ...{ id: row.id, link: row.link_id, at: row.at, text: row.text },
  ...{ createdAt: row.created_at, createdBy: row.created_by },
});

const selectLink = statement((own: TenantDb, { id }: Params<{ id: LinkId }>) =>
  own.selectFrom("links").select("id").where("id", "=", id),
);

const countAll = statement((own: TenantDb) =>
  own.selectFrom("annotations").select((row) => row.fn.countAll<number>().as("count")),
);

const insert = statement((own: TenantDb, row: Params<Row>) => own.insertInto("annotations").values(row));

const update = statement((own: TenantDb, { id, at, text }: Params<{ id: AnnotationId; at: number; text: string }>) =>
  own.updateTable("annotations").set({ at, text }).where("id", "=", id),
);

const remove = statement((own: TenantDb, { id }: Params<{ id: AnnotationId }>) =>
  own.deleteFrom("annotations").where("id", "=", id),
);
