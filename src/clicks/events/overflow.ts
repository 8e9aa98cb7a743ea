import { BoundedMap } from "../../base/bounded-map.ts";
import { type BulkFind, type BulkInsert, type BulkValue, bulkFind, bulkInsert } from "../../sql/bulk.ts";
import type { ClickOverflowTable, GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { utcDay } from "../click.ts";
import { newOverflowTally, type OverflowTally, trimOverflow } from "./overflow-tally.ts";
import { overflowText, readOverflowText } from "./overflow-text.ts";
import type { Step } from "./step.ts";

/**
 * Clicks without an event, as one row for each link, quarter of an hour and process, which is replaced as it grows. Only
 * this process writes its rows, so it keeps the latest in memory, and reads the others back when it needs them. A row is kept
 * from its second click on: most links of a long tail have one in a quarter, and their rows would fill the memory.
 *
 * A row is taken out of memory before it changes, and put back after the commit: if the transaction fails, memory never
 * has what the database does not have.
 */
export interface Overflow {
  add(step: Step, added: readonly OverflowClicks[]): Promise<void>;
  forget(): void;
}

export interface OverflowPlace {
  readonly tenant: TenantNumber;
  readonly link: LinkNumber;
  readonly domain: GroupNumber;
  /** Id of the list of tags. */
  readonly tags: number;
}

/** Clicks of a link and a quarter. */
export interface OverflowClicks {
  readonly where: OverflowPlace;
  readonly quarter: number;
  addTo(tally: OverflowTally): void;
}

interface Entry {
  readonly where: OverflowPlace;
  readonly quarter: number;
  readonly tally: OverflowTally;
}

/** Of all rows in memory, about 25 MB: a value takes some 60 bytes, and a row without values as much as ten. */
const weightMost = 400_000;
const clicksOf = ({ tally: { reasons } }: Entry): number => reasons.reduce((sum, clicks) => sum + clicks, 0);
const weightOf = ({ tally }: Entry): number => 10 + tally.size;

export function createOverflow(sql: Sql, writer: string): Overflow {
  const entries = new BoundedMap<string, Entry>(weightMost, weightOf);
  const key = {
    day: "bigint",
    tenant: "bigint",
    link: "bigint",
    quarter: "bigint",
    domain: "bigint",
    tags: "bigint",
  } as const;
  const findRows: BulkFind<Db, ClickOverflowTable> = bulkFind(sql.dialect, {
    from: "click_overflow",
    key: { ...key, writer: "text" },
    select: ["tenant", "link", "quarter", "domain", "tags", "tally"],
  });
  const replaceRows: BulkInsert<Db, never> = bulkInsert(sql.dialect, {
    into: "click_overflow",
    columns: { ...key, writer: "text", tally: "text", tenant_tally: "text" },
    tail: "on conflict (day, tenant, link, quarter, domain, tags, writer) do update set tally = excluded.tally",
  });

  /** Those that are in memory or in the database, and new ones. */
  async function entriesOf({ trx }: Step, added: readonly OverflowClicks[], names: readonly string[]) {
    const found = new Map<string, Entry>();
    const keys: BulkValue[] = [];
    for (const [place, { where, quarter }] of added.entries()) {
      const name = names[place] ?? "";
      if (found.has(name)) continue;
      const known = entries.delete(name);
      found.set(name, known ?? { where, quarter, tally: newOverflowTally() });
      if (known === undefined) pushKey(keys, where, quarter);
    }
    for (const { quarter, tally, ...where } of await findRows.all(trx, keys)) {
      found.set(nameOf(where, quarter), { where, quarter, tally: readOverflowText(tally) });
    }
    return found;
  }

  function pushKey(values: BulkValue[], { tenant, link, domain, tags }: OverflowPlace, quarter: number): void {
    values.push(utcDay(quarter), tenant, link, quarter, domain, tags, writer);
  }

  return {
    async add(step, added) {
      const names = added.map(({ where, quarter }) => nameOf(where, quarter));
      const touched = await entriesOf(step, added, names);
      for (const [place, { addTo }] of added.entries()) {
        const entry = touched.get(names[place] ?? "");
        if (entry === undefined) throw new Error("clicks have no overflow row");
        addTo(entry.tally);
      }
      const values: BulkValue[] = [];
      // In any order: no other process locks them.
      for (const { where, quarter, tally } of touched.values()) {
        // Memory must have what is written, or a row that is read back would differ.
        trimOverflow(tally);
        pushKey(values, where, quarter);
        values.push(overflowText(tally), "");
      }
      await replaceRows.run(step.trx, values);
      step.afterCommit(() => {
        for (const [name, entry] of touched) if (clicksOf(entry) > 1) entries.set(name, entry);
      });
    },
    forget: () => entries.clear(),
  };
}

const nameOf = ({ tenant, link, domain, tags }: OverflowPlace, quarter: number): string =>
  `${tenant} ${link} ${quarter} ${domain} ${tags}`;
