import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { type Redis, RedisUnavailable } from "./client.ts";
import { createRedisLeases } from "./leases.ts";

const monthEnd = Date.UTC(2026, 11);
const ask = { id: "a.1", key: "abc", draws: "hits", max: 1_000, want: 1 } as const;

/**
 * Leases on a Redis whose answers the test gives one by one, and the calls it got: the month and the leases that ended.
 */
function leasesOn(...answers: (unknown[] | "lost")[]) {
  const calls: { month: string; ended: string[] }[] = [];
  const clock = manualClock(monthEnd - 100);
  const redis: Pick<Redis, "script"> = {
    async script(_, [key = ""], args) {
      calls.push({ month: key.slice(-7), ended: args.slice(11) });
      const answer = answers.shift() ?? ["ended"];
      if (answer === "lost") throw new RedisUnavailable(new Error("no answer"));
      return answer;
    },
  };
  return { leases: createRedisLeases({ redis, clock, readTotal: async () => 0 }), calls, clock };
}

test("an ask is taken back in the month it was asked in, wherever the clock is by then", async () => {
  const { leases, calls, clock } = leasesOn("lost");
  await leases.acquire(ask).catch(() => {});
  clock.advance(200);
  leases.cancel(ask);
  await leases.flush();
  expect(calls.at(-1)).toEqual({ month: "2026-11", ended: ["a.1", "all"] });
});

test("an ask that was repeated in the next month is taken back in the one before", async () => {
  const { leases, calls, clock } = leasesOn("lost", ["granted", "10", "5000"]);
  await leases.acquire(ask).catch(() => {});
  clock.advance(200);
  expect(await leases.acquire(ask)).toMatchObject({ month: "2026-12", size: 10 });
  await leases.flush();
  expect(calls.at(-1)).toEqual({ month: "2026-11", ended: ["a.1", "all"] });
});

test("an ask that is denied when it is repeated is taken back, for its first copy may still come", async () => {
  const { leases, calls } = leasesOn("lost", ["denied", 0, String(monthEnd - 50)]);
  await leases.acquire(ask).catch(() => {});
  expect((await leases.acquire(ask)).kind).toBe("denied");
  await leases.flush();
  expect(calls.at(-1)).toEqual({ month: "2026-11", ended: ["a.1", "all"] });
});

test("an ask that was granted after its visitors gave up is taken back", async () => {
  const { leases, calls } = leasesOn(["granted", "10", "5000"]);
  await leases.acquire(ask);
  leases.cancel(ask);
  await leases.flush();
  expect(calls.at(-1)).toEqual({ month: "2026-11", ended: ["a.1", "all"] });
});

test("an ask that is taken back while its total is being read is not sent again", async () => {
  const { leases, calls } = leasesOn(["missing"]);
  const asking = leases.acquire(ask);
  await Promise.resolve();
  leases.cancel(ask);
  await expect(asking).rejects.toThrow("taken back");
  expect(calls).toHaveLength(1);
});

test("a lease that has ended is ended once", async () => {
  const { leases, calls } = leasesOn(["granted", "10", "5000"]);
  await leases.acquire(ask);
  leases.end([{ ...ask, month: "2026-11", lease: ask.id, unspent: 3 }]);
  await leases.flush();
  leases.cancel(ask);
  await leases.flush();
  expect(calls.map(({ ended }) => ended)).toEqual([[], ["a.1", "3"]]);
});

test("the end of a lease is kept while Redis is in an earlier month, and forgotten when its month is over", async () => {
  const ended = { key: "abc", draws: "hits", month: "2026-12", lease: "a.1", unspent: 3 } as const;
  const { leases, calls } = leasesOn(
    ["window", String(monthEnd - 5)],
    ["ended"],
    ["window", String(Date.UTC(2027, 0))],
  );
  leases.end([ended]);
  await leases.flush();
  await leases.flush();
  await leases.flush();
  expect(calls).toHaveLength(2);
  leases.end([ended]);
  await leases.flush();
  await leases.flush();
  expect(calls).toHaveLength(3);
});

test("links that are looked up in one turn depend on their own node, not on one that is dead or hangs", async () => {
  const redis: Pick<Redis, "script" | "slotOf"> = {
    slotOf: (key) => Number(key.includes("dead")) + 2 * Number(key.includes("hanging")),
    script: async (_, [key = "", ...more], args) => {
      if (key.includes("dead")) throw new RedisUnavailable(new Error("no answer"));
      if (key.includes("hanging")) await new Promise(() => {});
      return args.length === 0 ? [key, ...more].map(() => 1) : ["granted", "10", "5000"];
    },
  };
  const clock = manualClock(monthEnd - 100);
  const leases = createRedisLeases({ redis, clock, readTotal: async () => 0 });
  const asks = ["hanging", "good-1", "dead", "good-2"].map((key, place) => ({ ...ask, id: `a.${place}`, key }));
  const [, first, second, third] = asks.map((one) => leases.acquire(one).catch(() => undefined));
  expect(await second).toBeUndefined();
  expect([await first, await third]).toMatchObject([{ kind: "granted" }, { kind: "granted" }]);
});
