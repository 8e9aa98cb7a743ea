import { beforeAll, describe, expect, test } from "bun:test";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { type LinkId, newId } from "../../src/base/ids.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import type { Link } from "../../src/links/link.ts";
import { createLinks, type LinkInput, type Links } from "../../src/links/links.ts";
import { type ListPosition, positionOf } from "../../src/links/read/find.ts";
import type { LinkStore } from "../../src/links/store.ts";
import type { TrashStore } from "../../src/links/trash/trash-store.ts";
import { takeCodeBlock } from "../../src/sql/code-counter.ts";
import { createFeed } from "../../src/sql/feed.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { nameOf } from "../ground/changes.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";
import { notOfTwin } from "./two-tenants.ts";

const start = Date.UTC(2026, 10, 16);
const url = "https://example.com/";
const codes = createCodes("a salt for tests, and only for them");

let names = 0;
/** Unlike any other in this file, so that tests can share a database. */
const fresh = (label: string) => `${label}-${++names}`;

async function refusal(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw new Error(`not a Problem: ${error}`);
}

const codeOf = async (work: Promise<unknown>) => (await refusal(work)).code;
const fieldOf = async (work: Promise<unknown>) => {
  const [error] = (await refusal(work)).more.errors ?? [];
  return error && `${error.field}: ${error.code}`;
};

onEachDatabase(({ openTwo }) => {
  const clock = manualClock(start);
  const told: string[] = [];
  let sql: Sql;
  let store: LinkStore;
  let trash: TrashStore;
  let links: Links;
  /** The same on another connection: a second instance. */
  let elsewhere: Links;
  let tenant: Tenant;
  let stranger: Tenant;

  function createOn(client: Sql): Links {
    return createLinks({
      passwords: createPasswords(),
      ...linkStores(client),
      issuer: createIssuer(codes, (size) => takeCodeBlock(client, size), 100),
      clock,
      ownHosts: new Set(["go.example.com"]),
      defaultDays: 365,
      publish: (change) =>
        told.push(`${change.kind === "link" ? change.domain : ""}/${nameOf(change)}@${change.version}`),
    });
  }

  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    ({ store, trash } = linkStores(sql));
    links = createOn(one);
    elsewhere = createOn(two);
    const tenants = createTenants(sql, clock);
    tenant = await tenants.create("owner", "Owner", byCommand);
    stranger = await tenants.create("stranger", "Stranger", byCommand);
  });

  const newTenant = () => createTenants(sql, clock).create(fresh("tenant"), "Somebody", byCommand);
  const versionsTold = (code: string) => told.filter((entry) => entry.startsWith(`/${code}@`));

  async function count(table: "links" | "link_versions" | "changes"): Promise<number> {
    const all = acrossTenants(sql.db)
      .selectFrom(table)
      .select((expression) => expression.fn.countAll<number>().as("rows"));
    const { rows } = await (table === "changes" ? all : all.where(notOfTwin)).executeTakeFirstOrThrow();
    return Number(rows);
  }

  describe("a link whose id was chosen beforehand", () => {
    test("is made once, however often and on however many servers it is asked for, and counts once", async () => {
      const spender = await newTenant();
      const before = await count("links");
      for (let round = 0; round < 10; round++) {
        const id = newId("link", clock);
        const made = await Promise.all(
          Array.from({ length: 8 }, (_, i) => (i % 2 ? links : elsewhere).create(spender, { url, id }, byKey)),
        );
        expect(new Set(made.map((link) => JSON.stringify(link))).size).toBe(1);
        expect(made[0]?.id).toBe(id);
      }
      expect((await count("links")) - before).toBe(10);
      const spent = await acrossTenants(sql.db)
        .selectFrom("tenant_usage")
        .select("used")
        .where("tenant_id", "=", spender.id)
        .execute();
      expect(spent).toEqual([{ used: 10 }]);
    });

    test("is the answer as it is, even if it would be refused by now", async () => {
      const id = newId("link", clock);
      const link = await links.create(tenant, { url, id, expiresAt: clock.now() + 1_000 }, byCommand);
      clock.advance(5_000);
      const input = { url, id, expiresAt: clock.now() - 4_000 };
      expect(await links.create(tenant, input, byCommand)).toEqual(link);
      expect(await links.createMany(tenant, [input], byCommand)).toEqual([{ link }]);
    });

    test("is not available to another tenant", async () => {
      const id = newId("link", clock);
      await links.create(tenant, { url, id }, byCommand);
      await expect(links.create(stranger, { url, id }, byKey)).rejects.toThrow();
    });
  });

  describe("a new link", () => {
    test("has a generated code, the defaults, and version 1; it comes back as it was answered", async () => {
      const link = await links.create(tenant, { url: "https://example.com" }, byCommand);
      expect(link).toEqual({
        id: expect.stringMatching(/^lnk_/),
        tenantId: tenant.id,
        domain: "",
        code: expect.stringMatching(/^[0-9A-Za-z]{7}$/),
        url,
        file: null,
        permanent: false,
        status: "active",
        expiresAt: clock.now() + 365 * dayMs,
        title: null,
        notes: null,
        tags: [],
        fallbackUrl: null,
        hitsPerMonth: null,
        clickFacts: true,
        rules: [],
        split: [],
        utm: null,
        forwardQuery: false,
        password: false,
        version: 1,
        createdAt: clock.now(),
        updatedAt: clock.now(),
      });
      expect(await links.get(tenant.id, link.id)).toEqual(link);
      expect(await store.byCode(tenant.id, "", link.code)).toEqual(link);
      expect(versionsTold(link.code)).toEqual([`/${link.code}@1`]);
    });

    test("keeps every field it was given", async () => {
      const given = {
        url: "https://example.com/a?b#c",
        code: fresh("All_of-it"),
        permanent: true,
        status: "disabled",
        expiresAt: clock.now() + 1,
        title: "Zo\u00eb \u4f8b\u3048 \u{1f642}",
        notes: "two\nlines",
        tags: ["b", "a", "\u00fc"],
        fallbackUrl: "https://example.com/sorry",
        hitsPerMonth: 10_000,
        clickFacts: false,
      } as const satisfies LinkInput;
      const link = await links.create(tenant, given, byCommand);
      expect(link).toMatchObject(given);
      expect(await links.get(tenant.id, link.id)).toEqual(link);
    });

    test("may never expire", async () => {
      expect((await links.create(tenant, { url, expiresAt: null }, byCommand)).expiresAt).toBeNull();
    });

    test("cannot have a taken code, whichever tenant has it", async () => {
      const code = fresh("taken");
      await links.create(tenant, { url, code }, byCommand);
      for (const who of [tenant, stranger]) {
        const problem = await refusal(elsewhere.create(who, { url, code }, byCommand));
        expect([problem.code, problem.more.errors?.[0]?.field]).toEqual(["code_taken", "code"]);
      }
    });

    test("may differ from another in the case of its code alone", async () => {
      const code = fresh("CaseMatters");
      const variants = [code, code.toLowerCase(), code.toUpperCase()];
      const made = [];
      for (const [i, variant] of variants.entries()) {
        made.push(await links.create(i === 1 ? stranger : tenant, { url: `${url}${i}`, code: variant }, byCommand));
      }
      expect(made.map((link) => link.code)).toEqual(variants);
      const targets = await Promise.all(variants.map((variant) => store.target("", variant)));
      expect(targets.map((target) => target.value?.url)).toEqual(made.map((link) => link.url));
    });

    test.each([
      ["a reserved word", { url, code: "API" }, "code: reserved"],
      ["a code that is too short", { url, code: "ab" }, "code: bad_code"],
      ["a code with other characters", { url, code: "a/b/c" }, "code: bad_code"],
      ["a destination with a scheme that is not allowed", { url: "javascript:alert(1)" }, "url: scheme_not_allowed"],
      ["a destination that is this server", { url: "https://go.example.com/x" }, "url: own_host"],
      ["a fallback that is this server", { url, fallbackUrl: "http://go.example.com/x" }, "fallbackUrl: own_host"],
      ["an expiry that has passed", { url, expiresAt: start }, "expiresAt: in_the_past"],
      ["more hits than the plan gives", { url, hitsPerMonth: 10_001 }, "hitsPerMonth: above_plan"],
    ])("is refused with %s, and nothing is written", async (_, input: LinkInput, field) => {
      const before = [await count("links"), await count("link_versions"), await count("changes")];
      expect(await fieldOf(links.create(tenant, input, byCommand))).toBe(field);
      expect([await count("links"), await count("link_versions"), await count("changes")]).toEqual(before);
    });

    test("may have any number of hits where the plan has no limit", async () => {
      const unlimited = await createTenants(sql, clock).create(fresh("rich"), "Rich", byCommand, "unlimited");
      expect((await links.create(unlimited, { url, hitsPerMonth: 1_000_000_000 }, byCommand)).hitsPerMonth).toBe(
        1_000_000_000,
      );
    });

    test("skips a generated code that was chosen before", async () => {
      const [first, second, third] = [900_001, 900_002, 900_003].map(codes.encode);
      if (first === undefined || second === undefined) throw new Error("no codes");
      await links.create(stranger, { url, code: first }, byCommand);
      await links.create(tenant, { url, code: second }, byCommand);
      let next = 900_001;
      const issuer = createIssuer(
        codes,
        async (size) => {
          next += size;
          return next - size;
        },
        10,
      );
      const own = createLinks({
        passwords: createPasswords(),
        ...linkStores(sql),
        store,
        issuer,
        clock,
        ownHosts: new Set(),
        defaultDays: 1,
        publish: () => {},
      });
      expect((await own.create(tenant, { url }, byCommand)).code).toBe(third as string);
    });

    test("of many at once gets a unique code, on every instance", async () => {
      const made = await Promise.all(
        Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? links : elsewhere).create(tenant, { url }, byCommand)),
      );
      expect(new Set(made.map((link) => link.code)).size).toBe(100);
    });

    test("of many who want one code at once, exactly one gets it", async () => {
      const code = fresh("wanted");
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? links : elsewhere).create(
            i % 3 === 0 ? tenant : stranger,
            { url: `${url}${i}`, code },
            byCommand,
          ),
        ),
      );
      const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
      expect(won).toHaveLength(1);
      expect(lost).toEqual(Array.from({ length: 19 }, () => "code_taken"));
      expect((await store.target("", code)).value?.url).toBe(won[0]?.url as string);
      expect(versionsTold(code)).toEqual([`/${code}@1`]);
    });
  });

  describe("a change", () => {
    test("of some fields leaves the others, and adds 1 to the version", async () => {
      const link = await links.create(tenant, { url, title: "before", tags: ["kept"] }, byCommand);
      clock.advance(1_000);
      const changed = await elsewhere.patch(tenant, link.id, { title: "after", notes: "new" }, byCommand);
      expect(changed).toEqual({ ...link, title: "after", notes: "new", version: 2, updatedAt: clock.now() });
      expect(await links.get(tenant.id, link.id)).toEqual(changed);
      expect((await store.target("", link.code)).version).toBe(2);
      expect(versionsTold(link.code)).toEqual([`/${link.code}@1`, `/${link.code}@2`]);
    });

    test("of nothing still is a new version", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      expect((await links.patch(tenant, link.id, {}, byCommand)).version).toBe(2);
    });

    test("of all fields resets those that are not given", async () => {
      const link = await links.create(
        tenant,
        {
          url,
          title: "gone",
          notes: "gone",
          tags: ["gone"],
          permanent: true,
          status: "disabled",
          expiresAt: null,
          fallbackUrl: url,
          hitsPerMonth: 5,
          clickFacts: false,
        },
        byCommand,
      );
      const replaced = await links.replace(tenant, link.id, { url: "https://example.com/new" }, byCommand);
      expect(replaced).toEqual({
        ...link,
        url: "https://example.com/new",
        title: null,
        notes: null,
        tags: [],
        permanent: false,
        status: "active",
        expiresAt: clock.now() + 365 * dayMs,
        fallbackUrl: null,
        hitsPerMonth: null,
        clickFacts: true,
        version: 2,
      });
      expect(await links.get(tenant.id, link.id)).toEqual(replaced);
    });

    test("with the current version is made, and with another one is refused", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      const changed = await links.patch(tenant, link.id, { title: "one" }, byCommand, 1);
      expect(changed.version).toBe(2);
      expect(await codeOf(links.patch(tenant, link.id, { title: "two" }, byCommand, 1))).toBe("version_conflict");
      expect(await codeOf(links.replace(tenant, link.id, { url }, byCommand, 3))).toBe("version_conflict");
      expect(await codeOf(links.remove(tenant.id, link.id, byCommand, 1))).toBe("version_conflict");
      expect(await links.get(tenant.id, link.id)).toEqual(changed);
      expect(versionsTold(link.code)).toHaveLength(2);
    });

    test("of many at once with the same version is made once", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? links : elsewhere).patch(tenant, link.id, { title: `t${i}` }, byCommand, 1),
        ),
      );
      const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      expect(made).toHaveLength(1);
      expect(await links.get(tenant.id, link.id)).toEqual(made[0] as Link);
    });

    test("of many at once without a version is made by all, and none undoes another", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      const edits = [
        ...Array.from({ length: 20 }, (_, i) => ({ title: `t${i}` })),
        ...Array.from({ length: 20 }, (_, i) => ({ notes: `n${i}` })),
      ];
      const made = await Promise.all(
        edits.map((fields, i) => (i % 2 === 0 ? links : elsewhere).patch(tenant, link.id, fields, byCommand)),
      );
      const versions = made.map((one) => one.version).toSorted((a, b) => a - b);
      expect(versions).toEqual(Array.from({ length: 40 }, (_, i) => i + 2));
      const last = await links.get(tenant.id, link.id);
      expect(last).toEqual(made.find((one) => one.version === 41) as Link);
      expect([last.title, last.notes]).toEqual([expect.stringMatching(/^t\d/), expect.stringMatching(/^n\d/)]);
    });

    test("that breaks a rule is refused, and nothing changes", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      expect(await fieldOf(links.patch(tenant, link.id, { url: "data:," }, byCommand))).toBe("url: scheme_not_allowed");
      expect(await fieldOf(links.patch(tenant, link.id, { hitsPerMonth: 10_001 }, byCommand))).toBe(
        "hitsPerMonth: above_plan",
      );
      expect(await fieldOf(links.patch(tenant, link.id, { expiresAt: clock.now() }, byCommand))).toBe(
        "expiresAt: in_the_past",
      );
      expect(await fieldOf(links.replace(tenant, link.id, { url: "" }, byCommand))).toBe("url: empty");
      expect(await links.get(tenant.id, link.id)).toEqual(link);
    });

    test("of another field is possible after the link has expired", async () => {
      const link = await links.create(tenant, { url, expiresAt: clock.now() + 1_000 }, byCommand);
      clock.advance(2_000);
      const changed = await links.patch(tenant, link.id, { title: "late" }, byCommand);
      expect(changed).toMatchObject({ title: "late", expiresAt: link.expiresAt });
    });

    test("of a missing link is not found", async () => {
      const id = newId("link", clock);
      const attempts = [
        links.get(tenant.id, id),
        links.patch(tenant, id, {}, byCommand),
        links.replace(tenant, id, { url }, byCommand),
        links.remove(tenant.id, id, byCommand),
      ];
      expect(await Promise.all(attempts.map(codeOf))).toEqual(attempts.map(() => "not_found"));
    });

    test("is in the feed with its version, committed together with it", async () => {
      const feed = createFeed(sql);
      const end = await feed.end();
      const link = await links.create(tenant, { url }, byCommand);
      await links.patch(tenant, link.id, { title: "x" }, byCommand);
      await links.remove(tenant.id, link.id, byCommand);
      const { changes } = await feed.after(end, 1_000);
      const mine = changes.filter((change) => nameOf(change) === link.code);
      expect(mine).toMatchObject([1, 2, 3].map((version) => ({ kind: "link", domain: "", version })));
    });
  });

  describe("touching a code", () => {
    test("is a new version of the link as it is, in the feed, of any tenant", async () => {
      const feed = createFeed(sql);
      const link = await links.create(stranger, { url, code: fresh("touched") }, byCommand);
      const before = await feed.end();
      expect(await store.touch("", link.code, start)).toBe(2);
      expect(await links.get(stranger.id, link.id)).toEqual({ ...link, version: 2 });
      const { changes } = await feed.after(before, 1_000);
      // Its first version may still be in it: on a busy PostgreSQL the end of the feed is behind.
      const touched = changes.filter((change) => nameOf(change) === link.code && change.version > link.version);
      expect(touched).toMatchObject([{ domain: "", version: 2, at: start }]);
    });

    test("works where the link is gone, and does not bring it back", async () => {
      const link = await links.create(tenant, { url, code: fresh("touched") }, byCommand);
      await links.remove(tenant.id, link.id, byCommand);
      expect(await store.touch("", link.code, start)).toBe(3);
      expect(await store.target("", link.code)).toEqual({ version: 3, value: undefined });
    });

    test("changes nothing where there never was a link", async () => {
      const code = fresh("never");
      expect(await store.touch("", code, start)).toBeUndefined();
      expect(await store.target("", code)).toEqual({ version: 0, value: undefined });
    });
  });

  describe("a deleted link", () => {
    test("is gone for its owner and for visitors, and its version keeps growing", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      await links.remove(tenant.id, link.id, byCommand);
      expect(await codeOf(links.get(tenant.id, link.id))).toBe("not_found");
      expect(await codeOf(links.remove(tenant.id, link.id, byCommand))).toBe("not_found");
      expect(await store.target("", link.code)).toEqual({ version: 2, value: undefined });
      expect(versionsTold(link.code)).toEqual([`/${link.code}@1`, `/${link.code}@2`]);
    });

    test("can be made again under its code by its owner when it is gone for good, with the next version and another id", async () => {
      const code = fresh("again");
      const first = await links.create(tenant, { url, code }, byCommand);
      await links.patch(tenant, first.id, { title: "x" }, byCommand);
      await links.remove(tenant.id, first.id, byCommand);
      await trash.erase(tenant.id, first.id, byCommand, clock.now());
      const second = await elsewhere.create(tenant, { url: `${url}2`, code }, byCommand);
      expect(second.version).toBe(5);
      expect(second.id).not.toBe(first.id);
      expect(second.title).toBeNull();
      expect(await codeOf(links.get(tenant.id, first.id))).toBe("not_found");
    });

    test("cannot be created again under its code by another tenant", async () => {
      const code = fresh("mine-forever");
      const link = await links.create(tenant, { url, code }, byCommand);
      await links.remove(tenant.id, link.id, byCommand);
      expect(await codeOf(links.create(stranger, { url, code }, byCommand))).toBe("code_taken");
      await trash.erase(tenant.id, link.id, byCommand, clock.now());
      expect(await codeOf(links.create(stranger, { url, code }, byCommand))).toBe("code_taken");
      expect((await links.create(tenant, { url, code }, byCommand)).version).toBe(4);
    });

    test("never gives its code to a generated link", async () => {
      const link = await links.create(tenant, { url, code: fresh("deleted") }, byCommand);
      await links.remove(tenant.id, link.id, byCommand);
      const generated = { ...link, id: newId("link", clock), generated: true, at: clock.now(), by: byCommand };
      expect(await store.createEach(tenant.id, [generated], "nothing")).toEqual([{ kind: "taken" }]);
      await trash.erase(tenant.id, link.id, byCommand, clock.now());
      expect(await store.createEach(tenant.id, [generated], "nothing")).toEqual([{ kind: "taken" }]);
    });

    test("of many who delete it at once is deleted by one", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? links : elsewhere).remove(tenant.id, link.id, byCommand)),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect((await store.target("", link.code)).version).toBe(2);
    });
  });

  describe("purging", () => {
    test("frees the codes of links that expired long ago, for any tenant, and their versions keep growing", async () => {
      const code = fresh("purged");
      const owner = await newTenant();
      const old = await links.create(owner, { url, code, expiresAt: clock.now() + 1_000 }, byCommand);
      const younger = await links.create(owner, { url, expiresAt: clock.now() + 1_001 }, byCommand);
      const endless = await links.create(owner, { url, expiresAt: null }, byCommand);
      const before = clock.now() + 1_001;
      clock.advance(dayMs);

      expect(await store.purge(before, 1_000, clock.now())).toBeGreaterThanOrEqual(1);
      expect(await codeOf(links.get(owner.id, old.id))).toBe("not_found");
      expect(await links.get(owner.id, younger.id)).toEqual(younger);
      expect(await links.get(owner.id, endless.id)).toEqual(endless);
      expect(await store.target("", code)).toEqual({ version: 2, value: undefined });
      expect((await links.create(stranger, { url, code }, byCommand)).version).toBe(3);
    });

    test("frees them for generated links too", async () => {
      const link = await links.create(
        tenant,
        { url, code: fresh("purged"), expiresAt: clock.now() + 1_000 },
        byCommand,
      );
      clock.advance(2_000);
      await store.purge(clock.now(), 1_000, clock.now());
      const generated = { ...link, id: newId("link", clock), generated: true, at: clock.now(), by: byCommand };
      expect(await store.createEach(stranger.id, [generated], "nothing")).toMatchObject([
        { kind: "created", link: { version: 3 } },
      ]);
    });

    test("takes no more than requested, the longest expired first", async () => {
      clock.advance(dayMs);
      await store.purge(clock.now(), 1_000, clock.now());
      const made: Link[] = [];
      for (const ms of [3_000, 1_000, 2_000])
        made.push(await links.create(tenant, { url, expiresAt: clock.now() + ms }, byCommand));
      clock.advance(5_000);
      expect(await store.purge(clock.now(), 2, clock.now())).toBe(2);
      const left = await Promise.all(made.map((link) => store.get(tenant.id, link.id)));
      expect(left.map((link) => link !== undefined)).toEqual([true, false, false]);
      expect(await store.purge(clock.now(), 2, clock.now())).toBe(1);
      expect(await store.purge(clock.now(), 2, clock.now())).toBe(0);
    });
  });

  describe("a stranger", () => {
    test("sees nothing of another tenant's link, and cannot change it", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      const attempts = [
        links.get(stranger.id, link.id),
        links.patch(stranger, link.id, { title: "mine now" }, byCommand),
        links.patch(stranger, link.id, { title: "mine now" }, byCommand, link.version),
        links.replace(stranger, link.id, { url: "https://evil.example/" }, byCommand),
        links.remove(stranger.id, link.id, byCommand),
        links.remove(stranger.id, link.id, byCommand, link.version),
      ];
      expect(await Promise.all(attempts.map(codeOf))).toEqual(attempts.map(() => "not_found"));
      expect(await store.byCode(stranger.id, "", link.code)).toBeUndefined();
      expect((await links.list(stranger.id, 100)).items.filter(({ id }) => id === link.id)).toEqual([]);
      expect(await links.get(tenant.id, link.id)).toEqual(link);
    });

    test("who knows a version learns nothing from a conflict", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      expect(await codeOf(links.patch(stranger, link.id, {}, byCommand, 99))).toBe("not_found");
    });

    test("pages through nothing, even with another tenant's cursor", async () => {
      const nobody = await newTenant();
      const link = await links.create(tenant, { url }, byCommand);
      expect(await links.list(nobody.id, 10)).toEqual({ items: [], nextCursor: null });
      expect(await links.list(nobody.id, 10, link.id)).toEqual({ items: [], nextCursor: null });
    });
  });

  describe("a list", () => {
    async function pages(owner: Tenant, limit: number, between: () => Promise<unknown> = async () => {}) {
      const seen: Link[] = [];
      let cursor: LinkId | undefined;
      for (;;) {
        const page = await links.list(owner.id, limit, cursor);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        seen.push(...page.items);
        if (page.nextCursor === null) return seen;
        expect(page.items).toHaveLength(limit);
        cursor = page.nextCursor;
        await between();
      }
    }

    async function makeMany(owner: Tenant, howMany: number): Promise<Link[]> {
      const made: Link[] = [];
      for (let i = 0; i < howMany; i++) {
        clock.advance(1);
        made.push(await links.create(owner, { url: `${url}${i}` }, byCommand));
      }
      return made;
    }

    test("shows the newest first", async () => {
      const owner = await newTenant();
      const made = await makeMany(owner, 5);
      expect((await links.list(owner.id, 10)).items).toEqual(made.toReversed());
    });

    test("in an order in which all are equal covers everything exactly once", async () => {
      const owner = await newTenant();
      const made: string[] = [];
      for (let i = 0; i < 5; i++) made.push((await links.create(owner, { url, expiresAt: null }, byCommand)).id);
      for (const order of ["asc", "desc"] as const) {
        const seen: string[] = [];
        for (let after: ListPosition | undefined; ; ) {
          const page = await store.find(owner.id, { limit: 2, sort: "expiresAt", order, after });
          seen.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          if (last === undefined) break;
          after = positionOf("expiresAt", last);
        }
        expect(seen).toEqual(order === "asc" ? made.toSorted() : made.toSorted().toReversed());
      }
    });

    test("covers everything exactly once, in pages of any size", async () => {
      const owner = await newTenant();
      const made = (await makeMany(owner, 12)).toReversed();
      for (const limit of [1, 3, 5, 11, 12, 13]) expect(await pages(owner, limit)).toEqual(made);
    });

    test("covers everything that was there exactly once while links are made, changed and deleted", async () => {
      const owner = await newTenant();
      const made = await makeMany(owner, 20);
      const [gone] = made;
      if (!gone) throw new Error("nothing was made");
      let turns = 0;
      const seen = await pages(owner, 4, async () => {
        clock.advance(1);
        const extra = await elsewhere.create(owner, { url }, byCommand);
        if (turns++ === 0) await elsewhere.remove(owner.id, gone.id, byCommand);
        await elsewhere.patch(owner, extra.id, { title: "changed" }, byCommand);
      });
      const ids = seen.map((link) => link.id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).toEqual(
        made
          .slice(1)
          .toReversed()
          .map((link) => link.id),
      );
    });

    test("covers links that were made in the same millisecond", async () => {
      const owner = await newTenant();
      const made = await Promise.all(Array.from({ length: 9 }, () => links.create(owner, { url }, byCommand)));
      const seen = await pages(owner, 2);
      expect(seen.map(({ id }) => id)).toEqual(
        made
          .map(({ id }) => id)
          .toSorted()
          .toReversed(),
      );
    });

    test("ends with the last page even if that is full", async () => {
      const owner = await newTenant();
      await makeMany(owner, 4);
      const first = await links.list(owner.id, 2);
      const second = await links.list(owner.id, 2, first.nextCursor ?? undefined);
      expect([first.nextCursor === null, second.nextCursor]).toEqual([false, null]);
    });
  });

  describe("a redirect's target", () => {
    test("has what a redirect needs, for links of any tenant", async () => {
      const link = await links.create(
        stranger,
        { url, permanent: true, expiresAt: null, fallbackUrl: `${url}sorry`, tags: ["spring"] },
        byCommand,
      );
      const aNumber = expect.any(Number) as never;
      expect(await store.target("", link.code)).toEqual({
        version: 1,
        value: {
          ...{ url, file: null, permanent: true, expiresAt: null, fallbackUrl: `${url}sorry` },
          ...{ password: false, suspended: false, choice: null, hitsPerMonth: null },
          clicks: { link: aNumber, tenant: aNumber, tags: ["spring"], facts: true },
        },
      });
    });

    test("is nothing, at version 0, where there never was a link", async () => {
      expect(await store.target("", fresh("never"))).toEqual({ version: 0, value: undefined });
    });

    test("is nothing while the link is disabled, and there again when it is enabled", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      await links.patch(tenant, link.id, { status: "disabled" }, byCommand);
      expect(await store.target("", link.code)).toEqual({ version: 2, value: undefined });
      await links.patch(tenant, link.id, { status: "active" }, byCommand);
      expect(await store.target("", link.code)).toMatchObject({ version: 3, value: { url } });
    });

    test("is a domain's own", async () => {
      const link = await links.create(tenant, { url }, byCommand);
      expect(await store.target("other.example", link.code)).toEqual({ version: 0, value: undefined });
    });
  });

  describe("many at once", () => {
    const outcomeOf = (result: { link: Link } | { problem: Problem }) =>
      "link" in result ? "link" : (result.problem.more.errors?.[0]?.code ?? result.problem.code);

    test("are taken or refused each on its own, and answered in the order of the request", async () => {
      const owner = await newTenant();
      const [free, taken] = [fresh("free"), fresh("bulk-taken")];
      await links.create(stranger, { url, code: taken }, byCommand);
      const results = await links.createMany(
        owner,
        [
          { url: "javascript:alert(1)" },
          { url: `${url}1` },
          { url, code: taken },
          { url: `${url}3`, code: free },
          { url, code: "api" },
          { url: "" },
          { url: `${url}6`, hitsPerMonth: 10_001 },
          { url: `${url}7` },
        ],
        byCommand,
      );
      expect(results.map(outcomeOf)).toEqual([
        "scheme_not_allowed",
        "link",
        "taken",
        "link",
        "reserved",
        "empty",
        "above_plan",
        "link",
      ]);
      const made = results.flatMap((result) => ("link" in result ? [result.link] : []));
      expect(made.map((link) => link.url)).toEqual([`${url}1`, `${url}3`, `${url}7`]);
      const listed = (await links.list(owner.id, 100)).items;
      expect(listed.toSorted(byId)).toEqual(made.toSorted(byId));
    });

    test("that want the same code give it to the first", async () => {
      const [code, other] = [fresh("twice"), fresh("between")];
      const results = await links.createMany(
        tenant,
        [
          { url: `${url}first`, code },
          { url, code: other },
          { url: `${url}second`, code },
          { url: `${url}third`, code },
        ],
        byCommand,
      );
      expect(results.map(outcomeOf)).toEqual(["link", "link", "duplicate", "duplicate"]);
      expect((await store.target("", code)).value?.url).toBe(`${url}first`);
    });

    test("keep what is seldom, beside links that have nothing of it", async () => {
      const owner = await newTenant();
      const seldom = { notes: "two\nlines", fallbackUrl: "https://example.com/sorry", hitsPerMonth: 10 };
      const chosen = {
        rules: [{ when: { country: ["DE"] }, url: "https://example.com/de" }],
        utm: { source: "news" },
      };
      const inputs = [
        { url },
        { url, ...seldom },
        { url, ...chosen },
        { url, title: 'a "quoted" \\ title, {with} all' },
      ];
      const results = await links.createMany(owner, inputs, byCommand);
      const made = results.flatMap((result) => ("link" in result ? [result.link] : []));
      expect(made).toMatchObject(inputs);
      for (const link of made) expect(await links.get(owner.id, link.id)).toEqual(link);
    });

    test("may be more than one transaction takes", async () => {
      const owner = await newTenant();
      const inputs = Array.from({ length: 250 }, (_, i) => ({ url: `${url}${i}` }));
      const results = await links.createMany(owner, inputs, byCommand);
      expect(results.map((result) => ("link" in result ? result.link.url : ""))).toEqual(inputs.map((one) => one.url));
      expect(new Set(results.map((result) => ("link" in result ? result.link.code : ""))).size).toBe(250);
      const told250 = results.filter((result) => "link" in result && told.includes(`/${result.link.code}@1`));
      expect(told250).toHaveLength(250);
    });

    test("reuse codes that they may reuse, whatever the others in the request may", async () => {
      const owner = await newTenant();
      const codes = Array.from({ length: 120 }, () => fresh("back"));
      for (const who of [owner, stranger]) {
        const mine = codes.filter((_, i) => (i % 2 === 0) === (who === owner));
        await links.createMany(
          who,
          mine.map((code) => ({ url, code })),
          byCommand,
        );
        for (const code of mine) {
          const link = await store.byCode(who.id, "", code);
          if (link !== undefined) await links.remove(who.id, link.id, byCommand);
        }
        expect(await trash.eraseSome(who.id, 1_000, byCommand, clock.now())).toBeGreaterThanOrEqual(mine.length);
      }
      const inputs = codes.flatMap((code) => [{ url, code }, { url }]);
      const results = await links.createMany(owner, inputs, byCommand);
      expect(results.map(outcomeOf)).toEqual(codes.flatMap((_, i) => [i % 2 === 0 ? "link" : "taken", "link"]));
      const versions = results.flatMap((result) =>
        "link" in result && result.link.code.startsWith("back") ? [result.link.version] : [],
      );
      expect(new Set(versions)).toEqual(new Set([4]));
    });

    test("keep their own values, whether all have the same or each another", async () => {
      const owner = await newTenant();
      const some: LinkInput[] = [{}, { permanent: true }, { status: "disabled" }, { clickFacts: false, title: "One" }];
      for (const kinds of [some.slice(0, 1), some.slice(1, 2), some]) {
        const inputs = Array.from({ length: 80 }, (_, i) => ({ url: `${url}${i}`, ...kinds[i % kinds.length] }));
        const results = await links.createMany(owner, inputs, byCommand);
        const ids = results.flatMap((result) => ("link" in result ? [result.link.id] : []));
        const made = await store.byIds(owner.id, ids);
        expect(ids.map((id) => made.get(id))).toMatchObject(inputs.map((one) => ({ ...one, domain: "", version: 1 })));
      }
    });

    test("have numbers that no other link has, however many are created at once", async () => {
      const owner = await newTenant();
      const create = (length: number) =>
        links.createMany(
          owner,
          Array.from({ length }, () => ({ url })),
          byCommand,
        );
      for (const length of [1, 100, 1, 64, 63]) await create(length);
      const rows = await acrossTenants(sql.db).selectFrom("links").select(["number", "tenant_id"]).execute();
      const own = rows.filter(({ tenant_id: id }) => id === owner.id).map(({ number }) => number);
      expect(new Set(own).size).toBe(1 + 100 + 1 + 64 + 63);
      const others = new Set(rows.filter(({ tenant_id: id }) => id !== owner.id).map(({ number }) => number));
      expect(own.filter((number) => others.has(number))).toEqual([]);
    });

    test("are written together with the other writes, or not at all", async () => {
      const owner = await newTenant();
      const [kept, undone] = [fresh("kept"), fresh("undone")];
      const before = [await count("links"), await count("link_versions"), await count("changes")];
      const attempt = store.createWith(
        owner.id,
        [await links.draft(owner, { url, code: undone }, byCommand)],
        async () => {
          throw new Error("not this time");
        },
      );
      await expect(attempt).rejects.toThrow("not this time");
      expect([await count("links"), await count("link_versions"), await count("changes")]).toEqual(before);
      const written = await store.createWith(
        owner.id,
        [await links.draft(owner, { url, code: kept }, byCommand)],
        async (trx) => {
          await trx.updateTable("tenants").set({ name: "along" }).where("id", "=", owner.id).execute();
        },
      );
      expect(written).toEqual([{ kind: "created", version: 1 }]);
      expect((await store.byCode(owner.id, "", kept))?.version).toBe(1);
      expect((await createTenants(sql, clock).bySlug(owner.slug))?.name).toBe("along");
    });

    test("may be none", async () => {
      expect(await links.createMany(tenant, [], byCommand)).toEqual([]);
    });

    test("from two instances that want the same codes in opposite order do not deadlock", async () => {
      const wanted = Array.from({ length: 60 }, () => fresh("contested"));
      const inputs = wanted.map((code) => ({ url, code }));
      const [one, two] = await Promise.all([
        links.createMany(tenant, inputs, byCommand),
        elsewhere.createMany(stranger, inputs.toReversed(), byCommand),
      ]);
      const winners = one.map((result, i) => [result, two[two.length - 1 - i]].filter((r) => r && "link" in r).length);
      expect(winners).toEqual(wanted.map(() => 1));
    });
  });
});

const byId = (a: Link, b: Link): number => (a.id < b.id ? -1 : 1);
