import { BoundedMap } from "../../base/bounded-map.ts";
import type { TenantId } from "../../base/ids.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db } from "../../sql/tenant-db.ts";
import type { Step } from "./step.ts";

/** The ids of tenants, by the numbers that clicks carry. */
export interface ClickTenants {
  /** Those that exist: clicks of a deleted tenant have no place. */
  find(step: Step, numbers: Iterable<TenantNumber>): Promise<ReadonlyMap<TenantNumber, TenantId>>;
  forget(): void;
}

const tenantsMost = 100_000;
const listMost = 500;

export function createClickTenants(): ClickTenants {
  const memo = new BoundedMap<TenantNumber, TenantId>(tenantsMost);
  return {
    async find(step, numbers) {
      const found = new Map<TenantNumber, TenantId>();
      const unknown: TenantNumber[] = [];
      for (const number of new Set(numbers)) {
        const id = memo.get(number);
        if (id === undefined) unknown.push(number);
        else found.set(number, id);
      }
      for (let start = 0; start < unknown.length; start += listMost) {
        const rows = await selectTenants.all(step.trx, { numbers: unknown.slice(start, start + listMost) });
        for (const { id, number } of rows) found.set(number, id);
      }
      step.afterCommit(() => {
        for (const number of unknown) {
          const id = found.get(number);
          if (id !== undefined) memo.set(number, id);
        }
      });
      return found;
    },
    forget: () => memo.clear(),
  };
}

const selectTenants = statement((db: Db, { numbers }: Params<{ numbers: readonly TenantNumber[] }>) =>
  db.selectFrom("tenants").select(["id", "number"]).where("number", "in", numbers),
);
