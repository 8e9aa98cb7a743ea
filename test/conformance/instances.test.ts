import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { createPulse, join } from "../../src/sql/heartbeat.ts";
import { createInstances, type Instance, type Instances, liveMs } from "../../src/sql/instances.ts";
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
      expect(await one.beat()).toEqual({ others: 1, excluding: 0 });
      await two.leave();
      expect(await one.beat()).toEqual({ others: 0, excluding: 0 });
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

    test("are gone, and their rows removed, when they were not seen for six seconds", async () => {
      const sql = await open();
      const [one, two, three] = [server(sql, false), server(sql, false), server(sql, true)];
      await one.join();
      await age(sql, liveMs - 3_000);
      expect((await two.join()).kind).toBe("blocked");
      await age(sql, 3_000);
      expect(await two.join()).toEqual({ kind: "joined", others: 0 });
      expect(await ids(sql)).toEqual([two.self.id]);
      await age(sql, liveMs);
      expect(await three.beat()).toEqual({ others: 0, excluding: 0 });
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
      expect(await one.beat()).toEqual({ others: 1, excluding: 1 });
      expect(await two.beat()).toEqual({ others: 1, excluding: 1 });
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
  const others = { others: 2, excluding: 0 };

  /** Others as they will be seen, beat by beat; an error for an unavailable database. */
  function pulseOf(...seen: ({ others: number; excluding: number } | Error)[]) {
    const { log, said } = listening();
    const beat = async () => {
      const next = seen.shift() ?? others;
      if (next instanceof Error) throw next;
      return next;
    };
    const unused = () => Promise.reject(new Error("not asked"));
    return { said, pulse: createPulse({ beat, join: unused, leave: unused }, 0, log) };
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

  test("logs once that an excluded server is there, and again only if it returns", async () => {
    const stranger = { others: 1, excluding: 1 };
    const { pulse, said } = pulseOf(stranger, stranger, others, stranger);
    for (let i = 0; i < 4; i++) await pulse.beat();
    expect(said.map((line) => line.split(":")[0])).toEqual(["error", "error"]);
  });
});
