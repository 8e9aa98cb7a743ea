import { hitReasons } from "../../redirect/decide.ts";
import { type BulkFind, type BulkInsert, type BulkValue, bulkFind, bulkInsert } from "../../sql/bulk.ts";
import type { ClickOverflowTable, GroupNumber, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Db } from "../../sql/tenant-db.ts";
import { dimensions, isPerson, none, utcDay } from "../click.ts";
import { readTallyText } from "../rollups/packed.ts";
import { addCounts, addValue, type FactCounts, newTally, type Tally, trimmed, valuesMost } from "../rollups/tally.ts";
import type { BothTallies } from "./batch-tally.ts";
import { overflowText } from "./overflow-text.ts";
import type { Step } from "./step.ts";

/**
 * Clicks without an event, as one row for each link, quarter of an hour and process, which is replaced as it grows. Only
 * this process writes its rows, so it keeps the latest in memory, and reads the others back when it needs them.
 *
 * A row is taken out of memory before it changes, and put back after the commit: if the transaction fails, memory never
 * has what the database does not have.
 */
export interface Overflow {
  add(step: Step, clicks: readonly OverflowClicks[], bare: readonly OverflowBare[]): Promise<void>;
  forget(): void;
}

interface Where {
  readonly tenant: TenantNumber;
  readonly link: LinkNumber;
  readonly domain: GroupNumber;
  /** Id of the list of tags. */
  readonly tags: number;
}

/** Clicks of a link and a quarter. */
export interface OverflowClicks extends Where {
  readonly quarter: number;
  /** Whether they are the same for both tallies. */
  readonly isEqualForBoth: boolean;
  addTo(tallies: BothTallies): void;
}

export interface OverflowBare extends Where {
  readonly quarter: number;
  /** Clicks by reason. */
  readonly reasons: readonly number[];
}

interface Entry extends Where, BothTallies {
  readonly quarter: number;
}
interface KeptEntry extends Entry {
  /** How many values it has. */
  readonly weight: number;
}

/** Values of all rows in memory, of about 100 bytes each. */
const weightMost = 200_000;

export function createOverflow(sql: Sql, writer: string): Overflow {
  const entries = new Map<string, KeptEntry>();
  let weight = 0;
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
    select: ["tenant", "link", "quarter", "domain", "tags", "tally", "tenant_tally"],
  });
  const replaceRows: BulkInsert<Db, never> = bulkInsert(sql.dialect, {
    into: "click_overflow",
    columns: { ...key, writer: "text", tally: "text", tenant_tally: "text" },
    tail: `on conflict (day, tenant, link, quarter, domain, tags, writer)
      do update set tally = excluded.tally, tenant_tally = excluded.tenant_tally`,
  });

  function takeOut(name: string): Entry | undefined {
    const entry = entries.get(name);
    if (entry === undefined) return undefined;
    entries.delete(name);
    weight -= entry.weight;
    return entry;
  }

  function putBack(name: string, entry: Entry): void {
    const added = talliesOf(entry).reduce((sum, tally) => sum + weightOf(tally), 0);
    entries.set(name, { ...entry, weight: added });
    weight += added;
    for (const oldest of entries.keys()) {
      if (weight <= weightMost) break;
      takeOut(oldest);
    }
  }

  const keyOf = ({ tenant, link, quarter, domain, tags }: Where & { readonly quarter: number }): BulkValue[] => [
    ...[utcDay(quarter), tenant, link, quarter, domain, tags],
    writer,
  ];

  return {
    async add(step, clicks, bare) {
      const touched = new Map<string, Entry>();
      const unknown = new Map<string, Where & { readonly quarter: number }>();
      for (const where of [...clicks, ...bare]) {
        const name = nameOf(where);
        if (touched.has(name) || unknown.has(name)) continue;
        const entry = takeOut(name);
        if (entry === undefined) unknown.set(name, where);
        else touched.set(name, entry);
      }
      for (const row of await findRows.all(step.trx, [...unknown.values()].flatMap(keyOf))) {
        const { tally, tenant_tally, quarter, ...where } = row;
        const ofLink = readTallyText(tally, quarter);
        const ofTenant = tenant_tally === "" ? ofLink : readTallyText(tenant_tally, quarter);
        touched.set(nameOf(row), { ...where, quarter, ofLink, ofTenant });
      }
      const entryOf = (where: Where & { readonly quarter: number }): Entry => {
        const name = nameOf(where);
        let entry = touched.get(name);
        if (entry === undefined) {
          const { tenant, link, domain, tags, quarter } = where;
          const tally = newTally();
          entry = { tenant, link, domain, tags, quarter, ofLink: tally, ofTenant: tally };
          touched.set(name, entry);
        }
        return entry;
      };
      for (const some of clicks) {
        let entry = entryOf(some);
        if (!some.isEqualForBoth && isOne(entry)) {
          entry = { ...entry, ofTenant: structuredClone(entry.ofLink) };
          touched.set(nameOf(entry), entry);
        }
        some.addTo(entry);
      }
      for (const one of bare) for (const tally of talliesOf(entryOf(one))) addBare(tally, one);
      // Memory must have what is written, or a row that is read back would differ.
      const rows = [...touched]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, entry]) => [name, trimmedEntry(entry)] as const);
      const values: BulkValue[] = [];
      for (const [, entry] of rows) {
        const { quarter, ofLink, ofTenant } = entry;
        values.push(...keyOf(entry), overflowText(ofLink, quarter));
        values.push(isOne(entry) ? "" : overflowText(ofTenant, quarter));
      }
      await replaceRows.run(step.trx, values);
      step.afterCommit(() => {
        for (const [name, entry] of rows) putBack(name, entry);
      });
    },
    forget() {
      entries.clear();
      weight = 0;
    },
  };
}

/** Facts that were dropped are unknown: they count as "none", so that every breakdown still adds up to the total. */
function addBare(tally: Tally, { quarter, reasons }: OverflowBare): void {
  for (const reason of hitReasons.keys()) {
    const clicks = reasons[reason] ?? 0;
    if (clicks === 0) continue;
    addCounts(tally, quarter, reason, clicks, 0);
    const values = isPerson(reason) ? tally.people : tally.rest;
    for (const dimension of dimensions) addValue(values, dimension, none, clicks, 0);
  }
}

const nameOf = ({ tenant, link, quarter, domain, tags }: Where & { readonly quarter: number }): string =>
  `${tenant} ${link} ${quarter} ${domain} ${tags}`;

function weightOf({ people, rest }: Tally): number {
  let weight = 0;
  for (const { size } of people.values()) weight += size;
  for (const { size } of rest.values()) weight += size;
  return weight;
}

const isOne = ({ ofLink, ofTenant }: BothTallies): boolean => ofLink === ofTenant;

const talliesOf = (both: BothTallies): readonly Tally[] => (isOne(both) ? [both.ofLink] : [both.ofLink, both.ofTenant]);

function trimmedEntry(entry: Entry): Entry {
  const { tenant, link, quarter, domain, tags } = entry;
  const ofLink = trimmedTally(entry.ofLink);
  const ofTenant = isOne(entry) ? ofLink : trimmedTally(entry.ofTenant);
  return { tenant, link, quarter, domain, tags, ofLink, ofTenant };
}

const trimmedTally = (tally: Tally): Tally =>
  isSmall(tally.people) && isSmall(tally.rest)
    ? tally
    : { ...tally, people: trimmed(tally.people, valuesMost), rest: trimmed(tally.rest, valuesMost) };

function isSmall(values: FactCounts): boolean {
  for (const { size } of values.values()) if (size > valuesMost) return false;
  return true;
}
