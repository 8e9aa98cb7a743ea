/** A change of a tenant or a plan gives links new versions: of all links that answer otherwise from now on, once each. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createSuspensions } from "../../src/abuse/suspensions.ts";
import { manualClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createOutdated } from "../../src/sql/outdated-tenants.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { raiseVersions } from "../../src/sql/versions.ts";
import {
  createTenants,
  defaultLimits,
  type Tenant,
  type TenantChange,
  type Tenants,
} from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";

const now = Date.UTC(2026, 10, 16);
const pageLinks = 3;
const linksEach = 7;

onEachDatabase(({ openTwo }) => {
  let [sql, other]: Sql[] = [];
  let tenants: Tenants;
  let names = 0;
  const clock = manualClock(now);
  const one = () => sql as Sql;

  beforeAll(async () => {
    [sql, other] = await openTwo();
    tenants = createTenants(one(), clock);
    await tenants.setPlan("team", defaultLimits, byCommand);
  });

  async function tenantWithLinks(plan = "default"): Promise<Tenant> {
    const slug = `tenant-${++names}`;
    const tenant = await tenants.create(slug, slug, byCommand, plan);
    const fields = {
      ...{
        url: "https://example.com/",
        file: null,
        permanent: false,
        status: "active" as const,
        expiresAt: null,
        title: null,
      },
      ...{ notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, rules: [], split: [], forwardQuery: false },
      ...{ utm: null, clickFacts: true, domain: "", generated: false, at: now, by: byCommand },
    } satisfies Partial<NewLink>;
    const links = Array.from({ length: linksEach }, (_, i) => {
      clock.advance(1); // ids are in the order of time
      return { ...fields, id: newId("link", clock), code: `${slug}-${i}` };
    });
    await createLinkStore(one()).createEach(tenant.id, links, "nothing");
    return tenant;
  }

  /** Of each of its links, in the order of their codes. */
  const versionsOf = async ({ slug }: Tenant): Promise<number[]> =>
    (
      await one()
        .db.selectFrom("link_versions")
        .select("version")
        .where("domain", "=", "")
        .where("code", "like", `${slug}-%`)
        .orderBy("code")
        .execute()
    ).map(({ version }) => version);

  const changesOf = async ({ slug }: Tenant): Promise<number> =>
    (
      await one()
        .db.selectFrom("changes")
        .select("version")
        .where("domain", "=", "")
        .where("code", "like", `${slug}-%`)
        .execute()
    ).length;

  const all = (version: number) => Array.from({ length: linksEach }, () => version);
  const outdated = (on = one(), page = pageLinks) => createOutdated(on, clock, page);

  const changes: [string, TenantChange, number][] = [
    ["another plan", { plan: "unlimited" }, 2],
    ["another limit of hits", { overrides: { hitsPerLinkPerMonth: 3 } }, 2],
    ["no limit of hits", { overrides: { hitsPerLinkPerMonth: null } }, 2],
    ["the same plan again", { plan: "default" }, 1],
    ["another name", { name: "Another" }, 1],
    ["another limit of something else", { overrides: { apiPerMinute: 5 } }, 1],
  ];

  describe("links of a tenant", () => {
    test.each(changes)("that gets %s", async (_, change, version) => {
      const tenant = await tenantWithLinks();
      await tenants.change(tenant.slug, change, byCommand);
      await outdated().finish(tenant.id);
      expect(await versionsOf(tenant)).toEqual(all(version));
      expect(await changesOf(tenant)).toBe(linksEach * version);
      expect(await outdated().pending()).toBe(false);
    });

    test("that goes back to its plan's limit have new versions, too", async () => {
      const tenant = await tenantWithLinks();
      await tenants.change(tenant.slug, { overrides: { hitsPerLinkPerMonth: 3 } }, byCommand);
      await outdated().finish();
      await tenants.change(tenant.slug, { overrides: { hitsPerLinkPerMonth: undefined } }, byCommand);
      await outdated().finish();
      expect(await versionsOf(tenant)).toEqual(all(3));
    });

    test("on a plan whose hits change, and no others", async () => {
      const [mine, alsoMine, notMine] = [
        await tenantWithLinks("team"),
        await tenantWithLinks("team"),
        await tenantWithLinks(),
      ];
      await tenants.setPlan("team", { ...defaultLimits, hitsPerLinkPerMonth: 3 }, byCommand);
      expect(await outdated().finish()).toBe(2 * linksEach);
      await tenants.setPlan("team", { ...defaultLimits, hitsPerLinkPerMonth: 3, apiPerMinute: 1 }, byCommand);
      expect(await outdated().finish()).toBe(0);
      expect(await Promise.all([mine, alsoMine, notMine].map(versionsOf))).toEqual([all(2), all(2), all(1)]);
    });

    test("of tenants that get a plan while it changes never keep the plan's old limit under their last version", async () => {
      const plan = "contested";
      const store = createLinkStore(one());
      for (let round = 0; round < 10; round++) {
        await tenants.setPlan(plan, defaultLimits, byCommand);
        const tenant = await tenantWithLinks();
        const read = () => store.target("", `${tenant.slug}-0`);
        const [seen] = await Promise.all([
          tenants
            .change(tenant.slug, { plan }, byCommand)
            .then(() => outdated().finish(tenant.id))
            .then(read),
          createTenants(other as Sql, clock).setPlan(plan, { ...defaultLimits, hitsPerLinkPerMonth: round }, byCommand),
        ]);
        await outdated().finish();
        const last = await read();
        expect(last.value?.hitsMax).toBe(round);
        expect(last.version > seen.version || last.value?.hitsMax === seen.value?.hitsMax).toBe(true);
      }
    });
  });

  describe("a process that is killed between two pages", () => {
    test("leaves the rest to another, which begins behind the last page", async () => {
      const tenant = await tenantWithLinks();
      await tenants.change(tenant.slug, { plan: "unlimited" }, byCommand);
      await expect(outdated(dyingAfter(one(), 2)).finish(tenant.id)).rejects.toThrow("killed");
      expect(await versionsOf(tenant)).toEqual([2, 2, 2, 2, 2, 2, 1]);
      expect(await outdated(other).pending()).toBe(true);
      expect(await outdated(other).finish()).toBe(1);
      expect(await versionsOf(tenant)).toEqual(all(2));
    });

    test("before the first: the note was made with the change", async () => {
      const tenant = await tenantWithLinks();
      await createSuspensions(one(), clock).suspendTenant(tenant.id, "spam", byCommand);
      expect(await outdated(other).finish()).toBe(linksEach);
      await createSuspensions(one(), clock).restoreTenant(tenant.id, byCommand);
      expect(await outdated(other).finish()).toBe(linksEach);
      expect(await versionsOf(tenant)).toEqual(all(3));
    });

    test("and another change in between begins again with the first link", async () => {
      const tenant = await tenantWithLinks();
      await tenants.change(tenant.slug, { plan: "unlimited" }, byCommand);
      await expect(outdated(dyingAfter(one(), 1)).finish(tenant.id)).rejects.toThrow("killed");
      await tenants.change(tenant.slug, { plan: "default" }, byCommand);
      await outdated(other).finish();
      expect(await versionsOf(tenant)).toEqual([3, 3, 3, 2, 2, 2, 2]);
    });
  });

  test("two processes at once raise each link once", async () => {
    const tenant = await tenantWithLinks();
    await tenants.change(tenant.slug, { plan: "unlimited" }, byCommand);
    const counts = await Promise.all([outdated(one(), 1).finish(), outdated(other, 1).finish()]);
    expect(counts[0] + counts[1]).toBe(linksEach);
    expect(await versionsOf(tenant)).toEqual(all(2));
  });

  test("versions are raised of what there is, whatever the order it is named in", async () => {
    const tenant = await tenantWithLinks();
    const code = (i: number) => ({ domain: "", code: `${tenant.slug}-${i}` });
    const raise = (on: Sql, places: readonly { domain: string; code: string }[]) =>
      on.transaction((trx) => raiseVersions(on, trx, { links: places }, now));
    expect(await raise(one(), [{ domain: "never.example", code: "was" }])).toEqual([]);
    expect(await raise(one(), [])).toEqual([]);
    const there = Array.from({ length: linksEach }, (_, i) => code(i));
    for (let round = 0; round < 20; round++) {
      await Promise.all([raise(one(), there), raise(other as Sql, there.toReversed())]);
    }
    expect(await versionsOf(tenant)).toEqual(all(41));
  });
});

/** Ends after so many transactions. */
function dyingAfter(sql: Sql, transactions: number): Sql {
  let left = transactions;
  return {
    ...sql,
    transaction: (work) => (left-- > 0 ? sql.transaction(work) : Promise.reject(new Error("killed"))),
  };
}
