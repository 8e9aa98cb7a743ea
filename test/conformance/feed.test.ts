import { beforeAll, describe, expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { newId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import type { Change, LinkVersion } from "../../src/cache/feed.ts";
import { keysOfChange, type LinkKey } from "../../src/links/link.ts";
import { createFeed, type FeedPosition, type SqlFeed } from "../../src/sql/feed.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import type { Trx } from "../../src/sql/tenant-db.ts";
import { raiseVersions } from "../../src/sql/versions.ts";
import { linkChange, nameOf } from "../ground/changes.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";

/** Any version, of links that need not exist. */
const record = (trx: Trx, changes: readonly LinkVersion[], at: number) =>
  trx
    .insertInto("changes")
    .values(changes.map((change) => ({ ...change, at })))
    .execute();

const write = (sql: Sql, changes: readonly LinkVersion[], at = 0) => sql.transaction((trx) => record(trx, changes, at));

/** Begins a transaction that has written, and commits it when told to. */
async function beginWrite(sql: Sql, changes: readonly LinkVersion[]): Promise<{ commit(): Promise<void> }> {
  const wrote = Promise.withResolvers<void>();
  const mayCommit = Promise.withResolvers<void>();
  const done = sql.transaction(async (trx) => {
    await record(trx, changes, 0);
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

/** Every page after a position, and how far a follower may advance for good. */
async function readOnce(feed: SqlFeed, from: FeedPosition, limit = 1_000) {
  const changes: Change[] = [];
  let final = from;
  for (let cursor = from; ; ) {
    const page = await feed.after(cursor, limit);
    expect(page.changes.length).toBeLessThanOrEqual(limit);
    changes.push(...page.changes.map(({ at: _, ...change }) => change));
    cursor = page.next;
    final = page.finalUntil ?? final;
    if (page.changes.length < limit) return { changes, final };
  }
}

/** Reads until everything there is final, which waits for every older transaction of the whole PostgreSQL server. */
async function readFinal(feed: SqlFeed, from: FeedPosition): Promise<FeedPosition> {
  return until("everything to be final", async () => {
    const { changes, final } = await readOnce(feed, from);
    return (await readOnce(feed, final)).changes.length === 0 && changes.length > 0 ? final : undefined;
  });
}

const codes = (changes: readonly Change[]) => changes.map(nameOf);

onEachDatabase(({ openTwo }) => {
  let sql: Sql;
  let other: Sql;
  beforeAll(async () => {
    [sql, other] = await openTwo();
  });

  /** The end, with everything before it final, so that a test sees its own changes only. */
  async function start(feed: SqlFeed): Promise<FeedPosition> {
    const before = await feed.end();
    await write(sql, [linkChange("mark")]);
    return readFinal(feed, before);
  }

  test("changes come in the order of their commits, each once, to every client", async () => {
    const feed = createFeed(other);
    const from = await start(feed);
    await write(sql, [linkChange("a"), linkChange("b", 7)]);
    await write(sql, [linkChange("a", 2, "go.example.com")]);
    expect((await readOnce(feed, from)).changes).toEqual([
      linkChange("a"),
      linkChange("b", 7),
      linkChange("a", 2, "go.example.com"),
    ]);
    const final = await readFinal(feed, from);
    await write(sql, [linkChange("c")]);
    expect((await readOnce(feed, final)).changes).toEqual([linkChange("c")]);
  });

  test("a change of anything but a link has its kind and key", async () => {
    const feed = createFeed(other);
    const from = await start(feed);
    const raise = (kind: "domain" | "tenant", ...keys: string[]) =>
      sql.transaction((trx) => raiseVersions(sql, trx, { kind, keys }, 0));
    await raise("domain", "b.example", "a.example", "b.example");
    await raise("domain", "a.example");
    await raise("tenant", "a.example");
    expect((await readOnce(feed, from)).changes).toEqual([
      { kind: "domain", key: "a.example", version: 1 },
      { kind: "domain", key: "b.example", version: 1 },
      { kind: "domain", key: "a.example", version: 2 },
      { kind: "tenant", key: "a.example", version: 1 },
    ]);
  });

  test("many new codes share rows: every code is there once, and none that is not new", async () => {
    const from = await start(createFeed(other));
    const codes = Array.from({ length: 130 }, (_, i) => `many-${String(i).padStart(3, "0")}`);
    const firsts = { firsts: codes.toReversed(), domain: "", tenant: newId("tenant", systemClock) };
    await sql.transaction((trx) => raiseVersions(sql, trx, firsts, 7));
    const { changes } = await createFeed(other).after(from, 1_000);
    const ours = changes.filter((change) => keysOfChange(change)[0]?.startsWith("many-"));
    expect(ours.map(({ kind, version, at }) => ({ kind, version, at }))).toEqual(
      Array.from({ length: 3 }, () => ({ kind: "links", version: 1, at: 7 })),
    );
    expect(ours.map((change) => keysOfChange(change).length)).toEqual([64, 64, 2]);
    expect(ours.flatMap(keysOfChange)).toEqual(codes as LinkKey[]);

    const long = codes.map((code) => code.padEnd(64, "x"));
    await sql.transaction((trx) => raiseVersions(sql, trx, { ...firsts, firsts: long }, 7));
    const rest = (await createFeed(other).after(from, 1_000)).changes.filter(({ kind }) => kind === "links").slice(3);
    expect(rest.map((change) => keysOfChange(change).length)).toEqual([29, 29, 29, 29, 14]);
    expect(rest.flatMap(keysOfChange)).toEqual(long as LinkKey[]);

    const again = sql.transaction((trx) => raiseVersions(sql, trx, { ...firsts, firsts: ["new-1", "many-077"] }, 8));
    await expect(again).rejects.toThrow();
    await sql.transaction((trx) => raiseVersions(sql, trx, { links: [{ domain: "", code: "many-077" }] }, 9));
    const later = (await createFeed(other).after(from, 1_000)).changes.filter(({ at }) => at >= 8);
    expect(later).toMatchObject([{ kind: "link", code: "many-077", version: 2 }]);
  });

  test("a server of the version before kinds, during an upgrade, is understood and understands", async () => {
    const feed = createFeed(other);
    const from = await start(feed);
    await raw`insert into changes (domain, code, version, at) values ('', 'old', 2, 0), ('old.example', '', 3, 0)`.execute(
      sql.db,
    );
    expect((await readOnce(feed, from)).changes).toEqual([
      linkChange("old", 2),
      { kind: "domain", key: "old.example", version: 3 },
    ]);
    await sql.transaction((trx) => raiseVersions(sql, trx, { kind: "domain", keys: ["new.example"] }, 0));
    // It takes a change without a code for one of the domain, and reads that domain again.
    const { rows } = await raw`select domain, code from changes order by id desc limit 1`.execute(sql.db);
    expect(rows).toEqual([{ domain: "new.example", code: "" }]);
  });

  test("a transaction that raised versions cannot do so again, which could lock in another order", async () => {
    const raise = (trx: Trx, key: string) => raiseVersions(sql, trx, { kind: "domain", keys: [key] }, 0);
    const twice = sql.transaction(async (trx) => {
      await raise(trx, "b.example");
      await raise(trx, "a.example");
    });
    await expect(twice).rejects.toThrow("at once");
  });

  test("pages of any size hold the same changes", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const written = Array.from({ length: 24 }, (_, i) => `page-${i}`);
    for (let i = 0; i < written.length; i += 2)
      await write(
        sql,
        written.slice(i, i + 2).map((code) => linkChange(code)),
      );
    for (const limit of [1, 2, 5, 24, 100]) {
      expect(codes((await readOnce(feed, from, limit)).changes)).toEqual(written);
    }
  });

  test("a transaction that is rolled back leaves no change", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const undone = sql.transaction(async (trx) => {
      await record(trx, [linkChange("undone")], 0);
      throw new Error("changed my mind");
    });
    await undone.catch(() => {});
    await write(sql, [linkChange("done")]);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["done"]);
  });

  test("a follower who has seen everything stays where it is", async () => {
    const feed = createFeed(sql);
    const from = await start(feed);
    const page = await feed.after(from, 10);
    expect(page).toMatchObject({ changes: [], next: from });
    expect(page.finalUntil ?? from).toEqual(from);
  });

  test("the end is behind what is committed later, whatever is before it", async () => {
    const feed = createFeed(sql);
    await write(sql, [linkChange("before")]);
    const end = await feed.end();
    await write(sql, [linkChange("behind")]);
    expect(codes((await readOnce(feed, end)).changes)).toContain("behind");
  });

  test("what is pruned is gone, and what comes later is found from where a follower stood", async () => {
    const [mine] = await openTwo();
    const feed = createFeed(mine);
    const from = await feed.end();
    await write(mine, [linkChange("old"), linkChange("older")], 1_000);
    await write(mine, [linkChange("edge")], 2_000);
    const final = await readFinal(feed, from);

    const pruned = (before: number) => feed.prune({ before, now: 9_000 }, 10);
    expect(await pruned(2_000)).toBe(2);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["edge"]);
    expect(await pruned(2_000)).toBe(0);
    expect(await pruned(2_001)).toBe(1);
    expect((await readOnce(feed, from)).changes).toEqual([]);

    await write(mine, [linkChange("new")], 3_000);
    expect(codes((await readOnce(feed, final)).changes)).toEqual(["new"]);
    expect(codes((await readOnce(feed, from)).changes)).toEqual(["new"]);
  });

  describe("pruning", () => {
    async function pruned(times: readonly number[], limit: number): Promise<{ deleted: number; left: string[] }> {
      const [mine] = await openTwo();
      const feed = createFeed(mine);
      const from = await feed.end();
      for (const at of times) await write(mine, [linkChange(`at-${at}`)], at);
      const deleted = await feed.prune({ before: 3_000, now: 5_000 }, limit);
      return { deleted, left: codes((await readOnce(feed, from)).changes) };
    }

    test("deletes all that is old, in as many statements as it takes", async () => {
      expect(await pruned([2_001, 1_000, 2_000, 1_500, 2_999], 2)).toEqual({ deleted: 5, left: [] });
      expect(await pruned([1_000, 1_001, 3_000], 3)).toEqual({ deleted: 2, left: ["at-3000"] });
    });

    test("looks no further than the first ones of which none is old", async () => {
      const left = ["at-4000", "at-4001", "at-1001"];
      expect(await pruned([1_000, 1_002, 4_000, 4_001, 1_001], 2)).toEqual({ deleted: 2, left });
    });

    test("passes over changes of a server whose clock is ahead, however many", async () => {
      const ahead = [90_000, 90_001, 90_002, 90_003];
      const times = [1_000, ...ahead, 1_001, 2_000, 4_000];
      expect(await pruned(times, 2)).toEqual({ deleted: 3, left: [...ahead.map((at) => `at-${at}`), "at-4000"] });
    });

    test("is due once the first change is old", async () => {
      const [mine] = await openTwo();
      const feed = createFeed(mine);
      expect(await feed.hasBefore(9_000)).toBe(false);
      for (const at of [1_000, 9_000]) await write(mine, [linkChange(`at-${at}`)], at);
      expect([await feed.hasBefore(1_000), await feed.hasBefore(1_001)]).toEqual([false, true]);
    });
  });

  test("nothing is missed by a follower who reads while many write", async () => {
    const feed = createFeed(sql);
    let from = await start(feed);
    const seen: Change[] = [];
    const [writerCount, versions] = [8, 15];
    const writers = Array.from({ length: writerCount }, async (_, writer) => {
      for (let version = 1; version <= versions; version++) {
        const open = await beginWrite((writer + version) % 2 === 0 ? sql : other, [
          linkChange(`busy-${writer}`, version),
        ]);
        await open.commit();
      }
    });
    let writing = true;
    const done = Promise.all(writers).finally(() => {
      writing = false;
    });
    // As a follower does: to the end, and for good only past what is final. A transaction of another test, in another
    // database of the same server, may delay that for a while.
    const readMore = async () => {
      let finalSoFar = true;
      for (let cursor = from; ; ) {
        const page = await feed.after(cursor, 7);
        seen.push(...page.changes);
        cursor = page.next;
        if (finalSoFar) from = page.finalUntil ?? from;
        finalSoFar &&= Bun.deepEquals(page.finalUntil, page.next);
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
      const distinct = new Set(seen.map((change) => `${nameOf(change)}@${change.version}`));
      return distinct.size === writerCount * versions || undefined;
    });
    for (let writer = 0; writer < writerCount; writer++) {
      const told = new Set(seen.filter((change) => nameOf(change) === `busy-${writer}`).map(({ version }) => version));
      // What is not final may come out of order when it is read in pages: version 4 of a link, then 3.
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
      const slow = await beginWrite(one, [linkChange("slow")]);
      await write(two, [linkChange("quick")]);

      const { final } = await readOnce(feed, from);
      await slow.commit();
      expect(codes((await readOnce(feed, final)).changes)).toContain("slow");
      await close();
    });

    test("changes that came with a dump of another server are pruned, although they sort behind all others", async () => {
      const { one, feed, from, close } = await setUp();
      for (const at of [1_000, 2_000, 4_000, 4_001]) await write(one, [linkChange(`own-${at}`)], at);
      await raw`insert into changes (xid, domain, code, version, at)
        values ('900000000', '', 'foreign-1000', 1, 1000), ('900000001', '', 'foreign-4000', 1, 4000)`.execute(one.db);
      expect(await feed.prune({ before: 3_000, now: 5_000 }, 2)).toBe(3);
      expect(codes((await readOnce(feed, from)).changes)).toEqual(["own-4000", "own-4001", "foreign-4000"]);
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
        await record(trx, [linkChange("older")], 0);
      });
      await began.promise;
      await write(two, [linkChange("younger")]);
      const { final } = await readOnce(feed, from);
      mayWrite.resolve();
      await older;
      expect(codes((await readOnce(feed, final)).changes)).toContain("older");
      await close();
    });

    test("nor what was being written when a follower began", async () => {
      const { one, two, feed, close } = await setUp();
      const slow = await beginWrite(one, [linkChange("slow")]);
      await write(two, [linkChange("quick")]);
      const end = await feed.end();
      await slow.commit();
      expect(codes((await readOnce(feed, end)).changes)).toContain("slow");
      await close();
    });

    test("transactions come in the order of their numbers, not of the digits of these", async () => {
      const { one, feed, close } = await setUp();
      // Long past ones, for they are final: 9 and 10, 99 and 100.
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

    test("a commit is announced at once, even while an older transaction is open", async () => {
      const { one, two, feed, from, close } = await setUp();
      const slow = await beginWrite(one, [linkChange("slow")]);
      await write(two, [linkChange("quick")]);
      const { changes, final } = await readOnce(feed, from);
      expect(codes(changes)).toEqual(["quick"]);
      expect(final).toEqual(from);
      await slow.commit();
      await close();
    });

    test("even one in another database of the same server", async () => {
      const [here, elsewhere] = [await setUp(), await setUp()];
      const slow = await beginWrite(elsewhere.one, [linkChange("slow")]);
      await write(here.one, [linkChange("quick")]);
      expect(codes((await readOnce(here.feed, here.from)).changes)).toEqual(["quick"]);
      await slow.commit();
      await Promise.all([here.close(), elsewhere.close()]);
    });
  });
}
