/** Filters by state, domain, password and rules, and how many links each state has. */
import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { createHealthStore } from "../../src/link-health/store.ts";
import type { Link } from "../../src/links/link.ts";
import { createLinks, type LinkInput, type Links } from "../../src/links/links.ts";
import { type LinkQuery, positionOf } from "../../src/links/read/find.ts";
import { countLinks } from "../../src/links/read/link-counts.ts";
import { listedStates } from "../../src/links/read/listed-state.ts";
import { statesOf } from "../../src/links/read/states.ts";
import type { LinkStore } from "../../src/links/store.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";

const start = Date.UTC(2026, 10, 16);
const codes = createCodes("a salt for tests, and only for them");
const url = "https://example.com/";

onEachDatabase(({ open }) => {
  describe("a list of links", () => {
    const clock = manualClock(start);
    let sql: Sql;
    let store: LinkStore;
    let links: Links;
    let tenant: Tenant;
    let stranger: Tenant;
    const made = new Map<string, Link>();

    const facts = () => ({ now: clock.now(), hitsAllowed: tenant.limits.hitsPerLinkPerMonth });
    const find = async (query: Omit<LinkQuery, "limit" | "sort" | "order">): Promise<string[]> =>
      (await store.find(tenant.id, { limit: 100, sort: "createdAt", order: "asc", ...query }))
        .map(({ title }) => title ?? "")
        .sort();
    const inState = (is: (typeof listedStates)[number]) => find({ state: { ...facts(), is } });

    async function make(owner: Tenant, title: string, input: Partial<LinkInput> = {}): Promise<Link> {
      clock.advance(1);
      return links.create(owner, { url: `${url}${title}`, title, expiresAt: null, ...input }, byCommand);
    }

    const useHits = (link: Link, counted: number, month = "2026-11") =>
      sql.db
        .insertInto("quotas")
        .values({ domain: link.domain, code: link.code, month, draws: "hits", counted, reserved: 0 })
        .execute();

    const setDead = async (link: Link) => {
      const targets = createHealthStore(sql);
      await targets.checkSoon(link.id, clock.now());
      const verdict = { state: "dead", httpStatus: 404, reason: null, failures: 9 } as const;
      await targets.record(link, verdict, clock.now(), clock.now() + dayMs);
    };

    beforeAll(async () => {
      sql = await open();
      ({ store } = linkStores(sql));
      links = createLinks({
        passwords: createPasswords(),
        ...linkStores(sql),
        issuer: createIssuer(codes, (size) => takeCodeBlock(sql, size), 100),
        clock,
        ownHosts: new Set(["go.example.com"]),
        defaultDays: 365,
        publish() {},
      });
      const tenants = createTenants(sql, clock);
      tenant = await tenants.create("owner", "Owner", byCommand);
      stranger = await tenants.create("stranger", "Stranger", byCommand);
      for (const owner of [stranger, tenant]) {
        const one = async (title: string, input: Partial<LinkInput> = {}) => {
          const link = await make(owner, title, input);
          made.set(title, link);
          return link;
        };
        await one("plain");
        await one("disabled", { status: "disabled", hitsPerMonth: 10 });
        await one("expired", { expiresAt: clock.now() + 1_000 });
        await one("later", { expiresAt: clock.now() + 40 * dayMs });
        await one("secret", { password: "correct horse" });
        await one("ruled", {
          split: [
            { url: `${url}a`, weight: 1 },
            { url: `${url}b`, weight: 1 },
          ],
        });
        await useHits(await one("near", { hitsPerMonth: 10 }), 8);
        await useHits(await one("half", { hitsPerMonth: 10 }), 7);
        await useHits(await one("last month", { hitsPerMonth: 10 }), 10, "2026-10");
        await useHits(made.get("disabled") as Link, 10);
        await setDead(await one("dead"));
        await setDead(await one("repaired"));
        await setDead(await one("renamed"));
        const suspended = await one("suspended");
        const row = { cause: "operator", reason: "spam", suspended_by: "test", suspended_at: 1 } as const;
        const { domain, code } = suspended;
        await sql.db
          .insertInto("suspended_links")
          .values({ domain, code, ...row })
          .execute();
        clock.advance(5_000);
        await links.patch(owner, (made.get("repaired") as Link).id, { url: `${url}new` }, byCommand);
        await links.patch(
          owner,
          (made.get("renamed") as Link).id,
          { notes: "The destination is the same." },
          byCommand,
        );
      }
    });

    test("can be limited to a state", async () => {
      expect(await inState("disabled")).toEqual(["disabled"]);
      expect(await inState("expired")).toEqual(["expired"]);
      expect(await inState("suspended")).toEqual(["suspended"]);
      expect(await inState("active")).toHaveLength(11);
    });

    test("knows which links need attention: a changed destination no longer does", async () => {
      expect(await inState("attention")).toEqual(["dead", "near", "renamed", "suspended"]);
    });

    test("has counts that are the lengths of its lists, for any other filter", async () => {
      for (const filter of [{}, { search: "e" }, { password: true }, { domains: ["no.example"] }]) {
        const counts = await countLinks(sql, tenant.id, filter, facts());
        expect(counts.all).toBe((await find(filter)).length);
        expect(counts.active + counts.expired + counts.disabled).toBe(counts.all);
        for (const is of listedStates) {
          expect([is, counts[is]]).toEqual([is, (await find({ ...filter, state: { ...facts(), is } })).length]);
        }
        expect(counts.isPartial).toBe(false);
      }
    });

    test("is counted up to a bound, and says so", async () => {
      expect(await countLinks(sql, tenant.id, {}, facts(), 5)).toMatchObject({ all: 5, isPartial: true });
      expect(await countLinks(sql, tenant.id, {}, facts(), 14)).toMatchObject({ all: 13, isPartial: false });
    });

    test("can be limited to links with a password, with rules, and of several domains", async () => {
      expect(await find({ password: true })).toEqual(["secret"]);
      expect(await find({ hasRules: true })).toEqual(["ruled"]);
      expect((await find({ password: false, hasRules: false })).length).toBe(11);
      expect((await find({ domains: ["", "no.example"] })).length).toBe(13);
      expect(await find({ domains: ["no.example", "other.example"] })).toEqual([]);
    });

    test("can be sorted by the used hits of the month, page after page", async () => {
      const order = { limit: 3, sort: "hitsUsed", order: "desc", month: "2026-11" } as const;
      const sources = { sql, clock, targets: createHealthStore(sql), suspensions: { ofLinks: async () => new Map() } };
      const seen: (string | null)[] = [];
      for (let after: LinkQuery["after"]; ; ) {
        const page = await store.find(tenant.id, { ...order, after });
        const last = page.at(-1);
        if (last === undefined) break;
        seen.push(...page.map(({ title }) => title));
        after = positionOf("hitsUsed", last, (await statesOf(sources, [last])).get(last.id));
      }
      expect(seen.slice(0, 3)).toEqual(["disabled", "near", "half"]);
      expect(new Set(seen).size).toBe(13);
    });

    test("knows the used hits and the limit of each link", async () => {
      const sources = { sql, clock, targets: createHealthStore(sql), suspensions: { ofLinks: async () => new Map() } };
      const some = ["near", "last month", "plain"].map((title) => made.get(title) as Link);
      const states = await statesOf(sources, some);
      expect(some.map(({ id }) => states.get(id)).map((state) => [state?.hitsUsed, state?.hitsLimit])).toEqual([
        [8, 10],
        [0, 10],
        [0, tenant.limits.hitsPerLinkPerMonth],
      ]);
    });
  });
});
