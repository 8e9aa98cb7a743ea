import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { newId, type TenantId, type UtmTemplateId } from "../../base/ids.ts";
import { type Actor, differenceOf, type HistoryEntry, recordHistory } from "../../history/history.ts";
import { isUniqueViolation, type Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../../sql/tenant-db.ts";
import { createOneAtATime } from "../../tenants/one-at-a-time.ts";
import type { Utm } from "../routing/utm.ts";

/** Named sets of UTM parameters, to fill in a link's. A link keeps what it was given: it does not follow a template. */
export interface UtmTemplate {
  readonly id: UtmTemplateId;
  readonly name: string;
  readonly utm: Utm;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface UtmTemplates {
  /** By name. */
  list(tenant: TenantId, limit: number, after?: string): Promise<UtmTemplate[]>;
  create(tenant: TenantId, given: NewTemplate, by: Actor): Promise<UtmTemplate>;
  change(tenant: TenantId, id: UtmTemplateId, fields: TemplateChange, by: Actor): Promise<UtmTemplate>;
  remove(tenant: TenantId, id: UtmTemplateId, by: Actor): Promise<void>;
}

export interface NewTemplate {
  readonly id: UtmTemplateId | undefined;
  readonly name: string;
  readonly utm: Utm;
}

export interface TemplateChange {
  readonly name?: string | undefined;
  readonly utm?: Utm | undefined;
}

export const templatesMost = 200;

export function createUtmTemplates(sql: Sql, clock: Pick<Clock, "now">): UtmTemplates {
  const inTurn = createOneAtATime(sql);

  const locked = statement((own: TenantDb, { id }: Params<{ id: UtmTemplateId }>) =>
    sql.forUpdate(own.selectFrom("utm_templates").select(columns).where("id", "=", id)),
  );

  async function lock(trx: Trx, tenant: TenantId, id: UtmTemplateId): Promise<UtmTemplate> {
    const row = await locked.first(ofTenant(trx, tenant), { id });
    if (row === undefined) throw noTemplate();
    return toTemplate(row);
  }

  const record = (trx: Trx, tenant: TenantId, { id, name }: UtmTemplate, by: Actor, action: string, change: Change) =>
    recordHistory(trx, clock, {
      ...{ tenant, actor: by, action, subject: { kind: "utm-template", id, name }, ...change },
    });

  return {
    async list(tenant, limit, after) {
      let query = ofTenant(sql.db, tenant).selectFrom("utm_templates").select(columns);
      if (after !== undefined) query = query.where("name", ">", after);
      return (await query.orderBy("name").limit(limit).execute()).map(toTemplate);
    },

    create: (tenant, { id = newId("utmTemplate", clock), name, utm }, by) =>
      inTurn(tenant, async (trx) => {
        const own = ofTenant(trx, tenant);
        const made = await locked.first(own, { id });
        if (made !== undefined) return toTemplate(made);
        const names = (await selectNames.all(own)).map((row) => row.name);
        if (names.includes(name)) throw nameTaken(name);
        if (names.length >= templatesMost) {
          throw new Problem(
            "collection_full",
            `A workspace can have at most ${templatesMost} UTM templates. Delete one that you do not use.`,
          );
        }
        const now = clock.now();
        await insert.run(own, { id, name, utm: JSON.stringify(utm), created_at: now, updated_at: now });
        const template = { id, name, utm, createdAt: now, updatedAt: now };
        await record(trx, tenant, template, by, "utm-template.create", { after: { name, utm } });
        return template;
      }),

    change: (tenant, id, fields, by) =>
      sql
        .transaction(async (trx) => {
          const before = await lock(trx, tenant, id);
          const after = { ...before, name: fields.name ?? before.name, utm: fields.utm ?? before.utm };
          const changed = differenceOf({ name: before.name, utm: before.utm }, { name: after.name, utm: after.utm });
          if (changed === undefined) return before;
          const at = clock.now();
          await update.run(ofTenant(trx, tenant), { id, name: after.name, utm: JSON.stringify(after.utm), at });
          await record(trx, tenant, after, by, "utm-template.update", changed);
          return { ...after, updatedAt: at };
        })
        .catch((error: unknown) => {
          throw isUniqueViolation(error) ? nameTaken(fields.name ?? "") : error;
        }),

    remove: (tenant, id, by) =>
      sql.transaction(async (trx) => {
        const template = await lock(trx, tenant, id);
        await remove.run(ofTenant(trx, tenant), { id });
        const { name, utm } = template;
        await record(trx, tenant, template, by, "utm-template.delete", { before: { name, utm } });
      }),
  };
}

type Change = Pick<HistoryEntry, "before" | "after">;

export const noTemplate = () => new Problem("not_found", "No such UTM template.");

function nameTaken(name: string): Problem {
  const message = `Another template is called "${name}".`;
  return new Problem("name_taken", message, { errors: [{ field: "name", code: "taken", message }] });
}

const columns = ["id", "name", "utm", "created_at", "updated_at"] as const;

interface Row {
  readonly id: UtmTemplateId;
  readonly name: string;
  readonly utm: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const toTemplate = (row: Row): UtmTemplate => ({
  ...{ id: row.id, name: row.name, utm: JSON.parse(row.utm) as Utm },
  ...{ createdAt: row.created_at, updatedAt: row.updated_at },
});

const selectNames = statement((own: TenantDb) => own.selectFrom("utm_templates").select("name"));

const insert = statement((own: TenantDb, row: Params<Row>) => own.insertInto("utm_templates").values(row));

interface Update {
  readonly id: UtmTemplateId;
  readonly name: string;
  readonly utm: string;
  readonly at: number;
}

const update = statement((own: TenantDb, { id, name, utm, at }: Params<Update>) =>
  own.updateTable("utm_templates").set({ name, utm, updated_at: at }).where("id", "=", id),
);

const remove = statement((own: TenantDb, { id }: Params<{ id: UtmTemplateId }>) =>
  own.deleteFrom("utm_templates").where("id", "=", id),
);
