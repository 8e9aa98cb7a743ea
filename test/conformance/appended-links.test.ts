/** Batches of new links are written as if none of their codes was ever used. What happens if one was, and what is stored. */
import { expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { manualClock } from "../../src/base/clock.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import { cacheKey, keysOfChange } from "../../src/links/link.ts";
import type { LinkInput } from "../../src/links/links.ts";
import { createFeed } from "../../src/sql/feed.ts";
import { createOthersWrote } from "../../src/sql/other-writers.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import type { Tenant } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { openLinkWorld } from "./link-world.ts";

/** More than one statement of SQLite. */
const many = 150;

onEachDatabase(({ openTwo }) => {
  async function setUp() {
    const both = await openTwo();
    const [sql] = both;
    const world = openLinkWorld(both, manualClock(Date.UTC(2026, 10, 17)));
    const { links, store } = world;
    const tenant = await world.newTenant();
    const position = await createFeed(sql).end();
    const draft = async (given: Partial<LinkInput>, of: Tenant = tenant): Promise<NewLink> =>
      links.draft(of, { url: "https://example.com/", ...given }, byCommand);
    return {
      ...{ sql, both, store, tenant, draft, newTenant: world.newTenant },
      batch: (more: (i: number) => Partial<LinkInput> = () => ({})) =>
        Promise.all(Array.from({ length: many }, (_, i) => draft({ code: `batch-${i}`, ...more(i) }))),
      async feed() {
        const { rows } = await raw<{ code: string }>`select code from link_versions
          where tenant_id = ${tenant.id}`.execute(acrossTenants(sql.db));
        const own = new Set(rows.map(({ code }) => cacheKey("", code)));
        const { changes } = await createFeed(sql).after(position, 1_000);
        const told = changes.flatMap((change) => keysOfChange(change).map((key) => ({ key, version: change.version })));
        return new Set(told.filter(({ key }) => own.has(key)).map(({ key, version }) => `${key}@${version}`));
      },
    };
  }
  const nothingElse = async () => {};

  test("new codes get their first version, with a row of the feed and a number each", async () => {
    const { sql, store, tenant, batch, feed } = await setUp();
    const written = await store.createWith(tenant.id, await batch(), nothingElse);
    expect(written).toEqual(Array.from({ length: many }, () => ({ kind: "created", version: 1 })));
    expect(await feed()).toEqual(new Set(Array.from({ length: many }, (_, i) => `batch-${i}@1`)));
    const numbers = await ofTenant(sql.db, tenant.id).selectFrom("links").select("number").execute();
    expect(new Set(numbers.map(({ number }) => number)).size).toBe(many);
  });

  test("a row that cannot be made undoes all of its transaction, and nothing of it comes later", async () => {
    const { sql, store, tenant, batch } = await setUp();
    const links = await batch();
    Object.defineProperty(links.at(-1), "title", {
      get() {
        throw new Error("no title");
      },
    });
    await expect(store.createWith(tenant.id, links, nothingElse)).rejects.toThrow("no title");
    // The connection that wrote is the next to be used. What it still had to send would be stored with this one.
    await store.createWith(tenant.id, (await batch()).slice(0, -1), nothingElse);
    const { rows } = await raw`select 1 from changes where code like ${`%batch-${many - 1}%`}`.execute(sql.db);
    expect(rows).toEqual([]);
  });

  test("texts are stored as they are, whatever they contain", async () => {
    const { store, tenant, batch } = await setUp();
    const odd = ["\\N", "\\.", "a\tb\nc\r\nd", "\\t \\\\ \\", '{"a":"b,c"}', "äöü 漢字 🙂", "null", "NULL"];
    await store.createWith(tenant.id, await batch((i) => ({ notes: odd[i] ?? `${i}`, title: "C:\\new" })), nothingElse);
    const stored = await Promise.all(odd.map((_, i) => store.byCode(tenant.id, "", `batch-${i}`)));
    expect(stored.map((link) => link?.notes)).toEqual(odd);
    expect(stored.map((link) => link?.title)).toEqual(odd.map(() => "C:\\new"));
  });

  test("links that differ in what most share are stored with their own", async () => {
    const { store, tenant, batch } = await setUp();
    await store.createWith(tenant.id, await batch((i) => ({ permanent: i === many - 1 })), nothingElse);
    expect((await store.byCode(tenant.id, "", "batch-0"))?.permanent).toBe(false);
    expect((await store.byCode(tenant.id, "", `batch-${many - 1}`))?.permanent).toBe(true);
  });

  test("if one code is taken and one was purged, the others are written all the same, and once", async () => {
    const { sql, store, tenant, draft, batch, feed, newTenant } = await setUp();
    const stranger = await newTenant();
    await store.createWith(stranger.id, [await draft({ code: "batch-7" }, stranger)], nothingElse);
    await store.createWith(tenant.id, [await draft({ code: "batch-9" })], nothingElse);
    await ofTenant(sql.db, tenant.id).deleteFrom("links").where("code", "=", "batch-9").execute();
    await raw`update link_versions set state = 'purged' where code = 'batch-9' and tenant_id = ${tenant.id}`.execute(
      sql.db,
    );

    const written = await store.createWith(tenant.id, await batch(), async (trx) => {
      await trx.updateTable("tenants").set({ name: "along" }).where("id", "=", tenant.id).execute();
    });
    const usual = { kind: "created", version: 1 } as const;
    const expected = Array.from({ length: many }, () => usual as (typeof written)[number]);
    expected[7] = { kind: "taken" };
    expected[9] = { kind: "created", version: 2 };
    expect(written).toEqual(expected);
    const own = await ofTenant(sql.db, tenant.id).selectFrom("links").select("code").execute();
    expect(own.length).toBe(many - 1);
    const told = await feed();
    expect([told.has("batch-9@1"), told.has("batch-9@2"), told.has("batch-7@1"), told.size]).toEqual([
      ...[true, true, false],
      many,
    ]);
    expect((await store.byCode(stranger.id, "", "batch-7"))?.version).toBe(1);
  });

  test("none is written on a domain that is not theirs", async () => {
    const { store, tenant, batch } = await setUp();
    const links = (await batch()).map((link) => ({ ...link, domain: "go.elsewhere.example" }));
    const written = await store.createWith(tenant.id, links, nothingElse);
    expect(new Set(written.map(({ kind }) => kind))).toEqual(new Set(["no_domain"]));
  });

  test("a batch that fails later leaves nothing", async () => {
    const { store, tenant, batch, feed } = await setUp();
    const failing = store.createWith(tenant.id, await batch(), async () => {
      throw new Error("not this time");
    });
    await expect(failing).rejects.toThrow("not this time");
    expect((await feed()).size).toBe(0);
    expect(await store.byCode(tenant.id, "", "batch-0")).toBeUndefined();
    // The connection is as good as before.
    expect((await store.createWith(tenant.id, await batch(), nothingElse)).length).toBe(many);
  });

  test("others are seen to write where they would wait, and what this process writes is not taken for theirs", async () => {
    const { sql, both, store, tenant, batch, draft } = await setUp();
    const wrote = createOthersWrote(sql);
    expect(wrote === undefined).toBe(sql.dialect === "postgres");
    if (wrote === undefined) return;
    await wrote();
    await store.createWith(tenant.id, await batch(), nothingElse);
    expect(await wrote()).toBe(false);
    const [, other] = both;
    await other.transaction((trx) =>
      trx.updateTable("tenants").set({ name: "other" }).where("id", "=", tenant.id).execute(),
    );
    expect(await wrote()).toBe(true);
    await store.createWith(tenant.id, [await draft({ code: "one-more" })], nothingElse);
    expect(await wrote()).toBe(false);
  });
});
