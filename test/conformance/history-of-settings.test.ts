import { beforeAll, expect, test } from "bun:test";
import { createReports } from "../../src/abuse/reports.ts";
import { createSuspensions } from "../../src/abuse/suspensions.ts";
import { manualClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createRing } from "../../src/base/seal.ts";
import { createClickSettings } from "../../src/clicks/settings.ts";
import { createDomainStore } from "../../src/domains/store.ts";
import { createSuppressions } from "../../src/email/delivery/suppressions.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { createFileStore } from "../../src/files/store.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import { createLinkStore } from "../../src/links/store.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { createTenants, defaultLimits, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { byNewKey } from "./people.ts";

/** What the history says about everything that is not a link. */
onEachDatabase(({ open }) => {
  const clock = manualClock(Date.UTC(2026, 10, 17));
  let sql: Sql;
  let tenant: Tenant;
  let names = 0;

  beforeAll(async () => {
    sql = await open();
    tenant = await newTenant();
  });

  const newTenant = () => createTenants(sql, clock).create(`tenant-${++names}`, "Somebody", byCommand);

  /** What was recorded meanwhile, oldest first: the action, the subject's name, before and after. */
  async function recorded(work: () => Promise<unknown>, owner: TenantId | "" = tenant.id) {
    clock.advance(1);
    const since = clock.now();
    await work();
    const rows = ofTenant(sql.db, owner).selectFrom("history").selectAll().where("at", ">=", since).orderBy("id");
    return (await rows.execute()).map(({ action, actor_kind, subject_name, before_change, after_change }) => ({
      ...{ action, by: actor_kind, name: subject_name },
      before: before_change && JSON.parse(before_change),
      after: after_change && JSON.parse(after_change),
    }));
  }

  const later = () => clock.advance(1);

  test("an API key: its name and hint, never the key; revoked once", async () => {
    const keys = createKeys({ sql, clock });
    const byOther = await byNewKey(sql, tenant.id);
    let secret = "";
    const rows = await recorded(async () => {
      const made = await keys.create(tenant.id, { name: "website", scopes: ["admin"] }, byOther);
      secret = made.secret;
      later();
      expect(await keys.revoke(tenant.id, made.key.id, byCommand)).toBe(true);
      expect(await keys.revoke(tenant.id, made.key.id, byCommand)).toBe(true);
      expect(await keys.revoke(tenant.id, newId("key", clock), byCommand)).toBe(false);
    });
    const hint = `${secret.slice(0, 8)}…`;
    const about = { name: "website", hint };
    const given = { ...about, scopes: ["admin"], expiresAt: null, apiPerMinute: null };
    expect(rows).toEqual([
      { action: "key.create", by: "key", name: "website", before: null, after: given },
      { action: "key.revoke", by: "command", name: "website", before: about, after: null },
    ]);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(8));
  });

  test("a request for a key that ran twice has one row", async () => {
    const once = { id: newId("key", clock), chance: new Uint8Array(32).fill(7) };
    const key = { name: "once", scopes: ["admin"] as const, once };
    const keys = createKeys({ sql, clock });
    const rows = await recorded(async () => {
      await keys.create(tenant.id, key, byCommand);
      await keys.create(tenant.id, key, byCommand);
    });
    expect(rows.map(({ action }) => action)).toEqual(["key.create"]);
  });

  test("a workspace: its creation, its name, plan and limits, and nothing for a change of nothing", async () => {
    const tenants = createTenants(sql, clock);
    const acme = await tenants.create("acme", "Acme", byKey);
    expect(
      await recorded(async () => {
        await tenants.change("acme", { overrides: { linksPerMonth: 5 } }, byCommand);
        later();
        await tenants.change("acme", { overrides: { linksPerMonth: 5 } }, byCommand);
        await tenants.change("acme", { name: "Acme Ltd", plan: "unlimited" }, byCommand);
      }, acme.id),
    ).toMatchObject([
      { action: "workspace.update", name: "acme", before: { limits: {} }, after: { limits: { linksPerMonth: 5 } } },
      { before: { name: "Acme", plan: "default" }, after: { name: "Acme Ltd", plan: "unlimited" } },
    ]);
    const [first] = await ofTenant(sql.db, acme.id).selectFrom("history").selectAll().orderBy("id").execute();
    expect(first).toMatchObject({ action: "workspace.create", actor_kind: "key", subject_id: acme.id });
  });

  test("a plan is in the operator's log, with the limits that changed", async () => {
    const tenants = createTenants(sql, clock);
    const rows = await recorded(async () => {
      await tenants.setPlan("team", defaultLimits, byCommand);
      later();
      await tenants.setPlan("team", { ...defaultLimits, linksPerMonth: 7 }, byCommand);
      await tenants.setPlan("team", { ...defaultLimits, linksPerMonth: 7 }, byCommand);
    }, "");
    expect(rows).toMatchObject([
      { action: "plan.create" },
      { action: "plan.update", before: { linksPerMonth: 1_000 }, after: { linksPerMonth: 7 } },
    ]);
  });

  test("a domain: added, verified, changed, blocked and removed", async () => {
    const store = createDomainStore(sql);
    const host = "history.example.com";
    const row = { isDefault: false, rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false };
    const rows = await recorded(async () => {
      const times = { createdAt: clock.now(), verifiedAt: null };
      await store.add({ ...row, ...times, tenantId: tenant.id, host, state: "pending", token: "a token" }, 9, byKey);
      later();
      await store.verify(tenant.id, host, byKey, clock.now());
      later();
      await store.change(tenant.id, host, { rootUrl: "https://example.org/" }, byKey, clock.now());
      later();
      await store.change(tenant.id, host, { rootUrl: "https://example.org/" }, byKey, clock.now());
      await store.markBlocked((name) => name === "example.org", clock.now());
      later();
      await store.remove(tenant.id, host, byCommand, clock.now());
    });
    expect(rows).toMatchObject([
      { action: "domain.add", by: "key", name: host },
      { action: "domain.verify", before: { state: "pending" }, after: { state: "verified" } },
      { action: "domain.update", before: { rootUrl: null }, after: { rootUrl: "https://example.org/" } },
      { action: "domain.update", by: "job", before: { rootBlocked: false }, after: { rootBlocked: true } },
      { action: "domain.remove", by: "command", before: { host } },
    ]);
    expect(JSON.stringify(rows)).not.toContain("a token");
  });

  test("email settings: of a SendGrid key its hint, of the webhook nothing", async () => {
    const ring = createRing([{ id: "k1", key: Buffer.alloc(32, 7) }]);
    const settings = createEmailSettings(sql, ring, clock);
    const secret = "SG.a-secret-key-of-a-tenant.0123";
    let webhook: string | null = null;
    const rows = await recorded(async () => {
      await settings.change(tenant.id, {}, byKey);
      await settings.change(tenant.id, { contact: "ann@example.com", sender: "a@example.com" }, byKey);
      later();
      await settings.change(tenant.id, { sendgridKey: secret }, byKey);
      later();
      await settings.change(tenant.id, { sendgridKey: null, notices: { spike: false } }, byKey);
      later();
      ({ webhookSecret: webhook } = await settings.rotateWebhook(tenant.id, byCommand));
    });
    expect(rows).toMatchObject([
      { action: "email-settings.update", after: { contact: "ann@example.com", sender: "a@example.com" } },
      { before: { sendgridKey: null }, after: { sendgridKey: "set …0123" } },
      { before: { sendgridKey: "set …0123" }, after: { sendgridKey: null, notices: { spike: false } } },
      { action: "email-settings.rotate-webhook", by: "command", after: { webhookUrl: "replaced" } },
    ]);
    expect(JSON.stringify(rows)).not.toContain("secret-key");
    expect(JSON.stringify(rows)).not.toContain(webhook ?? "never");
  });

  test("click settings", async () => {
    const settings = createClickSettings(sql, clock);
    const rows = await recorded(async () => {
      await settings.change(tenant, { timeZone: "Europe/Berlin", tags: ["b", "a"] }, byKey);
      await settings.change(tenant, { timeZone: "Europe/Berlin" }, byKey);
    });
    expect(rows).toMatchObject([
      { before: { timeZone: "UTC", tags: [] }, after: { timeZone: "Europe/Berlin", tags: ["a", "b"] } },
    ]);
  });

  test("a removed suppression, and not those that recipients caused", async () => {
    const suppressions = createSuppressions(sql, clock);
    const rows = await recorded(async () => {
      await suppressions.add(tenant.id, "Ann@example.com", "unsubscribed");
      expect(await suppressions.remove(tenant.id, "ann@example.com", byKey)).toBe(true);
      expect(await suppressions.remove(tenant.id, "ann@example.com", byKey)).toBe(false);
    });
    expect(rows).toMatchObject([
      { action: "suppression.remove", before: { address: "ann@example.com", reason: "unsubscribed" } },
    ]);
  });

  test("a file that its owner deletes, and no upload that was given up", async () => {
    const store = createFileStore(sql);
    const rows = await recorded(async () => {
      for (const deletion of [{ by: byKey, at: clock.now() }, undefined]) {
        const key = { id: newId("file", clock), tenantId: tenant.id };
        const about = { name: "a.pdf", sizeBytes: 7, type: "application/pdf", sha256: null, createdAt: clock.now() };
        await store.insert({ ...key, ...about });
        await store.condemn(key, "pending", deletion && { deletion });
      }
    });
    expect(rows).toEqual([
      {
        ...{ action: "file.delete", by: "key", name: "a.pdf", after: null },
        before: { name: "a.pdf", sizeBytes: 7, type: "application/pdf" },
      },
    ]);
  });

  test("suspensions are in the log of the workspace; decisions about reports in the operator's", async () => {
    const suspensions = createSuspensions(sql, clock);
    const reports = createReports(sql, clock);
    const place = { domain: "", code: "reported" };
    const link = {
      ...{
        ...place,
        id: newId("link", clock),
        generated: false,
        at: clock.now(),
        by: byKey,
        url: "https://a.example/",
      },
      ...{
        file: null,
        permanent: false,
        status: "active" as const,
        expiresAt: null,
        title: null,
        notes: null,
        tags: [],
      },
      ...{ fallbackUrl: null, hitsPerMonth: null, clickFacts: true, rules: [], split: [], utm: null },
      forwardQuery: false,
    } satisfies NewLink;
    await createLinkStore(sql).createEach(tenant.id, [link], "nothing");
    const by = { kind: "command", name: "night shift" } as const;
    const rows = await recorded(async () => {
      await suspensions.suspendLink(place, { cause: "operator", reason: "phishing", by });
      later();
      await suspensions.restoreLink(place, byCommand);
      await suspensions.restoreLink(place, byCommand);
      later();
      await suspensions.suspendTenant(tenant.id, "spam", by);
      later();
      await suspensions.restoreTenant(tenant.id, byCommand);
      await suspensions.restoreTenant(tenant.id, byCommand);
    });
    expect(rows.map(({ action, name, after }) => [action, name, after])).toEqual([
      ["link.suspend", "reported", { cause: "operator", reason: "phishing" }],
      ["link.unsuspend", "reported", null],
      ["workspace.suspend", null, { reason: "spam" }],
      ["workspace.unsuspend", null, null],
    ]);
    const decided = await recorded(async () => {
      const report = { ...place, reason: "phishing", details: null, email: "ann@example.com", url: link.url } as const;
      for (let i = 0; i < 2; i++) await reports.add(report);
      const [first] = await reports.list("open", 1);
      await reports.dismiss(first?.id ?? newId("report", clock), by);
      later();
      await reports.close(place, "suspended", by);
      await reports.close(place, "suspended", by);
    }, "");
    expect(decided).toMatchObject([
      { action: "abuse.dismiss", after: { state: "dismissed" } },
      { action: "abuse.suspend", name: "reported", after: { state: "suspended", reports: 1 } },
    ]);
  });
});
