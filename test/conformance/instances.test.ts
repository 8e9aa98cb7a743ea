import { describe, expect, test } from "bun:test";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { createPulse, join } from "../../src/sql/heartbeat.ts";
import {
  createInstances,
  type Instance,
  type Instances,
  liveMs,
  type Others,
  silentMs,
} from "../../src/sql/instances.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { startProcess } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";

const silent = createLog("silent", { write() {} }, false, systemClock.now);
let machines = 0;

/** A server on its own machine, unless stated otherwise. */
function server(sql: Sql, shares: boolean, more: Partial<Instance> = {}): Instances & { readonly self: Instance } {
  const self = { id: crypto.randomUUID(), host: `machine-${++machines}`, pid: process.pid, shares, ...more };
  return { ...createInstances(sql, self), self };
}

async function age(sql: Sql, ms: number): Promise<void> {
  await sql.db
    .updateTable("instances")
    .set((row) => ({ seen_at: row("seen_at", "-", ms) }))
    .execute();
}

const ids = async (sql: Sql) => (await sql.db.selectFrom("instances").select("id").execute()).map(({ id }) => id);

/** What a log was told, as "level: message". */
function listening() {
  const said: string[] = [];
  const write = (line: string) => {
    const { level, msg } = JSON.parse(line);
    said.push(`${level}: ${msg}`);
  };
  return { said, log: createLog("info", { write }, false, systemClock.now) };
}

onEachDatabase(({ open, openTwo }) => {
  describe("servers of one database", () => {
    test("with Redis join, count each other and leave again", async () => {
      const sql = await open();
      const [one, two] = [server(sql, true), server(sql, true)];
      expect(await one.join()).toEqual({ kind: "joined", others: 0 });
      expect(await two.join()).toEqual({ kind: "joined", others: 1 });
      expect(await one.beat()).toMatchObject({ others: 1, excluding: 0, silent: 0 });
      await two.leave();
      expect(await one.beat()).toMatchObject({ others: 0, excluding: 0, silent: 0 });
      expect(await ids(sql)).toEqual([one.self.id]);
    });

    test.each([
      [false, false],
      [false, true],
      [true, false],
    ])("exclude each other when one lacks Redis: first %p, second %p", async (first, second) => {
      const sql = await open();
      const [one, two] = [server(sql, first), server(sql, second)];
      await one.join();
      const { host, pid, id } = one.self;
      expect(await two.join()).toMatchObject({ kind: "blocked", by: { host, pid, id, shares: first } });
      expect(await ids(sql)).toEqual([id]);
    });

    test("that start in the same moment do not both get in", async () => {
      const connections = await openTwo();
      for (let round = 0; round < 5; round++) {
        const starting = connections.flatMap((sql) => [server(sql, false), server(sql, false)]);
        const answers = await Promise.all(starting.map((one) => one.join()));
        expect(answers.filter(({ kind }) => kind === "joined")).toHaveLength(1);
        await Promise.all(starting.map((one) => one.leave()));
      }
    });

    test("no longer count when they were not seen for six seconds, and can be removed after a minute", async () => {
      const sql = await open();
      const [one, two, three] = [server(sql, false), server(sql, false), server(sql, true)];
      await one.join();
      await age(sql, liveMs - 3_000);
      expect((await two.join()).kind).toBe("blocked");
      await age(sql, 3_000);
      expect(await two.join()).toEqual({ kind: "joined", others: 0 });
      await age(sql, liveMs);
      expect(await three.beat()).toMatchObject({ others: 0, excluding: 0, silent: 0 });
      await three.removeSilent();
      expect((await ids(sql)).toSorted()).toEqual([one.self.id, two.self.id, three.self.id].toSorted());
      await age(sql, silentMs - 2 * liveMs); // which only the first has been silent for
      const { silent, seenAt } = await three.beat();
      expect([silent, Math.abs(seenAt - systemClock.now()) < liveMs]).toEqual([1, true]);
      await three.removeSilent();
      expect((await ids(sql)).toSorted()).toEqual([two.self.id, three.self.id].toSorted());
    });

    test("that were killed are not waited for on their own machine", async () => {
      const sql = await open();
      const host = "here";
      const child = startProcess(["sleep", "60"]);
      const killed = server(sql, false, { host, pid: child.pid });
      const next = server(sql, false, { host });
      await killed.join();
      expect((await next.join()).kind).toBe("blocked");
      expect((await server(sql, false).join()).kind).toBe("blocked");
      await child.kill();
      expect(await next.join()).toEqual({ kind: "joined", others: 0 });
      // Under the same process id again, as the first process of a container.
      expect((await server(sql, false, { host }).join()).kind).toBe("joined");
    });

    test("come back after a pause in which they were taken for dead, and see who got in meanwhile", async () => {
      const sql = await open();
      const [one, two] = [server(sql, false), server(sql, true)];
      await one.join();
      await age(sql, liveMs);
      await two.join();
      expect(await one.beat()).toMatchObject({ others: 1, excluding: 1 });
      expect(await two.beat()).toMatchObject({ others: 1, excluding: 1 });
    });
  });

  describe("a start", () => {
    test("is refused with status 2 once the other is seen to live, and says who it is and what to do", async () => {
      const sql = await open();
      const [one, two] = [server(sql, false), server(sql, true)];
      await one.join();
      const { log, said } = listening();
      const beating = setInterval(() => void one.beat(), 50);
      const refusal = await join(two, two.self, systemClock, log).catch((error: unknown) => error);
      clearInterval(beating);
      expect(refusal).toBeInstanceOf(OperatorError);
      expect(refusal).toMatchObject({ exitCode: 2 });
      const { message } = refusal as OperatorError;
      expect(message).toContain(`(process ${process.pid} on ${one.self.host}) is using this database`);
      expect(message).toContain("that one has no Redis");
      expect(message).toContain("REDIS_URL");
      expect(said).toHaveLength(1);
      expect(said[0]).toStartWith("info: another server used this database a moment ago");
    });

    test("waits for what a killed server of another machine left behind, and then succeeds", async () => {
      const sql = await open();
      const [one, two] = [server(sql, false), server(sql, false)];
      await one.join();
      await age(sql, liveMs - 500);
      expect(await join(two, two.self, systemClock, silent)).toBe(0);
    });
  });
});

describe("a pulse", () => {
  const others: Seen = { others: 2, excluding: 0 };
  type Seen = Partial<Others>;

  /** Others as they will be seen, beat by beat; an error for an unavailable database. */
  function pulseOf(...seen: (Seen | Error)[]) {
    const { log, said } = listening();
    const clock = manualClock(Date.UTC(2026, 10, 17));
    const removals: number[] = [];
    const beat = async () => {
      const next = seen.shift() ?? others;
      if (next instanceof Error) throw next;
      return { others: 0, excluding: 0, silent: 0, seenAt: clock.now(), ...next };
    };
    const unused = () => Promise.reject(new Error("not asked"));
    const removeSilent = async () => void removals.push(clock.now());
    const pulse = createPulse({ beat, removeSilent, join: unused, leave: unused }, 0, clock, log);
    /** Beats every two seconds. */
    const live = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 2_000) {
        clock.advance(2_000);
        await pulse.beat().catch(() => {});
      }
    };
    return { said, pulse, clock, removals, live };
  }

  test("counts the others and oneself, and keeps the number while the database is unavailable", async () => {
    const away = new Error("away");
    const { pulse } = pulseOf(others, away, away, { others: 0, excluding: 0 });
    expect(pulse.count()).toBe(1);
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      await pulse.beat().catch(() => {});
      counts.push(pulse.count());
    }
    expect(counts).toEqual([3, 3, 3, 1]);
  });

  const silent = (beats: number): Seen[] => Array.from({ length: beats }, () => ({ silent: 1 }));

  test("removes silent servers after it has itself beaten for a minute", async () => {
    const { live, removals } = pulseOf(...silent(32));
    await live(silentMs);
    expect(removals).toEqual([]);
    await live(2_000);
    expect(removals).toHaveLength(1);
  });

  test("gives all servers a minute to beat after an outage, a pause, or a jump of the database's clock", async () => {
    const away = new Error("away");
    const outage = pulseOf(...silent(29), ...Array.from({ length: 10 }, () => away), ...silent(40));
    await outage.live((29 + 10) * 2_000 + silentMs);
    expect(outage.removals).toEqual([]);
    await outage.live(2_000);
    expect(outage.removals).toHaveLength(1);

    const paused = pulseOf(...silent(100));
    await paused.live(silentMs);
    paused.clock.advance(20_000);
    await paused.live(silentMs);
    expect(paused.removals).toEqual([]);

    const jumped = pulseOf(...silent(100));
    await jumped.live(silentMs);
    jumped.clock.set(jumped.clock.now() + silentMs);
    await jumped.live(silentMs);
    jumped.clock.set(jumped.clock.now() - 2 * silentMs);
    await jumped.live(silentMs);
    expect(jumped.removals).toEqual([]);
  });

  test("that stops for 40 s ends what depends on it, before others may remove the server; then it starts afresh", async () => {
    const { live, pulse, clock } = pulseOf();
    await live(10_000);
    const before = pulse.lapse();
    clock.advance(39_000);
    expect(before.aborted).toBe(false);
    clock.advance(2_000);
    expect(before.aborted).toBe(true);
    expect(41_000).toBeLessThan(silentMs);
    expect(pulse.lapse().aborted).toBe(true);
    await pulse.beat();
    expect(pulse.lapse().aborted).toBe(false);
    expect(before.aborted).toBe(true);
  });

  test("logs once that an excluded server is there, and again only if it returns", async () => {
    const stranger = { others: 1, excluding: 1 };
    const { pulse, said } = pulseOf(stranger, stranger, others, stranger);
    for (let i = 0; i < 4; i++) await pulse.beat();
    expect(said.map((line) => line.split(":")[0])).toEqual(["error", "error"]);
  });
});
