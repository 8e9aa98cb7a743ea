import { beforeEach, describe, expect, test } from "bun:test";
import { type ManualClock, manualClock } from "../../src/base/clock.ts";
import { createHotStore, type HotPlace, type HotStore, hotKeptMs } from "../../src/clicks/hot-store.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { onEachDatabase } from "./databases.ts";

const start = Date.UTC(2026, 10, 16);
const minuteMs = 60_000;

const link = (code: string, perMinute: number, more: Partial<HotPlace> = {}): HotPlace => ({
  ...{ domain: "", code, perMinute, usualPerMinute: perMinute, unusual: false },
  ...more,
});

onEachDatabase(({ open }) => {
  describe("the hottest links", () => {
    let sql: Sql;
    let clock: ManualClock;
    let store: HotStore;
    const hottest = async (sinceMs = hotKeptMs) =>
      (await store.hottest(sinceMs, 10)).map(({ code, perMinute }) => [code, perMinute]);

    beforeEach(async () => {
      sql = await open();
      clock = manualClock(start);
      store = createHotStore(sql, clock);
    });

    test("come hottest first, and only as many as are asked for", async () => {
      await store.save("one", [link("warm", 20), link("hot", 300), link("cold", 1)]);
      expect(await store.hottest(minuteMs, 2)).toEqual([link("hot", 300), link("warm", 20)]);
    });

    test("are what an instance said last, and nothing of what it said before", async () => {
      await store.save("one", [link("a", 5), link("b", 7)]);
      await store.save("one", [link("b", 2), link("c", 1)]);
      expect(await hottest()).toEqual([
        ["b", 2],
        ["c", 1],
      ]);
      await store.save("one", []);
      expect(await hottest()).toEqual([]);
    });

    test("are summed over instances, and unusual if they are so to one of them", async () => {
      await store.save("one", [link("a", 5), link("b", 7, { usualPerMinute: 0.6, unusual: true })]);
      await store.save("two", [link("a", 6, { usualPerMinute: 3 }), link("b", 1)]);
      expect(await store.hottest(minuteMs, 10)).toEqual([
        link("a", 11, { usualPerMinute: 8 }),
        link("b", 8, { usualPerMinute: 2, unusual: true }),
      ]);
    });

    test("of two domains are not taken for each other", async () => {
      await store.save("one", [link("a", 5), link("a", 3, { domain: "go.example.com" })]);
      expect(await hottest()).toEqual([
        ["a", 5],
        ["a", 3],
      ]);
    });

    test("are those seen lately, where that is asked for", async () => {
      await store.save("gone", [link("old", 900)]);
      clock.advance(minuteMs);
      await store.save("one", [link("new", 1)]);
      expect(await hottest(minuteMs - 1)).toEqual([["new", 1]]);
      expect(await hottest(minuteMs)).toEqual([
        ["old", 900],
        ["new", 1],
      ]);
    });

    test("of a server that is gone are forgotten after a day, when another one speaks", async () => {
      await store.save("gone", [link("old", 900)]);
      clock.advance(hotKeptMs + 1);
      await store.save("one", [link("new", 1)]);
      expect(await sql.db.selectFrom("hot_links").select("code").execute()).toEqual([{ code: "new" }]);
    });
  });
});
