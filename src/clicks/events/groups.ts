import { BoundedMap } from "../../base/bounded-map.ts";
import type { TenantId } from "../../base/ids.ts";
import { type BulkFind, type BulkInsert, type BulkValue, bulkFind, bulkInsert } from "../../sql/bulk.ts";
import type { ClickGroupTable, GroupNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { statement } from "../../sql/statement.ts";
import { acrossTenants, ofTenant, type TenantDb } from "../../sql/tenant-db.ts";
import type { Step } from "./step.ts";

/** Domains and tags with roll-ups of their own: every domain, and the first 50 tags of a tenant. */
export interface ClickGroups {
  /**
   * Adds missing ones. A tag beyond the first 50 has none, as far as this process knows; with `sure`, as far as the
   * database knows.
   */
  find(step: Step, names: Iterable<GroupName>, sure: boolean): Promise<(name: GroupName) => GroupNumber | undefined>;
  forget(): void;
}

export type GroupName = Pick<ClickGroupTable, "kind" | "name"> & { readonly tenant_id: TenantId };

/** Two processes that add tags at the same moment may exceed it by a few. */
export const groupedTagsMost = 50;
const groupsMost = 100_000;

type Found = GroupName & { readonly number: GroupNumber };
type Handle = ReturnType<typeof acrossTenants>;

export function createClickGroups(sql: Sql): ClickGroups {
  /** 0: a tag without a group. */
  const memo = new BoundedMap<string, GroupNumber | 0>(groupsMost);
  const findGroups: BulkFind<Handle, Found> = bulkFind(sql.dialect, {
    from: "click_groups",
    key: { tenant_id: "text", kind: "text", name: "text" },
    select: ["tenant_id", "kind", "name", "number"],
  });
  const insertGroups: BulkInsert<Handle, never> = bulkInsert(sql.dialect, {
    into: "click_groups",
    columns: { tenant_id: "text", kind: "text", name: "text", since: "bigint" },
    tail: "on conflict do nothing",
  });

  async function load(step: Step, names: readonly GroupName[]): Promise<Map<string, GroupNumber>> {
    const rows = await findGroups.all(acrossTenants(step.trx), flat(names));
    return new Map(rows.map((row) => [keyOf(row), row.number]));
  }

  /** Without tags that are too many. */
  async function within(step: Step, names: readonly GroupName[]): Promise<GroupName[]> {
    const left = new Map<TenantId, number>();
    const kept: GroupName[] = [];
    for (const name of names) {
      if (name.kind === "tag") {
        let places = left.get(name.tenant_id);
        if (places === undefined) {
          const { tags } = await countTags.one(ofTenant(step.trx, name.tenant_id));
          places = groupedTagsMost - Number(tags);
        }
        left.set(name.tenant_id, places - 1);
        if (places <= 0) continue;
      }
      kept.push(name);
    }
    return kept;
  }

  return {
    async find(step, names, sure) {
      const unknown = new Map<string, GroupName>();
      for (const name of names) {
        const key = keyOf(name);
        const known = memo.get(key);
        if (known === undefined || (sure && known === 0)) unknown.set(key, name);
      }
      const found = new Map<string, GroupNumber>();
      if (unknown.size > 0) {
        const sorted = [...unknown].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
        for (const [key, number] of await load(step, sorted)) found.set(key, number);
        const missing = await within(
          step,
          sorted.filter((name) => !found.has(keyOf(name))),
        );
        if (missing.length > 0) {
          // A domain has a group from its first click on; a tag may have had clicks while there was no place for it.
          const sinceOf = ({ kind }: GroupName) => (kind === "tag" ? step.now : 0);
          const rows = missing.flatMap((name): BulkValue[] => [...flat([name]), sinceOf(name)]);
          await insertGroups.run(acrossTenants(step.trx), rows);
          for (const [key, number] of await load(step, missing)) found.set(key, number);
        }
        step.afterCommit(() => {
          for (const key of unknown.keys()) memo.set(key, found.get(key) ?? 0);
        });
      }
      return (name) => {
        const key = keyOf(name);
        const number = found.get(key) ?? memo.get(key);
        return number === 0 ? undefined : number;
      };
    },
    forget: () => memo.clear(),
  };
}

const keyOf = ({ tenant_id, kind, name }: GroupName): string => `${tenant_id} ${kind} ${name}`;

function flat(names: readonly GroupName[]): BulkValue[] {
  const values: BulkValue[] = [];
  for (const { tenant_id, kind, name } of names) values.push(tenant_id, kind, name);
  return values;
}

const countTags = statement((own: TenantDb) =>
  own
    .selectFrom("click_groups")
    .select((expression) => expression.fn.countAll<number>().as("tags"))
    .where("kind", "=", "tag"),
);
