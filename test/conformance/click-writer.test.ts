import { beforeEach, describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { firstToLink, firstToTenant, none, other, quarterOf, tooLate, utcDay } from "../../src/clicks/click.ts";
import { everyLevel, shelfOf } from "../../src/clicks/event-shelves.ts";
import { eventsOfQuarterMost } from "../../src/clicks/events/caps.ts";
import { naturalDay } from "../../src/clicks/events/days.ts";
import { groupedTagsMost } from "../../src/clicks/events/groups.ts";
import { newValuesOfLinkMost } from "../../src/clicks/events/values.ts";
import { type ClickWriter, type ClickWriterSettings, createClickWriter } from "../../src/clicks/events/writer.ts";
import { parseReport } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import type { ReportSubject } from "../../src/clicks/reports/scope.ts";
import { readTallyText } from "../../src/clicks/rollups/packed.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { clicksOf, peopleOf } from "../../src/clicks/rollups/tally.ts";
import { linkTagMost, linkTagsMost } from "../../src/links/plain-link.ts";
import { hitReasons } from "../../src/redirect/decide.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { batchOf, clickTenant, storedClicks, storedValues, type TestClick, type TestTenant } from "./click-batches.ts";
import { randomOf } from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const secret = new Uint8Array(32).fill(7);
const hourMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 24 * hourMs;
/** Noon in UTC: a day and its quarters are far away on both sides. */
const noon = Date.UTC(2026, 10, 17, 12);

onEachDatabase(({ open, openTwo }) => {
  describe("clicks are written", () => {
    let sql: Sql;
    let now: number;
    let acme: TestTenant;
    let writers = 0;

    beforeEach(async () => {
      sql = await open();
      now = noon;
      acme = await clickTenant(sql, "acme");
    });

    const writerOn = (on: Sql, more: Partial<ClickWriterSettings> = {}): ClickWriter =>
      createClickWriter({ sql: on, secret, writerId: `w${++writers}`, databaseTime: () => now, ...more });

    const events = async (tenant = acme) =>
      await sql.db.selectFrom("clicks").selectAll().where("tenant", "=", tenant.number).orderBy("at").execute();
    const overflowRows = async () => await sql.db.selectFrom("click_overflow").selectAll().orderBy("link").execute();
    const textOf = async (id: number) =>
      id === 0
        ? none
        : id === 1
          ? other
          : (await sql.db.selectFrom("click_values").select("value").where("id", "=", id).executeTakeFirstOrThrow())
              .value;

    test("with all of their facts", async () => {
      const link = acme.link(5, { domain: "go.example.org", tags: ["b", "a"] });
      const facts = {
        country: "DE",
        browser: "Firefox",
        referrer: "news.example",
        utm_source: "mail",
        variant: "rule 1",
      };
      const written = await writerOn(sql).write(1, batchOf([{ link, at: now - 5, visitor: 9, facts }]));
      expect(written).toEqual({
        ...{ events: 1, overflow: 0, late: 0, tooLate: 0, unrecognised: 0, corrected: 0, dropped: 0, excluded: 0 },
        firstClicks: [link],
      });
      const [event] = await events();
      expect(event).toMatchObject({ day: utcDay(now), tenant: acme.number, link: 5, at: now - 5, reason: 0, first: 3 });
      expect(everyLevel.map((level) => shelfOf(level, now - 5))).toContain(event?.level ?? -1);
      for (const [name, value] of Object.entries(facts)) {
        expect(await textOf(event?.[name as keyof typeof facts] ?? -1)).toBe(value);
      }
      expect(event).toMatchObject({ city: 0, language: 0, bot: 0 });
      expect(await textOf(event?.tags ?? -1)).toBe('["a","b"]');
      expect(await storedValues(sql, 0, "country")).toEqual(["DE"]);
      expect(await storedValues(sql, acme.number, "referrer")).toEqual(["news.example"]);
      const groups = await ofTenant(sql.db, acme.id)
        .selectFrom("click_groups")
        .select(["kind", "name", "number", "since"])
        .orderBy("kind")
        .orderBy("name")
        .execute();
      expect(groups.map(({ kind, name, since }) => [kind, name, since])).toEqual([
        ["domain", "go.example.org", 0],
        ["tag", "a", now],
        ["tag", "b", now],
      ]);
      expect(groups[0]?.number).toBe(event?.domain as never);
      const totals = await ofTenant(sql.db, acme.id).selectFrom("click_links").selectAll().execute();
      expect(totals).toEqual([
        {
          ...{ link: 5, tenant_id: acme.id, domain: "go.example.org", code: "code5", clicks: 1 },
          ...{ first_at: now - 5, last_at: now - 5 },
        } as never,
      ]);
    });

    test("once, however often a batch is sent, and in parts as at once", async () => {
      const link = acme.link(1);
      const writer = writerOn(sql, { clicksMost: 7 });
      const batch = batchOf(
        Array.from({ length: 50 }, (_, i) => ({ link, at: now - 50 + i, visitor: i })),
        [{ link, quarter: quarterOf(now), reasons: { counted: 3, bot: 2 } }],
        4,
        6,
      );
      for (let i = 0; i < 3; i++) await writer.write(1, batch);
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 55 });
      expect((await events()).length).toBe(50);
      expect(await sql.db.selectFrom("click_drops").select(["dropped", "excluded"]).execute()).toEqual([
        { dropped: 4, excluded: 6 },
      ]);
      await writer.write(2, batch);
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 110 });
      const own = ofTenant(sql.db, acme.id).selectFrom("click_links");
      expect(await own.select("clicks").execute()).toEqual([{ clicks: 106 }]);
    });

    test("once, when the commit succeeds and its answer is lost", async () => {
      const link = acme.link(1);
      let loses = false;
      const losing: Sql = {
        ...sql,
        async transaction(work) {
          const result = await sql.transaction(work);
          if (loses) throw Object.assign(new Error("Connection terminated"), { code: "ECONNRESET" });
          return result;
        },
      };
      const writer = writerOn(losing, { clicksMost: 200 });
      const batch = (n: number) =>
        batchOf(Array.from({ length: 400 }, (_, i) => ({ link, at: now - 500 + i, visitor: n * 1_000 + i + 1 })));
      await writer.write(1, batch(1));
      loses = true;
      for (let tries = 0; tries < 2; tries++) await expect(writer.write(2, batch(2))).rejects.toThrow("terminated");
      loses = false;
      const written = await writer.write(2, batch(2));
      await writer.write(3, batch(3));
      expect(written.events + written.overflow).toBe(400);
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 1_200 });
      expect((await events()).length).toBe(eventsOfQuarterMost);
      const [row] = await overflowRows();
      expect(readTallyText(row?.tally ?? "", row?.quarter ?? 0)).toMatchObject({ visitors: 700 });
    });

    test.each([500, 1])(
      "and a visitor is new to the tenant with the click that happened first, %p clicks in a transaction",
      async (clicksMost) => {
        const [low, high] = [acme.link(1), acme.link(2)];
        const visits = [1, 2, 3].flatMap((visitor) => [
          { link: high, at: now - 10, visitor },
          { link: low, at: now - 9, visitor },
        ]);
        const writer = writerOn(sql, { clicksMost });
        await writer.write(1, batchOf(visits));
        await writer.write(2, batchOf(visits));
        const found = (await events()).map(({ link, first }) => [link, first]);
        const count = (link: number, first: number) => found.filter(([l, f]) => l === link && f === first).length;
        expect([count(2, firstToLink | firstToTenant), count(1, firstToLink)]).toEqual([3, 3]);
        expect([count(2, 0), count(1, 0)]).toEqual([3, 3]);
      },
    );

    test("and a visitor who comes before and after midnight is new on both days, whatever the order of links", async () => {
      const midnight = Math.floor(now / dayMs) * dayMs;
      const time = midnight + 60_000;
      const [low, high] = [acme.link(1), acme.link(2)];
      await writerOn(sql, { databaseTime: () => time }).write(
        1,
        batchOf([
          { link: high, at: midnight - 1, visitor: 7 },
          { link: low, at: midnight + 1, visitor: 7 },
          { link: high, at: midnight + 2, visitor: 7 },
        ]),
      );
      const found = (await events()).toSorted((a, b) => a.at - b.at).map(({ link, first }) => [link, first]);
      expect(found).toEqual([
        [2, 3],
        [1, 3],
        [2, 1],
      ]);
    });

    test("and nothing of a transaction that fails is believed later", async () => {
      const link = acme.link(1, { tags: ["x"] });
      let fails = true;
      const failing: Sql = {
        ...sql,
        transaction: (work) =>
          sql.transaction(async (trx) => {
            const result = await work(trx);
            if (fails) throw new Error("no");
            return result;
          }),
      };
      const writer = writerOn(failing);
      const clicks = Array.from({ length: 600 }, (_, i) => ({
        link,
        at: now,
        visitor: i + 1,
        facts: { referrer: "a" },
      }));
      for (let tries = 0; tries < 3; tries++) await expect(writer.write(1, batchOf(clicks))).rejects.toThrow("no");
      fails = false;
      await writer.write(1, batchOf(clicks));
      expect((await events()).length).toBe(eventsOfQuarterMost);
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 600 });
      expect((await events()).filter(({ first }) => first === (firstToLink | firstToTenant)).length).toBe(
        eventsOfQuarterMost,
      );
      expect(await storedValues(sql, acme.number, "referrer")).toEqual(["a"]);
    });

    test("in a row that grows click by click, before and after it is kept in memory", async () => {
      const link = acme.link(1);
      const writer = writerOn(sql, { eventsPerSecond: 0 });
      const click = (n: number) => batchOf([{ link, at: now, visitor: n, facts: { referrer: `site ${n}` } }]);
      for (let n = 1; n <= 4; n++) expect(await writer.write(n, click(n))).toMatchObject({ events: 0, overflow: 1 });
      const [row, ...others] = await overflowRows();
      expect(others).toEqual([]);
      expect(readTallyText(row?.tally ?? "", row?.quarter ?? 0)).toMatchObject({ visitors: 4 });
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 4 });
    });

    test("as events up to the cap of a quarter, people and others apart, and in overflow beyond", async () => {
      const link = acme.link(1, { tags: ["t"] });
      const many = (reason: "counted" | "bot", at: number, count: number): TestClick[] =>
        Array.from({ length: count }, (_, i) => ({
          ...{ link, at, reason, visitor: reason === "bot" ? 0 : i + 1 },
          facts: { country: i % 2 === 0 ? "DE" : "FR", browser: "Safari" },
        }));
      const writer = writerOn(sql);
      const quarter = quarterOf(now);
      await writer.write(1, batchOf(many("counted", quarter + 1, 400)));
      const { overflow } = await writer.write(
        2,
        batchOf([
          ...many("counted", quarter + 2, 200),
          ...many("bot", quarter + 3, 510),
          ...many("bot", quarter - 1, 7),
        ]),
      );
      expect(overflow).toBe(110);
      const stored = await events();
      expect(stored.filter(({ reason }) => reason === 0).length).toBe(500);
      expect(stored.filter(({ reason }) => reason === 1).length).toBe(507);
      const rows = await overflowRows();
      expect(rows.length).toBe(1);
      const tally = readTallyText(rows[0]?.tally ?? "", quarter);
      expect(tally.reasons).toEqual(hitReasons.map((reason) => ({ counted: 100, bot: 10 })[reason as "bot"] ?? 0));
      expect(tally).toMatchObject({ visitors: 0, itemised: 0 });
      expect(tally.people.get("country")?.get("DE")?.clicks).toBe(50);
      for (const values of tally.people.values()) {
        expect([...values.values()].reduce((sum, { clicks }) => sum + clicks, 0)).toBe(peopleOf(tally));
      }
    });

    test("that come faster than its events are counted, and a quiet link keeps all of its events", async () => {
      const [busy, quiet] = [acme.link(1), acme.link(2)];
      const writer = writerOn(sql, { eventsPerSecond: 20, clock: manualClock(now) });
      const many = (link: typeof busy, count: number): TestClick[] =>
        Array.from({ length: count }, (_, i) => ({ link, at: now, visitor: i + 1, facts: { country: "DE" } }));
      const written = await writer.write(1, batchOf([...many(busy, 300), ...many(quiet, 5)]));
      expect(written).toMatchObject({ events: 20, overflow: 285 });
      const stored = await events();
      expect(stored.filter(({ link }) => link === quiet.link).length).toBe(5);
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 300, 2: 5 });
      const [row, ...others] = await overflowRows();
      expect(others).toEqual([]);
      const tally = readTallyText(row?.tally ?? "", quarterOf(now));
      expect([clicksOf(tally), tally.visitors, tally.people.get("country")?.get("DE")?.clicks]).toEqual([
        285, 285, 285,
      ]);
      expect(await writer.write(2, batchOf(many(busy, 7)))).toMatchObject({ events: 0, overflow: 7 });
    });

    test("beyond the cap with the visitors of the link and of the tenant apart", async () => {
      const [one, two] = [acme.link(1), acme.link(2)];
      const writer = writerOn(sql);
      const visits = (link: typeof one, count: number, from: number): TestClick[] =>
        Array.from({ length: count }, (_, i) => ({ link, at: now, visitor: from + i }));
      await writer.write(1, batchOf(visits(one, 600, 1)));
      await writer.write(2, batchOf(visits(two, 700, 1)));
      const [first, second] = await overflowRows();
      const visitorsOf = (text = "") =>
        (["link", "tenant"] as const).map((whose) => readTallyText(text, quarterOf(now), whose).visitors);
      expect([visitorsOf(first?.tally), visitorsOf(second?.tally)]).toEqual([
        [100, 100],
        [200, 100],
      ]);
    });

    test("beyond the cap, and who is new to the link only is added to no visitors of the tenant", async () => {
      const [one, two] = [acme.link(1), acme.link(2)];
      const writer = writerOn(sql);
      const visits = (link: typeof one, count: number, from: number): TestClick[] =>
        Array.from({ length: count }, (_, i) => ({ link, at: now, visitor: from + i }));
      const stored = async () => {
        const row = (await overflowRows()).find(({ link }) => link === one.link);
        return (["link", "tenant"] as const).map((whose) => {
          const tally = readTallyText(row?.tally ?? "", quarterOf(now), whose);
          return [clicksOf(tally), tally.visitors, tally.people.get("country")?.get("")?.clicks];
        });
      };
      await writer.write(1, batchOf(visits(one, 600, 1)));
      await writer.write(2, batchOf(visits(one, 600, 1)));
      expect(await stored()).toEqual([
        [700, 100, 700],
        [700, 100, 700],
      ]);
      await writer.write(3, batchOf(visits(two, 40, 1_001)));
      await writer.write(4, batchOf([...visits(one, 40, 1_001), ...visits(one, 5, 2_001)]));
      expect(await stored()).toEqual([
        [745, 145, 745],
        [745, 105, 745],
      ]);
      await writer.write(5, batchOf(visits(one, 10, 1)));
      expect(await stored()).toEqual([
        [755, 145, 755],
        [755, 105, 755],
      ]);
    });

    test("without facts under pressure, as unknown, so that breakdowns add up", async () => {
      const link = acme.link(1);
      const quarter = quarterOf(now);
      await writerOn(sql).write(1, batchOf([], [{ link, quarter, reasons: { counted: 9, prefetch: 2 } }]));
      const [row] = await overflowRows();
      const tally = readTallyText(row?.tally ?? "", quarter);
      expect(clicksOf(tally)).toBe(11);
      expect([...tally.people.values()].map((values) => values.get(none)?.clicks)).toEqual(Array(14).fill(9));
      expect([...tally.rest.values()].map((values) => values.get(none)?.clicks)).toEqual(Array(14).fill(2));
      const own = ofTenant(sql.db, acme.id).selectFrom("click_links");
      expect(await own.select(["clicks", "last_at"]).execute()).toEqual([{ clicks: 9, last_at: quarter }]);
    });

    test("and the first click ever of a link is reported once; bots are none", async () => {
      const [one, two] = [acme.link(1), acme.link(2)];
      const writer = writerOn(sql);
      const click = (link: typeof one, reason: "counted" | "bot" = "counted") => ({ link, at: now, reason });
      expect((await writer.write(1, batchOf([click(one, "bot")]))).firstClicks).toEqual([]);
      expect((await writer.write(2, batchOf([click(one), click(one), click(two, "bot")]))).firstClicks).toEqual([one]);
      expect((await writer.write(3, batchOf([click(one), click(two)]))).firstClicks).toEqual([two]);
      expect((await writerOn(sql).write(1, batchOf([click(one), click(two)]))).firstClicks).toEqual([]);
    });

    test("with the database's time, if theirs cannot be", async () => {
      const link = acme.link(1);
      const times = [now + 16 * minuteMs, now + 14 * minuteMs, now - 49 * hourMs, Number.NaN, now - 47 * hourMs];
      const { corrected, late } = await writerOn(sql).write(1, batchOf(times.map((at) => ({ link, at }))));
      expect([corrected, late]).toEqual([3, 1]);
      expect((await events()).map(({ at }) => at)).toEqual([now - 47 * hourMs, now, now, now, now + 14 * minuteMs]);
    });

    test("and those of a tenant that does not exist are declared, and stop nobody", async () => {
      const gone = { ...acme.link(9), tenant: -999_999 as never };
      const written = await writerOn(sql).write(
        1,
        batchOf(
          [
            { link: acme.link(1), at: now },
            { link: gone, at: now },
          ],
          [{ link: gone, quarter: quarterOf(now), reasons: { bot: 3 } }],
        ),
      );
      expect([written.events, written.overflow, written.dropped]).toEqual([1, 0, 4]);
    });

    test("whatever texts visitors send", async () => {
      const link = acme.link(1, { tags: ["ü".repeat(50), "\ud800"] });
      const nasty = [
        "a\0b",
        "\ud800",
        "…",
        "x".repeat(5_000),
        "__proto__",
        "'); drop table clicks; --",
        "{1,2}",
        '"\\',
      ];
      const clicks = Array.from({ length: 1_200 }, (_, i) => ({
        link,
        at: now,
        facts: { referrer: nasty[i % 8] ?? "" },
      }));
      await writerOn(sql).write(1, batchOf(clicks));
      expect(await storedClicks(sql, acme.number)).toEqual({ 1: 1_200 });
      expect((await storedValues(sql, acme.number, "referrer")).toSorted()).toEqual(
        ["ab", "\ufffd", "x".repeat(500), "__proto__", "'); drop table clicks; --", "{1,2}", '"\\'].toSorted(),
      );
    });

    test("with all tags of their link, also the longest that it may have", async () => {
      // Not compressible, as PostgreSQL stores them.
      const random = randomOf(20);
      const letter = () => String.fromCharCode(0x3400 + Math.floor(random() * 0x6000));
      const tagsOf = (most: number) =>
        Array.from({ length: most }, () => Array.from({ length: linkTagMost }, letter).join(""));
      const [long, short] = [tagsOf(linkTagsMost), tagsOf(3)];
      const [first = "", ...rest] = long;
      const links = [
        acme.link(1, { tags: long }),
        acme.link(2, { tags: short }),
        acme.link(3, { tags: [...rest, "x"] }),
        acme.link(4),
      ];
      await writerOn(sql).write(
        1,
        batchOf(links.flatMap((link) => Array.from({ length: 10 }, () => ({ link, at: now })))),
      );
      const requireAll = async () => {
        const read = async (subject: ReportSubject, filter: string[]) => {
          const query = parseReport({ from: "2026-11-16", to: "2026-11-18", breakdown: "", filter }, "UTC", now);
          return (await reportOn(sql, manualClock(now), acme.id, subject, query)).totals.clicks;
        };
        const found = async (tag: string) => [
          await read({ kind: "tag", name: tag }, []),
          await read({ kind: "tenant" }, [`tag=${tag}`]),
          await read({ kind: "tenant" }, [`tag!=${tag}`]),
        ];
        expect(await found(first)).toEqual([10, 10, 30]);
        expect(await found(rest.at(-1) ?? "")).toEqual([20, 20, 20]);
        expect(await found(short[0] ?? "")).toEqual([10, 10, 30]);
        for (const tag of rest) expect(await read({ kind: "tag", name: tag }, [])).toBe(20);
        expect(await found(first.slice(1))).toEqual([0, 0, 40]);
        expect(await read({ kind: "tenant" }, ["tag="])).toBe(10);
      };
      await requireAll();
      now += 2 * dayMs;
      await condense(sql, { now });
      await requireAll();
    });

    test("and a flood of new values on one link takes no place from another", async () => {
      const [attacked, quiet] = [acme.link(1), acme.link(2)];
      const writer = writerOn(sql, { clicksMost: 5_000 });
      for (let batch = 0; batch < 10; batch++) {
        const flood = Array.from({ length: 10_000 }, (_, i) => ({
          ...{ link: attacked, at: now + (batch % 5) * 10 },
          facts: { referrer: `r${batch * 10_000 + i}.example`, utm_campaign: `c${batch * 10_000 + i}` },
        }));
        await writer.write(batch + 1, batchOf(flood));
      }
      expect((await storedValues(sql, acme.number, "referrer")).length).toBe(newValuesOfLinkMost);
      const visits = Array.from({ length: 50 }, (_, i) => ({
        link: quiet,
        at: now,
        facts: { referrer: `q${i}.example` },
      }));
      await writer.write(11, batchOf(visits));
      expect((await storedValues(sql, acme.number, "referrer")).filter((value) => value.startsWith("q")).length).toBe(
        50,
      );
      const quietEvents = (await events()).filter(({ link }) => link === 2);
      expect(quietEvents.filter(({ referrer }) => referrer <= 1)).toEqual([]);
      const rows = await overflowRows();
      expect(rows.length).toBe(1);
      expect(rows[0]?.tally.length).toBeLessThan(40_000);
      const tally = readTallyText(rows[0]?.tally ?? "", quarterOf(now));
      expect(clicksOf(tally)).toBe(100_000 - eventsOfQuarterMost);
      expect(tally.people.get("referrer")?.size).toBeLessThanOrEqual(301);
    }, 60_000);

    test("and values are marked as used once a day, and come back if they were collected", async () => {
      const link = acme.link(1);
      const writer = writerOn(sql);
      const visit = () => batchOf([{ link, at: now, facts: { referrer: "news.example", country: "DE" } }]);
      const marked = async () =>
        (await sql.db.selectFrom("click_values").select("seen_day").where("id", ">", 1).execute()).map(
          (row) => row.seen_day,
        );
      await writer.write(1, visit());
      expect(await marked()).toEqual([utcDay(now), utcDay(now)]);
      now += dayMs;
      await writer.write(2, visit());
      expect(await marked()).toEqual([utcDay(now), utcDay(now)]);
      await sql.db.deleteFrom("click_values").where("id", ">", 1).execute();
      now += dayMs;
      await writer.write(3, visit());
      const last = (await events()).at(-1);
      expect([await textOf(last?.referrer ?? -1), await textOf(last?.country ?? -1)]).toEqual(["news.example", "DE"]);
    });

    test("and visitors beyond the room of a tenant's day are recognised only if they were seen before", async () => {
      const other = await clickTenant(sql, "other");
      const writer = writerOn(sql, { visitorRowsMost: 20 });
      const rows = async () => (await sql.db.selectFrom("click_visitors").select("hash").execute()).length;
      let sequence = 0;
      const visit = (visitors: readonly number[], tenant = acme) =>
        writer.write(
          ++sequence,
          batchOf(visitors.map((visitor) => ({ link: tenant.link(1), at: now, visitor, facts: { country: "DE" } }))),
        );
      expect((await visit([1, 2, 3, 4, 5, 6, 7, 8, 9])).unrecognised).toBe(0);
      expect((await visit([9, 10])).unrecognised).toBe(0);
      expect(await rows()).toBe(20);
      // Another process, so that memory does not answer.
      const stranger = writerOn(sql, { visitorRowsMost: 0 });
      const known = await stranger.write(
        1,
        batchOf([3, 4].map((visitor) => ({ link: acme.link(1), at: now, visitor }))),
      );
      expect(known).toMatchObject({ events: 2, unrecognised: 0, tooLate: 0 });
      expect(await visit([1, 11, 11, 12])).toMatchObject({ events: 4, unrecognised: 3, tooLate: 0 });
      expect(await rows()).toBe(20);
      // The next tenant and the next day have their own room.
      expect((await visit([1, 11], other)).unrecognised).toBe(0);
      expect((await events()).map(({ first }) => first).toSorted()).toEqual([
        ...Array.from({ length: 4 }, () => 0),
        ...Array.from({ length: 10 }, () => 3),
        ...Array.from({ length: 3 }, () => tooLate),
      ]);
      const cappedOf = async ({ id }: typeof acme, from: number) =>
        (
          await reportOn(
            sql,
            systemClock,
            id,
            { kind: "tenant" },
            parseReport({ from: iso(from), to: iso(from + dayMs) }, "UTC", now),
          )
        ).visitorsCapped;
      const iso = (at: number) => new Date(at).toISOString();
      const midnight = now - (now % dayMs);
      expect(await cappedOf(acme, midnight)).toEqual([{ from: now, to: midnight + dayMs }]);
      expect(await cappedOf(other, midnight)).toBeNull();
      // The time of the first that was not recognised stays.
      const fullAt = now;
      now += 60_000;
      expect((await visit([13])).unrecognised).toBe(1);
      expect((await stranger.write(2, batchOf([{ link: acme.link(1), at: now, visitor: 14 }]))).unrecognised).toBe(1);
      expect(await cappedOf(acme, midnight)).toEqual([{ from: fullAt, to: midnight + dayMs }]);
      now += dayMs;
      expect((await visit([11, 12])).unrecognised).toBe(0);
      expect((await events()).slice(-2).map(({ first }) => first)).toEqual([3, 3]);
      expect(await cappedOf(acme, midnight + dayMs)).toBeNull();
    });

    test("and only the first tags of a tenant get a group", async () => {
      const links = Array.from({ length: 60 }, (_, i) => acme.link(i + 1, { tags: [`tag${i}`, "common"] }));
      const writer = writerOn(sql, { clicksMost: 10 });
      await writer.write(1, batchOf(links.map((link) => ({ link, at: now }))));
      const tags = await ofTenant(sql.db, acme.id)
        .selectFrom("click_groups")
        .select("name")
        .where("kind", "=", "tag")
        .execute();
      expect(tags.length).toBe(groupedTagsMost);
      expect((await storedValues(sql, acme.number, "tags")).length).toBe(60);
    });
  });

  describe("visitors", () => {
    test("are exact over two processes, many links, zones and the end of a day", async () => {
      const [sql, second] = await openTwo();
      let now = noon;
      const tenants = [await clickTenant(sql, "acme"), await clickTenant(sql, "globex")];
      const zones = ["Asia/Kathmandu", "America/New_York"];
      for (const [place, { id }] of tenants.entries()) {
        const progress = { late: 0, hours_until: 0, days_until: 0, months_until: 0 };
        await ofTenant(sql.db, id)
          .insertInto("click_tenants")
          .values({ zone: zones[place] ?? "", facts: 1, event_days: null, ...progress })
          .execute();
      }
      const writers = [sql, second].map((on, i) =>
        createClickWriter({ sql: on, secret, writerId: `v${i}`, databaseTime: () => now, clicksMost: 300 }),
      );
      const random = seeded(14);
      const seen = new Map<string, Set<number>>();
      const add = (name: string, visitor: number) => seen.set(name, (seen.get(name) ?? new Set()).add(visitor));
      for (let round = 1; round <= 12; round++) {
        const batches = writers.map(() =>
          Array.from({ length: 250 }, (): TestClick => {
            const place = random(2);
            const tenant = tenants[place];
            if (tenant === undefined) throw new Error("no tenant");
            const [visitor, reason] = [random(60), random(5) === 0 ? ("bot" as const) : ("counted" as const)];
            const [link, at] = [tenant.link(place * 10 + random(4) + 1), now - random(9 * minuteMs)];
            const day = naturalDay(at, zones[place] ?? "").start;
            if (reason === "counted" && visitor > 0) {
              add(`${day} ${link.link}`, visitor);
              add(`${day} ${tenant.number}`, visitor);
            }
            return { link, at, reason, visitor };
          }),
        );
        await Promise.all(writers.map((writer, i) => writer.write(round, batchOf(batches[i] ?? []))));
        now += 2 * hourMs + 11 * minuteMs;
      }
      const found = new Map<string, number>();
      for (const { tenant, link, at, first } of await sql.db.selectFrom("clicks").selectAll().execute()) {
        const place = tenants.findIndex(({ number }) => number === tenant);
        const day = naturalDay(at, zones[place] ?? "").start;
        expect(first).toBeLessThan(tooLate);
        if ((first & firstToLink) !== 0) found.set(`${day} ${link}`, (found.get(`${day} ${link}`) ?? 0) + 1);
        if ((first & firstToTenant) !== 0) found.set(`${day} ${tenant}`, (found.get(`${day} ${tenant}`) ?? 0) + 1);
      }
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...seen].map(([name, { size }]) => [name, size])));
      expect(found.size).toBe(20); // two days of eight links and two tenants
    }, 60_000);

    test("whose day is over are not told apart, and leave no hash", async () => {
      const sql = await (await openTwo())[0];
      let now = noon;
      const acme = await clickTenant(sql, "acme");
      const writer = createClickWriter({ sql, secret, writerId: "late", databaseTime: () => now });
      const click = { link: acme.link(1), at: now, visitor: 5 };
      await writer.write(1, batchOf([click]));
      now = naturalDay(noon, "UTC").until + 14 * minuteMs;
      const soon = await writer.write(2, batchOf([{ ...click, visitor: 6 }]));
      now += 2 * minuteMs;
      const late = await writer.write(
        3,
        batchOf([
          { ...click, visitor: 7 },
          { ...click, visitor: 5 },
        ]),
      );
      expect([soon.tooLate, late.tooLate]).toEqual([0, 2]);
      expect((await sql.db.selectFrom("click_visitors").select("hash").execute()).length).toBe(4);
      const firsts = await sql.db.selectFrom("clicks").select("first").orderBy("first").execute();
      expect(firsts.map(({ first }) => first)).toEqual([3, 3, 4, 4]);
    });

    test("of a day whose salt a backup left out are told apart again", async () => {
      const [sql] = await openTwo();
      const acme = await clickTenant(sql, "acme");
      const settings = { sql, secret, databaseTime: () => noon };
      const visit = batchOf([{ link: acme.link(1), at: noon, visitor: 5 }]);
      await createClickWriter({ ...settings, writerId: "before" }).write(1, visit);
      await sql.db.updateTable("click_days").set({ salt: null }).execute();
      await sql.db.deleteFrom("click_visitors").execute();
      const after = createClickWriter({ ...settings, writerId: "after" });
      await after.write(1, visit);
      await after.write(2, visit);
      const firsts = await sql.db.selectFrom("clicks").select("first").execute();
      expect(firsts.map(({ first }) => first).toSorted()).toEqual([0, 3, 3]);
      expect((await sql.db.selectFrom("click_days").select("salt").execute())[0]?.salt).toMatch(/^[0-9a-f]{64}$/);
    });

    test("of a changed zone have a day that begins where the old one ends", async () => {
      const [sql] = await openTwo();
      const acme = await clickTenant(sql, "acme");
      let now = noon;
      const writer = createClickWriter({ sql, secret, writerId: "zone", databaseTime: () => now });
      const visit = () => batchOf([{ link: acme.link(1), at: now, visitor: 5 }]);
      await writer.write(1, visit());
      await ofTenant(sql.db, acme.id).updateTable("click_tenants").set({ zone: "America/New_York" }).execute();
      for (const hours of [11, 2, 12, 12]) {
        now += hours * hourMs;
        await writer.write(now, visit());
      }
      const days = await sql.db.selectFrom("click_days").select(["start", "until"]).orderBy("start").execute();
      const midnight = Date.UTC(2026, 10, 18);
      expect(days).toEqual([
        { start: midnight - dayMs, until: midnight },
        { start: midnight, until: midnight + 5 * hourMs },
        { start: midnight + 5 * hourMs, until: midnight + 29 * hourMs },
      ]);
    });
  });

  test("a server whose clock is behind has no late clicks, and stores the database's time", async () => {
    const [sql] = await openTwo();
    const acme = await clickTenant(sql, "acme");
    const behindMs = 5 * minuteMs;
    const clock = { ...systemClock, now: () => systemClock.now() - behindMs };
    const writer = createClickWriter({ sql, secret, writerId: "behind", clock });
    const link = acme.link(1);
    const bare = [{ link, quarter: quarterOf(clock.now()), reasons: { counted: 2 } }];
    const { late, corrected, events } = await writer.write(1, batchOf([{ link, at: clock.now() }], bare));
    expect({ late, corrected, events }).toEqual({ late: 0, corrected: 0, events: 1 });
    const [stored] = await sql.db.selectFrom("clicks").select("at").where("tenant", "=", acme.number).execute();
    // The clock of SQLite is the server's.
    const now = sql.dialect === "sqlite" ? clock.now() : systemClock.now();
    expect(Math.abs((stored?.at ?? 0) - now)).toBeLessThan(minuteMs);
  });

  test("an answer of the database that takes long is not taken for a clock that differs", async () => {
    const [sql] = await openTwo();
    const acme = await clickTenant(sql, "acme");
    let asked = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + (asked++ % 2 === 0 ? -5_000 : 5_000) };
    const writer = createClickWriter({ sql, secret, writerId: "slow", clock });
    const at = systemClock.now();
    await writer.write(1, batchOf([{ link: acme.link(1), at }]));
    const stored = await sql.db.selectFrom("clicks").select("at").where("tenant", "=", acme.number).execute();
    expect(stored).toEqual([{ at }]);
  });

  describe("late clicks", () => {
    test("delete the roll-ups that lack them, and move the tenant's progress back", async () => {
      const [sql] = await openTwo();
      const [acme, globex] = [await clickTenant(sql, "acme"), await clickTenant(sql, "globex")];
      const writer = createClickWriter({ sql, secret, writerId: "late", databaseTime: () => noon });
      const link = acme.link(1, { tags: ["news"] });
      const clickAt = noon - 90 * minuteMs;
      await writer.write(
        1,
        batchOf([
          { link, at: noon },
          { link: globex.link(2), at: noon },
        ]),
      );
      const groups = await ofTenant(sql.db, acme.id).selectFrom("click_groups").select("number").execute();
      const hour = noon - 2 * hourMs;
      const [day, week, month] = [Date.UTC(2026, 10, 17), Date.UTC(2026, 10, 16), Date.UTC(2026, 10, 1)];
      const subjects = [1, acme.number, ...groups.map(({ number }) => number), 2, globex.number];
      const periods = [
        ...[hour - hourMs, hour, hour + hourMs].map((start) => ({ grain: 1, start, until: start + hourMs })),
        ...[day - dayMs, day].map((start) => ({ grain: 2, start, until: start + dayMs })),
        ...[Date.UTC(2026, 9, 1), month].map((start) => ({ grain: 3, start, until: start + 30 * dayMs })),
        ...[week - 7 * dayMs, week].map((start) => ({ grain: 4, start, until: start + 7 * dayMs })),
      ];
      const counts = { reasons: "[]", visitors: 0, itemised: 0, series: "[]", facts: "{}" };
      await sql.db
        .insertInto("click_rollups")
        .values(
          subjects.flatMap((subject) => periods.map((period) => ({ ...counts, ...period, subject: subject as never }))),
        )
        .execute();
      const progress = { hours_until: noon - hourMs, days_until: noon, weeks_until: noon, months_until: noon };
      for (const { id } of [acme, globex])
        await ofTenant(sql.db, id).updateTable("click_tenants").set(progress).execute();

      expect((await writer.write(2, batchOf([{ link, at: noon - 59_000 }]))).late).toBe(0);
      expect((await sql.db.selectFrom("click_rollups").select("start").execute()).length).toBe(subjects.length * 9);
      expect((await writer.write(3, batchOf([{ link, at: clickAt }]))).late).toBe(1);
      const left = await sql.db.selectFrom("click_rollups").select(["subject", "grain", "start"]).execute();
      const keyOf = ({ grain, start }: { readonly grain: number; readonly start: number }) => `${grain} ${start}`;
      const ofSubject = (subject: number) =>
        left
          .filter((row) => row.subject === subject)
          .map(keyOf)
          .toSorted();
      const gone = [`1 ${hour}`, `2 ${day}`, `4 ${week}`, `3 ${month}`];
      const kept = periods
        .map(keyOf)
        .filter((key) => !gone.includes(key))
        .toSorted();
      for (const subject of subjects.slice(0, 4)) expect(ofSubject(subject)).toEqual(kept);
      for (const subject of subjects.slice(4)) expect(ofSubject(subject).length).toBe(9);
      const progressOf = async ({ id }: TestTenant) =>
        await ofTenant(sql.db, id)
          .selectFrom("click_tenants")
          .select(["late", "hours_until", "days_until", "weeks_until", "months_until"])
          .executeTakeFirstOrThrow();
      const back = { hours_until: quarterOf(clickAt), days_until: day, weeks_until: week, months_until: month };
      expect(await progressOf(acme)).toEqual({ late: 1, ...back });
      expect(await progressOf(globex)).toEqual({ late: 0, ...progress });

      const bare = [{ link, quarter: quarterOf(clickAt), reasons: { counted: 2 } }];
      expect((await writer.write(4, batchOf([], bare))).late).toBe(2);
      expect((await progressOf(acme)).late).toBe(3);
    });
  });
});

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
