import { beforeAll, describe, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { type Change, createFeed, type Feed, type FeedPosition, recordChange } from "../../src/sql/feed.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";

const change = (code: string, version = 1): Change => ({ domain: "", code, version });

const write = (sql: Sql, changes: readonly Change[], at = 0) =>
  sql.transaction((trx) => recordChange(trx, changes, at));

/** Begins a transaction that has written, and commits it when told to. */
async function beginWrite(sql: Sql, changes: readonly Change[]): Promise<{ commit(): Promise<void> }> {
  const wrote = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const done = sql.transaction(async (trx) => {
    await recordChange(trx, changes, 0);
    wrote.resolve();
    await mayCommit.promise;
  });
  await Promise.race([wrote.promise, done]);
  return {
    async commit() {
      mayCommit.resolve();
      await done;
    },
  };
}

/** Every page behind a position, and how far a follower may move on for good. */
async function readOnce(feed: Feed, from: FeedPosition, limit = 1_000) {
  const changes: Change[] = [];
  let settled = from;
  for (let cursor = from; ; ) {
    const page = await feed.after(cursor, limit);
    expect(page.changes.length).toBeLessThanOrEqual(limit);
    changes.push(...page.changes.map(({ domain, code, version }) => ({ domain, code, version })));
    cursor = page.next;
    settled = page.settled ?? settled;
    if (page.changes.length < limit) return { changes, settled };
  }
}

/** Reads until everything there is settled, which waits for every older transaction of the whole PostgreSQL server. */
async function readSettled(feed: Feed, from: FeedPosition): Promise<FeedPosition> {
  return until("everything to be settled", async () => {
    const { changes, settled } = await readOnce(feed, from);
    return (await readOnce(feed, settled)).changes.length === 0 && changes.length > 0 ? settled : undefined;
  });
}

const codes = (changes: readonly Change[]) => changes.map(({ code }) => code);

onEachDatabase(({ openTwo }) => {
  let sql: Sql;
  let other: Sql;
  beforeAll(async () => {
    [sql, other] = await openTwo();
  });

  /** The end, with everything before it settled, so that a test sees its own changes only. */
  async function start(feed: Feed): Promise<FeedPosition> {
    const before = await feed.end();
    await write(sql, [change("mark")]);
    return readSettled(feed, before);
  }

  test("changes come in the order of their commits, each once, to every client", async () => {
    const feed = createFeed(other);
    const from = await start(feed);
    await write(sql, [change("a"), change("b", 7)]);
    await write(sql, [{ domain: "go.example.com", code: "a", version: 2 }]);
    expect((await readOnce(feed, from)).changes).toEqual([
      change("a"),
      change("b", 7),
      { domain: "go.example.com", code: "a", version: 2 },
    ]);
    const settled = await readSettled(feed, from);
    await write(sql, [change("c")]);
    expect((await readOnce(feed, settled)).changes).toEqual([change("c")]);
  });

  test("pages of any size hold the same changes", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const written = Array.from({ length: 24 }, (_, i) => `page-${i}`);
    for (let i = 0; i < written.length; i += 2)
      await write(
        sql,
        written.slice(i, i + 2).map((code) => change(code)),
      );
    for (const limit of [1, 2, 5, 24, 100]) {
      expect(codes((await readOnce(feed, from, limit)).changes)).toEqual(written);
    }
  });

  test("a transaction that is rolled back leaves no change", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const undone = sql.transaction(async (trx) => {
      await recordChange(trx, [change("undone")], 0);
      throw new Error("changed my mind");
    });
    await undone.catch(() => {});
    await write(sql, [change("done")]);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["done"]);
  });

  test("a follower who has seen everything stays where it is", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const page = await feed.after(from, 10);
    expect(page).toMatchObject({ changes: [], next: from });
    expect(page.settled ?? from).toEqual(from);
  });

  test("the end is behind what is committed later, whatever is before it", async () => {
    const feed = createFeed(sql);
    await write(sql, [change("before")]);
    const end = await feed.end();
    await write(sql, [change("behind")]);
    expect(codes((await readOnce(feed, end)).changes)).toContain("behind");
  });

  test("what is pruned is gone, and what comes later is found from where a follower stood", async () => {
    const [mine] = await openTwo();
    const feed = createFeed(mine);
    const from = await feed.end();
    await write(mine, [change("old"), change("older")], 1_000);
    await write(mine, [change("edge")], 2_000);
    const settled = await readSettled(feed, from);

    expect(await feed.prune(2_000, 10)).toBe(2);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["edge"]);
    expect(await feed.prune(2_000, 10)).toBe(0);
    expect(await feed.prune(2_001, 10)).toBe(1);
    expect((await readOnce(feed, from)).changes).toEqual([]);

    await write(mine, [change("new")], 3_000);
    expect(codes((await readOnce(feed, settled)).changes)).toEqual(["new"]);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["new"]);
  });

  test("pruning takes the oldest first, and no more than it is told to", async () => {
    const [mine] = await openTwo();
    const feed = createFeed(mine);
    const from = await feed.end();
    for (const at of [3_000, 1_000, 2_000]) await write(mine, [change(`at-${at}`)], at);
    expect(await feed.prune(9_000, 2)).toBe(2);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["at-3000"]);
    expect(await feed.prune(9_000, 2)).toBe(1);
  });

  test("nothing is missed by a follower who reads while many write", async () => {
    const feed = createFeed(sql);
    let from = await start(feed);
    const seen: Change[] = [];
    const [writerCount, versions] = [8, 15];
    const writers = Array.from({ length: writerCount }, async (_, writer) => {
      for (let version = 1; version <= versions; version++) {
        const open = await beginWrite((writer + version) % 2 === 0 ? sql : other, [change(`busy-${writer}`, version)]);
        await open.commit();
      }
    });
    let writing = true;
    const done = Promise.all(writers).finally(() => {
      writing = false;
    });
    // As a follower does: to the end, and for good only past what is settled. A transaction of another test, in another
    // database of the same server, may keep that from moving for a while.
    const readMore = async () => {
      let settledSoFar = true;
      for (let cursor = from; ; ) {
        const page = await feed.after(cursor, 7);
        seen.push(...page.changes);
        cursor = page.next;
        if (settledSoFar) from = page.settled ?? from;
        settledSoFar &&= Bun.deepEquals(page.settled, page.next);
        if (page.changes.length < 7) return;
      }
    };
    while (writing) {
      await readMore();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    await until("every change", async () => {
      await readMore();
      const distinct = new Set(seen.map(({ code, version }) => `${code}@${version}`));
      return distinct.size === writerCount * versions || undefined;
    });
    for (let writer = 0; writer < writerCount; writer++) {
      const told = new Set(seen.filter(({ code }) => code === `busy-${writer}`).map(({ version }) => version));
      // What is not settled may come out of order when it is read in pages: version 4 of a link, then 3.
      expect([...told].sort((a, b) => a - b)).toEqual(Array.from({ length: versions }, (_, i) => i + 1));
    }
  });
});

if (postgresAvailable()) {
  describe("PostgreSQL, where numbers are not in the order of commits", () => {
    const log = createLog("silent", { write() {} }, false, systemClock.now);

    async function setUp() {
      const url = await (await sharedPostgres()).createDatabase("feed");
      const [one, two] = [openPostgres(url, { connections: 3 }, log), openPostgres(url, { connections: 3 }, log)];
      await migrate(one);
      const feed = createFeed(one);
      return { one, two, feed, from: await feed.end(), close: () => Promise.all([one.close(), two.close()]) };
    }

    test("a change with a lower number that is committed later is not missed", async () => {
      const { one, two, feed, from, close } = await setUp();
      const slow = await beginWrite(one, [change("slow")]);
      await write(two, [change("quick")]);

      const { settled } = await readOnce(feed, from);
      await slow.commit();
      expect(codes((await readOnce(feed, settled)).changes)).toContain("slow");
      await close();
    });

    test("nor is one with a higher number in an older transaction", async () => {
      const { one, two, feed, from, close } = await setUp();
      const began = Promise.withResolvers<void>();
      const mayWrite = Promise.withResolvers<void>();
      const older = one.transaction(async (trx) => {
        await trx.insertInto("plans").values({ name: "older", limits: "{}", created_at: 0 }).execute();
        began.resolve();
        await mayWrite.promise;
        await recordChange(trx, [change("older")], 0);
      });
      await began.promise;
      await write(two, [change("younger")]);
      const { settled } = await readOnce(feed, from);
      mayWrite.resolve();
      await older;
      expect(codes((await readOnce(feed, settled)).changes)).toContain("older");
      await close();
    });

    test("nor what was being written when a follower began", async () => {
      const { one, two, feed, close } = await setUp();
      const slow = await beginWrite(one, [change("slow")]);
      await write(two, [change("quick")]);
      const end = await feed.end();
      await slow.commit();
      expect(codes((await readOnce(feed, end)).changes)).toContain("slow");
      await close();
    });

    test("transactions come in the order of their numbers, not of the digits of these", async () => {
      const { one, feed, close } = await setUp();
      // Long past ones, for they are settled: 9 and 10, 99 and 100.
      for (const [xid, code] of [
        ["100", "d"],
        ["9", "a"],
        ["99", "c"],
        ["10", "b"],
      ]) {
        await raw`insert into changes (xid, domain, code, version, at) values (${xid}::xid8, '', ${code}, 1, 0)`.execute(
          one.db,
        );
      }
      for (const limit of [1, 2, 3, 100]) {
        const { changes } = await readOnce(feed, { xid: "3", id: 0 }, limit);
        expect(codes(changes)).toEqual(["a", "b", "c", "d"]);
      }
      await close();
    });

    test("a commit is told at once, though an older transaction is open", async () => {
      const { one, two, feed, from, close } = await setUp();
      const slow = await beginWrite(one, [change("slow")]);
      await write(two, [change("quick")]);
      const { changes, settled } = await readOnce(feed, from);
      expect(codes(changes)).toEqual(["quick"]);
      expect(settled).toEqual(from);
      await slow.commit();
      await close();
    });

    test("even one in another database of the same server", async () => {
      const [here, elsewhere] = [await setUp(), await setUp()];
      const slow = await beginWrite(elsewhere.one, [change("slow")]);
      await write(here.one, [change("quick")]);
      expect(codes((await readOnce(here.feed, here.from)).changes)).toEqual(["quick"]);
      await slow.commit();
      await Promise.all([here.close(), elsewhere.close()]);
    });
  });
}
