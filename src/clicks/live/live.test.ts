import { describe, expect, test } from "bun:test";
import { batchOf, codesOf, type LiveOptions, mine, others, startLive, watchLive } from "../../../test/ground/live.ts";
import { type ManualClock, manualClock } from "../../base/clock.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { type Live, streamsOfTenantMost } from "./live.ts";
import type { RelayChannels } from "./relay.ts";

const [a, b] = [0, 1];

/** Publish and subscribe between processes, all of which can lose it. */
function network() {
  const heard = new Map<string, Set<(message: string) => void>>();
  const state = { isAway: false, messages: [] as string[] };
  const channels = (): RelayChannels => ({
    subscribe(channel, onMessage) {
      const own = heard.get(channel) ?? new Set();
      heard.set(channel, own.add(onMessage));
      return { close: () => void own.delete(onMessage) };
    },
    async publish(channel, message) {
      if (state.isAway) throw new Error("away");
      state.messages.push(channel);
      // As over a network, what was published is never heard before its publisher goes on.
      await Promise.resolve();
      for (const one of heard.get(channel) ?? []) one(message);
    },
    close() {},
  });
  return { state, channels };
}

const start = (options: LiveOptions & { clock?: ManualClock } = {}) => {
  const { clock = manualClock(0) } = options;
  return { clock, ...startLive({ ...options, clock }) };
};

/** What has come when everything that only waits for promises has happened. */
async function watch(live: Live, number: TenantNumber = mine, key = "key_1") {
  const { text, events, ...reader } = await watchLive(live, number, key);
  return {
    ...reader,
    text: () => settled().then(text),
    events: (kind: string) => settled().then(() => events(kind)),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

const times = (link: number, count: number) => Array.from({ length: count }, () => link);

describe("live clicks", () => {
  test("a click is an event with its facts; the other tenant's are not shown", async () => {
    const { live } = start();
    const stream = await watch(live);
    live.offer(batchOf([a, 2, 3, b]));
    const events = await stream.events("click");
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual({
      ...{
        at: "1970-01-01T00:00:00.000Z",
        link: { domain: "go.example.com", code: "a" },
        reason: "counted",
        verdict: "counted",
      },
      ...{ country: "DE", region: null, city: "Berlin", device: null, browser: null, os: null, referrer: null },
      ...{ language: null, utm_source: null, utm_medium: null, utm_campaign: null },
      ...{ source: null, variant: null, bot: null },
    });
    expect(await stream.text()).toStartWith("retry: 3000\n\n: connected\n\nid: p");
  });

  test("nothing is wanted before the first reader and after the last", async () => {
    const { live } = start();
    expect([live.wanted, live.isWanted(mine)]).toEqual([false, false]);
    const [one, two] = [await watch(live), await watch(live)];
    expect([live.wanted, live.isWanted(mine), live.isWanted(others), live.streams]).toEqual([true, true, false, 2]);
    await one.leave();
    expect(live.wanted).toBe(true);
    await two.leave();
    expect([live.wanted, live.streams]).toEqual([false, 0]);
  });

  test("beyond 50 a second, the rest is one number when the second ends, with clicks that have no facts", async () => {
    const { live, clock } = start();
    const stream = await watch(live);
    live.offer(batchOf([...times(a, 500), ...times(b, 5)], [{ link: a, quarter: 0, reasons: [3, 4] }]));
    expect(await stream.events("click")).toHaveLength(45);
    clock.advance(2_000);
    expect(await stream.events("more")).toEqual([{ clicks: 460 + 7, quotas: 0 }]);
    clock.advance(5_000);
    expect(await stream.events("more")).toHaveLength(1);
    live.offer(batchOf([a]));
    expect(await stream.events("click")).toHaveLength(46);
  });

  test("a link's hits are told once a second, the last number", async () => {
    const { live, clock } = start();
    const stream = await watch(live);
    const quota = { tenant: mine, domain: "", code: "a", month: "2026-11", limit: 100 };
    for (let used = 1; used <= 30; used++)
      live.counted([
        { ...quota, used },
        { ...quota, tenant: others, used: 99 },
      ]);
    live.counted(Array.from({ length: 30 }, (_, i) => ({ ...quota, code: `c${i}`, used: i })));
    clock.advance(2_000);
    const told = await stream.events("quota");
    expect(told).toHaveLength(20);
    expect(told[0]).toEqual({ link: { domain: "go.example.com", code: "a" }, month: "2026-11", used: 30, limit: 100 });
    expect(await stream.events("more")).toEqual([{ clicks: 0, quotas: 11 }]);
  });

  test("a tenant has at most 20 streams, and a full server refuses", async () => {
    const { live } = start();
    for (let i = 0; i < streamsOfTenantMost; i++) await watch(live);
    expect(watch(live)).rejects.toMatchObject({ code: "too_many_streams" });
    await (await watch(live, others)).leave();
    const small = start({ places: 2 }).live;
    await watch(small);
    expect(watch(small)).rejects.toMatchObject({ code: "busy" });
    const other = await watch(small, others);
    await other.leave();
    await watch(small, others);
  });

  test("a stream whose key is no longer valid ends within ten seconds, and no other", async () => {
    const { live, clock } = start({ isAllowed: (key) => key !== "key_1" });
    const [revoked, valid] = [await watch(live, mine, "key_1"), await watch(live, mine, "key_2")];
    clock.advance(10_000);
    expect(await revoked.text()).toContain("the API key or session is no longer valid");
    await settled();
    expect([revoked.isOver(), valid.isOver()]).toEqual([true, false]);
  });

  test("streams stay open while keys cannot be checked", async () => {
    const { live, clock } = start({
      isAllowed() {
        throw new Error("the database is away");
      },
    });
    const stream = await watch(live);
    clock.advance(10_000);
    await stream.text();
    expect(stream.isOver()).toBe(false);
  });

  test("a stream has a heartbeat every 15 s and ends after an hour", async () => {
    const { live, clock, count } = start();
    const stream = await watch(live);
    for (let second = 0; second < 3_599; second += 1) {
      clock.advance(1_000);
      if (second % 15 === 0) await settled();
    }
    expect((await stream.text()).match(/: still here/g)).toHaveLength(239);
    clock.advance(1_000);
    expect(await stream.text()).toEndWith(": its time is over. Connect again.\n\n");
    expect(count.ended).toEqual({ left: 0, cut: 0, ended: 1 });
  });

  test("a close ends all streams, and no new one begins", async () => {
    const { live } = start();
    const streams = [await watch(live), await watch(live, others)];
    await live.close();
    for (const stream of streams) expect(await stream.text()).toEndWith(": the server is stopping. Connect again.\n\n");
    expect(watch(live)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("live clicks of several processes", () => {
  function startTwo() {
    const clock = manualClock(0);
    const net = network();
    const here = start({ clock, channels: net.channels() });
    const there = start({ clock, channels: net.channels() });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        await settled();
      }
    };
    return { here, there, pass, ...net };
  }

  test("a click in one is seen in the other, by readers of its tenant only", async () => {
    const { here, there, pass } = startTwo();
    const [stream, other] = [await watch(here.live), await watch(here.live, others)];
    await settled();
    expect([there.live.wanted, there.live.isWanted(mine)]).toEqual([true, true]);
    there.live.offer(batchOf([a]));
    here.live.offer(batchOf([b]));
    await pass(300);
    expect(codesOf(await stream.events("click")).toSorted()).toEqual(["a", "b"]);
    expect(await other.events("click")).toEqual([]);
    expect([there.count.sent, here.count.sent]).toEqual([
      { sent: 1, failed: 0 },
      { sent: 0, failed: 0 },
    ]);
  });

  test("two processes with readers show each click once", async () => {
    const { here, there, pass } = startTwo();
    const streams = [await watch(here.live), await watch(there.live)];
    await settled();
    here.live.offer(batchOf([a]));
    there.live.offer(batchOf([b]));
    await pass(1_000);
    for (const stream of streams) expect(codesOf(await stream.events("click")).toSorted()).toEqual(["a", "b"]);
  });

  test("without readers there are no messages, and soon none after the last has left", async () => {
    const { here, there, pass, state } = startTwo();
    there.live.offer(batchOf([a]));
    await pass(10_000);
    expect(state.messages).toEqual([]);
    const stream = await watch(here.live);
    await pass(5_000);
    expect(there.live.wanted).toBe(true);
    await stream.leave();
    await pass(8_000);
    expect([there.live.wanted, there.live.isWanted(mine)]).toEqual([false, false]);
    state.messages.length = 0;
    there.live.offer(batchOf([a]));
    await pass(3_000);
    expect(state.messages).toEqual([]);
  });

  test("a process sends at most five messages a second, whatever the traffic", async () => {
    const { here, there, pass, state } = startTwo();
    const stream = await watch(here.live);
    await settled();
    const sent = () => state.messages.filter((channel) => channel === `ql:live:${mine}`).length;
    for (let i = 0; i < 20; i++) {
      there.live.offer(batchOf(times(a, i < 10 ? 2 : 100)));
      await pass(100);
      if (i === 9) expect([4, 5]).toContain(sent());
    }
    expect(sent()).toBeLessThanOrEqual(10);
    await pass(3_000);
    const shown = await stream.events("click");
    const more = await stream.events("more");
    expect(shown.length + more.reduce((sum, { clicks }) => sum + Number(clicks), 0)).toBe(1_020);
    expect(shown.length).toBeLessThanOrEqual(40 * 3);
  });

  test("the hits of a link that several processes count never go back, and a raised limit is shown", async () => {
    const { here, there, pass } = startTwo();
    const streams = [await watch(here.live), await watch(there.live)];
    await settled();
    const november = { tenant: mine, domain: "", code: "a", month: "2026-11", limit: 1_000 };
    const december = { ...november, month: "2026-12" };
    for (const [{ live }, quota] of [
      [here, { ...november, used: 844 }],
      [there, { ...november, used: 712 }],
      [there, { ...november, used: 900 }],
      [here, { ...november, used: 750, limit: 2_000 }],
      [there, { ...december, used: 3 }],
      [here, { ...december, used: 2 }],
    ] as const) {
      live.counted([quota]);
      await pass(1_500);
    }
    for (const stream of streams) {
      const told = (await stream.events("quota")).map(({ month, used, limit }) => `${month} ${used} of ${limit}`);
      const before = ["2026-11 844 of 1000", "2026-11 900 of 1000", "2026-11 900 of 2000"];
      expect(told).toEqual([...before, "2026-12 3 of 1000"]);
      expect(await stream.events("more")).toEqual([]);
    }
  });

  test("while Redis is away, this process's clicks are shown, and the stream says so once", async () => {
    const { here, there, pass, state } = startTwo();
    const early = await watch(here.live);
    await pass(3_000);
    expect(await early.events("notice")).toEqual([]);
    state.isAway = true;
    await pass(6_000);
    const late = await watch(here.live);
    there.live.offer(batchOf([a]));
    here.live.offer(batchOf([b]));
    await pass(1_000);
    for (const stream of [early, late]) {
      expect((await stream.events("notice")).map(({ code }) => code)).toEqual(["this_server_only"]);
      expect(await stream.events("click")).toMatchObject([{ link: { code: "b" } }]);
    }
    state.isAway = false;
    await pass(3_000);
    there.live.offer(batchOf([a]));
    await pass(1_000);
    expect((await early.events("notice")).map(({ code }) => code)).toEqual(["this_server_only", "all_servers"]);
    expect(await early.events("click")).toHaveLength(2);
  });

  test("a reader is told that all is well again only if it was told the opposite", async () => {
    const { here, pass, state } = startTwo();
    const notices = async (stream: Awaited<ReturnType<typeof watch>>) =>
      (await stream.events("notice")).map(({ code }) => code);
    state.isAway = true;
    const gone = await watch(here.live);
    await pass(6_000);
    expect(await notices(gone)).toEqual(["this_server_only"]);
    await gone.leave();
    await pass(4_000);
    state.isAway = false;
    await pass(15_000);
    const [late, other] = [await watch(here.live), await watch(here.live, others)];
    await pass(10_000);
    expect(await notices(late)).toEqual([]);
    state.isAway = true;
    await pass(6_000);
    await late.leave();
    state.isAway = false;
    await pass(3_000);
    const later = await watch(here.live);
    await pass(6_000);
    expect(await notices(other)).toEqual(["this_server_only", "all_servers"]);
    expect(await notices(later)).toEqual([]);
  });

  test("messages that no process of ours would send are ignored", async () => {
    const { here, pass, channels } = startTwo();
    const stream = await watch(here.live);
    const evil = channels();
    const bad = ["", "{}", "[]", "null", '["x",-1,0,[]]', '["x",0,0,[["click","l","a\\nevent: b"]]]', '["x",0,0,[5]]'];
    for (const message of [...bad, "[".repeat(100_000)]) {
      await evil.publish(`ql:live:${mine}`, message);
      await evil.publish("ql:live", message);
    }
    await pass(3_000);
    expect(await stream.events("click")).toEqual([]);
    expect(await stream.events("more")).toEqual([]);
    expect(await stream.text()).not.toContain("event:");
    expect(stream.isOver()).toBe(false);
  });
});
