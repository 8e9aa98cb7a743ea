import { BoundedMap } from "../../base/bounded-map.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db } from "../../sql/tenant-db.ts";
import type { DayRange } from "./days.ts";
import type { Step } from "./step.ts";

/** Notes since when new visitors of a tenant's day are not recognised, because there are too many: reports say so. */
export interface FullDays {
  note(step: Step, days: readonly FullDay[]): Promise<void>;
}

export interface FullDay extends DayRange {
  readonly tenant: TenantNumber;
}

const notedMost = 10_000;

export function createFullDays(): FullDays {
  const noted = new BoundedMap<string, true>(notedMost);
  return {
    async note(step, days) {
      const missing = new Map(days.map((day) => [nameOf(day), day]));
      for (const name of [...missing.keys()]) if (noted.get(name) !== undefined) missing.delete(name);
      // In the order of keys, so that two processes cannot deadlock.
      const sorted = [...missing.values()].sort((a, b) => a.tenant - b.tenant || a.start - b.start);
      for (const { tenant, start } of sorted) await setFull.run(step.trx, { tenant, start, now: step.now });
      step.afterCommit(() => {
        for (const name of missing.keys()) noted.set(name, true);
      });
    },
  };
}

const nameOf = ({ tenant, start }: FullDay): string => `${tenant} ${start}`;

/** The first process that is full decides. */
const setFull = statement(
  (db: Db, { tenant, start, now }: Params<{ tenant: TenantNumber; start: number; now: number }>) =>
    db
      .updateTable("click_days")
      .set({ visitors_full_at: now })
      .where("tenant", "=", tenant)
      .where("start", "=", start)
      .where("visitors_full_at", "is", null),
);
