import { expect, test } from "bun:test";
import { dayMs, type ManualClock, manualClock, systemClock } from "../../src/base/clock.ts";
import { type LinkId, newId, type TenantId } from "../../src/base/ids.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { dimensions, quarterMs, quarterOf, utcDay } from "../../src/clicks/click.ts";
import { shelfOf } from "../../src/clicks/event-shelves.ts";
import { newOverflowTally } from "../../src/clicks/events/overflow-tally.ts";
import { overflowText } from "../../src/clicks/events/overflow-text.ts";
import { createClickNotices } from "../../src/clicks/notices/click-notices.ts";
import { findClickNotices } from "../../src/clicks/notices/find-notices.ts";
import { note } from "../../src/clicks/notices/notice-rows.ts";
import { writeTally } from "../../src/clicks/rollups/packed.ts";
import { grains } from "../../src/clicks/rollups/periods.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { addClick, newTally } from "../../src/clicks/rollups/tally.ts";
import { createStopLinks } from "../../src/email/delivery/unsubscribe.ts";
import type { Outbox } from "../../src/email/outbox/outbox.ts";
import type { NoticeSwitches } from "../../src/email/settings/notice-kinds.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { createHealthStore } from "../../src/link-health/store.ts";
import { hitReasons } from "../../src/redirect/decide.ts";
import type { GroupNumber, LinkNumber, TenantNumber } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants, ofTenant } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { onEachDatabase } from "./databases.ts";
import { newTenant, openOutbox, silent } from "./outbox.ts";
import { twin } from "./two-tenants.ts";

const hourMs = 3_600_000;
/** A Wednesday. */
const wednesday = Date.UTC(2026, 10, 18, 12, 2);
const monday = Date.UTC(2026, 10, 16);
const counted = hitReasons.indexOf("counted");
const off: NoticeSwitches = { firstClick: false, spike: false, drop: false, deadTarget: false, digest: false };

interface World {
  readonly sql: Sql;
  readonly clock: ManualClock;
  readonly run: () => Promise<void>;
  readonly other: () => () => Promise<void>;
  readonly outbox: { current: Pick<Outbox, "enqueue"> };
}

interface Owner {
  readonly id: TenantId;
  readonly number: TenantNumber;
}

interface Overflow {
  readonly to: LinkNumber;
  readonly at: number;
  readonly people?: number;
  readonly bots?: number;
}

onEachDatabase((database) => {
  async function open(now = wednesday): Promise<World> {
    const sql = await database.open();
    const clock = manualClock(now);
    const signing = createSigningKeys([{ id: "k1", key: Buffer.from("secret") }], clock);
    const stopLinks = createStopLinks(signing.signerFor("unsubscribe"), "https://go.example.com");
    const tenants = createTenants(sql, systemClock);
    const settings = createEmailSettings(sql, undefined, clock);
    const outbox = { current: openOutbox(sql).outbox as Pick<Outbox, "enqueue"> };
    const sources = { sql, tenants, targets: createHealthStore(sql), baseUrl: "https://go.example.com", clock };
    const other = () => {
      const notices = createClickNotices({
        ...{ find: () => findClickNotices(sources), sql, tenants, settings, stopLinks, log: silent },
        outbox: { enqueue: (mail) => outbox.current.enqueue(mail) },
      });
      return () => notices.run(new AbortController().signal);
    };
    return { sql, clock, run: other(), other, outbox };
  }

  /** A tenant that wants these notices only. */
  async function owner({ sql, clock }: World, wanted: Partial<NoticeSwitches>, zone = "UTC"): Promise<Owner> {
    const id = await newTenant(sql);
    const settings = createEmailSettings(sql, undefined, clock);
    await settings.change(id, { contact: `${id}@ops.example`, notices: { ...off, ...wanted } }, byCommand);
    const progress = { late: 0, hours_until: 0, days_until: 0, months_until: 0 };
    await ofTenant(sql.db, id)
      .insertInto("click_tenants")
      .values({ zone, facts: 1, event_days: null, ...progress })
      .execute();
    const row = await sql.db.selectFrom("tenants").select("number").where("id", "=", id).executeTakeFirstOrThrow();
    return { id, number: row.number };
  }

  async function link(
    { sql }: World,
    { id: tenant }: Owner,
    code: string,
    more: { domain?: string; firstAt?: number; clicks?: number; lastAt?: number; title?: string } = {},
  ) {
    const { domain = "", firstAt = null, clicks = firstAt === null ? 0 : 1, lastAt = firstAt, title = null } = more;
    const id = newId("link", systemClock);
    const at = systemClock.now();
    await acrossTenants(sql.db)
      .insertInto("links")
      .values({
        ...{ id, tenant_id: tenant, domain, code, url: "https://example.com/", permanent: 0, status: "active" },
        ...{ expires_at: null, title, notes: null, tags: "[]", fallback_url: null, password_hash: null },
        ...{ hits_per_month: null, created_at: at, updated_at: at, file_id: null },
        ...{ rules: null, split: null, utm: null, forward_query: 0 },
      })
      .execute();
    const own = ofTenant(sql.db, tenant);
    const { number } = await own.selectFrom("links").select("number").where("id", "=", id).executeTakeFirstOrThrow();
    await own
      .insertInto("click_links")
      .values({ link: number, domain, code, clicks, first_at: firstAt, last_at: lastAt })
      .execute();
    return { id, number };
  }

  /** What visitors can no longer reach, by its name. */
  async function make(
    { sql, clock }: World,
    { id: tenant }: Owner,
    { id, code }: { readonly id: LinkId; readonly code: string },
    what: string,
  ) {
    const own = ofTenant(sql.db, tenant);
    const change = (set: { status: "disabled" } | { expires_at: number }) =>
      own.updateTable("links").set(set).where("id", "=", id).execute();
    if (what === "disabled") await change({ status: "disabled" });
    if (what === "expired") await change({ expires_at: clock.now() - 1 });
    if (what === "deleted") await own.deleteFrom("links").where("id", "=", id).execute();
    if (what !== "suspended") return;
    const why = { cause: "operator", reason: "abuse", suspended_by: "operator", suspended_at: 0 } as const;
    await sql.db
      .insertInto("suspended_links")
      .values({ domain: "", code, ...why })
      .execute();
  }

  let seq = 0;

  async function clicks({ sql }: World, { number: tenant }: Owner, to: LinkNumber, at: number, count: number) {
    const facts = Object.fromEntries(dimensions.map((name) => [name, 0])) as Record<
      (typeof dimensions)[number],
      number
    >;
    const rows = Array.from({ length: count }, () => ({
      ...{
        day: utcDay(at),
        tenant,
        level: shelfOf(Math.min(12, 31 - Math.clz32(++seq & -seq)), at),
        link: to,
        at,
        seq,
      },
      ...{ domain: tenant as GroupNumber, tags: 0, reason: counted, first: 3, ...facts },
    }));
    for (let place = 0; place < rows.length; place += 500) {
      await sql.db
        .insertInto("clicks")
        .values(rows.slice(place, place + 500))
        .execute();
    }
  }

  /** Clicks beyond the cap of events. */
  async function overflow({ sql }: World, { number: tenant }: Owner, clicks: readonly Overflow[]) {
    const rows = clicks.map(({ to, at, people = 0, bots = 0 }) => {
      const tally = newOverflowTally();
      tally.reasons[counted] = people;
      tally.reasons[hitReasons.indexOf("bot")] = bots;
      const place = { day: utcDay(at), tenant, link: to, quarter: quarterOf(at), domain: tenant as GroupNumber };
      return { ...place, tags: 0, writer: "w", tally: overflowText(tally), tenant_tally: "" };
    });
    for (let place = 0; place < rows.length; place += 500) {
      await sql.db
        .insertInto("click_overflow")
        .values(rows.slice(place, place + 500))
        .execute();
    }
  }

  /** The same, and their days are condensed. */
  async function condensedOverflow(world: World, tenant: Owner, clicks: readonly Overflow[]) {
    const { sql, clock } = world;
    await overflow(world, tenant, clicks);
    const starts = [...new Set(clicks.map(({ at }) => at - (at % dayMs)))];
    await sql.db
      .insertInto("click_days")
      .values(starts.map((start) => ({ tenant: tenant.number, start, until: start + dayMs, salt: null })))
      .execute();
    // No hours, to save the time.
    const own = ofTenant(sql.db, tenant.id).updateTable("click_tenants");
    await own.set({ hours_until: clock.now() }).execute();
    await condense(sql, { now: clock.now() });
  }

  /** A condensed day: so many clicks at these times. */
  async function condensed(
    { sql }: World,
    tenant: Owner,
    subject: LinkNumber | TenantNumber,
    start: number,
    visits: readonly {
      readonly at: number;
      readonly count: number;
      readonly facts?: Readonly<Record<string, string>>;
    }[],
  ) {
    const tally = newTally();
    for (const { at, count, facts = {} } of visits) {
      const values = dimensions.map((name) => facts[name] ?? "");
      for (let each = 0; each < count; each++) {
        addClick(tally, { at, reason: counted, isFirst: each % 2 === 0, facts: values }, true);
      }
    }
    const until = start + dayMs;
    await sql.db
      .insertInto("click_rollups")
      .values({ subject, grain: grains.day, start, until, ...writeTally(tally, start) })
      .execute();
    await sql.db
      .insertInto("click_days")
      .values({ tenant: tenant.number, start, until, salt: null })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const own = ofTenant(sql.db, tenant.id);
    await own.updateTable("click_tenants").set({ days_until: until }).where("days_until", "<", until).execute();
  }

  async function mails({ sql }: World, { id }: Owner) {
    const rows = await ofTenant(sql.db, id)
      .selectFrom("emails")
      .select(["kind", "dedupe_key", "recipient", "subject", "text", "html"])
      .orderBy("id")
      .execute();
    return rows.map((row) => ({ ...row, text: row.text ?? "", html: row.html ?? "" }));
  }

  const subjects = async (world: World, tenant: Owner) => (await mails(world, tenant)).map(({ subject }) => subject);

  test("links with a first click are told together, once ever, and not those from before the switch was on", async () => {
    const world = await open();
    const [tenant, uninterested] = [await owner(world, { firstClick: true }), await owner(world, {})];
    const now = world.clock.now();
    await link(world, tenant, "before", { firstAt: now - hourMs });
    await link(world, tenant, "one", { firstAt: now + 1_000, title: "One" });
    await link(world, tenant, "two", { firstAt: now + 2_000 });
    await link(world, tenant, "none");
    const deleted = await link(world, tenant, "deleted", { firstAt: now + 1_000 });
    await ofTenant(world.sql.db, tenant.id).deleteFrom("links").where("id", "=", deleted.id).execute();
    await link(world, uninterested, "one", { firstAt: now + 1_000, domain: "theirs.example" });
    world.clock.advance(quarterMs);
    await world.run();
    await world.run();
    const [mail, ...more] = await mails(world, tenant);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ kind: "firstClick", subject: "2 links had their first click: A tenant" });
    expect(mail?.text).toContain("go.example.com/one: 18 November, 12:02");
    expect(mail?.text).not.toContain("before");
    expect(await mails(world, uninterested)).toEqual([]);
    // In the same six hours the next one waits; a late click that moves the first one back changes nothing.
    await link(world, tenant, "three", { firstAt: world.clock.now() });
    await world.run();
    expect(await subjects(world, tenant)).toHaveLength(1);
    world.clock.advance(6 * hourMs);
    await world.run();
    world.clock.advance(8 * dayMs);
    await world.run();
    expect((await subjects(world, tenant)).slice(1)).toEqual(["A link had its first click: A tenant"]);
  });

  test("a spike is told once, however long it lasts, and the other tenant's link of the same name is not in it", async () => {
    const world = await open();
    const [tenant, quiet] = [await owner(world, { spike: true }), await owner(world, { spike: true })];
    const now = world.clock.now();
    const old = { firstAt: now - 60 * dayMs, clicks: 5_000, lastAt: now };
    const hot = await link(world, tenant, "sale", old);
    const usual = await link(world, tenant, "usual", old);
    await link(world, quiet, "sale", { ...old, domain: "quiet.example" });
    const today = now - (now % dayMs);
    for (let day = 1; day <= 28; day++) {
      const start = today - day * dayMs;
      const noon = start + 11 * hourMs + 3 * quarterMs;
      await condensed(world, tenant, hot.number, start, [{ at: noon, count: 8 }]);
      await condensed(world, tenant, usual.number, start, [{ at: noon, count: 60 }]);
    }
    for (let hour = 0; hour < 5; hour++) {
      const at = quarterOf(world.clock.now()) - quarterMs;
      await clicks(world, tenant, hot.number, at, 120);
      await clicks(world, tenant, usual.number, at, hour === 0 ? 70 : 0);
      await world.run();
      world.clock.advance(hourMs);
    }
    const [mail, ...more] = await mails(world, tenant);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ kind: "spike", subject: "A link gets many more clicks than usual: A tenant" });
    expect(mail?.text).toContain("go.example.com/sale: 120 clicks");
    expect(mail?.text).toContain("usually 8");
    expect(await mails(world, quiet)).toEqual([]);
    // Half a day later it is over, and a larger one is told again.
    world.clock.advance(12 * hourMs);
    await world.run();
    await clicks(world, tenant, hot.number, quarterOf(world.clock.now()) - quarterMs, 400);
    await world.run();
    expect(await subjects(world, tenant)).toHaveLength(2);
  });

  test("a link of two days, and one that was deleted, have no spike", async () => {
    const world = await open();
    const tenant = await owner(world, { spike: true });
    const now = world.clock.now();
    const fresh = await link(world, tenant, "fresh", { firstAt: now - 2 * dayMs, clicks: 500, lastAt: now });
    const gone = await link(world, tenant, "gone", { firstAt: now - 20 * dayMs, clicks: 500, lastAt: now });
    await ofTenant(world.sql.db, tenant.id).deleteFrom("links").where("id", "=", gone.id).execute();
    await link(world, tenant, "gone", { firstAt: now - 20 * dayMs });
    for (const { number } of [fresh, gone]) await clicks(world, tenant, number, quarterOf(now) - quarterMs, 300);
    await world.run();
    expect(await mails(world, tenant)).toEqual([]);
  });

  test("a spike is found in a sample of a busy tenant's clicks, and beyond the cap of events", async () => {
    const world = await open();
    const tenant = await owner(world, { spike: true });
    const now = world.clock.now();
    const at = quarterOf(now) - quarterMs;
    const old = { firstAt: now - 60 * dayMs, clicks: 5_000, lastAt: now };
    const [hot, beyond] = [await link(world, tenant, "hot", old), await link(world, tenant, "beyond", old)];
    // So many that the rest is sampled: each of these links has two clicks in the sample, and few in all.
    for (let other = 1; other <= 90; other++) await clicks(world, tenant, (900_000 + other) as LinkNumber, at, 2);
    for (let times = 0; times < 50; times++) await clicks(world, tenant, (900_100 + times) as LinkNumber, at, 400);
    await clicks(world, tenant, hot.number, at, 900);
    await overflow(world, tenant, [{ to: beyond.number, at, people: 700 }]);
    await world.run();
    const [mail] = await mails(world, tenant);
    expect(mail?.text).toContain("go.example.com/hot: 900 clicks");
    expect(mail?.text).toContain("go.example.com/beyond: 700 clicks");
  });

  test("a spike is found beside a hundred links with more bots, and a hundred with fewer clicks", async () => {
    const world = await open();
    const tenant = await owner(world, { spike: true });
    const now = world.clock.now();
    const at = quarterOf(now) - quarterMs;
    const old = { firstAt: now - 60 * dayMs, clicks: 5_000, lastAt: now };
    for (let place = 0; place < 100; place++) {
      const { number } = await link(world, tenant, `usual${place}`, old);
      await clicks(world, tenant, number, at, 60);
      await overflow(world, tenant, [{ to: number, at: at - dayMs, people: 60 }]);
    }
    const many = Array.from({ length: 100 }, (_, place) => (900_000 + place) as LinkNumber);
    await overflow(
      world,
      tenant,
      many.map((to) => ({ to, at, bots: 400 })),
    );
    const [itemised, beyond] = [await link(world, tenant, "itemised", old), await link(world, tenant, "beyond", old)];
    await clicks(world, tenant, itemised.number, at, 300);
    // Few of them are events.
    await clicks(world, tenant, beyond.number, at, 40);
    await overflow(world, tenant, [{ to: beyond.number, at, people: 30 }]);
    await world.run();
    const [mail] = await mails(world, tenant);
    expect(mail?.subject).toBe("2 links get many more clicks than usual: A tenant");
    expect(mail?.text).toContain("go.example.com/itemised: 300 clicks");
    expect(mail?.text).toContain("go.example.com/beyond: 70 clicks");
  });

  test("a steady link that gets hardly any clicks is told once, until it has recovered", async () => {
    const world = await open();
    const tenant = await owner(world, { drop: true });
    const now = world.clock.now();
    const { number } = await link(world, tenant, "steady", { firstAt: now - 60 * dayMs, clicks: 30_000, lastAt: now });
    const today = now - (now % dayMs);
    const hours = Array.from({ length: 28 * 24 }, (_, hour) => today - (hour + 1) * hourMs);
    await condensedOverflow(
      world,
      tenant,
      hours.map((at) => ({ to: number, at, people: 20 })),
    );
    for (let hour = 0; hour < 6; hour++) await clicks(world, tenant, number, today + hour * hourMs, 20);
    for (let times = 0; times < 3; times++) {
      await world.run();
      world.clock.advance(hourMs);
    }
    expect(await subjects(world, tenant)).toEqual(["A busy link gets hardly any clicks: A tenant"]);
    expect((await mails(world, tenant))[0]?.text).toContain("steady: 0 clicks");
    const row = () => ofTenant(world.sql.db, tenant.id).selectFrom("click_notices").select("kind").execute();
    expect(await row()).toEqual([{ kind: "drop" }]);
    await clicks(world, tenant, number, quarterOf(world.clock.now()) - quarterMs, 100);
    await world.run();
    expect(await row()).toEqual([]);
  });

  test("a busy link that stops is told, whatever a hundred other links have had lately, once or ever", async () => {
    const world = await open();
    const tenant = await owner(world, { drop: true });
    const now = world.clock.now();
    const today = now - (now % dayMs);
    const hundred = (name: string, clicks: number) =>
      Promise.all(
        Array.from({ length: 100 }, async (_, place) => {
          const known = { firstAt: now - 60 * dayMs, clicks, lastAt: now };
          return (await link(world, tenant, `${name}${place}`, known)).number;
        }),
      );
    const others = await hundred("other", 500_000);
    const greatDays = await hundred("great", 50_000);
    const gone = await hundred("gone", 50_000);
    await ofTenant(world.sql.db, tenant.id).deleteFrom("links").where("code", "like", "gone%").execute();
    const known = { firstAt: now - 8 * dayMs, clicks: 2_640, lastAt: today };
    const { number } = await link(world, tenant, "stopped", known);
    const parts = Array.from({ length: 8 * 4 }, (_, part) => today - (part + 1) * 6 * hourMs);
    await condensedOverflow(world, tenant, [
      ...parts.flatMap((at) => [
        ...others.map((to) => ({ to, at, people: 60 })),
        ...gone.map((to) => ({ to, at, people: 100 })),
        { to: number, at, people: 80 },
      ]),
      ...greatDays.map((to) => ({ to, at: today - 3 * dayMs, people: 9_000 })),
    ]);
    await overflow(world, tenant, [
      { to: number, at: today, people: 80 },
      ...others.flatMap((to) => [today, today + 6 * hourMs].map((at) => ({ to, at, people: 60 }))),
    ]);
    await world.run();
    const [mail, ...more] = await mails(world, tenant);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe("A busy link gets hardly any clicks: A tenant");
    expect(mail?.text).toContain("go.example.com/stopped: 0 clicks");
  });

  test("dead destinations are told once a day, with their clicks, and again only after they have recovered", async () => {
    const world = await open();
    const [tenant, other] = [await owner(world, { deadTarget: true }), await owner(world, { deadTarget: true })];
    const targets = createHealthStore(world.sql);
    const now = () => world.clock.now();
    const set = async (id: Awaited<ReturnType<typeof link>>["id"], state: "dead" | "ok") => {
      const verdict = { state, httpStatus: state === "dead" ? 404 : 200, reason: null, failures: 7 };
      await targets.want(id, now());
      await targets.record({ id, url: "https://example.com/" }, verdict, now(), now() + dayMs);
    };
    const [first, second, fine] = [
      await link(world, tenant, "first"),
      await link(world, tenant, "second"),
      await link(world, tenant, "fine"),
    ];
    await set(first.id, "dead");
    await set(fine.id, "ok");
    await set((await link(world, other, "first", { domain: "other.example" })).id, "ok");
    await clicks(world, tenant, first.number, now() - dayMs, 7);
    await clicks(world, tenant, first.number, now() - 8 * dayMs, 9);
    // A condensed day has its events still; its clicks count once.
    const dayBefore = now() - (now() % dayMs) - 2 * dayMs;
    await condensed(world, tenant, first.number, dayBefore, [{ at: dayBefore, count: 3 }]);
    await clicks(world, tenant, first.number, dayBefore, 3);
    await world.run();
    await world.run();
    expect(await subjects(world, tenant)).toEqual(["The destination of a link no longer works: A tenant"]);
    expect((await mails(world, tenant))[0]?.text).toContain(
      "go.example.com/first: 10 clicks\n  The destination answers 404.",
    );
    expect(await mails(world, other)).toEqual([]);
    await set(second.id, "dead");
    await world.run();
    expect(await subjects(world, tenant)).toHaveLength(1);
    world.clock.advance(dayMs);
    await world.run();
    expect((await mails(world, tenant))[1]?.text).toContain("go.example.com/second");
    expect((await mails(world, tenant))[1]?.text).not.toContain("go.example.com/first");
    world.clock.advance(dayMs);
    await set(first.id, "ok");
    await world.run();
    await set(first.id, "dead");
    await world.run();
    world.clock.advance(dayMs);
    await world.run();
    expect((await mails(world, tenant)).slice(2).map(({ text }) => text.includes("go.example.com/first"))).toEqual([
      true,
    ]);
  });

  test("a destination that was changed since the check is not called dead", async () => {
    const world = await open();
    const tenant = await owner(world, { deadTarget: true });
    const { id } = await link(world, tenant, "moved");
    const targets = createHealthStore(world.sql);
    await targets.want(id, 0);
    const verdict = { state: "dead", httpStatus: 404, reason: null, failures: 7 } as const;
    await targets.record({ id, url: "https://example.com/before" }, verdict, 0, 1);
    await world.run();
    expect(await mails(world, tenant)).toEqual([]);
  });

  const linkKinds = ["firstClick", "spike", "drop", "deadTarget"] as const;
  const allKinds = { firstClick: true, spike: true, drop: true, deadTarget: true };

  /** As the run that found them notes them. Their destinations are dead. */
  async function waits(world: World, tenant: Owner, codes: readonly string[]) {
    const now = world.clock.now();
    const targets = createHealthStore(world.sql);
    const verdict = { state: "dead", httpStatus: 404, reason: null, failures: 7 } as const;
    const links = [];
    for (const code of codes) {
      const { id, number } = await link(world, tenant, code);
      links.push({ id, code });
      await targets.want(id, now);
      await targets.record({ id, url: "https://example.com/" }, verdict, now, now + 365 * dayMs);
      const facts = JSON.stringify({ id, url: `https://go.example.com/${code}`, at: now, clicks: 300, usual: 20 });
      const row = { link: number, since: now, facts };
      for (const kind of linkKinds) await note(world.sql, tenant.id, kind, [row], now);
    }
    return links;
  }

  const kindsOf = async (world: World, tenant: Owner) =>
    (await mails(world, tenant)).map(({ kind }) => kind).toSorted();

  test("a notice that waits is not told of a link that visitors can no longer reach", async () => {
    const world = await open();
    const tenant = await owner(world, allKinds);
    await waits(world, tenant, ["first"]);
    await world.run();
    expect(await kindsOf(world, tenant)).toEqual(linkKinds.toSorted());
    const links = await waits(world, tenant, ["fine", "deleted", "disabled", "expired", "suspended"]);
    await world.run();
    expect(await subjects(world, tenant)).toHaveLength(4);
    for (const one of links) await make(world, tenant, one, one.code);
    world.clock.advance(dayMs);
    await world.run();
    const later = (await mails(world, tenant)).slice(4);
    expect(later.map(({ kind }) => kind).toSorted()).toEqual(linkKinds.toSorted());
    for (const { text } of later) {
      expect(text).toContain("/fine");
      expect(text).not.toMatch(/deleted|disabled|expired|suspended/);
    }
    // Nothing is left of them that could be told later.
    const left = ofTenant(world.sql.db, tenant.id).selectFrom("click_notices").select("kind").where("told", "=", 0);
    expect(await left.execute()).toEqual([]);
  });

  test("an email of which nothing is still true makes room for the next one", async () => {
    const world = await open();
    const tenant = await owner(world, { firstClick: true });
    const [gone] = await waits(world, tenant, ["deleted"]);
    const real = world.outbox.current;
    world.outbox.current = { enqueue: () => Promise.reject(new Error("killed")) };
    await expect(world.run()).rejects.toThrow("failed");
    world.outbox.current = real;
    if (gone !== undefined) await make(world, tenant, gone, "deleted");
    await waits(world, tenant, ["fine"]);
    await world.run();
    await world.run();
    const [mail, ...more] = await mails(world, tenant);
    expect(more).toEqual([]);
    expect(mail?.text).toContain("/fine");
    expect(mail?.text).not.toContain("/deleted");
  });

  test("what waited too long is not told, and a destination that is still dead is noted again", async () => {
    const world = await open();
    const settings = createEmailSettings(world.sql, undefined, world.clock);
    const all = [
      await owner(world, allKinds),
      await owner(world, { ...allKinds, firstClick: false }),
      await owner(world, { ...allKinds, firstClick: false, deadTarget: false }),
    ];
    const [weeks, days, hours] = all as [Owner, Owner, Owner];
    for (const tenant of all) {
      await waits(world, tenant, [`a${-tenant.number}`]);
      await settings.change(tenant.id, { contact: null }, byCommand);
    }
    const back = async (tenant: Owner) => {
      await settings.change(tenant.id, { contact: "new@ops.example" }, byCommand);
      await world.run();
    };
    world.clock.advance(dayMs);
    await back(hours);
    expect(await kindsOf(world, hours)).toEqual(["drop", "spike"]);
    world.clock.advance(1);
    await back(days);
    expect(await kindsOf(world, days)).toEqual(["deadTarget"]);
    world.clock.advance(24 * dayMs);
    await back(weeks);
    await world.run();
    const [mail, ...more] = await mails(world, weeks);
    expect(more).toEqual([]);
    // What is known of it is from the day on which it was noted again.
    expect(mail).toMatchObject({ kind: "deadTarget" });
    expect(mail?.text).toContain(`/a${-weeks.number}: 0 clicks`);
  });

  test("an old notice whose email is in the outbox was told, and is not forgotten", async () => {
    const world = await open();
    const tenant = await owner(world, { drop: true });
    await waits(world, tenant, ["one"]);
    const real = world.outbox.current;
    world.outbox.current = {
      async enqueue(mail) {
        await real.enqueue(mail);
        throw new Error("killed after it was stored");
      },
    };
    await expect(world.run()).rejects.toThrow("failed");
    world.outbox.current = real;
    world.clock.advance(2 * dayMs);
    await world.run();
    const rows = ofTenant(world.sql.db, tenant.id).selectFrom("click_notices").select("told");
    expect(await rows.where("kind", "=", "drop").execute()).toEqual([{ told: 1 }]);
    expect(await subjects(world, tenant)).toHaveLength(1);
  });

  const domainOf = ({ number }: Owner) => `go${-number}.example`;

  /** Two clicks a day for two weeks, and more on the last Thursday. */
  async function busyWeeks(world: World, tenant: Owner, offsetMs = 0) {
    const { number } = await link(world, tenant, "sale", {
      domain: domainOf(tenant),
      ...{ firstAt: monday - 30 * dayMs, clicks: 100, lastAt: monday - hourMs, title: "Sale" },
    });
    for (let day = 14; day >= 1; day--) {
      const start = monday - day * dayMs - offsetMs;
      const visits = [
        { at: start + 10 * hourMs, count: day === 4 ? 10 : 2, facts: { country: "DE", referrer: "a.example" } },
      ];
      for (const subject of [number, tenant.number]) await condensed(world, tenant, subject, start, visits);
    }
    return number;
  }

  test("the digest comes on Monday at 8:00 of the tenant's zone, once, with the week's numbers", async () => {
    const world = await open(monday + 6 * hourMs + 59 * 60_000);
    const [berlin, utc] = [await owner(world, { digest: true }, "Europe/Berlin"), await owner(world, { digest: true })];
    await busyWeeks(world, berlin, hourMs);
    await busyWeeks(world, utc);
    await world.run();
    expect(await mails(world, berlin)).toEqual([]);
    world.clock.advance(60_000);
    await Promise.all([world.run(), world.other()(), world.other()()]);
    await world.run();
    const [mail, ...more] = await mails(world, berlin);
    expect([more, await mails(world, utc)]).toEqual([[], []]);
    expect(mail).toMatchObject({
      ...{ kind: "digest", dedupe_key: "digest:2026-W46", subject: "Your week: 22 clicks: A tenant" },
      recipient: `${berlin.id}@ops.example`,
    });
    expect(mail?.text).toContain("9 to 15 November 2026");
    expect(mail?.text).toContain("Clicks: 22 (57 % more than the week before)");
    expect(mail?.text).toContain("Daily visitors: 11 (57 % more than the week before)");
    expect(mail?.text).toContain("▂▂▂█▂▂▂");
    expect(mail?.text).toContain(`${domainOf(berlin)}/sale: 22`);
    expect(mail?.text).toContain("Germany: 22 (100 %)");
    expect(mail?.text).toContain("a.example: 22 (100 %)");
    world.clock.advance(hourMs);
    await world.run();
    expect([await subjects(world, berlin), await subjects(world, utc)].map((one) => one.length)).toEqual([1, 1]);
    world.clock.advance(dayMs);
    await world.run();
    expect(await subjects(world, berlin)).toHaveLength(1);
  });

  test("the digest names dead destinations, and none that was changed since the check or has expired", async () => {
    const world = await open(monday + 8 * hourMs);
    const tenant = await owner(world, { digest: true });
    await busyWeeks(world, tenant);
    const targets = createHealthStore(world.sql);
    const verdict = { state: "dead", httpStatus: 404, reason: null, failures: 7 } as const;
    for (const code of ["dead", "changed", "expired"].map((name) => `${name}${-tenant.number}`)) {
      const { id } = await link(world, tenant, code);
      await targets.want(id, 0);
      const url = `https://example.com/${code.startsWith("changed") ? "before" : ""}`;
      await targets.record({ id, url }, verdict, 0, 1);
      if (!code.startsWith("expired")) continue;
      const own = ofTenant(world.sql.db, tenant.id).updateTable("links").where("id", "=", id);
      await own.set({ expires_at: monday }).execute();
    }
    await world.run();
    const [mail] = await mails(world, tenant);
    expect(mail?.text).toContain(`/dead${-tenant.number}`);
    expect(mail?.text).not.toContain("/changed");
    expect(mail?.text).not.toContain("/expired");
  });

  test("the digest names the most clicked links that exist, whatever became of them", async () => {
    const world = await open(monday + 8 * hourMs);
    const tenant = await owner(world, { digest: true });
    await busyWeeks(world, tenant);
    const start = monday - 2 * dayMs;
    const known = { firstAt: monday - 30 * dayMs, lastAt: monday - hourMs };
    const add = async (name: string, count: number) => {
      const code = `${name}${-tenant.number}`;
      const { id, number } = await link(world, tenant, code, { ...known, clicks: 1_000 * count });
      await condensed(world, tenant, number, start, [{ at: start + hourMs, count }]);
      await make(world, tenant, { id, code }, name.replace(/\d/, ""));
    };
    for (let place = 0; place < 5; place++) await add(`deleted${place}`, 100 + place);
    for (const [place, name] of ["disabled", "expired", "suspended"].entries()) await add(name, 80 - place);
    // Its code was taken over by a link without clicks.
    await add("deleted", 70);
    await link(world, tenant, `deleted${-tenant.number}`);
    await world.run();
    const [mail] = await mails(world, tenant);
    const shown = [...(mail?.text ?? "").matchAll(/example\S*\/([a-z]+)\S*: (\d+)/g)].map(([, code, count]) => [
      code,
      count,
    ]);
    expect(shown).toEqual([
      ["disabled", "80"],
      ["expired", "79"],
      ["suspended", "78"],
      ["sale", "22"],
    ]);
  });

  test("the digest names no link near its limit that visitors cannot reach", async () => {
    const world = await open(monday + 8 * hourMs);
    const tenant = await owner(world, { digest: true });
    await busyWeeks(world, tenant);
    const own = ofTenant(world.sql.db, tenant.id);
    for (const name of ["near", "disabled", "expired", "suspended"]) {
      const code = `${name}${-tenant.number}`;
      const { id } = await link(world, tenant, code);
      await own.updateTable("links").set({ hits_per_month: 100 }).where("id", "=", id).execute();
      await world.sql.db
        .insertInto("quotas")
        .values({ domain: "", code, month: "2026-11", draws: "hits", counted: 95, reserved: 0 })
        .execute();
      await make(world, tenant, { id, code }, name);
    }
    await world.run();
    const [mail] = await mails(world, tenant);
    expect(mail?.text).toContain(`/near${-tenant.number}`);
    for (const name of ["disabled", "expired", "suspended"]) expect(mail?.text).not.toContain(`/${name}`);
  });

  test("the digest waits until the week is condensed, and until Thursday at most", async () => {
    const world = await open(monday + 8 * hourMs);
    const [slow, never] = [await owner(world, { digest: true }), await owner(world, { digest: true })];
    for (const tenant of [slow, never]) {
      await busyWeeks(world, tenant);
      const own = ofTenant(world.sql.db, tenant.id).updateTable("click_tenants");
      await own.set({ days_until: monday - dayMs }).execute();
    }
    await world.run();
    expect(await mails(world, slow)).toEqual([]);
    await ofTenant(world.sql.db, slow.id).updateTable("click_tenants").set({ days_until: monday }).execute();
    world.clock.advance(quarterMs);
    await world.run();
    expect(await subjects(world, slow)).toHaveLength(1);
    world.clock.set(monday + 3 * dayMs);
    await ofTenant(world.sql.db, never.id).updateTable("click_tenants").set({ days_until: monday }).execute();
    await world.run();
    expect(await mails(world, never)).toEqual([]);
  });

  test("a tenant without clicks in two weeks gets no digest, and one whose clicks stopped does", async () => {
    const world = await open(monday + 9 * hourMs);
    const [silentOne, stopped] = [await owner(world, { digest: true }), await owner(world, { digest: true })];
    await busyWeeks(world, stopped);
    await world.run();
    world.clock.advance(7 * dayMs);
    await world.run();
    world.clock.advance(7 * dayMs);
    await world.run();
    expect(await mails(world, silentOne)).toEqual([]);
    expect(await subjects(world, stopped)).toEqual(["Your week: 22 clicks: A tenant", "Your week: 0 clicks: A tenant"]);
  });

  test("what is switched off is not told, and neither is a tenant without a contact", async () => {
    const world = await open(monday + 9 * hourMs);
    const [none, gone] = [await owner(world, {}), await owner(world, { digest: true, firstClick: true })];
    for (const tenant of [none, gone]) await busyWeeks(world, tenant);
    await createEmailSettings(world.sql, undefined, world.clock).change(gone.id, { contact: null }, byCommand);
    await world.run();
    expect([await mails(world, none), await mails(world, gone)]).toEqual([[], []]);
  });

  test("a suspended or deleted tenant is told nothing, and after its restore what is new then", async () => {
    const world = await open(monday + 9 * hourMs);
    const tenant = await owner(world, { digest: true, firstClick: true });
    await busyWeeks(world, tenant);
    const own = ofTenant(world.sql.db, tenant.id);
    const deleted = (delete_at: number | null) =>
      world.sql.db.updateTable("tenants").set({ delete_at }).where("id", "=", tenant.id).execute();
    await deleted(world.clock.now() + 30 * dayMs);
    await world.run();
    expect(await mails(world, tenant)).toEqual([]);
    await deleted(null);
    const suspension = { reason: "abuse", suspended_by: "operator", suspended_at: world.clock.now() };
    await own.insertInto("suspended_tenants").values(suspension).execute();
    await world.run();
    expect(await mails(world, tenant)).toEqual([]);
    await own.deleteFrom("suspended_tenants").execute();
    await world.run();
    expect((await mails(world, tenant)).map(({ kind }) => kind)).toContain("digest");
  });

  test("a process that dies before the outbox has the email loses nothing, and tells nothing twice", async () => {
    const world = await open();
    const tenant = await owner(world, { firstClick: true });
    await link(world, tenant, "one", { firstAt: world.clock.now() });
    const real = world.outbox.current;
    world.outbox.current = { enqueue: () => Promise.reject(new Error("killed")) };
    await expect(world.run()).rejects.toThrow("failed for 1 tenants or emails");
    world.outbox.current = {
      async enqueue(mail) {
        await real.enqueue(mail);
        throw new Error("killed after it was stored");
      },
    };
    world.clock.advance(6 * hourMs);
    await expect(world.run()).rejects.toThrow("failed");
    world.outbox.current = real;
    world.clock.advance(6 * hourMs);
    await world.run();
    expect(await subjects(world, tenant)).toEqual(["A link had its first click: A tenant"]);
  });

  test("a tenant that fails does not keep the others from being told", async () => {
    const world = await open(monday + 9 * hourMs);
    const [broken, fine] = [await owner(world, { digest: true }), await owner(world, { digest: true })];
    for (const tenant of [broken, fine]) await busyWeeks(world, tenant);
    await world.sql.db.updateTable("click_rollups").set({ series: "{" }).where("subject", "=", broken.number).execute();
    await expect(world.run()).rejects.toThrow("failed for 1 tenants or emails");
    expect(await subjects(world, fine)).toHaveLength(1);
  });

  test("a run that takes too long stops, and the next one continues with the next tenant", async () => {
    const world = await open();
    const all = [await owner(world, { firstClick: true }), await owner(world, { firstClick: true })];
    for (const tenant of all)
      await link(world, tenant, "one", { firstAt: world.clock.now(), domain: `${tenant.number}.example` });
    let elapsed = 0;
    const slow = { ...world.clock, elapsed: () => (elapsed += 25_000) };
    const tenants = createTenants(world.sql, systemClock);
    const sources = {
      sql: world.sql,
      tenants,
      targets: createHealthStore(world.sql),
      baseUrl: "https://x.example",
      clock: slow,
    };
    const found = [await findClickNotices(sources), await findClickNotices(sources), await findClickNotices(sources)];
    expect(found.map(({ notices, isEnd }) => [notices.map(({ tenant }) => tenant), isEnd])).toEqual([
      [[all[0]?.id], false],
      [[all[1]?.id], false],
      [[], true],
    ] as never);
    expect(all.map(({ id }) => id)).not.toContain(twin);
  });
});
