import { expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { createStopLinks } from "../../src/email/delivery/unsubscribe.ts";
import { linkUse, nearLimits } from "../../src/email/notices/near-limits.ts";
import { createNotices } from "../../src/email/notices/notices.ts";
import type { NoticeUse } from "../../src/email/notices/thresholds.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { monthOf } from "../../src/limits/window.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newTenant, openOutbox, silent } from "./outbox.ts";
import { notOfTwin } from "./two-tenants.ts";

const tenMinutesMs = 600_000;

onEachDatabase((database) => {
  async function open() {
    const sql = await database.open();
    const clock = manualClock(systemClock.now());
    const tenants = createTenants(sql, systemClock);
    const settings = createEmailSettings(sql, undefined, systemClock);
    const { outbox } = openOutbox(sql);
    const signing = createSigningKeys([{ id: "k1", key: Buffer.from("secret") }], clock);
    const stopLinks = createStopLinks(signing.signerFor("unsubscribe"), "https://go.example.com");
    const baseUrl = "https://go.example.com";
    const parts = { sql, tenants, settings, outbox, stopLinks, baseUrl, clock, log: silent };
    const start = () => createNotices(parts);
    const month = monthOf(clock.now()).name;
    const near = () => nearLimits(sql, tenants, month, clock.now());
    const mails = async (tenant: TenantId) =>
      await acrossTenants(sql.db)
        .selectFrom("emails")
        .select(["dedupe_key", "recipient", "subject", "text"])
        .where("tenant_id", "=", tenant)
        .orderBy("id")
        .execute();
    const keys = async (tenant: TenantId) => (await mails(tenant)).map(({ dedupe_key }) => dedupe_key);
    return { sql, clock, settings, start, near, mails, keys, month };
  }

  async function contacted(sql: Sql, settings: ReturnType<typeof createEmailSettings>): Promise<TenantId> {
    const tenant = await newTenant(sql);
    await settings.change(tenant, { contact: "ops@example.com" }, byCommand);
    return tenant;
  }

  const links = (tenant: TenantId, used: number): NoticeUse => ({ tenant, limit: "linksPerMonth", used, max: 1_000 });
  const storage = (tenant: TenantId, used: number): NoticeUse => ({ tenant, limit: "storageBytes", used, max: 1_000 });

  /** A link with so many hits counted and lent. */
  async function visited(
    sql: Sql,
    tenant: TenantId,
    code: string,
    counted: number,
    more: { domain?: string; reserved?: number; lent_until?: number } = {},
  ) {
    const { domain = "" } = more;
    const id = newId("link", systemClock);
    const at = systemClock.now();
    await acrossTenants(sql.db)
      .insertInto("links")
      .values({
        ...{ id, tenant_id: tenant, domain, code, url: "https://example.com/", permanent: 0, status: "active" },
        ...{ expires_at: null, title: null, notes: null, tags: "[]", fallback_url: null, password_hash: null },
        ...{ hits_per_month: null, created_at: at, updated_at: at, file_id: null },
        ...{ rules: null, split: null, utm: null, forward_query: 0 },
      })
      .execute();
    const month = monthOf(at).name;
    await sql.db
      .insertInto("quotas")
      .values({ domain, code, month, draws: "hits", counted, reserved: 0, lent_until: 0, ...more })
      .execute();
    return id;
  }

  test("80 % and 100 % are reported once each to the contact, however often they are noticed", async () => {
    const { sql, start, settings, clock, mails, month } = await open();
    const tenant = await contacted(sql, settings);
    for (const notices of [start(), start()]) {
      for (const used of [799, 800, 801, 999, 1_000, 1_000]) {
        notices.noticed(links(tenant, used));
        clock.advance(tenMinutesMs + 1);
        await notices.idle();
      }
    }
    const written = await mails(tenant);
    expect(written.map(({ dedupe_key, recipient }) => [dedupe_key, recipient])).toEqual([
      [`quota:links:${month}:80`, "ops@example.com"],
      [`quota:links:${month}:100`, "ops@example.com"],
    ]);
    expect(written[0]?.text).toContain("800 of 1,000 new links this month (80 %)");
  });

  test("a tenant that reaches 100 % at once gets no notice about 80 %", async () => {
    const { sql, start, settings, keys, month } = await open();
    const tenant = await contacted(sql, settings);
    const notices = start();
    notices.noticed(storage(tenant, 1_000));
    await notices.idle();
    expect(await keys(tenant)).toEqual([`quota:storage:${month}:100`]);
  });

  test("the next month is reported again", async () => {
    const { sql, start, settings, keys, clock, month } = await open();
    const tenant = await contacted(sql, settings);
    const notices = start();
    notices.noticed(storage(tenant, 900));
    await notices.idle();
    clock.set(monthOf(clock.now()).endsAt);
    notices.noticed(storage(tenant, 900));
    await notices.idle();
    expect(await keys(tenant)).toEqual([`quota:storage:${month}:80`, `quota:storage:${monthOf(clock.now()).name}:80`]);
  });

  test("a tenant without a contact gets no notice until it has one", async () => {
    const { sql, start, settings, keys, clock, near } = await open();
    const tenant = await newTenant(sql);
    const notices = start();
    notices.noticed(links(tenant, 900));
    await notices.idle();
    expect(await keys(tenant)).toEqual([]);
    await acrossTenants(sql.db)
      .insertInto("tenant_usage")
      .values({ tenant_id: tenant, name: "links", month: monthOf(clock.now()).name, used: 900 })
      .execute();
    expect(await near()).toEqual([]);
    await settings.change(tenant, { contact: "ops@example.com" }, byCommand);
    expect(await near()).toMatchObject([{ tenant, limit: "linksPerMonth", used: 900 }]);
    clock.advance(tenMinutesMs + 1);
    for (const use of await near()) notices.noticed(use);
    await notices.idle();
    expect(await keys(tenant)).toHaveLength(1);
  });

  test("the check of all limits finds links, storage and hits, and each link until its notice was sent", async () => {
    const { sql, start, settings, keys, near, month } = await open();
    const tenant = await contacted(sql, settings);
    await acrossTenants(sql.db)
      .insertInto("tenant_storage")
      .values({ tenant_id: tenant, bytes: 1_000_000_000, version: 1 })
      .execute();
    const eighty = await visited(sql, tenant, "eighty", 8_000);
    const full = await visited(sql, tenant, "full", 10_000);
    await visited(sql, tenant, "few", 7_999);
    const notices = start();
    for (const use of await near()) notices.noticed(use);
    await notices.idle();
    const wanted = [
      `quota:hits:${eighty}:${month}:80`,
      `quota:hits:${full}:${month}:100`,
      `quota:storage:${month}:100`,
    ];
    expect((await keys(tenant)).toSorted()).toEqual(wanted.toSorted());
    expect((await near()).map(({ limit }) => limit)).toEqual(["storageBytes"]);
    // One that grows is found again.
    await sql.db.updateTable("quotas").set({ counted: 10_000 }).where("code", "=", "eighty").execute();
    expect(await near()).toMatchObject([{ limit: "storageBytes" }, { link: { id: eighty }, used: 10_000 }]);
  });

  test("a notice about a link on a custom domain names that domain, because the code may be another tenant's elsewhere", async () => {
    const { sql, start, settings, mails, near, month } = await open();
    const [tenant, other] = [await contacted(sql, settings), await newTenant(sql)];
    await visited(sql, other, "sale", 0);
    await visited(sql, tenant, "sale", 8_000, { domain: "links.acme.example" });
    const place = { domain: "links.acme.example", code: "sale" };
    expect(await linkUse(sql, place, month)).toMatchObject({ tenant, link: place });
    const notices = start();
    for (const use of await near()) notices.noticed(use);
    await notices.idle();
    const texts = (await mails(tenant)).map(({ text }) => text);
    expect(texts).toEqual([expect.stringContaining("https://links.acme.example/sale")]);
    expect(texts[0]).not.toContain("go.example.com/sale");
  });

  test("hits that a crash left reserved count for the check, and leased ones do not", async () => {
    const { sql, settings, clock, near } = await open();
    const tenant = await contacted(sql, settings);
    await visited(sql, tenant, "lent", 7_900, { reserved: 100, lent_until: clock.now() + 5_000 });
    const stranded = await visited(sql, tenant, "stranded", 9_900, { reserved: 100, lent_until: 1 });
    expect(await near()).toMatchObject([{ link: { id: stranded }, used: 10_000, max: 10_000 }]);
  });

  test("a link's own limit counts, and that of the plan where it is lower", async () => {
    const { sql, settings, near, month } = await open();
    const tenant = await contacted(sql, settings);
    await visited(sql, tenant, "own", 80);
    await acrossTenants(sql.db)
      .updateTable("links")
      .set({ hits_per_month: 100, fallback_url: "https://example.com/f" })
      .where(notOfTwin)
      .execute();
    const use = { tenant, limit: "hitsPerLinkPerMonth", used: 80, max: 100, link: { code: "own", fallback: true } };
    expect(await near()).toMatchObject([use]);
    expect(await linkUse(sql, { domain: "", code: "own" }, month)).toMatchObject(use);
    await acrossTenants(sql.db).updateTable("links").set({ hits_per_month: 1_000_000 }).where(notOfTwin).execute();
    expect(await linkUse(sql, { domain: "", code: "own" }, month)).toMatchObject({ max: 10_000 });
    expect(await linkUse(sql, { domain: "", code: "nobody's" }, month)).toBeUndefined();
  });

  test("many links near their limit do not fill the outbox: the rest follow as these are sent", async () => {
    const { sql, start, settings, keys, near, clock } = await open();
    const tenant = await contacted(sql, settings);
    for (let i = 0; i < 30; i++) await visited(sql, tenant, `link-${i}`, 9_000);
    const notices = start();
    for (const use of await near()) notices.noticed(use);
    await notices.idle();
    expect(await keys(tenant)).toHaveLength(20);
    await acrossTenants(sql.db).updateTable("emails").set({ state: "sent" }).where(notOfTwin).execute();
    clock.advance(tenMinutesMs + 1);
    for (const use of await near()) notices.noticed(use);
    await notices.idle();
    expect(new Set(await keys(tenant)).size).toBe(30);
  });

  test("a contact that unsubscribed gets no more, and nothing breaks", async () => {
    const { sql, start, settings, keys } = await open();
    const tenant = await contacted(sql, settings);
    await acrossTenants(sql.db)
      .insertInto("suppressions")
      .values({ tenant_id: tenant, address: "ops@example.com", reason: "unsubscribed", created_at: 0 })
      .execute();
    const notices = start();
    notices.noticed(links(tenant, 1_000));
    await notices.idle();
    expect(await keys(tenant)).toEqual([]);
  });
});
