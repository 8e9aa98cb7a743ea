import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { EmailId, TenantId } from "../../src/base/ids.ts";
import { type MailKind, platformMail } from "../../src/email/outbox/outbox.ts";
import { handOversMost } from "../../src/email/outbox/sender.ts";
import { emailClaimMs } from "../../src/email/outbox/store.ts";
import type { HandOver } from "../../src/email/providers/provider.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import type { Counters } from "../../src/limits/counters.ts";
import { unavailable } from "../../src/limits/counters.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newMail, newTenant, openOutbox, pass, rowOf } from "./outbox.ts";
import { notOfTwin } from "./two-tenants.ts";

const minuteMs = 60_000;
const deferred: HandOver = { kind: "deferred", detail: "try later", retryAfterMs: null };
const unsure: HandOver = { kind: "unsure", detail: "no answer" };

onEachDatabase((database) => {
  test("what is queued is handed over once, and then only its figures are kept", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers } = openOutbox(sql);
    answers.next = () => ({ kind: "accepted", providerId: "p-1" });
    const queued = await outbox.enqueue(newMail(await newTenant(sql), { key: "once" }));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    await work();
    await work();
    expect(handed.map(({ message }) => message.id)).toEqual([queued.id]);
    expect(await rowOf(sql, queued.id)).toMatchObject({
      ...{ state: "sent", provider: "smtp", provider_id: "p-1", attempts: 1, unsure: 0 },
      ...{ text: null, html: null, message_id: `<${queued.id}@test>` },
    });
  });

  test("a tenant's limit holds in any hour, what exceeds it waits, and no other tenant does", async () => {
    const sql = await database.open();
    const { outbox, work, handed, clock, counted } = openOutbox(sql);
    const [limited, other] = [await newTenant(sql, { smtp: 5 }), await newTenant(sql)];
    for (let i = 0; i < 20; i++) await outbox.enqueue(newMail(limited));
    await outbox.enqueue(newMail(other));
    await work();
    expect(handed).toHaveLength(6);
    // One attempt found out for all of them, or a few that were claimed with it.
    expect(counted.filter(([, outcome]) => outcome === "limited").length).toBeLessThanOrEqual(handOversMost);
    await pass(sql, 59 * minuteMs, clock);
    await work();
    expect(handed).toHaveLength(6);
    for (const expected of [11, 16, 21]) {
      await pass(sql, 63 * minuteMs, clock);
      await work();
      expect(handed).toHaveLength(expected);
    }
    const rows = await acrossTenants(sql.db)
      .selectFrom("emails")
      .select(["state", "attempts"])
      .where(notOfTwin)
      .execute();
    expect(rows.every(({ state, attempts }) => state === "sent" && attempts === 1)).toBe(true);
  });

  test("a limit that never has room fails after a day, and says why", async () => {
    const sql = await database.open();
    const { outbox, work, handed, clock } = openOutbox(sql);
    const queued = await outbox.enqueue(newMail(await newTenant(sql, { smtp: 0 })));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    await work();
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "queued", reason: "limited" });
    await pass(sql, 25 * 60 * minuteMs, clock);
    await work();
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", detail: "emailsPerHourSmtp" });
    expect(handed).toEqual([]);
  });

  test("the last fifth of the platform's limit is for essential emails, of whatever tenant", async () => {
    const sql = await database.open();
    const { outbox, work, handed } = openOutbox(sql, { platformMax: 10 });
    const [one, other] = [await newTenant(sql), await newTenant(sql)];
    for (let i = 0; i < 10; i++) await outbox.enqueue(newMail(i % 2 ? one : other, { kind: "report" }));
    await work();
    expect(handed).toHaveLength(8);
    for (let i = 0; i < 4; i++) await outbox.enqueue(newMail(one, { kind: "reset" }));
    await work();
    expect(handed).toHaveLength(10);
  });

  test("a tenant's own key has its own limit, and takes nothing from the platform", async () => {
    const sql = await database.open();
    const tenant = await newTenant(sql, { sendgrid: 3 });
    const sender = { name: null, address: "acme@example.com" };
    const { outbox, work, handed, charges } = openOutbox(sql, {
      ...{ platformMax: 1, ownKey: async (of) => (of === tenant ? { key: "SG.key", sender } : undefined) },
    });
    for (let i = 0; i < 5; i++) await outbox.enqueue(newMail(tenant));
    await work();
    expect(handed.map(({ provider, key, message }) => [provider, key, message.from])).toEqual(
      Array.from({ length: 3 }, () => ["sendgrid", "SG.key", sender]),
    );
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 0 }, { used: 0 }] } });
  });

  test("what the provider certainly did not accept is refunded, retried, and fails in the end", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, charges, clock } = openOutbox(sql);
    const tenant = await newTenant(sql);
    answers.next = () => deferred;
    const queued = await outbox.enqueue(newMail(tenant));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    for (let attempt = 1; attempt <= 8; attempt++) {
      await work();
      expect(handed).toHaveLength(attempt);
      await work();
      expect(handed).toHaveLength(attempt);
      await pass(sql, 60 * minuteMs, clock);
    }
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 0 }, { used: 0 }] } });
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", reason: "deferred", detail: "try later" });
    await work();
    expect(handed).toHaveLength(8);
  });

  test("a provider that names a time is not asked before", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, clock } = openOutbox(sql);
    answers.next = () => ({ ...deferred, retryAfterMs: 10 * minuteMs });
    await outbox.enqueue(newMail(await newTenant(sql)));
    await work();
    await pass(sql, 9 * minuteMs, clock);
    await work();
    expect(handed).toHaveLength(1);
    await pass(sql, minuteMs, clock);
    await work();
    expect(handed).toHaveLength(2);
  });

  test("a recipient that does not exist is rejected once, refunded, and gets nothing more from any tenant", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, charges } = openOutbox(sql);
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    answers.next = () => ({ kind: "rejected", reason: "address", detail: "550 5.1.1 no such user" });
    const queued = await outbox.enqueue(newMail(tenant, { to: "Gone@example.com" }));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    await work();
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", reason: "address" });
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 0 }, { used: 0 }] } });
    const again = await outbox.enqueue(newMail(other, { to: "gone@example.com", kind: "reset" }));
    expect(again).toEqual({ kind: "suppressed", reason: "bounced" });
    expect(handed).toHaveLength(1);
  });

  test("a recipient that unsubscribed from a tenant gets essential emails, and all of another tenant's", async () => {
    const sql = await database.open();
    const { outbox, suppressions, work, handed } = openOutbox(sql);
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    // After it was queued: it is looked at again before the hand-over.
    const queued = await outbox.enqueue(newMail(tenant));
    await suppressions.add(tenant, "ANN@example.com", "unsubscribed");
    expect(await outbox.enqueue(newMail(tenant))).toEqual({ kind: "suppressed", reason: "unsubscribed" });
    expect(await outbox.sendNow(newMail(tenant))).toEqual({ kind: "suppressed", reason: "unsubscribed" });
    await outbox.enqueue(newMail(tenant, { kind: "verification" }));
    await outbox.enqueue(newMail(other));
    await work();
    expect(handed).toHaveLength(2);
    if (queued.kind !== "queued") throw new Error(queued.kind);
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", reason: "suppressed" });
    expect(await suppressions.remove(tenant, "ann@example.com", byCommand)).toBe(true);
    expect(await outbox.enqueue(newMail(tenant))).toMatchObject({ kind: "queued" });
  });

  test("an email that waited is not sent to a contact that switched off its kind, or is the contact no longer", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, charges, clock } = openOutbox(sql);
    const settings = createEmailSettings(sql, undefined, systemClock);
    const [off, replaced, removed] = [await newTenant(sql), await newTenant(sql), await newTenant(sql)];
    const kinds = ["quota", "spike", "drop", "digest", "share", "verification"] as const;
    answers.next = () => deferred;
    const queued: { readonly tenant: TenantId; readonly kind: MailKind; readonly id: EmailId }[] = [];
    for (const tenant of [off, replaced, removed]) {
      await settings.change(tenant, { contact: "ann@example.com", notices: { drop: true } }, byCommand);
      for (const kind of kinds) {
        const one = await outbox.enqueue(newMail(tenant, { kind }));
        if (one.kind === "queued") queued.push({ tenant, kind, id: one.id });
      }
    }
    await work();
    expect(handed).toHaveLength(3 * kinds.length);
    await settings.change(off, { notices: { spike: false, drop: false } }, byCommand);
    await settings.change(replaced, { contact: "bob@example.com" }, byCommand);
    await settings.change(removed, { contact: null }, byCommand);
    answers.next = () => ({ kind: "accepted", providerId: null });
    await pass(sql, 60 * minuteMs, clock);
    await work();
    const outcomes = async (of: TenantId) => {
      const rows = await Promise.all(queued.filter(({ tenant }) => tenant === of).map(({ id }) => rowOf(sql, id)));
      return Object.fromEntries(rows.map(({ kind, state, reason }) => [kind, state === "sent" ? state : reason]));
    };
    const all = { share: "sent", verification: "sent" };
    expect(await outcomes(off)).toEqual({
      ...{ ...all, quota: "sent", digest: "sent", spike: "switched_off", drop: "switched_off" },
    });
    const none = { ...all, quota: "contact", digest: "contact", spike: "contact", drop: "contact" };
    expect([await outcomes(replaced), await outcomes(removed)]).toEqual([none, none]);
    // What was not sent counts towards no limit.
    expect(await charges.status(off, "smtp")).toMatchObject({ answer: { limits: [{ used: 4 }, { used: 8 }] } });
  });

  test("an email of a suspended workspace is not sent, however long it waited, and mails about accounts are", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, clock } = openOutbox(sql);
    const [suspended, other] = [await newTenant(sql), await newTenant(sql)];
    answers.next = () => deferred;
    const kinds = ["share", "quota", "digest", "spike", "reset", "verification", "invitation"] as const;
    for (const kind of kinds) await outbox.enqueue(newMail(suspended, { kind }));
    await outbox.enqueue(newMail(other, { kind: "digest" }));
    await outbox.enqueue(newMail(platformMail, { kind: "signIn" }));
    await work();
    const before = handed.length;
    const suspension = { reason: "spam", suspended_by: "operator", suspended_at: 0 };
    await ofTenant(sql.db, suspended).insertInto("suspended_tenants").values(suspension).execute();
    answers.next = () => ({ kind: "accepted", providerId: null });
    await pass(sql, 60 * minuteMs, clock);
    await work();
    expect(handed).toHaveLength(before + 5);
    const rows = await ofTenant(sql.db, suspended).selectFrom("emails").select(["kind", "state", "reason"]).execute();
    expect(Object.fromEntries(rows.map(({ kind, state, reason }) => [kind, reason ?? state]))).toEqual({
      ...{ share: "suspended", quota: "suspended", digest: "suspended", spike: "suspended" },
      ...{ reset: "sent", verification: "sent", invitation: "sent" },
    });
  });

  test("what the provider may have accepted is not refunded, and is handed over once more and not again", async () => {
    const sql = await database.open();
    const { outbox, work, handed, answers, charges, clock } = openOutbox(sql);
    const tenant = await newTenant(sql);
    answers.next = () => unsure;
    const queued = await outbox.enqueue(newMail(tenant));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    for (let i = 0; i < 4; i++) {
      await work();
      await pass(sql, 2 * minuteMs, clock);
    }
    expect(handed).toHaveLength(2);
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", reason: "unsure", unsure: 2 });
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 2 }, { used: 2 }] } });
  });

  test("a process that ends in the middle leaves it to another, which sends it at most once more", async () => {
    const sql = await database.open();
    const gone = openOutbox(sql);
    const heir = openOutbox(sql);
    const tenant = await newTenant(sql);
    const queued = await gone.outbox.enqueue(newMail(tenant));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    const silence = Promise.withResolvers<HandOver>();
    gone.answers.next = () => silence.promise;
    await gone.sender.step();
    while (gone.handed.length === 0) await Bun.sleep(1);
    await heir.work();
    expect(heir.handed).toEqual([]);
    await pass(sql, emailClaimMs + 1, heir.clock);
    await heir.work();
    expect(heir.unknown).toEqual(["smtp"]);
    await pass(sql, 2 * minuteMs, heir.clock);
    await heir.work();
    expect(heir.handed).toHaveLength(1);
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "sent", unsure: 1 });
    silence.resolve({ kind: "accepted", providerId: "late" });
    await gone.sender.idle();
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "sent", unsure: 1, provider_id: null });
  });

  test("an email that breaks off every attempt is not tried for ever", async () => {
    const sql = await database.open();
    const { outbox, work, answers, clock, handed } = openOutbox(sql);
    answers.next = () => {
      throw new Error("a mistake of ours");
    };
    const queued = await outbox.enqueue(newMail(await newTenant(sql)));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    for (let i = 0; i < 4; i++) {
      await work();
      await pass(sql, 2 * minuteMs, clock);
    }
    expect(handed).toHaveLength(2);
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "failed", reason: "unsure" });
  });

  test("a tenant whose key cannot be read waits, and fails in the end", async () => {
    const sql = await database.open();
    const { outbox, work, clock, handed } = openOutbox(sql, {
      ownKey: () => Promise.reject(new Error("the key was sealed with another key")),
    });
    const queued = await outbox.enqueue(newMail(await newTenant(sql)));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    for (let i = 0; i < 9; i++) {
      await work();
      await pass(sql, 60 * minuteMs, clock);
    }
    expect(handed).toEqual([]);
    expect(await rowOf(sql, queued.id)).toMatchObject({
      state: "failed",
      detail: "the key was sealed with another key",
    });
  });

  test("counters that forgot everything continue from the table", async () => {
    const sql = await database.open();
    const tenant = await newTenant(sql, { smtp: 10 });
    const before = openOutbox(sql);
    const outcomes: Record<string, HandOver> = { "maybe@example.com": unsure, "later@example.com": deferred };
    before.answers.next = ({ to }) => outcomes[to] ?? { kind: "accepted", providerId: null };
    for (let i = 0; i < 6; i++) await before.outbox.enqueue(newMail(tenant));
    await before.outbox.enqueue(newMail(tenant, { to: "maybe@example.com" }));
    await before.outbox.enqueue(newMail(tenant, { to: "later@example.com" }));
    await before.work();
    await pass(sql, 2 * minuteMs, before.clock);
    await before.work(); // the unsure one is handed over again, and so is the one for later
    const after = openOutbox(sql);
    expect(await after.seeds.tenant(tenant, "smtp")).toBe(8);
    for (let i = 0; i < 6; i++) await after.outbox.enqueue(newMail(tenant));
    await after.work();
    expect(after.handed).toHaveLength(2);
    await pass(sql, 63 * minuteMs, after.clock);
    expect(await after.seeds.tenant(tenant, "smtp")).toBe(0);
  });

  test("a counter that is lost between charge and mark lets nothing through uncounted", async () => {
    const sql = await database.open();
    const tenant = await newTenant(sql, { smtp: 1 });
    const lost: { counters: Counters } = {
      counters: createMemoryCounters({ clock: { ...systemClock, elapsed: () => 0 } }),
    };
    const counters: Counters = {
      take: (...call) => lost.counters.take(...call),
      hold: (...call) => lost.counters.hold(...call),
      holdInSync: (...call) => lost.counters.holdInSync(...call),
      settle: (...call) => lost.counters.settle(...call),
      release: (...call) => lost.counters.release(...call),
      status: (...call) => lost.counters.status(...call),
      sync: (...call) => lost.counters.sync(...call),
    };
    const quick = openOutbox(sql, { counters });
    const slow = openOutbox(sql, {
      counters,
      store: (store) => ({
        ...store,
        async handing(...mark) {
          // Everything is forgotten, and another takes what there seems to be.
          lost.counters = createMemoryCounters({ clock: { ...systemClock, elapsed: () => 0 } });
          expect(await quick.outbox.sendNow(newMail(tenant, { kind: "share" }))).toMatchObject({ kind: "queued" });
          await quick.sender.idle();
          return await store.handing(...mark);
        },
      }),
    });
    await slow.outbox.enqueue(newMail(tenant));
    await slow.sender.step();
    await slow.sender.idle();
    expect([quick.handed.length, slow.handed.length]).toEqual([1, 0]);
    expect(
      await acrossTenants(sql.db)
        .selectFrom("emails")
        .select(["state", "reason"])
        .where(notOfTwin)
        .orderBy("state")
        .execute(),
    ).toEqual([
      { state: "queued", reason: "limited" },
      { state: "sent", reason: null },
    ]);
  });

  test("limits that do not answer cost nothing but time", async () => {
    const sql = await database.open();
    const real = createMemoryCounters({ clock: { ...systemClock, elapsed: () => 0 } });
    let away = true;
    const counters: Counters = { ...real, take: async (...call) => (away ? unavailable : await real.take(...call)) };
    const { outbox, work, handed, clock } = openOutbox(sql, { counters });
    const tenant = await newTenant(sql);
    const queued = await outbox.enqueue(newMail(tenant));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    expect(await outbox.sendNow(newMail(tenant))).toMatchObject({ kind: "unavailable" });
    for (let i = 0; i < 12; i++) {
      await work();
      await pass(sql, 10_000, clock);
    }
    expect(handed).toEqual([]);
    expect(
      await acrossTenants(sql.db).selectFrom("emails").select(["id", "state", "attempts"]).where(notOfTwin).execute(),
    ).toEqual([{ id: queued.id, state: "queued", attempts: 0 }]);
    away = false;
    await work();
    expect(handed).toHaveLength(1);
  });

  test("a charge whose answer was lost is neither charged again nor kept for another hour", async () => {
    const sql = await database.open();
    const tenant = await newTenant(sql, { smtp: 2 });
    const real = createMemoryCounters({ clock: { ...systemClock, elapsed: () => 0 } });
    let losing = 1;
    const counters: Counters = {
      ...real,
      take: async (...call) => {
        const verdict = await real.take(...call);
        return losing-- > 0 ? unavailable : verdict;
      },
    };
    const { outbox, work, handed, charges } = openOutbox(sql, { counters });
    await outbox.enqueue(newMail(tenant));
    await work();
    expect(handed).toHaveLength(1);
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 1 }, { used: 1 }] } });
    losing = 4; // as often as it is asked
    await outbox.enqueue(newMail(tenant));
    await work();
    expect(handed).toHaveLength(1);
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 1 }, { used: 1 }] } });
  });

  test("a refund that failed while the limits were unavailable is made when they answer", async () => {
    const sql = await database.open();
    const [tenant, other] = [await newTenant(sql), await newTenant(sql)];
    const real = createMemoryCounters({ clock: { ...systemClock, elapsed: () => 0 } });
    let away = false;
    const counters: Counters = { ...real, release: async (id) => (away ? unavailable : await real.release(id)) };
    const { outbox, work, answers, charges } = openOutbox(sql, { counters });
    answers.next = () => {
      away = true;
      return deferred;
    };
    await outbox.enqueue(newMail(tenant));
    await work();
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 1 }, { used: 1 }] } });
    away = false;
    answers.next = () => ({ kind: "accepted", providerId: null });
    await outbox.enqueue(newMail(other));
    await work();
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 0 }, { used: 1 }] } });
  });

  test("a database that is unavailable when the answer comes is waited for", async () => {
    const sql = await database.open();
    let failures = 3;
    const { outbox, work, handed } = openOutbox(sql, {
      store: (store) => ({
        ...store,
        async sent(...mark) {
          if (failures-- > 0) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
          return await store.sent(...mark);
        },
      }),
    });
    const queued = await outbox.enqueue(newMail(await newTenant(sql)));
    if (queued.kind !== "queued") throw new Error(queued.kind);
    await work();
    expect(handed).toHaveLength(1);
    expect(await rowOf(sql, queued.id)).toMatchObject({ state: "sent", unsure: 0 });
  });

  test("several are on their way at once, but one at a time is where a crash would repeat it", async () => {
    const sql = await database.open();
    let [unmarked, most] = [0, 0];
    const { outbox, work, handed, answers } = openOutbox(sql, {
      store: (store) => ({
        ...store,
        async sent(...mark) {
          const marked = await store.sent(...mark);
          unmarked--;
          return marked;
        },
      }),
    });
    const together = Promise.withResolvers<void>();
    answers.next = async (_, turn) => {
      if (handed.length === handOversMost) together.resolve();
      await together.promise;
      await turn();
      most = Math.max(most, ++unmarked);
      return { kind: "accepted", providerId: null };
    };
    const tenant = await newTenant(sql);
    for (let i = 0; i < handOversMost; i++) await outbox.enqueue(newMail(tenant));
    await work();
    expect([handed.length, most, unmarked]).toEqual([handOversMost, 1, 0]);
  });

  test("what must go now is refused with a time when there is no room, and leaves nothing behind", async () => {
    const sql = await database.open();
    const { outbox, sender, handed } = openOutbox(sql);
    const tenant = await newTenant(sql, { smtp: 2 });
    const share = newMail(tenant, { kind: "share" });
    const first = await outbox.sendNow({ ...share, key: "a" });
    expect(first).toMatchObject({ kind: "queued" });
    expect(await outbox.sendNow({ ...share, key: "a" })).toEqual({ ...first, kind: "repeated" } as typeof first);
    expect(await outbox.sendNow(share)).toMatchObject({ kind: "queued" });
    const refused = await outbox.sendNow({ ...share, key: "b" });
    if (refused.kind !== "limited") throw new Error(refused.kind);
    expect(refused.limit).toBe("emailsPerHourSmtp");
    expect(refused.retryAfterMs).toBeGreaterThan(60 * minuteMs);
    expect(refused.retryAfterMs).toBeLessThanOrEqual(62 * minuteMs);
    await sender.idle();
    expect(handed).toHaveLength(2);
    expect(await acrossTenants(sql.db).selectFrom("emails").select("state").where(notOfTwin).execute()).toEqual([
      { state: "sent" },
      { state: "sent" },
    ]);
  });

  test("more at once than can be handed over are queued, and charged once", async () => {
    const sql = await database.open();
    const { outbox, sender, handed, answers, work, charges } = openOutbox(sql);
    const tenant = await newTenant(sql, { smtp: 10 });
    const slow = Promise.withResolvers<HandOver>();
    answers.next = () => slow.promise;
    for (let i = 0; i < 10; i++) {
      expect(await outbox.sendNow(newMail(tenant, { kind: "share" }))).toMatchObject({ kind: "queued" });
    }
    while (handed.length < handOversMost) await Bun.sleep(1);
    slow.resolve({ kind: "accepted", providerId: null });
    await sender.idle();
    await work();
    expect(handed).toHaveLength(10);
    expect(await charges.status(tenant, "smtp")).toMatchObject({ answer: { limits: [{ used: 10 }, { used: 10 }] } });
  });

  test("what was sent, waits and failed can be told by provider", async () => {
    const sql = await database.open();
    const { outbox, work, answers, stats } = openOutbox(sql);
    const tenant = await newTenant(sql, { smtp: 4 });
    answers.next = ({ to }) =>
      to.startsWith("no")
        ? { kind: "rejected", reason: "message", detail: "554 no" }
        : to.startsWith("maybe")
          ? unsure
          : { kind: "accepted", providerId: null };
    for (const to of ["no@example.com", "maybe@example.com", "ann@example.com", "bob@example.com"]) {
      await outbox.enqueue(newMail(tenant, { to }));
    }
    await work();
    expect(await stats.of(tenant)).toMatchObject({
      ...{ current: "smtp", periodDays: 30 },
      providers: [
        {
          ...{ provider: "smtp", tier: 1, used: 3, limit: 4, remaining: 1, resetsAt: expect.any(Number) },
          ...{ sent: 2, failed: 1, waiting: 1, bounced: 0, complaints: 0, unsure: 1 },
        },
        { provider: "sendgrid", tier: 2, used: 0, limit: 200, remaining: 200, resetsAt: null, sent: 0 },
      ],
    });
  });
});
