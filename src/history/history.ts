import type { Clock } from "../base/clock.ts";
import { createOrderedIds, type HistoryId, type KeyId, type PersonId, type TenantId } from "../base/ids.ts";
import { type Params, rowBatches, statement } from "../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";

/**
 * Who changed what: a row for every change, in the transaction of the change. Undo, a link's past and the log of a
 * workspace are these rows.
 */
export type Actor =
  /** Their name is looked up while the account exists. */
  | { readonly kind: "person"; readonly id: PersonId }
  | { readonly kind: "key"; readonly id: KeyId; readonly name: string }
  /** The operator on the machine itself, with `quicklink`. The name is what they said, for the record. */
  | { readonly kind: "command"; readonly name?: string }
  | { readonly kind: "job"; readonly name: string }
  /** Somebody who is not signed in. */
  | { readonly kind: "nobody" };

export const byCommand: Actor = { kind: "command" };

/** For columns that keep one word about who did it. Of people the ID, so that their name goes with their account. */
export function wordFor(actor: Actor): string {
  if (actor.kind === "person") return actor.id;
  return actor.kind === "nobody" ? "nobody" : (actor.name ?? "operator");
}

export interface HistoryEntry {
  /** Empty: belongs to no workspace. */
  readonly tenant: TenantId | "";
  readonly actor: Actor;
  /** `link.update` */
  readonly action: string;
  /** The name that it had then, for when it is gone. Not of people: their names go with their account. */
  readonly subject: { readonly kind: string; readonly id: string; readonly name?: string };
  /** Of a link, after the change. */
  readonly version?: number;
  /** Only what changed. Never a secret. */
  readonly before?: HistoryFields | null;
  readonly after?: HistoryFields | null;
  /** Whose address is in the field `email` of these: it goes with their account. */
  readonly mailbox?: string | null;
}

export type HistoryFields = Readonly<Record<string, unknown>>;

/** Rows of one transaction are often of one millisecond, and are read in the order in which they were written. */
export const newHistoryId = createOrderedIds("history");

export async function recordHistory(trx: Trx, clock: Pick<Clock, "now">, entry: HistoryEntry): Promise<void> {
  await insertRow.run(ofTenant(trx, entry.tenant), toHistoryRow(newHistoryId(clock), clock, entry));
}

/** Several changes of one workspace in one transaction. */
export async function recordEach(
  trx: Trx,
  clock: Pick<Clock, "now">,
  tenant: TenantId | "",
  entries: readonly Omit<HistoryEntry, "tenant">[],
): Promise<void> {
  const rows = entries.map((entry) => toHistoryRow(newHistoryId(clock), clock, { ...entry, tenant }));
  for (const some of rowBatches(rows, statementRows)) {
    await ofTenant(trx, tenant)
      .insertInto("history")
      .values([...some])
      .execute();
  }
}

const statementRows = 64;

export function toHistoryRow(id: HistoryId, clock: Pick<Clock, "now">, entry: HistoryEntry) {
  const { actor, action, subject, version = null, before = null, after = null, mailbox = null } = entry;
  return {
    ...{ id, at: clock.now(), action, version, mailbox },
    ...{ actor_kind: actor.kind, actor_id: "id" in actor ? actor.id : null },
    actor_name: "name" in actor ? actor.name : null,
    ...{ subject_kind: subject.kind, subject_id: subject.id, subject_name: subject.name ?? null },
    before_change: before === null ? null : JSON.stringify(before),
    after_change: after === null ? null : JSON.stringify(after),
  };
}

const insertRow = statement((own: TenantDb, row: Params<ReturnType<typeof toHistoryRow>>) =>
  own.insertInto("history").values(row),
);

/** The fields of `after` that differ from `before`, as the history has them; undefined if none does. */
export function differenceOf(
  before: HistoryFields,
  after: HistoryFields,
): { readonly before: HistoryFields; readonly after: HistoryFields } | undefined {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (names.length === 0) return undefined;
  const only = (fields: HistoryFields) => Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  return { before: only(before), after: only(after) };
}
