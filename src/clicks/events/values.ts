import type { Selectable } from "kysely";
import { BoundedMap } from "../../base/bounded-map.ts";
import { type BulkFind, type BulkInsert, type BulkValue, bulkFind, bulkInsert } from "../../sql/bulk.ts";
import type { ClickValueTable, LinkNumber, TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { type Params, statement } from "../../sql/statement.ts";
import type { Db, Trx } from "../../sql/tenant-db.ts";
import { type ClickBatch, type Dimension, dimensions, none, other, utcDay } from "../click.ts";
import type { Step } from "./step.ts";
import { writeTagList } from "./tag-list.ts";

/**
 * The dictionary: ids of single values. Visitors choose some of these values (referrers, campaigns), so new ones are
 * limited: a tenant has at most 20,000 of a dimension, and one link brings in at most 100 of a dimension a day, in each
 * process. What is beyond is "other". So an attack on one link neither fills the table nor the place of other links.
 *
 * A value that is used is marked with the day, in the transaction of its events, and so never collected while an event
 * has its id. Rows are inserted and marked in one order, so that processes cannot deadlock.
 */
export interface ClickValues {
  find(step: Step, wanted: readonly WantedValues[], batch: ClickBatch): Promise<FoundValues>;
  forget(): void;
}

/** The values of one click. */
export interface WantedValues {
  readonly link: { readonly link: LinkNumber; readonly tenant: TenantNumber };
  /** Of its facts in the batch; undefined if only its tags are wanted. */
  readonly place: number | undefined;
  /** A list (tag-list.ts), or none. */
  readonly tags: string;
}

export interface FoundValues {
  /** Adds them to a row, in the order of `dimensions`. */
  facts(tenant: TenantNumber, place: number, row: number[]): void;
  tags(tenant: TenantNumber, tags: string): number;
}

export const noneId = 0;
export const otherId = 1;

export const valuesOfTenantMost = 20_000;
export const newValuesOfLinkMost = 100;
const valuesMost = 200_000;
const allowancesMost = 100_000;
const countedForMs = 60_000;
const listMost = 512;

/** An entry of PostgreSQL's index has at most 2,704 bytes; a character up to 3 in each of its units. */
const charactersMost = 500;

type ValueDimension = Dimension | "tags";

/** Chosen by visitors, or by the tenant; all others are small closed sets, shared by all tenants. */
const ownDimensions: ReadonlySet<ValueDimension> = new Set([
  ...(["referrer", "utm_source", "utm_medium", "utm_campaign", "variant", "tags"] as const),
]);
const isOwn = dimensions.map((dimension) => ownDimensions.has(dimension));

interface ValueKey {
  readonly tenant: TenantNumber | 0;
  readonly dimension: ValueDimension;
  readonly value: string;
}
type Found = Selectable<ClickValueTable>;
type Known = Pick<Found, "id" | "seen_day">;

export function createClickValues(sql: Sql): ClickValues {
  const memo = new BoundedMap<string, Known>(valuesMost);
  const counts = new BoundedMap<string, { count: number; readonly until: number }>(allowancesMost);
  let allowances = { day: 0, used: new Map<string, number>() };
  let shared: SharedIds | undefined;

  /** What the parts of this batch that are stored have found. */
  function sharedOf(batch: ClickBatch, day: number): SharedIds {
    if (shared?.batch !== batch || shared.day !== day) {
      shared = { batch, day, ids: new Uint32Array(batch.texts.length * dimensions.length) };
    }
    return shared;
  }

  const findValues: BulkFind<Db, Found> = bulkFind(sql.dialect, {
    from: "click_values",
    key: { tenant: "bigint", dimension: "text", value: "text" },
    select: ["id", "tenant", "dimension", "value", "seen_day"],
  });
  const insertValues: BulkInsert<Db, never> = bulkInsert(sql.dialect, {
    into: "click_values",
    columns: { tenant: "bigint", dimension: "text", value: "text", seen_day: "bigint" },
    tail: "on conflict do nothing",
  });
  const lockValues = statement((db: Db, { ids }: Params<{ ids: readonly number[] }>) =>
    sql.forUpdate(db.selectFrom("click_values").select("id").where("id", "in", ids).orderBy("id")),
  );

  async function load(trx: Trx, keys: Iterable<ValueKey>): Promise<Map<string, Known>> {
    const values: BulkValue[] = [];
    for (const { tenant, dimension, value } of keys) values.push(tenant, dimension, value);
    const rows = await findValues.all(trx, values);
    return new Map(rows.map((row) => [nameOf(row as ValueKey), row]));
  }

  /** Marks them as used today; returns the ids that are still there. */
  async function mark(trx: Trx, ids: readonly number[], day: number): Promise<Set<number>> {
    const there = new Set<number>();
    const sorted = ids.toSorted((a, b) => a - b);
    for (let start = 0; start < sorted.length; start += listMost) {
      const some = sorted.slice(start, start + listMost);
      for (const { id } of await lockValues.all(trx, { ids: some })) there.add(id);
      await markValues.run(trx, { ids: some, day });
    }
    return there;
  }

  async function placesLeft({ trx, now }: Step, tenant: TenantNumber | 0, dimension: string): Promise<number> {
    const name = `${tenant} ${dimension}`;
    let counted = counts.get(name);
    if (counted === undefined || counted.until < now || counted.until > now + countedForMs) {
      const { values } = await countValues.one(trx, { tenant, dimension });
      counted = { count: Number(values), until: now + countedForMs };
      counts.set(name, counted);
    }
    return valuesOfTenantMost - counted.count;
  }

  /** The values that links may still bring in. */
  async function admitted(step: Step, asked: Iterable<Asked>, missing: ReadonlyMap<string, ValueKey>) {
    const day = utcDay(step.now);
    const used = new Map<string, number>();
    const left = new Map<string, number>();
    const admitted = new Map<string, ValueKey>();
    for (const { link, name } of asked) {
      const key = missing.get(name);
      if (key === undefined || admitted.has(name)) continue;
      const place = `${key.tenant} ${key.dimension}`;
      const places = left.get(place) ?? (await placesLeft(step, key.tenant, key.dimension));
      const allowance = `${link} ${key.dimension}`;
      const before = used.get(allowance) ?? (allowances.day === day ? (allowances.used.get(allowance) ?? 0) : 0);
      left.set(place, places);
      if (places <= 0 || before >= newValuesOfLinkMost) continue;
      left.set(place, places - 1);
      used.set(allowance, before + 1);
      admitted.set(name, key);
    }
    step.afterCommit(() => {
      if (allowances.day !== day || allowances.used.size > allowancesMost) allowances = { day, used: new Map() };
      for (const [allowance, count] of used) allowances.used.set(allowance, count);
      for (const { tenant, dimension } of admitted.values()) {
        const counted = counts.get(`${tenant} ${dimension}`);
        if (counted !== undefined) counted.count++;
      }
    });
    return admitted;
  }

  async function insert(trx: Trx, keys: ReadonlyMap<string, ValueKey>, day: number): Promise<Map<string, Known>> {
    const sorted = [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
    const values: BulkValue[] = [];
    for (const { tenant, dimension, value } of sorted) values.push(tenant, dimension, value, day);
    await insertValues.run(trx, values);
    return await load(trx, sorted);
  }

  return {
    async find(step, wanted, batch) {
      const { trx, now } = step;
      const day = utcDay(now);
      const texts = textsOf(batch);
      const { ids } = sharedOf(batch, day);
      const collected = collect(wanted, batch, texts, ids);
      const { keys } = collected;
      const found = new Map<string, Known>();
      const unknown = new Map<string, ValueKey>();
      for (const [name, key] of keys) {
        const known = memo.get(name);
        if (known === undefined) unknown.set(name, key);
        else found.set(name, known);
      }
      if (unknown.size > 0) {
        for (const [name, known] of await load(trx, unknown.values())) found.set(name, known);
      }
      const stale = [...found].filter(([, { seen_day }]) => seen_day < day);
      if (stale.length > 0) {
        const there = await mark(
          trx,
          stale.map(([, { id }]) => id),
          day,
        );
        for (const [name, { id }] of stale) {
          if (there.has(id)) found.set(name, { id, seen_day: day });
          else found.delete(name); // collected since it was read
        }
      }
      const missing = new Map([...keys].filter(([name]) => !found.has(name)));
      if (missing.size > 0) {
        const added = await admitted(step, askedBy(wanted, batch, collected), missing);
        if (added.size > 0) for (const [name, known] of await insert(trx, added, day)) found.set(name, known);
      }
      step.afterCommit(() => {
        for (const [name, { id, seen_day }] of found) {
          if (memo.get(name)?.seen_day !== seen_day) memo.set(name, { id, seen_day });
        }
        for (const [mark, name] of collected.names.get(0) ?? []) ids[mark] = found.get(name)?.id ?? 0;
      });
      return lookups(batch, texts, found, ids);
    },
    forget() {
      memo.clear();
      shared = undefined;
      counts.clear();
    },
  };
}

/**
 * Ids of values that all tenants share, by `text * dimensions.length + column`; 0 if not known yet. The parts of a batch have
 * mostly the same values, and asking for each by its name took a third of the writer's time.
 */
interface SharedIds {
  readonly batch: ClickBatch;
  /** They are marked as used on it. */
  readonly day: number;
  readonly ids: Uint32Array;
}

interface Asked {
  readonly link: LinkNumber;
  readonly name: string;
}

const nameOf = ({ tenant, dimension, value }: ValueKey): string => `${tenant} ${dimension} ${value}`;

/** As they are stored: once for all parts of a batch. */
export function textsOf(batch: ClickBatch): readonly string[] {
  let texts = storedTexts.get(batch);
  if (texts === undefined) {
    texts = batch.texts.map(storedText);
    storedTexts.set(batch, texts);
  }
  return texts;
}
const storedTexts = new WeakMap<ClickBatch, readonly string[]>();

/** PostgreSQL stores neither half of a surrogate pair nor the character 0. */
export function storedText(text: string): string {
  const short = text.length > charactersMost ? text.slice(0, charactersMost) : text;
  return short.includes("\0") || !short.isWellFormed() ? short.replaceAll("\0", "").toWellFormed() : short;
}

interface Collected {
  /** The values that are wanted, by their names. */
  readonly keys: ReadonlyMap<string, ValueKey>;
  /** Names, by whose they are and by place: `text * dimensions.length + column`. */
  readonly names: ReadonlyMap<number, ReadonlyMap<number, string>>;
}

function collect(
  wanted: readonly WantedValues[],
  batch: ClickBatch,
  texts: readonly string[],
  shared: Uint32Array,
): Collected {
  const keys = new Map<string, ValueKey>();
  const names = new Map<number, Map<number, string>>();
  const ask = (key: ValueKey): string => {
    const name = nameOf(key);
    if (key.value !== none && key.value !== other) keys.set(name, key);
    return name;
  };
  const width = dimensions.length;
  let before: WantedValues["link"] | undefined;
  for (const { link, place, tags } of wanted) {
    if (link !== before && tags !== none) ask({ tenant: link.tenant, dimension: "tags", value: tags });
    before = link;
    if (place === undefined) continue;
    for (let column = 0; column < width; column++) {
      const text = batch.facts[place * width + column] ?? 0;
      if (text === 0 || (!isOwn[column] && shared[text * width + column] !== 0)) continue;
      const dimension = dimensions[column];
      if (dimension === undefined) throw new Error("a fact has no dimension");
      const tenant = isOwn[column] ? link.tenant : 0;
      let ofOwner = names.get(tenant);
      if (ofOwner === undefined) {
        ofOwner = new Map();
        names.set(tenant, ofOwner);
      }
      const mark = text * width + column;
      if (!ofOwner.has(mark)) ofOwner.set(mark, ask({ tenant, dimension, value: texts[text] ?? none }));
    }
  }
  return { keys, names };
}

/** Who asks for which value, in the order of clicks: it is links that may be refused a new one. */
function* askedBy(wanted: readonly WantedValues[], batch: ClickBatch, { names }: Collected): Generator<Asked> {
  const width = dimensions.length;
  for (const { link, place, tags } of wanted) {
    yield { link: link.link, name: nameOf({ tenant: link.tenant, dimension: "tags", value: tags }) };
    if (place === undefined) continue;
    for (let column = 0; column < width; column++) {
      const mark = (batch.facts[place * width + column] ?? 0) * width + column;
      const name = names.get(isOwn[column] ? link.tenant : 0)?.get(mark);
      if (name !== undefined) yield { link: link.link, name };
    }
  }
}

function lookups(
  batch: ClickBatch,
  texts: readonly string[],
  found: ReadonlyMap<string, Known>,
  shared: Uint32Array,
): FoundValues {
  const width = dimensions.length;
  const ids = new Map<number, Map<number, number>>();
  const idOf = (key: ValueKey): number => {
    if (key.value === none) return noneId;
    return found.get(nameOf(key))?.id ?? otherId;
  };
  return {
    facts(tenant, place, list) {
      for (let column = 0; column < width; column++) {
        const text = batch.facts[place * width + column] ?? 0;
        const known = text === 0 ? noneId : isOwn[column] ? 0 : (shared[text * width + column] ?? 0);
        if (text === 0 || known !== 0) {
          list.push(known);
          continue;
        }
        const owner = isOwn[column] ? tenant : 0;
        let ofOwner = ids.get(owner);
        if (ofOwner === undefined) {
          ofOwner = new Map();
          ids.set(owner, ofOwner);
        }
        const mark = text * width + column;
        let id = ofOwner.get(mark);
        if (id === undefined) {
          const dimension = dimensions[column];
          if (dimension === undefined) throw new Error("a fact has no dimension");
          id = idOf({ tenant: owner as TenantNumber | 0, dimension, value: texts[text] ?? none });
          ofOwner.set(mark, id);
        }
        list.push(id);
      }
    },
    tags: (tenant, tags) => idOf({ tenant, dimension: "tags", value: tags }),
  };
}

/** The value of the dimension `tags`. */
export const tagList = (tags: readonly string[]): string => writeTagList(tags.map(storedText));

const countValues = statement((db: Db, { tenant, dimension }: Params<{ tenant: number; dimension: string }>) =>
  db
    .selectFrom("click_values")
    .select((expression) => expression.fn.countAll<number>().as("values"))
    .where("tenant", "=", tenant as never)
    .where("dimension", "=", dimension),
);

const markValues = statement((db: Db, { ids, day }: Params<{ ids: readonly number[]; day: number }>) =>
  db.updateTable("click_values").set({ seen_day: day }).where("id", "in", ids).where("seen_day", "<", day),
);
