import type { Clock } from "../base/clock.ts";
import type { HistoryId } from "../base/ids.ts";
import { type Params, statement } from "../sql/statement.ts";
import { ofTenant, type TenantDb, type Trx } from "../sql/tenant-db.ts";
import { type HistoryEntry, toHistoryRow } from "./history.ts";

/**
 * A request that creates many things in several transactions, such as an import: one row in the history, whose counts
 * grow with each transaction. Killed at any moment, it says what was done.
 */
export interface HistoryRequest extends Omit<HistoryEntry, "before" | "after"> {
  /** The same in every transaction of the request. */
  readonly id: HistoryId;
}

export async function addToRequest(
  trx: Trx,
  clock: Pick<Clock, "now">,
  { id, ...entry }: HistoryRequest,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const own = ofTenant(trx, entry.tenant);
  const row = await selectCounts.first(own, { id });
  if (row === undefined) {
    await own
      .insertInto("history")
      .values(toHistoryRow(id, clock, { ...entry, after: counts }))
      .execute();
    return;
  }
  const sums = JSON.parse(row.after_change ?? "{}") as Record<string, number>;
  for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  await setCounts.run(own, { id, counts: JSON.stringify(sums) });
}

const selectCounts = statement((own: TenantDb, { id }: Params<{ id: HistoryId }>) =>
  own.selectFrom("history").select("after_change").where("id", "=", id),
);

const setCounts = statement((own: TenantDb, { id, counts }: Params<{ id: HistoryId; counts: string }>) =>
  own.updateTable("history").set({ after_change: counts }).where("id", "=", id),
);
