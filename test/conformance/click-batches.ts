/** Batches of clicks for tests, and what the database has of them. */
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import {
  type BareClicks,
  type ClickBatch,
  type ClickedLink,
  type ClickFacts,
  type Dimension,
  dimensions,
} from "../../src/clicks/click.ts";
import { readTallyText } from "../../src/clicks/rollups/packed.ts";
import { clicksOf } from "../../src/clicks/rollups/tally.ts";
import { type HitReason, hitReasons } from "../../src/redirect/decide.ts";
import type { LinkNumber, TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";

export interface TestClick {
  readonly link: ClickedLink;
  readonly at: number;
  readonly reason?: HitReason;
  readonly visitor?: number;
  readonly facts?: Partial<ClickFacts>;
}

export interface TestBare {
  readonly link: ClickedLink;
  readonly quarter: number;
  readonly reasons: Partial<Record<HitReason, number>>;
}

export function batchOf(
  clicks: readonly TestClick[],
  bare: readonly TestBare[] = [],
  dropped = 0,
  excluded = 0,
): ClickBatch {
  const texts = new Map<string, number>([["", 0]]);
  const links = new Map<ClickedLink, number>();
  const placeIn = <Key>(map: Map<Key, number>, key: Key): number => {
    const place = map.get(key) ?? map.size;
    map.set(key, place);
    return place;
  };
  const facts = clicks.flatMap((click) => dimensions.map((name) => placeIn(texts, click.facts?.[name] ?? "")));
  const link = clicks.map((click) => placeIn(links, click.link));
  const counts = bare.map(
    (one): BareClicks => ({
      link: placeIn(links, one.link),
      quarter: one.quarter,
      reasons: hitReasons.map((reason) => one.reasons[reason] ?? 0),
    }),
  );
  return {
    texts: [...texts.keys()],
    links: [...links.keys()],
    at: Float64Array.from(clicks, ({ at }) => at),
    link: Uint16Array.from(link),
    reason: Uint8Array.from(clicks, ({ reason = "counted" }) => hitReasons.indexOf(reason)),
    visitor: Float64Array.from(clicks, ({ visitor = 0 }) => visitor),
    facts: Uint16Array.from(facts),
    bare: counts,
    dropped,
    excluded,
  };
}

export interface TestTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  link(number: number, more?: Partial<ClickedLink>): ClickedLink;
}

export async function clickTenant(sql: Sql, slug: string): Promise<TestTenant> {
  const { id } = await createTenants(sql, systemClock).create(slug, slug, byCommand);
  const { number } = await sql.db.selectFrom("tenants").select("number").where("id", "=", id).executeTakeFirstOrThrow();
  return {
    id,
    number,
    link: (link, more = {}) => ({
      ...{ link: link as LinkNumber, tenant: number, domain: "", code: `code${link}`, tags: [] },
      ...more,
    }),
  };
}

/** Clicks of a tenant in events and overflow, by link. */
export async function storedClicks(sql: Sql, tenant: TenantNumber): Promise<Record<number, number>> {
  const sums: Record<number, number> = {};
  const events = await sql.db.selectFrom("clicks").select("link").where("tenant", "=", tenant).execute();
  for (const { link } of events) sums[link] = (sums[link] ?? 0) + 1;
  const rows = await sql.db
    .selectFrom("click_overflow")
    .select(["link", "quarter", "tally"])
    .where("tenant", "=", tenant)
    .execute();
  for (const { link, quarter, tally } of rows) {
    sums[link] = (sums[link] ?? 0) + clicksOf(readTallyText(tally, quarter));
  }
  return sums;
}

/** Values of a tenant, by dimension. */
export async function storedValues(sql: Sql, tenant: number, dimension: Dimension | "tags"): Promise<string[]> {
  const rows = await sql.db
    .selectFrom("click_values")
    .select("value")
    .where("tenant", "=", tenant as TenantNumber)
    .where("dimension", "=", dimension)
    .orderBy("id")
    .execute();
  return rows.map(({ value }) => value);
}
