import { type HistoryId, idAt, parseId, type TenantId } from "../base/ids.ts";
import { namesOfPeople } from "../people/names.ts";
import type { HistoryTable } from "../sql/schema.ts";
import type { Sql } from "../sql/sql.ts";
import { type Db, ofTenant } from "../sql/tenant-db.ts";
import type { HistoryFields } from "./history.ts";

/**
 * The log of a workspace, newest first. Filters by actor and subject have an index. Others go through the rows: a page ends
 * after so many of them, even if it found few, and says where the next one begins.
 */
export interface HistoryLog {
  /** Of a workspace; empty: of the server. */
  page(tenant: TenantId | "", query: HistoryQuery, limit: number, before?: HistoryId): Promise<HistoryPage>;
}

export interface HistoryQuery {
  /** A person's or a key's ID. */
  readonly actor?: string | undefined;
  readonly actorKind?: HistoryTable["actor_kind"] | undefined;
  readonly action?: string | undefined;
  readonly subject?: string | undefined;
  readonly subjectKind?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface HistoryRecord {
  /** Null for a link's creation, which has no row. */
  readonly id: HistoryId | null;
  readonly at: number;
  readonly action: string;
  readonly actor: {
    readonly kind: HistoryTable["actor_kind"];
    readonly id: string | null;
    readonly name: string | null;
  };
  readonly subject: { readonly kind: string; readonly id: string; readonly name: string | null };
  readonly version: number | null;
  readonly before: HistoryFields | null;
  readonly after: HistoryFields | null;
}

export interface HistoryPage {
  readonly items: readonly HistoryRecord[];
  readonly next: readonly [HistoryId] | null;
}

const scannedMost = 5_000;

export function createHistoryLog({ db }: Sql): HistoryLog {
  return {
    async page(tenant, query, limit, before) {
      const { actor, actorKind, action, subject, subjectKind, since, until } = query;
      let some = ofTenant(db, tenant).selectFrom("history").select(historyColumns);
      if (before !== undefined) some = some.where("id", "<", before);
      if (since !== undefined) some = some.where("id", ">=", idAt("history", since));
      if (until !== undefined) some = some.where("id", "<", idAt("history", until));
      if (actor !== undefined) some = some.where("actor_id", "=", actor);
      if (subject !== undefined) some = some.where("subject_id", "=", subject);
      const ordered = some.orderBy("id", "desc");
      if (actorKind === undefined && action === undefined && subjectKind === undefined) {
        const rows = await ordered.limit(limit + 1).execute();
        const items = rows.slice(0, limit).map(toHistoryRecord);
        return { items, next: nextOf(rows.length > limit ? items.at(-1)?.id : undefined) };
      }
      let found = db.selectFrom(ordered.limit(scannedMost).as("h")).selectAll("h");
      if (actorKind !== undefined) found = found.where("h.actor_kind", "=", actorKind);
      if (action !== undefined) found = found.where("h.action", "=", action);
      if (subjectKind !== undefined) found = found.where("h.subject_kind", "=", subjectKind);
      const rows = await found
        .orderBy("h.id", "desc")
        .limit(limit + 1)
        .execute();
      const items = rows.slice(0, limit).map(toHistoryRecord);
      if (rows.length > limit) return { items, next: nextOf(items.at(-1)?.id) };
      const last = await ordered
        .clearSelect()
        .select("id")
        .offset(scannedMost - 1)
        .limit(1)
        .executeTakeFirst();
      return { items, next: nextOf(last?.id) };
    },
  };
}

const nextOf = (id: HistoryId | undefined): readonly [HistoryId] | null => (id === undefined ? null : [id]);

/** The names of people and keys by their IDs, as far as they still exist. */
export async function actorNames(
  db: Db,
  tenant: TenantId | "",
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const people = await namesOfPeople(
    db,
    ids.map((id) => parseId("person", id) ?? null),
  );
  const keys = ids.flatMap((id) => parseId("key", id) ?? []);
  if (keys.length === 0) return people;
  const rows = ofTenant(db, tenant).selectFrom("api_keys").select(["id", "name"]).where("id", "in", keys);
  return new Map<string, string>([...people, ...(await rows.execute()).map(({ id, name }) => [id, name] as const)]);
}

export const historyColumns = [
  ...(["id", "at", "actor_kind", "actor_id", "actor_name", "action", "subject_kind", "subject_id"] as const),
  ...(["subject_name", "version", "before_change", "after_change"] as const),
] as const;

type HistoryRow = Pick<HistoryTable, (typeof historyColumns)[number]>;

export const toHistoryRecord = (row: HistoryRow): HistoryRecord & { readonly id: HistoryId } => ({
  ...{ id: row.id, at: row.at, action: row.action, version: row.version },
  actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
  subject: { kind: row.subject_kind, id: row.subject_id, name: row.subject_name },
  before: row.before_change === null ? null : (JSON.parse(row.before_change) as HistoryFields),
  after: row.after_change === null ? null : (JSON.parse(row.after_change) as HistoryFields),
});
