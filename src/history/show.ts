import { toIso } from "../base/clock.ts";
import type { TenantId } from "../base/ids.ts";
import { z } from "../http/route.ts";
import { writeCsv } from "../import-export/csv.ts";
import type { HistoryTable } from "../sql/schema.ts";
import type { Db } from "../sql/tenant-db.ts";
import type { HistoryFields } from "./history.ts";
import { actorNames, type HistoryRecord } from "./log.ts";

/** Rows of the history as the API, exports and the command line show them. */
export const actorKinds = [
  "person",
  "key",
  "command",
  "job",
  "nobody",
] as const satisfies readonly HistoryTable["actor_kind"][];

const fieldsSchema = z.record(z.string(), z.unknown()).nullable();

export const historyEntrySchema = z
  .object({
    id: z.string().nullable().openapi({ description: "Null for the creation of a link." }),
    at: z.string(),
    action: z.string().openapi({ example: "link.update" }),
    by: z
      .object({ kind: z.enum(actorKinds), id: z.string().nullable(), name: z.string().nullable() })
      .openapi({ description: "Who did it. The name of a person is null once the account is gone." }),
    subject: z.object({ kind: z.string(), id: z.string(), name: z.string().nullable() }),
    version: z.int().nullable().openapi({ description: "Of the link, after the change." }),
    before: fieldsSchema.openapi({ description: "The fields that changed, as they were." }),
    after: fieldsSchema.openapi({ description: "The same fields after the change. Never a secret." }),
  })
  .openapi("HistoryEntry");

export type ShownHistory = z.infer<typeof historyEntrySchema>;

/** With the names that people have today. */
export async function showHistory(
  db: Db,
  tenant: TenantId | "",
  records: readonly HistoryRecord[],
): Promise<ShownHistory[]> {
  const ids = records.flatMap(({ actor, subject }) => [actor.id ?? "", subject.id]);
  const names = await actorNames(db, tenant, [...new Set(ids)]);
  return records.map(({ id, at, action, actor, subject, version, before, after }) => ({
    ...{ id, at: toIso(at), action, version, before: showFields(before), after: showFields(after) },
    by: { kind: actor.kind, id: actor.id, name: actor.name ?? names.get(actor.id ?? "") ?? null },
    subject: { kind: subject.kind, id: subject.id, name: subject.name ?? names.get(subject.id) ?? null },
  }));
}

/** Times as text, as everywhere in the API. */
function showFields(fields: HistoryFields | null): Record<string, unknown> | null {
  if (fields === null) return null;
  const shown = Object.entries(fields).map(([name, value]) => [
    name,
    name.endsWith("At") && typeof value === "number" ? toIso(value) : value,
  ]);
  return Object.fromEntries(shown) as Record<string, unknown>;
}

const csvColumns = [
  ...["at", "action", "byKind", "byId", "byName", "subjectKind", "subjectId", "subjectName"],
  ...["version", "before", "after"],
];

export const historyCsvTitle = (): string => writeCsv(csvColumns);

export function historyCsv({ at, action, by, subject, version, before, after }: ShownHistory): string {
  const cells = [at, action, by.kind, by.id, by.name, subject.kind, subject.id, subject.name, version];
  const json = [before, after].map((fields) => (fields === null ? "" : JSON.stringify(fields)));
  return writeCsv([...cells.map((cell) => String(cell ?? "")), ...json]);
}
