/**
 * Two tenants, in cases where a copy of every row is not enough to tell them apart: a tenant asks for what only the
 * other can have (an ID, a code, a verified domain), or both have pending work that jobs across tenants would take.
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { createSuspensions } from "../../src/abuse/suspensions.ts";
import { type ManualClock, manualClock, systemClock } from "../../src/base/clock.ts";
import { type FileId, newId, type TenantId } from "../../src/base/ids.ts";
import { createRing } from "../../src/base/seal.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createDeliveries } from "../../src/email/delivery/deliveries.ts";
import { createSuppressions } from "../../src/email/delivery/suppressions.ts";
import { createStopLinks } from "../../src/email/delivery/unsubscribe.ts";
import { nearLimits } from "../../src/email/notices/near-limits.ts";
import { createNotices } from "../../src/email/notices/notices.ts";
import { createEmailSeeds } from "../../src/email/outbox/counter-seeds.ts";
import { createEmailStore } from "../../src/email/outbox/store.ts";
import { resealAll } from "../../src/email/settings/reseal.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { createFileStore } from "../../src/files/store.ts";
import { beginning, createPositions } from "../../src/import-export/import-position.ts";
import { predictOutcomes, sortOutcomes, type WantedRow } from "../../src/import-export/refused-rows.ts";
import { monthName } from "../../src/limits/window.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import type { LinkFields } from "../../src/links/link.ts";
import { busiestLinks } from "../../src/links/read/busiest.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import type { TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { createTenants, tenantRecords } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newMail, newRow, newTenant, openOutbox, rowOf, silent } from "./outbox.ts";

onEachDatabase(({ open }) => {
  let sql: Sql;
  let clock: ManualClock;
  let ours: TenantId;
  let theirs: TenantId;

  beforeEach(async () => {
    sql = await open();
    clock = manualClock(systemClock.now());
    [ours, theirs] = [await newTenant(sql), await newTenant(sql)];
  });

  const fields: LinkFields = {
    ...{ url: "https://example.com/", file: null, permanent: false, status: "active", expiresAt: null },
    ...{ title: null, notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true },
    ...{ rules: [], split: [], utm: null, forwardQuery: false },
  };

  const newLink = (code: string, more: Partial<NewLink> = {}): NewLink => ({
    ...{ ...fields, id: newId("link", clock), domain: "", code, generated: false, at: clock.now(), by: byCommand },
    ...more,
  });

  async function link(tenant: TenantId, code: string, more: Partial<NewLink> = {}) {
    const [written] = await createLinkStore(sql).createEach(tenant, [newLink(code, more)], "nothing");
    if (written?.kind !== "created") throw new Error(`not written: ${written?.kind}`);
    return written.link;
  }

  async function visited(tenant: TenantId, code: string, counted: number) {
    const made = await link(tenant, code);
    const month = monthName(clock.now());
    await sql.db
      .insertInto("quotas")
      .values({ domain: "", code, month, draws: "hits", counted, reserved: 0, lent_until: 0 })
      .execute();
    return made;
  }

  /** Its state: announced, or stored. */
  async function file(tenant: TenantId, stored: boolean): Promise<{ tenantId: TenantId; id: FileId }> {
    const store = createFileStore(sql);
    const key = { tenantId: tenant, id: newId("file", clock) };
    const about = { name: "same.txt", sizeBytes: 10, type: "text/plain", sha256: null, createdAt: clock.now() };
    await store.insert({ ...key, ...about });
    if (stored) {
      await store.admit(key, clock.now() + 1_000);
      await store.keep(key, { sha256: "hash", max: null, at: clock.now() });
    }
    return key;
  }

  async function verified(tenant: TenantId, host: string): Promise<void> {
    await claimed(tenant, host);
    await createDomainStore(sql).verify(tenant, host, byCommand, clock.now());
  }

  async function claimed(tenant: TenantId, host: string): Promise<void> {
    const store = createDomainStore(sql);
    const targets = { rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false };
    const times = { createdAt: clock.now(), verifiedAt: null };
    await store.add(
      {
        tenantId: tenant,
        host,
        state: "pending",
        token: "token",
        isDefault: false,
        ...targets,
        ...times,
      },
      100,
      byCommand,
    );
  }

  describe("a tenant that names what is another's", () => {
    test("finds no link of theirs, and changes none", async () => {
      const store = createLinkStore(sql);
      const { id } = await link(theirs, "theirs");
      expect(await store.get(ours, id)).toBeUndefined();
      expect(await store.byCode(ours, "", "theirs")).toBeUndefined();
      expect(await store.byIds(ours, [id])).toEqual(new Map());
      expect(await store.update(ours, id, { edit: () => fields, file: null, by: byCommand }, clock.now())).toEqual({
        kind: "missing",
      });
      expect(await store.remove(ours, id, byCommand, clock.now())).toEqual({ kind: "missing" });
      expect(await store.get(theirs, id)).toMatchObject({ version: 1 });
      const everything = { limit: 10, sort: "code", order: "asc" } as const;
      for (const list of [store.list(ours, 10), store.listUp(ours, 10), store.find(ours, everything)]) {
        expect(await list).toEqual([]);
      }
      expect((await store.find(theirs, everything)).map(({ code }) => code)).toEqual(["theirs"]);
    });

    test("makes no link on their domain, and none that leads to their file", async () => {
      const store = createLinkStore(sql);
      await verified(theirs, "links.example.com");
      const { id } = await file(theirs, true);
      const wanted = [newLink("a", { domain: "links.example.com" }), newLink("b", { file: id, url: "" })];
      expect(await store.unfit(ours, wanted)).toEqual(["no_domain", "no_file"]);
      expect((await store.createEach(ours, wanted, "nothing")).map(({ kind }) => kind)).toEqual([
        "no_domain",
        "no_file",
      ]);
      expect(await store.unfit(theirs, wanted)).toEqual([undefined, undefined]);
    });

    test("makes no link on a domain that is only claimed, and none to a file that has not arrived", async () => {
      const store = createLinkStore(sql);
      await claimed(ours, "claimed.example.com");
      const { id } = await file(ours, false);
      const wanted = [newLink("c", { domain: "claimed.example.com" }), newLink("d", { file: id, url: "" })];
      expect(await store.unfit(ours, wanted)).toEqual(["no_domain", "no_file"]);
      expect((await store.createEach(ours, wanted, "nothing")).map(({ kind }) => kind)).toEqual([
        "no_domain",
        "no_file",
      ]);
    });

    test("has links of its own number, which is that of its limits, and which serve no file of theirs", async () => {
      const store = createLinkStore(sql);
      const tenants = createTenants(sql, clock);
      const slug = (await tenants.byId(ours))?.slug ?? "";
      await tenants.change(slug, { overrides: { hitsPerLinkPerMonth: 5 } }, byCommand);
      const { id } = await link(ours, "ours");
      const number = (await store.target("", "ours")).value?.clicks.tenant as TenantNumber;
      const records = await tenantRecords(sql.db, [number]);
      expect(records.get(number)).toMatchObject({ id: ours, slug, overrides: { hitsPerLinkPerMonth: 5 } });
      const { id: theirFile } = await file(theirs, true);
      await ofTenant(sql.db, ours).updateTable("links").set({ file_id: theirFile }).where("id", "=", id).execute();
      expect((await store.target("", "ours")).value).toBeUndefined();
    });

    test("learns that their code is taken, but not where it leads", async () => {
      await link(theirs, "theirs");
      const one = { line: 1, input: { url: fields.url, code: "theirs" }, domain: "", link: undefined, past: undefined };
      const wanted: WantedRow[] = [{ ...one, url: fields.url, file: null }];
      const kinds = await predictOutcomes(wanted, ours, createLinkStore(sql), sql.db);
      expect(kinds).toEqual(["taken"]);
      expect(await sortOutcomes(wanted, kinds, ours, sql.db)).toMatchObject({ present: 0, refusals: [{ line: 1 }] });
      expect(await sortOutcomes(wanted, kinds, theirs, sql.db)).toEqual({ present: 1, refusals: [] });
    });

    test("does not get a code that they deleted, while they do", async () => {
      const store = createLinkStore(sql);
      const { id } = await link(theirs, "deleted");
      await store.remove(theirs, id, byCommand, clock.now());
      expect(await createTrashStore(sql).erase(theirs, id, byCommand, clock.now())).toBe(true);
      const one = {
        line: 1,
        input: { url: fields.url, code: "deleted" },
        domain: "",
        link: undefined,
        past: undefined,
      };
      const wanted: WantedRow[] = [{ ...one, url: fields.url, file: null }];
      expect(await predictOutcomes(wanted, ours, store, sql.db)).toEqual(["taken"]);
      expect(await predictOutcomes(wanted, theirs, store, sql.db)).toEqual(["created"]);
      expect((await store.createEach(ours, [newLink("deleted")], "nothing"))[0]?.kind).toBe("taken");
      expect((await store.createEach(theirs, [newLink("deleted")], "nothing"))[0]?.kind).toBe("created");
    });

    test("finds no file of theirs, and changes none", async () => {
      const store = createFileStore(sql);
      const [pending, admitted, stored] = [
        await file(theirs, false),
        await file(theirs, false),
        await file(theirs, true),
      ];
      await store.admit(admitted, clock.now() + 60_000);
      const asOurs = ({ id }: { id: FileId }) => ({ tenantId: ours, id });
      const all = [pending, admitted, stored];
      const before = await store.several(
        theirs,
        all.map(({ id }) => id),
      );
      for (const { id } of all) expect(await store.get(ours, id)).toBeUndefined();
      const ids = all.map(({ id }) => id);
      expect(await store.several(ours, ids)).toEqual([]);
      expect(await store.stillPending(ours, ids)).toEqual(new Set());
      expect(await store.admitted(ours)).toEqual([]);
      expect((await store.admitted(theirs)).map(({ id }) => id)).toEqual([admitted.id]);
      expect(await store.admit(asOurs(pending), clock.now() + 1_000)).toBe(false);
      await store.withdraw(asOurs(pending));
      expect(await store.keep(asOurs(admitted), { sha256: "x", max: null, at: 1 })).toEqual({ kind: "gone" });
      await store.settled(asOurs(stored));
      expect(await store.condemn(asOurs(stored), "stored")).toBeUndefined();
      expect(await store.erase(asOurs(admitted))).toBeUndefined();
      expect(await store.several(theirs, ids)).toEqual(before);
    });

    test("revokes no key of theirs, and is not given one for its own", async () => {
      const keys = createKeys({ sql, clock });
      const once = { id: newId("key", clock), chance: new Uint8Array(32).fill(1) };
      const { key, secret } = await keys.create(theirs, { name: "theirs", scopes: ["links:read"], once }, byCommand);
      expect(await keys.revoke(ours, key.id, byCommand)).toBe(false);
      await expect(keys.create(ours, { name: "ours", scopes: ["admin"], once }, byCommand)).rejects.toThrow();
      expect(await keys.authenticate(secret)).toMatchObject({ tenantId: theirs });
    });

    test("does not continue their import, nor move, end or delete it", async () => {
      const positions = createPositions(sql, clock);
      const further = { ...beginning, records: 5 };
      await positions.open(theirs, "same file");
      await expect(positions.open(ours, "same file")).rejects.toThrow();
      await expect(
        sql.transaction((trx) => positions.move(trx, ours, "same file", beginning, further)),
      ).rejects.toThrow("Another process");
      await sql.transaction((trx) => positions.move(trx, theirs, "same file", beginning, further));
      await positions.finish(ours, "same file");
      await positions.forget(ours, "same file");
      expect(await positions.open(theirs, "same file")).toEqual({
        ...further,
        startedAt: clock.now(),
        finishedAt: null,
      });
    });

    test("keeps its own sealed key, even if another has a copy of it", async () => {
      const ring = createRing([{ id: "old", key: new Uint8Array(32).fill(1) }]);
      const settings = createEmailSettings(sql, ring, systemClock);
      for (const tenant of [ours, theirs]) await settings.change(tenant, { sendgridKey: "SG.a-key" }, byCommand);
      const keyOf = async (tenant: TenantId) =>
        (await ofTenant(sql.db, tenant).selectFrom("email_settings").select("sendgrid_key").executeTakeFirst())
          ?.sendgrid_key;
      const copied = (await keyOf(ours)) ?? null;
      await ofTenant(sql.db, theirs).updateTable("email_settings").set({ sendgrid_key: copied }).execute();
      const newer = createRing([
        { id: "new", key: new Uint8Array(32).fill(2) },
        { id: "old", key: new Uint8Array(32).fill(1) },
      ]);
      expect(await resealAll(sql, newer)).toEqual({ resealed: 1, current: 0, lost: [theirs] });
      expect(await keyOf(theirs)).toBe(copied ?? "");
    });

    test("has their events marked on none of their emails", async () => {
      const row = newRow(theirs);
      await createEmailStore(sql).insert(row);
      const event = { providerIds: ["p"], delivery: "bounced", at: 1, detail: "550", suppress: null } as const;
      const told = { event, email: row.id, recipient: row.to, delivery: null };
      await createDeliveries(sql, createSuppressions(sql, clock), clock).apply(ours, [told]);
      expect(await rowOf(sql, row.id)).toMatchObject({ delivery: null });
    });
  });

  test("a tenant has its own default domain, and is not suspended with another", async () => {
    const store = createDomainStore(sql);
    for (const [tenant, host] of [
      [ours, "ours.example.com"],
      [theirs, "theirs.example.com"],
    ] as const) {
      await verified(tenant, host);
      await store.change(tenant, host, { rootUrl: "https://example.com/" }, byCommand, clock.now());
    }
    await store.change(theirs, "theirs.example.com", { isDefault: true }, byCommand, clock.now());
    await createSuspensions(sql, clock).suspendTenant(theirs, "phishing", byCommand);
    const tenants = createTenants(sql, clock);
    expect(await tenants.byId(ours)).toMatchObject({ suspended: null, defaultDomain: null });
    expect(await tenants.byId(theirs)).toMatchObject({ suspended: "phishing", defaultDomain: "theirs.example.com" });
    const roots = (await store.verified()).map(({ host, rootUrl }) => [host, rootUrl] as const);
    expect(new Map(roots)).toEqual(
      new Map([
        ["ours.example.com", "https://example.com/"],
        ["theirs.example.com", null],
      ]),
    );
  });

  test("a host that two tenants claim is blocked only for the one whose target is blocked", async () => {
    const store = createDomainStore(sql);
    const targets = { rootUrl: "https://example.com/" };
    for (const tenant of [ours, theirs]) {
      await verified(tenant, "same.example.com");
      await store.change(tenant, "same.example.com", targets, byCommand, clock.now());
    }
    await store.change(theirs, "same.example.com", { rootUrl: "https://evil.example/" }, byCommand, clock.now());
    expect(await store.markBlocked((host) => host === "evil.example", clock.now())).toBe(1);
    expect(await store.get(theirs, "same.example.com")).toMatchObject({ rootBlocked: true });
    expect(await store.get(ours, "same.example.com")).toMatchObject({ rootBlocked: false });
  });

  describe("what is counted of a tenant", () => {
    test("leaves out the domains of others", async () => {
      const store = createDomainStore(sql);
      for (const host of ["a.example.com", "b.example.com"]) await verified(theirs, host);
      await verified(ours, "c.example.com");
      expect([(await store.list(ours, 10)).length, (await store.list(theirs, 10)).length]).toEqual([1, 2]);
      const targets = { rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false };
      const rest = { isDefault: false, ...targets, createdAt: clock.now(), verifiedAt: null };
      const another = { tenantId: ours, host: "d.example.com", state: "pending", token: "token", ...rest } as const;
      expect(await store.add(another, 2, byCommand)).toBe("added");
      expect(await store.add({ ...another, host: "e.example.com" }, 2, byCommand)).toBe("full");
    });

    test("leaves out the emails of others, in the limits and in the statistics", async () => {
      const { outbox, work, stats, seeds } = openOutbox(sql);
      for (const tenant of [ours, theirs, theirs]) await outbox.enqueue(newMail(tenant));
      await work();
      expect([await seeds.tenant(ours, "smtp"), await createEmailSeeds(sql).tenant(theirs, "smtp")]).toEqual([1, 2]);
      const sent = async (tenant: TenantId) => (await stats.of(tenant)).providers.map((provider) => provider.sent);
      expect([await sent(ours), await sent(theirs)]).toEqual([
        [1, 0],
        [2, 0],
      ]);
    });

    test("leaves out the links of others", async () => {
      await visited(theirs, "theirs", 9_000);
      const { id } = await visited(ours, "ours", 8_000);
      expect(await busiestLinks(sql, ours, 10_000, monthName(clock.now()))).toMatchObject([{ id, counted: 8_000 }]);
    });
  });

  describe("what waits for a tenant", () => {
    test("waits for it alone: the emails of others are sent", async () => {
      const store = createEmailStore(sql);
      const [held, free] = [newRow(ours), newRow(theirs)];
      for (const row of [held, free]) await store.insert(row);
      expect(await store.postpone(ours, 60_000, ["quota"])).toBe(1);
      expect((await store.claim("a", 10)).map(({ id }) => id)).toEqual([free.id]);
    });

    test("is notified of its own links, even if another was notified under the same key", async () => {
      const settings = createEmailSettings(sql, undefined, systemClock);
      await settings.change(ours, { contact: "ops@example.com" }, byCommand);
      const month = monthName(clock.now());
      const { id } = await visited(ours, "ours", 8_000);
      await visited(theirs, "theirs", 9_000);
      const near = () => nearLimits(sql, createTenants(sql, clock), month, clock.now());
      await createEmailStore(sql).insert(newRow(theirs, { key: `quota:hits:${id}:${month}:80` }));
      expect(await near()).toMatchObject([{ tenant: ours, link: { id } }]);
      await createEmailStore(sql).insert(newRow(ours, { key: `quota:hits:${id}:${month}:80` }));
      expect(await near()).toEqual([]);
    });

    test("is notified even if many notices of another are waiting", async () => {
      const settings = createEmailSettings(sql, undefined, systemClock);
      await settings.change(ours, { contact: "ops@example.com" }, byCommand);
      for (let i = 0; i < 20; i++) await createEmailStore(sql).insert(newRow(theirs, { key: `${i}` }));
      const { outbox } = openOutbox(sql);
      const signing = createSigningKeys([{ id: "k1", key: Buffer.from("secret") }], systemClock);
      const stopLinks = createStopLinks(signing.signerFor("unsubscribe"), "https://go.example.com");
      const parts = { settings, outbox, stopLinks, baseUrl: "https://go.example.com", clock: systemClock, log: silent };
      const notices = createNotices({ sql, tenants: createTenants(sql, systemClock), ...parts });
      notices.noticed({ tenant: ours, limit: "linksPerMonth", used: 900, max: 1_000 });
      await notices.idle();
      const mails = acrossTenants(sql.db).selectFrom("emails").select("id").where("tenant_id", "=", ours);
      expect(await mails.execute()).toHaveLength(1);
    });
  });
});
