/** What the dashboard keeps, on both databases and beside a tenant that has the same rows: see two-tenants.ts. */
import { beforeEach, describe, expect, test } from "bun:test";
import { createSuspensions } from "../../src/abuse/suspensions.ts";
import { createAnnotations } from "../../src/annotations/annotations.ts";
import { type ManualClock, manualClock, systemClock } from "../../src/base/clock.ts";
import { type FileId, type LinkId, newId, type TenantId } from "../../src/base/ids.ts";
import { createBranding } from "../../src/branding/branding.ts";
import { createImportRuns } from "../../src/import-export/runs/import-runs.ts";
import { checkCode } from "../../src/links/check/code-check.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { usedTags } from "../../src/links/tags/used-tags.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import { createUtmTemplates } from "../../src/links/utm-templates/utm-templates.ts";
import { createStatsShares } from "../../src/share-pages/shares.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { contentsOf } from "../../src/tenants/contents.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newTenant } from "./outbox.ts";

onEachDatabase(({ open }) => {
  let sql: Sql;
  let clock: ManualClock;
  let tenant: TenantId;

  beforeEach(async () => {
    sql = await open();
    clock = manualClock(systemClock.now());
    tenant = await newTenant(sql);
  });

  const makeLink = async (code: string, more: Partial<NewLink> = {}): Promise<LinkId> => {
    const link: NewLink = {
      ...{ id: newId("link", clock), domain: "", code, generated: false, at: clock.now(), by: byCommand },
      ...{ url: "https://example.com/", file: null, permanent: false, status: "active", expiresAt: null, title: null },
      ...{ notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true, rules: [], split: [] },
      ...{ utm: null, forwardQuery: false },
      ...more,
    };
    await store().createEach(tenant, [link], "nothing");
    return link.id;
  };
  const store = () => createLinkStore(sql);

  test("a workspace has the links that are not in the trash, its files and its domains, and says if it counted them all", async () => {
    expect(await contentsOf(sql.db, tenant)).toEqual({ links: 0, files: 0, domains: 0, isPartial: false });
    const [gone] = [await makeLink("one"), await makeLink("two"), await makeLink("three")];
    await store().remove(tenant, gone, byCommand, clock.now());
    const own = ofTenant(sql.db, tenant);
    await own.insertInto("tenant_storage").values({ bytes: 5, files: 4, version: 1 }).execute();
    const domain = { host: "go.alder.example", state: "pending", token: "t", is_default: 0, created_at: 1 } as const;
    await own
      .insertInto("domains")
      .values({ ...domain, root_url: null, missing_url: null, root_blocked: 0, missing_blocked: 0, verified_at: null })
      .execute();
    expect(await contentsOf(sql.db, tenant)).toEqual({ links: 2, files: 4, domains: 1, isPartial: false });
    expect(await contentsOf(sql.db, tenant, 1)).toEqual({ links: 1, files: 4, domains: 1, isPartial: true });
  });

  describe("what the dashboard keeps", () => {
    test("annotations are changed and deleted one by one, and go with their link", async () => {
      const annotations = createAnnotations(sql, clock);
      const link = await makeLink("noted");
      const one = await annotations.create(tenant, { id: undefined, link, at: 5, text: "One" }, byCommand);
      const two = await annotations.create(tenant, { id: undefined, link: null, at: 6, text: "Two" }, byCommand);
      await annotations.change(tenant, one.id, { text: "Changed" }, byCommand);
      expect((await annotations.list(tenant, { limit: 9, link })).map(({ text }) => text)).toEqual(["Two", "Changed"]);
      await annotations.remove(tenant, two.id, byCommand);
      await store().remove(tenant, link, byCommand, clock.now());
      await createTrashStore(sql).erase(tenant, link, byCommand, clock.now());
      expect(await annotations.list(tenant, { limit: 9 })).toEqual([]);
    });

    test("UTM templates have a name once, and the same request twice makes one", async () => {
      const templates = createUtmTemplates(sql, clock);
      const id = newId("utmTemplate", clock);
      const made = await templates.create(tenant, { id, name: "Ads", utm: { source: "ads" } }, byCommand);
      expect(await templates.create(tenant, { id, name: "Ads", utm: { source: "ads" } }, byCommand)).toEqual(made);
      expect(
        templates.create(tenant, { id: undefined, name: "Ads", utm: { source: "x" } }, byCommand),
      ).rejects.toMatchObject({ code: "name_taken" });
      const other = await templates.create(tenant, { id: undefined, name: "Other", utm: { source: "x" } }, byCommand);
      expect(templates.change(tenant, other.id, { name: "Ads" }, byCommand)).rejects.toMatchObject({
        code: "name_taken",
      });
      await templates.change(tenant, id, { utm: { source: "new" } }, byCommand);
      await templates.remove(tenant, other.id, byCommand);
      expect(await templates.list(tenant, 9)).toMatchObject([{ name: "Ads", utm: { source: "new" } }]);
    });

    test("branding is changed field by field", async () => {
      const branding = createBranding(sql, clock);
      const bytes = Buffer.from("a logo");
      await branding.change(tenant, { name: "Acme", logo: { bytes, type: "image/png" } }, byCommand);
      await branding.change(tenant, { colour: "#112233" }, byCommand);
      expect(await branding.of(tenant)).toMatchObject({ name: "Acme", colour: "#112233", logoType: "image/png" });
      await branding.change(tenant, { name: null, logo: null }, byCommand);
      expect(await branding.of(tenant)).toMatchObject({
        name: null,
        colour: "#112233",
        logoHash: null,
        logoType: null,
      });
    });

    test("a share is found by its token until it expires or is revoked", async () => {
      const shares = createStatsShares(sql, clock);
      const given = {
        ...{ id: undefined, token: undefined, subject: { kind: "tag", name: "spring" } as const, title: null, days: 7 },
        ...{
          filters: ["country=DE"],
          breakdowns: ["country" as const],
          passwordHash: null,
          expiresAt: clock.now() + 10,
        },
      };
      const { id, token } = await shares.create(tenant, given, byCommand);
      expect(await shares.byToken(token)).toMatchObject({ id, tenantId: tenant, filters: ["country=DE"] });
      clock.advance(10);
      expect(await shares.byToken(token)).toBeUndefined();
      expect(await shares.revoke(tenant, id, byCommand)).toBe(true);
      expect(await shares.revoke(tenant, id, byCommand)).toBe(false);
      expect(await shares.list(tenant, 9, {})).toEqual([]);
    });

    test("an import is worked on while somebody wants it, and keeps a bounded report", async () => {
      const runs = createImportRuns(sql, clock);
      const given = { id: undefined, file: "fil_x" as FileId, name: "a.csv", sizeBytes: 3, onlyFormat: null };
      const run = await runs.create(tenant, given, byCommand);
      expect((await runs.next())?.id).toBe(run.id);
      await runs.addBadRows(run, "check", [{ line: 2, problem: "bad" }]);
      await runs.addBadRows(run, "check", [
        { line: 2, problem: "bad" },
        ...Array.from({ length: 2_000 }, (_, i) => ({ line: i + 3, problem: "bad" })),
      ]);
      expect((await runs.badRows(tenant, run.id, "check", 5_000)).length).toBeLessThanOrEqual(1_000);
      expect(await runs.setState(tenant, run.id, ["checking"], "cancelled", byCommand)).toBe(true);
      // What the job found meanwhile does not undo that.
      await runs.note(run, { state: "checked" });
      expect((await runs.get(tenant, run.id))?.state).toBe("cancelled");
      expect(await runs.next()).toBeUndefined();
      expect(await runs.remove(tenant, run.id, byCommand)).toBe(true);
    });

    test("imports of tenants take turns, however many one of them has; a suspended one waits", async () => {
      const runs = createImportRuns(sql, clock);
      const given = { id: undefined, file: "fil_x" as FileId, name: "a.csv", sizeBytes: 3, onlyFormat: null };
      const [busy, quiet] = [await newTenant(sql), await newTenant(sql)];
      for (const owner of [busy, busy, busy, quiet]) {
        clock.advance(1);
        await runs.create(owner, given, byCommand);
      }
      const turns: (TenantId | undefined)[] = [];
      for (let turn = 0; turn < 4; turn++) {
        clock.advance(1);
        const run = await runs.next();
        turns.push(run?.tenantId);
        if (run) await runs.note(run, { state: "checked" });
      }
      expect(turns).toEqual([busy, quiet, busy, busy]);
      await runs.create(quiet, given, byCommand);
      const suspensions = createSuspensions(sql, clock);
      await suspensions.suspendTenant(quiet, "phishing", byCommand);
      expect(await runs.next()).toBeUndefined();
      await suspensions.restoreTenant(quiet, byCommand);
      expect((await runs.next())?.tenantId).toBe(quiet);
      await sql.db.updateTable("tenants").set({ delete_at: clock.now() }).where("id", "=", quiet).execute();
      expect(await runs.next()).toBeUndefined();
    });

    test("tags are counted by link, and codes are free by the rules of creation", async () => {
      await makeLink("one", { tags: ["a", "b"] });
      await makeLink("two", { tags: ["a"] });
      expect(await usedTags(sql, tenant, "")).toEqual([
        { tag: "a", links: 2 },
        { tag: "b", links: 1 },
      ]);
      const whole = await createTenants(sql, clock).byId(tenant);
      if (whole === undefined) throw new Error("no tenant");
      const parts = { sql, store: store(), trash: createTrashStore(sql), now: clock.now };
      expect((await checkCode(parts, whole, "", "one")).state).toBe("yours");
      expect((await checkCode(parts, whole, "", "three")).state).toBe("free");
      const other = await createTenants(sql, clock).byId(await newTenant(sql));
      if (other === undefined) throw new Error("no tenant");
      expect(await checkCode(parts, other, "", "one")).toMatchObject({ state: "taken", link: null });
    });

    test("several links change in one transaction, and a move leaves everything of others where it is", async () => {
      const [one, two] = [await makeLink("many-1"), await makeLink("many-2")];
      const decide = (link: { tags: readonly string[] }) => ({ ...(link as NewLink), tags: ["new"] });
      const missing = newId("link", clock);
      const outcomes = await store().changeMany(
        tenant,
        [
          { id: two, decide },
          { id: missing, decide },
          { id: one, decide: () => null },
        ],
        byCommand,
        clock.now(),
      );
      expect(outcomes.map(({ kind }) => kind)).toEqual(["changed", "missing", "changed"]);
      expect((await store().get(tenant, two))?.tags).toEqual(["new"]);
      expect(await store().get(tenant, one)).toBeUndefined();
      const back = await store().move(tenant, two, "", byCommand, clock.now());
      expect(back.changes).toEqual([]);
      expect(store().move(tenant, two, "foreign.example", byCommand, clock.now())).rejects.toMatchObject({
        code: "invalid_input",
      });
    });
  });
});
