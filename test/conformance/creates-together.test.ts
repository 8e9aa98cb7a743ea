/** Links that are created at the same moment: they may share a transaction, and must not share a failure. */
import { beforeAll, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { manualClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { monthName } from "../../src/limits/window.ts";
import type { Created, NewLink } from "../../src/links/create/new-links.ts";
import { ownDomain } from "../../src/links/link.ts";
import { createLinkStore, type LinkStore } from "../../src/links/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { spendOfMonth, usedInMonth } from "../../src/tenants/monthly-usage.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";

const clock = manualClock(Date.UTC(2026, 10, 16));
const month = monthName(clock.now());
const unlimited = { linksPerMonth: null };

let names = 0;
const fresh = (label: string) => `${label}-${++names}`;

const draft = (more: Partial<NewLink> = {}): NewLink => ({
  ...{ id: newId("link", clock), domain: ownDomain, code: fresh("code"), generated: true, at: clock.now(), by: byKey },
  ...{ url: "https://example.com/", file: null, permanent: false, status: "active", expiresAt: null, title: null },
  ...{ notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true, rules: [], split: [] },
  ...{ utm: null, forwardQuery: false },
  ...more,
});

const kinds = (results: readonly (readonly Created[])[]): string[] => results.flat().map(({ kind }) => kind);

onEachDatabase(({ name, openTwo }) => {
  let sql: Sql;
  let other: Sql;
  let store: LinkStore;
  let transactions = 0;

  beforeAll(async () => {
    [sql, other] = await openTwo();
    store = createLinkStore({
      ...sql,
      transaction(work) {
        transactions++;
        return sql.transaction(work);
      },
    });
  });

  async function tenant(): Promise<TenantId> {
    return (await createTenants(sql, clock).create(fresh("tenant"), "Somebody", byCommand)).id;
  }

  const used = (id: TenantId) => usedInMonth(sql.db, { tenant: id, name: "links", month });
  const versions = async (code: string) =>
    (await raw<{ version: number }>`select version from changes where code = ${code} order by id`.execute(sql.db)).rows;

  test("share a transaction, of all tenants on SQLite and of each tenant on PostgreSQL", async () => {
    const owners = [await tenant(), await tenant(), await tenant()];
    const wanted = owners.flatMap((owner) => [1, 2, 3, 4].map(() => ({ owner, link: draft() })));
    transactions = 0;
    const made = await Promise.all(wanted.map(({ owner, link }) => store.createEach(owner, [link], unlimited)));
    expect(kinds(made)).toEqual(wanted.map(() => "created"));
    // On PostgreSQL the first of a tenant starts at once, and the others share the next one.
    expect(transactions).toBe(name === "SQLite" ? 1 : 2 * owners.length);
    expect(made.flat().map((one) => "link" in one && one.link.tenantId)).toEqual(wanted.map(({ owner }) => owner));
    expect(await Promise.all(owners.map(used))).toEqual([4, 4, 4]);
    for (const { owner, link } of wanted) {
      expect((await store.get(owner, link.id))?.code).toBe(link.code);
      expect(await versions(link.code)).toEqual([{ version: 1 }]);
    }
  });

  test("are refused for the tenant whose month is used up, and for no other", async () => {
    const [poor, rich] = [await tenant(), await tenant()];
    const made = await Promise.all(
      Array.from({ length: 5 }, () => [
        store.createEach(poor, [draft()], { linksPerMonth: 3 }),
        store.createEach(rich, [draft()], unlimited),
      ]).flat(),
    );
    const ofPoor = made.filter((_, place) => place % 2 === 0);
    expect(kinds(ofPoor)).toEqual(["created", "created", "created", "spent", "spent"]);
    expect(kinds(made.filter((one) => !ofPoor.includes(one)))).toEqual(Array(5).fill("created"));
    expect([await used(poor), await used(rich)]).toEqual([3, 5]);
  });

  test("use the month to its last link: one whose code is taken, or that exists already, needs no room", async () => {
    const [owner, poor] = [await tenant(), await tenant()];
    const code = fresh("taken");
    await store.createEach(owner, [draft({ code, generated: false })], unlimited);
    const one = { linksPerMonth: 1 };
    const begun = store.createEach(poor, [draft({ code, generated: false })], one); // on PostgreSQL it runs alone
    const together = await Promise.all([
      store.createEach(poor, [draft({ code, generated: false })], one),
      store.createEach(poor, [draft()], one),
      store.createEach(poor, [draft()], one),
    ]);
    expect(kinds([await begun, ...together])).toEqual(["taken", "taken", "created", "spent"]);
    const made = draft({ findable: true });
    const two = { linksPerMonth: 2 };
    await store.createEach(poor, [made], two);
    const again = await Promise.all([
      store.createEach(poor, [draft()], two),
      store.createEach(poor, [draft()], two),
      store.createEach(poor, [made], two),
    ]);
    expect(kinds(again)).toEqual(["spent", "spent", "found"]);
    expect(await used(poor)).toBe(2);
  });

  test("fail alone: one that cannot be written, of a tenant that is gone, leaves the others as they are", async () => {
    const [here, gone] = [await tenant(), newId("tenant", clock)];
    const [before, bad, after] = await Promise.allSettled([
      store.createEach(here, [draft()], unlimited),
      store.createEach(gone, [draft()], unlimited),
      store.createEach(here, [draft()], unlimited),
    ]);
    expect([before?.status, bad?.status, after?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await used(here)).toBe(2);
  });

  test("give a code that several want to the first, and a deleted one only to its owner", async () => {
    const [one, two] = [await tenant(), await tenant()];
    const code = fresh("wanted");
    const both = await Promise.all([
      store.createEach(one, [draft({ code, generated: false })], unlimited),
      store.createEach(two, [draft({ code, generated: false })], unlimited),
    ]);
    expect(kinds(both).toSorted()).toEqual(["created", "taken"]);
    const [owner, stranger] = kinds(both)[0] === "created" ? [one, two] : [two, one];
    const link = both.flat().flatMap((result) => ("link" in result ? result.link : []))[0];
    if (link === undefined) throw new Error("neither got it");
    await store.remove(owner, link.id, byCommand, clock.now());
    await createTrashStore(sql).erase(owner, link.id, byCommand, clock.now());
    const again = await Promise.all([
      store.createEach(stranger, [draft({ code, generated: false })], unlimited),
      store.createEach(owner, [draft({ code, generated: false })], unlimited),
    ]);
    expect(kinds(again)).toEqual(["taken", "created"]);
    expect([await used(owner), await used(stranger)]).toEqual([2, 0]);
  });

  test("give a code to one of two requests of a tenant whose limit changes meanwhile", async () => {
    const [owner, code] = [await tenant(), fresh("wanted")];
    transactions = 0;
    const made = await Promise.all(
      [unlimited, { linksPerMonth: 5 }].map((limits) =>
        store.createEach(owner, [draft({ code, generated: false })], limits),
      ),
    );
    expect(kinds(made).toSorted()).toEqual(["created", "taken"]);
    expect(await used(owner)).toBe(1);
    expect(transactions).toBe(name === "SQLite" ? 1 : 2); // more if one of them had failed
  });

  if (name === "PostgreSQL") {
    test("do not wait for a tenant whose month is locked", async () => {
      const [locked, free] = [await tenant(), await tenant()];
      const release = Promise.withResolvers<void>();
      const holding = Promise.withResolvers<void>();
      const lock = other.transaction(async (trx) => {
        await spendOfMonth(trx, { tenant: locked, name: "links", month }, 1);
        holding.resolve();
        await release.promise;
      });
      await holding.promise;
      const waiting = Array.from({ length: 20 }, () => store.createEach(locked, [draft()], unlimited));
      expect(kinds([await store.createEach(free, [draft()], unlimited)])).toEqual(["created"]);
      expect(await used(locked)).toBe(0);
      release.resolve();
      await lock;
      expect(kinds(await Promise.all(waiting))).toEqual(Array(20).fill("created"));
      expect(await used(locked)).toBe(21);
    });
  }
});
