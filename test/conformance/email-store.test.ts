import { expect, test } from "bun:test";
import { createEmailStore, emailClaimMs } from "../../src/email/outbox/store.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { onEachDatabase } from "./databases.ts";
import { newRow, newTenant, pass, rowOf } from "./outbox.ts";
import { notOfTwin } from "./two-tenants.ts";

onEachDatabase((database) => {
  const why = { reason: "deferred", detail: "later" };

  test("of many concurrent claims each email goes to exactly one", async () => {
    const [sql, other] = await database.openTwo();
    const tenant = await newTenant(sql);
    const stores = [createEmailStore(sql), createEmailStore(other)] as const;
    for (let i = 0; i < 60; i++) await stores[0].insert(newRow(tenant));
    const claimed = await Promise.all(Array.from({ length: 12 }, (_, i) => stores[(i % 2) as 0 | 1].claim(`p${i}`, 8)));
    let ids = claimed.flat().map(({ id }) => id);
    // Rows that another had in hand are left out; they are still there for the next.
    for (let i = 0; ids.length < 60; i++) {
      const more = await stores[0].claim(`late${i}`, 60);
      expect(more.length).toBeGreaterThan(0);
      ids = [...ids, ...more.map(({ id }) => id)];
    }
    expect(new Set(ids).size).toBe(60);
    expect(await stores[0].claim("nobody", 8)).toEqual([]);
  });

  test("the most overdue email comes first, and one that is not due does not come", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const tenant = await newTenant(sql);
    const [late, first] = [newRow(tenant), newRow(tenant)];
    await store.insert(first);
    await pass(sql, 1_000);
    await store.insert(late);
    const [claim] = await store.claim("a", 1);
    expect(claim?.id).toBe(first.id);
    if (claim === undefined) throw new Error("nothing was claimed");
    await store.back(claim, 60_000, why);
    expect((await store.claim("a", 5)).map(({ id }) => id)).toEqual([late.id]);
    await pass(sql, 60_000);
    expect((await store.claim("b", 5)).map(({ id, attempt }) => [id, attempt])).toEqual([[first.id, 2]]);
  });

  test("a key is good for one email of a tenant, however many ask at once", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    const written = await Promise.all(
      Array.from({ length: 8 }, () => store.insert(newRow(tenant, { key: "quota:80" }))),
    );
    expect(written.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(new Set(written.map(({ id }) => id)).size).toBe(1);
    expect((await store.insert(newRow(other, { key: "quota:80" }))).repeated).toBe(false);
    expect((await store.insert(newRow(tenant))).repeated).toBe(false);
    expect((await store.insert(newRow(tenant))).repeated).toBe(false);
  });

  test("a repeated key leads to the email that has it, not to another of the tenant", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const tenant = await newTenant(sql);
    const keys = ["quota:80", "quota:90", "quota:100"];
    const ids = [];
    for (const key of keys) ids.push((await store.insert(newRow(tenant, { key }))).id);
    const again = [];
    for (const key of keys) again.push(await store.insert(newRow(tenant, { key })));
    expect(again).toEqual(ids.map((id) => ({ id, repeated: true })));
  });

  test("only the process that claimed an email marks it", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    await store.insert(newRow(await newTenant(sql)));
    const [claim] = await store.claim("one", 1);
    if (claim === undefined) throw new Error("nothing was claimed");
    const stranger = { ...claim, by: "another" };
    expect(await store.handing(stranger, "smtp", "<m>")).toBe(false);
    expect(await store.back(stranger, 0, why)).toBe(false);
    expect(await store.failed(stranger, why)).toBe(false);
    expect(await store.handing(claim, "smtp", "<m>")).toBe(true);
    expect(await store.sent(stranger, null)).toBe(false);
    expect(await store.sent(claim, null)).toBe(true);
  });

  test("an expired claim marks nothing any more", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const { id } = await store.insert(newRow(await newTenant(sql)));
    const [old] = await store.claim("old", 1);
    if (old === undefined) throw new Error("nothing was claimed");
    await pass(sql, emailClaimMs + 1);
    expect(await store.handing(old, "smtp", "<m>")).toBe(false);
    await store.recover();
    const [now] = await store.claim("new", 1);
    if (now === undefined) throw new Error("nothing was claimed");
    expect(now.attempt).toBe(2);
    expect(await store.handing(old, "smtp", "<m>")).toBe(false);
    expect(await store.sent(old, null)).toBe(false);
    expect(await store.failed(old, why)).toBe(false);
    expect(await store.back(old, 0, why)).toBe(false);
    expect(await store.handing(now, "smtp", "<m>")).toBe(true);
    expect(await store.sent(now, "provider-1")).toBe(true);
    expect(await rowOf(sql, id)).toMatchObject({ state: "sent", attempts: 2, unsure: 0, text: null, html: null });
    expect(await store.failed(now, why)).toBe(false);
  });

  test("abandoned before the hand-over, it is queued again, and nothing is unknown", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const { id } = await store.insert(newRow(await newTenant(sql)));
    await store.claim("gone", 1);
    expect(await store.look()).toEqual({ due: false, left: false });
    await pass(sql, emailClaimMs + 1);
    expect(await store.look()).toEqual({ due: true, left: true });
    expect(await store.recover()).toEqual([]);
    expect(await rowOf(sql, id)).toMatchObject({ state: "queued", unsure: 0, claimed_by: null });
  });

  test("abandoned after the mark, the outcome is unknown: it is tried once more, and the second time it has failed", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const { id } = await store.insert(newRow(await newTenant(sql)));
    for (const unsure of [1, 2]) {
      const [claim] = await store.claim(`gone${unsure}`, 1);
      if (claim === undefined) throw new Error("nothing was claimed");
      expect(await store.handing(claim, "smtp", "<m>")).toBe(true);
      await pass(sql, emailClaimMs + 1);
      expect(await store.recover()).toEqual([{ id, provider: "smtp", unsure }]);
      await pass(sql, 60_001);
    }
    expect(await rowOf(sql, id)).toMatchObject({
      state: "failed",
      reason: "unsure",
      unsure: 2,
      text: null,
      html: null,
    });
    expect(await store.look()).toEqual({ due: false, left: false });
  });

  test("a mark of an earlier attempt does not make a later claim look handed over", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const { id } = await store.insert(newRow(await newTenant(sql)));
    const [claim] = await store.claim("a", 1);
    if (claim === undefined) throw new Error("nothing was claimed");
    await store.handing(claim, "smtp", "<m>");
    await store.back(claim, 30_000, why);
    await pass(sql, 30_000);
    await store.claim("gone", 1);
    await pass(sql, emailClaimMs + 1);
    expect(await store.recover()).toEqual([]);
    expect(await rowOf(sql, id)).toMatchObject({ state: "queued", unsure: 0 });
  });

  test("that it was sent is marked even after it was found left behind, unless another has it by then", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const { id } = await store.insert(newRow(await newTenant(sql)));
    const [slow] = await store.claim("slow", 1);
    if (slow === undefined) throw new Error("nothing was claimed");
    await store.handing(slow, "smtp", "<m>");
    await pass(sql, emailClaimMs + 1);
    await store.recover();
    expect(await store.sent(slow, null)).toBe(true);
    expect(await rowOf(sql, id)).toMatchObject({ state: "sent", unsure: 1 });
  });

  test("a provider that uses a name twice causes no second send", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const tenant = await newTenant(sql);
    await store.insert(newRow(tenant));
    await store.insert(newRow(tenant));
    for (const claim of await store.claim("a", 2)) {
      await store.handing(claim, "sendgrid", `<${claim.id}>`);
      expect(await store.sent(claim, "the same")).toBe(true);
    }
    expect(await store.look()).toEqual({ due: false, left: false });
  });

  test("only emails that were finished long ago are deleted", async () => {
    const sql = await database.open();
    const store = createEmailStore(sql);
    const tenant = await newTenant(sql);
    const day = 86_400_000;
    const old = { id: `eml_${"0".repeat(26)}` as ReturnType<typeof newRow>["id"] };
    await store.insert(newRow(tenant, old));
    const [claim] = await store.claim("a", 1);
    if (claim === undefined) throw new Error("nothing was claimed");
    await store.sent(claim, null);
    await store.insert(newRow(tenant));
    await pass(sql, 90 * day);
    await store.insert(newRow(tenant));
    expect(await store.prune(Date.now() - 91 * day, 500)).toBe(0);
    expect(await store.prune(Date.now() - 89 * day, 500)).toBe(1);
    expect(await acrossTenants(sql.db).selectFrom("emails").select("state").where(notOfTwin).execute()).toEqual([
      { state: "queued" },
      { state: "queued" },
    ]);
  });
});
