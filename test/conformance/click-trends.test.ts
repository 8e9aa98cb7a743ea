/** Clicks by day of several links at once, of two tenants that share every name. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { type LinkId, newId } from "../../src/base/ids.ts";
import { isPerson } from "../../src/clicks/click.ts";
import { parseSpan } from "../../src/clicks/reports/query.ts";
import { trendsOf } from "../../src/clicks/reports/trends.ts";
import { localDay } from "../../src/clicks/reports/zones.ts";
import { grains } from "../../src/clicks/rollups/periods.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { createLinkStore } from "../../src/links/store.ts";
import type { LinkNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { byCommand } from "../ground/actors.ts";
import { type ClickTenant, createClickTenant, randomClicks, randomOf, storeClicks, storeLate } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const zone = "Europe/Berlin";
const from = Date.UTC(2026, 9, 20);
const now = from + 10 * dayMs + 5 * 3_600_000;
const clock = manualClock(from);
const span = { ...parseSpan({ from: "2026-10-20" }, zone, now), zone, now };

/** The server's own links are numbered by the database. */
async function makeLinks(sql: Sql, tenant: ClickTenant, count: number): Promise<{ id: LinkId; number: LinkNumber }[]> {
  const fields = {
    ...({ url: "https://example.com/", file: null, permanent: false, status: "active", expiresAt: null } as const),
    ...{ title: null, notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true },
    ...{ rules: [], split: [], utm: null, forwardQuery: false },
  };
  const made = Array.from({ length: count }, (_, place) => ({
    ...{ ...fields, id: newId("link", clock), domain: "", code: `${tenant.id.slice(-8)}-${place}` },
    ...{ generated: false, at: from, by: byCommand },
  }));
  await createLinkStore(sql).createEach(tenant.id, made, "nothing");
  return ofTenant(sql.db, tenant.id).selectFrom("links").select(["id", "number"]).orderBy("id").execute();
}

onEachDatabase(({ open }) => {
  describe("trends", () => {
    let sql: Sql;
    const tenants: { tenant: ClickTenant; links: { id: LinkId; number: LinkNumber }[] }[] = [];
    const random = randomOf(77);

    beforeAll(async () => {
      sql = await open();
      for (const slug of ["first", "second"]) {
        const tenant = await createClickTenant(sql, slug, zone);
        const links = await makeLinks(sql, tenant, 60);
        const numbers = links.slice(0, 55).map(({ number }) => number);
        await storeClicks(sql, tenant, randomClicks(random, { from, until: now, links: numbers, count: 2_000 }));
        tenants.push({ tenant, links });
      }
    });

    async function requireExact(time = now): Promise<void> {
      for (const { tenant, links } of tenants) {
        const ids = links.map(({ id }) => id).reverse();
        const found = await trendsOf(sql, tenant.id, { ...span, ids, now: time });
        expect(found.links.map(({ id }) => id)).toEqual(ids);
        expect(found.starts).toHaveLength(11);
        const first = localDay(zone, span.from);
        for (const [place, { number }] of links.toReversed().entries()) {
          const expected = found.starts.map(() => 0);
          for (const { link, at, reason } of tenant.clicks) {
            if (link !== number || !isPerson(reason) || at < span.from || at >= span.to) continue;
            const day = localDay(zone, at) - first;
            expected[day] = (expected[day] ?? 0) + 1;
          }
          expect(found.links[place]?.series).toEqual(expected);
          expect(found.links[place]?.clicks).toBe(expected.reduce((sum, one) => sum + one, 0));
        }
      }
    }

    test("are the clicks of people by day, from events", () => requireExact());

    test("are the same from roll-ups, and with late clicks", async () => {
      await condense(sql, { now });
      await requireExact();
      for (const { tenant, links } of tenants) {
        const numbers = links.map(({ number }) => number);
        await storeLate(
          sql,
          tenant,
          randomClicks(random, { from, until: from + 5 * dayMs, links: numbers, count: 20 }),
        );
      }
      await requireExact();
    });

    test("are the same when months are all that is left", async () => {
      const later = now + 410 * dayMs;
      await condense(sql, { now: later });
      const numbers = tenants.map(({ tenant }) => tenant.number);
      const days = () => sql.db.deleteFrom("click_rollups").where("grain", "=", grains.day);
      // First some of them: a purge goes link by link.
      await days()
        .where("subject", "<", tenants[0]?.links[20]?.number ?? (0 as LinkNumber))
        .execute();
      await requireExact(later);
      await days().execute();
      await sql.db.deleteFrom("clicks").where("tenant", "in", numbers).execute();
      await sql.db.deleteFrom("click_overflow").where("tenant", "in", numbers).execute();
      await requireExact(later);
    });

    test("leave out links of other tenants", async () => {
      const [one, two] = tenants as [(typeof tenants)[0], (typeof tenants)[0]];
      const ids = [...one.links.slice(0, 2), ...two.links.slice(0, 2)].map(({ id }) => id);
      const found = await trendsOf(sql, one.tenant.id, { ...span, ids });
      expect(found.links.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect((await trendsOf(sql, one.tenant.id, { ...span, ids: [] })).links).toEqual([]);
    });
  });
});
