import { beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { CompiledQuery, sql as raw } from "kysely";
import { dayMs, manualClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { type KeyId, newId, type TenantId } from "../../src/base/ids.ts";
import { hitsMax, hitsMaxExpression } from "../../src/links/rows.ts";
import { migrate } from "../../src/sql/migrate.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { allows, createKeys, type Keys, keysMost, scopes } from "../../src/tenants/keys.ts";
import {
  builtInPlans,
  createTenants,
  defaultLimits as defaults,
  type Limits,
  limitNames,
  type Tenant,
  type Tenants,
} from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";

const start = Date.UTC(2026, 10, 16);

let names = 0;
const fresh = (label: string) => `${label}-${++names}`;

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new Error(`not a Problem: ${error}`);
  const [field] = error.more.errors ?? [];
  return field ? `${field.field}: ${field.code}` : error.code;
}

onEachDatabase(({ create, open, openTwo }) => {
  const clock = manualClock(start);
  let sql: Sql;
  let tenants: Tenants;
  let keys: Keys;
  /** The same on another connection: a second instance. */
  let keysElsewhere: Keys;
  let tenant: Tenant;
  beforeAll(async () => {
    const [one, two] = await openTwo();
    sql = one;
    tenants = createTenants(one, clock);
    keys = createKeys({ sql: one, clock: clock });
    keysElsewhere = createKeys({ sql: two, clock: clock });
    tenant = await tenants.create("acme", "Acme Ltd", byCommand);
  });

  describe("a tenant", () => {
    test("has the default plan's limits, and is found by its slug and its id", async () => {
      const slug = fresh("tenant");
      const made = await tenants.create(slug, "Zo\u00eb & S\u00f6hne", byCommand);
      expect(made).toEqual({
        id: expect.stringMatching(/^ten_/),
        slug,
        name: "Zo\u00eb & S\u00f6hne",
        plan: "default",
        limits: defaults,
        overrides: {},
        defaultDomain: null,
        createdAt: clock.now(),
        suspended: null,
        deleteAt: null,
      });
      expect(await tenants.bySlug(slug)).toEqual(made);
      expect(await tenants.byId(made.id)).toEqual(made);
    });

    test("that is not there is not found", async () => {
      expect(await tenants.bySlug("nobody")).toBeUndefined();
      expect(await tenants.byId(newId("tenant", clock))).toBeUndefined();
      expect(await refusal(tenants.change("nobody", { name: "x" }, byCommand))).toBe("not_found");
    });

    test("has a unique slug", async () => {
      expect(await refusal(tenants.create("acme", "Another", byCommand))).toBe("name_taken");
      expect((await tenants.bySlug("acme"))?.name).toBe("Acme Ltd");
    });

    test("of many who want one slug at once, exactly one gets it", async () => {
      const slug = fresh("wanted");
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => tenants.create(slug, "x", byCommand)));
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
      expect(lost).toEqual(Array.from({ length: 7 }, () => "name_taken"));
    });

    test("has a slug that is easy to type, and an existing plan", async () => {
      for (const slug of ["", "Acme", "a b", "-a", "x".repeat(64), "a/b"]) {
        expect(await refusal(tenants.create(slug, "x", byCommand))).toBe("slug: bad_name");
      }
      expect(await refusal(tenants.create(fresh("tenant"), "x", byCommand, "gold"))).toBe("plan: unknown_plan");
      expect(await refusal(tenants.create(fresh("tenant"), "x", byCommand, "constructor"))).toBe("plan: unknown_plan");
      expect(await refusal(tenants.change(tenant.slug, { plan: "gold" }, byCommand))).toBe("plan: unknown_plan");
      expect(await tenants.bySlug(tenant.slug)).toMatchObject({ plan: "default" });
    });

    test("changes what is given, and nothing else", async () => {
      const { slug } = await tenants.create(fresh("tenant"), "Before", byCommand);
      const renamed = await tenants.change(slug, { name: "After" }, byCommand);
      expect(renamed).toMatchObject({ name: "After", plan: "default", overrides: {} });
      const moved = await tenants.change(slug, { plan: "unlimited" }, byCommand);
      expect(moved).toMatchObject({ name: "After", plan: "unlimited", limits: builtInPlans.get("unlimited") });
      expect(await refusal(tenants.change(slug, { plan: "gold" }, byCommand))).toBe("plan: unknown_plan");
      expect(await tenants.bySlug(slug)).toEqual(moved);
    });

    test("may override limits of any plan, and restore them", async () => {
      const { slug } = await tenants.create(fresh("tenant"), "x", byCommand);
      const own = await tenants.change(slug, { overrides: { hitsPerLinkPerMonth: 7, apiPerMinute: null } }, byCommand);
      expect(own.limits).toEqual({ ...defaults, hitsPerLinkPerMonth: 7, apiPerMinute: null });
      expect(own.overrides).toEqual({ hitsPerLinkPerMonth: 7, apiPerMinute: null });

      const more = await tenants.change(slug, { overrides: { linksPerMonth: 0 } }, byCommand);
      expect(more.overrides).toEqual({ hitsPerLinkPerMonth: 7, apiPerMinute: null, linksPerMonth: 0 });

      const unlimited = await tenants.change(slug, { plan: "unlimited" }, byCommand);
      expect(unlimited.limits).toMatchObject({ hitsPerLinkPerMonth: 7, linksPerMonth: 0, storageBytes: null });

      const back = await tenants.change(
        slug,
        { plan: "default", overrides: { hitsPerLinkPerMonth: undefined } },
        byCommand,
      );
      expect(back.overrides).toEqual({ apiPerMinute: null, linksPerMonth: 0 });
      expect(back.limits.hitsPerLinkPerMonth).toBe(defaults.hitsPerLinkPerMonth);
    });

    test("is in the list, by name", async () => {
      const listed = await tenants.list(100);
      const slugs = listed.map(({ slug }) => slug);
      expect(slugs).toEqual(slugs.toSorted());
      expect(listed.find(({ slug }) => slug === "acme")).toEqual(tenant);
    });

    test("is the first when there is none", async () => {
      const sql = (await create()).connect();
      await migrate(sql);
      const empty = createTenants(sql, clock);
      expect(await empty.isEmpty()).toBe(true);
      await empty.create("first", "First", byCommand);
      expect(await empty.isEmpty()).toBe(false);
    });
  });

  describe("a plan", () => {
    const team: Limits = { ...defaults, hitsPerLinkPerMonth: 100_000, linksPerMonth: null };

    test("of the operator's own is beside the built-in ones, and its tenants follow it", async () => {
      const name = fresh("team");
      await tenants.setPlan(name, team, byCommand);
      expect((await tenants.plans()).get(name)).toEqual(team);
      expect([...(await tenants.plans()).keys()].slice(0, 2)).toEqual(["default", "unlimited"]);

      const { slug, limits } = await tenants.create(fresh("tenant"), "x", byCommand, name);
      expect(limits).toEqual(team);
      await tenants.setPlan(name, { ...team, apiPerMinute: 1 }, byCommand);
      expect((await tenants.bySlug(slug))?.limits.apiPerMinute).toBe(1);
    });

    test("caps a link's own maximum of hits, in a query as in the program", async () => {
      for (const allowed of [null, 0, 5, 1_000]) {
        for (const own of [null, 1, 5, 6, 1_000_000_000]) {
          const overrides = JSON.stringify({ hitsPerLinkPerMonth: allowed });
          const max = hitsMax(own, { plan: "default", planLimits: null, overrides });
          const { rows } = await raw<{ max: number | null }>`
            select ${hitsMaxExpression(allowed)} as max from (select cast(${own} as bigint) as hits_per_month) as l
          `.execute(sql.db);
          expect([allowed, own, rows[0]?.max]).toEqual([allowed, own, max]);
        }
      }
    });

    test("cannot take the name of a built-in one, or one that cannot be typed", async () => {
      expect(await refusal(tenants.setPlan("default", team, byCommand))).toBe("name: built_in");
      expect(await refusal(tenants.setPlan("unlimited", team, byCommand))).toBe("name: built_in");
      expect(await refusal(tenants.setPlan("Team A", team, byCommand))).toBe("name: bad_name");
      expect((await tenants.plans()).get("default")).toEqual(defaults);
    });

    test("may have any name that can be typed, also one that is special in JavaScript", async () => {
      await tenants.setPlan("constructor", team, byCommand);
      expect((await tenants.create(fresh("tenant"), "x", byCommand, "constructor")).limits).toEqual(team);
    });

    test("comes back with every limit there is", async () => {
      const name = fresh("odd");
      const odd = Object.fromEntries(
        limitNames.map((limit, i) => [limit, i % 2 === 0 ? null : i]),
      ) as unknown as Limits;
      await tenants.setPlan(name, odd, byCommand);
      expect((await tenants.plans()).get(name)).toEqual(odd);
    });
  });

  describe("a key", () => {
    test("works for its tenant, with its scopes", async () => {
      const { key, secret } = await keys.create(
        tenant.id,
        { name: "website", scopes: ["links:read", "links:write"] },
        byCommand,
      );
      expect(secret).toMatch(/^ql_[0-9A-Za-z]{43}$/);
      expect(key).toEqual({
        id: expect.stringMatching(/^key_/),
        tenantId: tenant.id,
        name: "website",
        hint: `${secret.slice(0, 8)}\u2026`,
        scopes: ["links:read", "links:write"],
        createdAt: clock.now(),
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
        apiPerMinute: null,
        createdBy: null,
      });
      expect(await keysElsewhere.authenticate(secret)).toEqual(key);
      expect(scopes.filter((scope) => allows(key, scope))).toEqual(["links:read", "links:write", "stats:read"]);
    });

    test("may have its own limit", async () => {
      const { key, secret } = await keys.create(
        tenant.id,
        { name: "slow", scopes: ["links:read"], apiPerMinute: 5 },
        byCommand,
      );
      expect(key.apiPerMinute).toBe(5);
      expect(await keysElsewhere.authenticate(secret)).toEqual(key);
    });

    test("with the scope admin may do everything", async () => {
      const { key } = await keys.create(tenant.id, { name: "boss", scopes: ["admin"] }, byCommand);
      expect(scopes.filter((scope) => !allows(key, scope))).toEqual([]);
    });

    test("never repeats, and has a scope once", async () => {
      const made = await Promise.all(
        Array.from({ length: 50 }, () => keys.create(tenant.id, { name: "x", scopes: ["admin", "admin"] }, byCommand)),
      );
      expect(new Set(made.map(({ secret }) => secret)).size).toBe(50);
      expect(made[0]?.key.scopes).toEqual(["admin"]);
    });

    test("is nowhere in SQL, only its hash", async () => {
      const { key, secret } = await keys.create(tenant.id, { name: "hashed", scopes: ["admin"] }, byCommand);
      const row = await acrossTenants(sql.db)
        .selectFrom("api_keys")
        .selectAll()
        .where("id", "=", key.id)
        .executeTakeFirst();
      expect(row?.hash).toBe(createHash("sha256").update(secret).digest("hex"));
      expect(JSON.stringify(row)).not.toContain(secret.slice(8));
    });

    test("that is unknown or malformed does not work", async () => {
      const { secret } = await keys.create(tenant.id, { name: "real", scopes: ["admin"] }, byCommand);
      const wrong = [
        "",
        "ql_",
        secret.slice(0, -1),
        `${secret}0`,
        ` ${secret}`,
        secret.slice(3),
        secret.toLowerCase(),
        `ql_${"0".repeat(43)}`,
        `ql_${"'".repeat(43)}`,
        createHash("sha256").update(secret).digest("hex"),
      ];
      for (const text of wrong) expect(await keys.authenticate(text)).toBeUndefined();
    });

    test("works until it expires, and not a millisecond longer", async () => {
      const { secret } = await keys.create(
        tenant.id,
        { name: "x", scopes: ["admin"], expiresAt: clock.now() + dayMs },
        byCommand,
      );
      clock.advance(dayMs - 1);
      expect(await keys.authenticate(secret)).toBeDefined();
      clock.advance(1);
      expect(await keys.authenticate(secret)).toBeUndefined();
    });

    test("that is revoked stops working at once, everywhere, and stays revoked as of then", async () => {
      const { key, secret } = await keys.create(tenant.id, { name: "lost", scopes: ["admin"] }, byCommand);
      const revokedAt = clock.now();
      expect(await keysElsewhere.revoke(tenant.id, key.id, byCommand)).toBe(true);
      expect(await keys.authenticate(secret)).toBeUndefined();
      clock.advance(1_000);
      expect(await keys.revoke(tenant.id, key.id, byCommand)).toBe(true);
      expect((await keys.list(tenant.id, 1_000)).find(({ id }) => id === key.id)?.revokedAt).toBe(revokedAt);
    });

    test("that was valid is known to be so by its id, until it is revoked or expires", async () => {
      const made = await keys.create(tenant.id, { name: "long", scopes: ["admin"] }, byCommand);
      const brief = await keys.create(
        tenant.id,
        { name: "brief", scopes: ["admin"], expiresAt: clock.now() + 1_000 },
        byCommand,
      );
      const areValid = () => Promise.all([made, brief].map(({ key }) => keysElsewhere.isValid(tenant.id, key.id)));
      expect(await areValid()).toEqual([true, true]);
      const stranger = await tenants.create("stranger-to-keys", "x", byCommand);
      expect(await keys.isValid(stranger.id, made.key.id)).toBe(false);
      clock.advance(1_000);
      expect(await areValid()).toEqual([true, false]);
      await keys.revoke(tenant.id, made.key.id, byCommand);
      expect(await areValid()).toEqual([false, false]);
    });

    test("of another tenant can be neither seen nor revoked", async () => {
      const stranger = await tenants.create(fresh("stranger"), "x", byCommand);
      const { key, secret } = await keys.create(tenant.id, { name: "mine", scopes: ["admin"] }, byCommand);
      expect(await keys.list(stranger.id, 1_000)).toEqual([]);
      expect(await keys.revoke(stranger.id, key.id, byCommand)).toBe(false);
      expect(await keys.authenticate(secret)).toBeDefined();
      expect(await keys.revoke(tenant.id, newId("key", clock), byCommand)).toBe(false);
    });

    test("is in the list of its tenant, the newest first", async () => {
      const owner = await tenants.create(fresh("owner"), "x", byCommand);
      const made: KeyId[] = [];
      for (const name of ["a", "b", "c"]) {
        clock.advance(1);
        made.push((await keys.create(owner.id, { name, scopes: ["admin"] }, byCommand)).key.id);
      }
      expect((await keys.list(owner.id, 1_000)).map(({ id }) => id)).toEqual(made.toReversed());
      const first = await keys.list(owner.id, 2);
      expect(first.map(({ id }) => id)).toEqual(made.slice(1).toReversed());
      expect((await keys.list(owner.id, 2, first.at(-1)?.id)).map(({ id }) => id)).toEqual(made.slice(0, 1));
    });

    async function fill(
      owner: TenantId,
      count: number,
      row: (i: number) => { expires_at?: number; revoked_at?: number },
    ) {
      for (let start = 0; start < count; start += 100) {
        const rows = Array.from({ length: Math.min(100, count - start) }, (_, i) => ({
          ...{
            id: newId("key", clock),
            tenant_id: owner,
            name: `filled ${start + i}`,
            hint: "",
            hash: newId("key", clock),
          },
          ...{
            scopes: "[]",
            created_at: 0,
            expires_at: null,
            revoked_at: null,
            last_used_at: null,
            api_per_minute: null,
          },
          ...row(start + i),
        }));
        await acrossTenants(sql.db).insertInto("api_keys").values(rows).execute();
      }
    }

    test("beyond the cap is refused, also of many at once, until one is revoked or expires", async () => {
      const owner = await tenants.create(fresh("full"), "x", byCommand);
      await fill(owner.id, keysMost - 2, () => ({}));
      const create = () => keys.create(owner.id, { name: "one more", scopes: ["admin"] }, byCommand);
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, create));
      const made = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value.key] : []));
      expect(made).toHaveLength(2);
      await expect(create()).rejects.toMatchObject({ code: "collection_full", status: 409 });
      expect(await keys.revoke(owner.id, made[0]?.id ?? newId("key", clock), byCommand)).toBe(true);
      expect((await create()).key.name).toBe("one more");
    });

    test("of a tenant with many of its requests at once is refused for now, and no other tenant waits for them", async () => {
      const [greedy, other] = [
        await tenants.create(fresh("greedy"), "x", byCommand),
        await tenants.create(fresh("other"), "x", byCommand),
      ];
      const create = (owner: Tenant) => keys.create(owner.id, { name: "one of many", scopes: ["admin"] }, byCommand);
      const many = Array.from({ length: 130 }, () => create(greedy));
      const settled = Promise.allSettled(many);
      expect((await create(other)).key.name).toBe("one of many");
      const refused = (await settled).filter((one) => one.status === "rejected").map(({ reason }) => reason.code);
      expect(refused).toEqual(Array.from({ length: 30 }, () => "busy"));
    });

    test("that no longer works is listed until there are enough newer ones", async () => {
      const owner = await tenants.create(fresh("dead"), "x", byCommand);
      await fill(owner.id, 30, () => ({ revoked_at: 1 }));
      clock.advance(1);
      await fill(owner.id, keysMost, (i) => (i % 2 === 0 ? { revoked_at: 1 } : { expires_at: 1 }));
      clock.advance(1);
      const { key } = await keys.create(owner.id, { name: "alive", scopes: ["admin"] }, byCommand);
      const listed = await keys.list(owner.id, keysMost + 100);
      expect(listed).toHaveLength(keysMost + 1);
      expect(listed[0]?.id).toBe(key.id);
    });

    test("of which many are used at once has its time of use recorded, all in a few transactions", async () => {
      const made: string[] = [];
      for (let i = 0; i < 250; i++)
        made.push((await keys.create(tenant.id, { name: "many", scopes: ["admin"] }, byCommand)).secret);
      for (const secret of made) await keys.authenticate(secret);
      await keys.flush();
      const unwritten = await acrossTenants(sql.db)
        .selectFrom("api_keys")
        .select("id")
        .where("name", "=", "many")
        .where("last_used_at", "is", null)
        .execute();
      expect(unwritten).toEqual([]);
    });

    const lastUsed = async (id: KeyId) => (await keys.list(tenant.id, 1_000)).find((key) => key.id === id)?.lastUsedAt;

    test("shows when it was last used, once that is recorded", async () => {
      const { key, secret } = await keys.create(tenant.id, { name: "used", scopes: ["admin"] }, byCommand);
      await keys.authenticate(secret);
      clock.advance(500);
      await keys.authenticate(secret);
      expect(await lastUsed(key.id)).toBeNull();
      await keys.flush();
      expect(await lastUsed(key.id)).toBe(clock.now());
      const then = clock.now();
      clock.advance(500);
      await keys.flush();
      expect(await lastUsed(key.id)).toBe(then);
    });

    test("that was refused was not used", async () => {
      const { key, secret } = await keys.create(
        tenant.id,
        { name: "x", scopes: ["admin"], expiresAt: clock.now() },
        byCommand,
      );
      await keys.authenticate(secret);
      await keys.flush();
      expect(await lastUsed(key.id)).toBeNull();
    });

    test("keeps the time of its last use when recording it fails once", async () => {
      const mine = await open();
      const [owner, ring] = [
        await createTenants(mine, clock).create("owner", "x", byCommand),
        createKeys({ sql: mine, clock: clock }),
      ];
      const { secret } = await ring.create(owner.id, { name: "x", scopes: ["admin"] }, byCommand);
      await ring.authenticate(secret);
      const then = clock.now();
      await mine.db.executeQuery(CompiledQuery.raw("alter table api_keys rename to away"));
      await expect(ring.flush()).rejects.toThrow();
      await mine.db.executeQuery(CompiledQuery.raw("alter table away rename to api_keys"));
      await ring.flush();
      expect((await ring.list(owner.id, 1_000))[0]?.lastUsedAt).toBe(then);
    });

    test("can be used while times are being recorded, and recording still ends", async () => {
      const made = await Promise.all(
        Array.from({ length: 4 }, () => keys.create(tenant.id, { name: "busy", scopes: ["admin"] }, byCommand)),
      );
      for (const { secret } of made) await keys.authenticate(secret);
      let ended = false;
      const flushing = keys.flush().then(() => {
        ended = true;
      });
      let uses = 0;
      while (!ended && uses < 400) {
        clock.advance(1);
        await keys.authenticate(made[uses++ % made.length]?.secret ?? "");
      }
      expect(uses).toBeLessThan(400);
      await flushing;
      await keys.flush();
      const times = await Promise.all(made.map(({ key }) => lastUsed(key.id)));
      expect(Math.max(...times.map(Number))).toBe(clock.now());
    });

    test("was last used at the latest time that any instance saw, whichever writes it last", async () => {
      const { key, secret } = await keys.create(tenant.id, { name: "x", scopes: ["admin"] }, byCommand);
      await keys.authenticate(secret);
      clock.advance(1_000);
      await keysElsewhere.authenticate(secret);
      await keysElsewhere.flush();
      await keys.flush();
      expect(await lastUsed(key.id)).toBe(clock.now());
    });
  });
});
