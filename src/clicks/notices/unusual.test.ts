import { describe, expect, test } from "bun:test";
import { dayMs } from "../../base/clock.ts";
import { quarterMs } from "../click.ts";
import { hourMs } from "../reports/zones.ts";
import { dropWindowMs, judgeDrop, judgeSpike, type LinkPattern, spikeLeast, type Unusual } from "./unusual.ts";

/** A generator of numbers below 1 that is the same on every run. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function poisson(mean: number, random: () => number): number {
  if (mean > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
  }
  const end = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > end; product *= random()) count++;
  return count;
}

const now = Date.UTC(2026, 10, 16, 12);
const dayQuarters = dayMs / quarterMs;

interface Traffic {
  /** A day, on average. */
  readonly perDay: number;
  readonly days: number;
  /** How much busier noon is than midnight, and a weekday than a Sunday. */
  readonly isDaily?: boolean;
  /** Each hour is by chance up to this much busier, or quieter. */
  readonly noise?: number;
  /** Times as many, in the quarters from the end. */
  readonly change?: { readonly times: number; readonly fromMs: number; readonly untilMs: number };
}

function trafficOf({ perDay, days, isDaily = true, noise = 1, change }: Traffic, seed: number): LinkPattern {
  const random = randomOf(seed);
  const quarters = new Map<number, number>();
  const firstAt = now - days * dayMs;
  let busy = 1;
  for (let at = firstAt; at < now; at += quarterMs) {
    if (at % hourMs === 0) busy = noise ** (2 * random() - 1);
    const byHour = isDaily ? 1 + 0.8 * Math.sin(((at % dayMs) / dayMs) * 2 * Math.PI - Math.PI / 2) : 1;
    const byDay = isDaily && new Date(at).getUTCDay() === 0 ? 0.4 : 1;
    const isChanged = change !== undefined && at >= now - change.fromMs && at < now - change.untilMs;
    const mean = (perDay / dayQuarters) * byHour * byDay * busy * (isChanged ? change.times : 1);
    const count = poisson(mean, random);
    if (count > 0) quarters.set(at, count);
  }
  return { firstAt, quarters };
}

/** One judgement for each quarter of an hour of the last days. */
function judged(judge: typeof judgeSpike, pattern: LinkPattern, days: number): Unusual[] {
  return Array.from({ length: days * dayQuarters }, (_, place) =>
    judge(pattern, now - (days * dayQuarters - 1 - place) * quarterMs),
  );
}

const beginnings = (all: readonly Unusual[]): number => all.filter(({ kind }) => kind === "begins").length;

describe("steady traffic", () => {
  const kinds: [string, Omit<Traffic, "days">][] = [
    ["of 100 a day", { perDay: 100 }],
    ["of 1,000 a day", { perDay: 1_000 }],
    ["of 20,000 a day", { perDay: 20_000 }],
    ["of 1,000 a day, with hours up to twice as busy or quiet", { perDay: 1_000, noise: 2 }],
    ["of 5,000 a day at all hours", { perDay: 5_000, isDaily: false, noise: 1.5 }],
  ];

  test.each(kinds)("%s is called a spike or a drop less than once in 40 weeks", (_, traffic) => {
    let alarms = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const pattern = trafficOf({ ...traffic, days: 36 }, seed);
      alarms += beginnings(judged(judgeSpike, pattern, 7)) + beginnings(judged(judgeDrop, pattern, 7));
    }
    expect(alarms).toBe(0);
  });

  test("with the same burst every Monday is no spike", () => {
    const pattern = trafficOf({ perDay: 500, days: 36 }, 7);
    const quarters = new Map(pattern.quarters);
    for (let week = 0; week < 5; week++) quarters.set(now - week * 7 * dayMs - quarterMs, 3_000);
    expect(judgeSpike({ ...pattern, quarters }, now).kind).toBe("no");
    expect(judgeSpike({ ...pattern, quarters: new Map(pattern.quarters).set(now - quarterMs, 3_000) }, now).kind).toBe(
      "begins",
    );
  });

  test("that has bursts of the same size at any time is no spike", () => {
    const pattern = trafficOf({ perDay: 300, days: 36 }, 8);
    const quarters = new Map(pattern.quarters);
    for (const day of [0, 2, 3, 5]) quarters.set(now - day * dayMs - day * 5 * quarterMs - quarterMs, 600);
    const smaller = new Map(quarters).set(now - quarterMs, 590);
    expect(judgeSpike({ ...pattern, quarters: smaller }, now).kind).not.toBe("begins");
  });
});

describe("a spike", () => {
  test.each([
    [100, 20],
    [1_000, 8],
    [20_000, 7],
  ])("of a link with %i clicks a day that gets %i times as many is found within the hour", (perDay, times) => {
    let found = 0;
    for (let seed = 1; seed <= 50; seed++) {
      const change = { times, fromMs: hourMs, untilMs: 0 };
      if (judgeSpike(trafficOf({ perDay, days: 29, change }, seed), now).kind === "begins") found++;
    }
    expect(found).toBeGreaterThanOrEqual(49);
  });

  test("needs 50 clicks, however quiet the link was", () => {
    const quiet = { firstAt: now - 30 * dayMs, quarters: new Map([[now - quarterMs, spikeLeast - 1]]) };
    expect(judgeSpike(quiet, now)).toEqual({ kind: "no" });
    const busier = { ...quiet, quarters: new Map([[now - quarterMs, spikeLeast]]) };
    expect(judgeSpike(busier, now)).toEqual({ kind: "begins", clicks: spikeLeast, usual: 0 });
  });

  test("needs five times the usual, and goes on down to two and a half times", () => {
    const usual = (clicks: number) => {
      const quarters = new Map([[now - quarterMs, clicks]]);
      for (let day = 1; day <= 28; day++) quarters.set(now - day * dayMs - quarterMs, 20);
      return judgeSpike({ firstAt: now - 30 * dayMs, quarters }, now).kind;
    };
    expect([usual(100), usual(99), usual(50), usual(49)]).toEqual(["begins", "continues", "continues", "no"]);
  });

  test("is not what a link is called that had its first click less than three days ago", () => {
    const quarters = new Map([[now - quarterMs, 5_000]]);
    expect(judgeSpike({ firstAt: now - 3 * dayMs + 1, quarters }, now)).toEqual({ kind: "no" });
    expect(judgeSpike({ firstAt: now - 3 * dayMs, quarters }, now).kind).toBe("begins");
  });

  test("of a link that is four days old is compared with these days, and not with the time before it", () => {
    const quarters = new Map<number, number>();
    for (let day = 0; day < 4; day++) quarters.set(now - day * dayMs - quarterMs, 200);
    expect(judgeSpike({ firstAt: now - 4 * dayMs, quarters }, now)).toEqual({ kind: "no" });
  });
});

describe("a drop", () => {
  const fallen = (perDay: number, times: number, seed: number, days = 36) =>
    trafficOf({ perDay, days, isDaily: false, change: { times, fromMs: dropWindowMs, untilMs: 0 } }, seed);

  test("of a link with steady clicks to a twentieth is found after six hours", () => {
    for (let seed = 1; seed <= 50; seed++) expect(judgeDrop(fallen(500, 0.05, seed), now).kind).toBe("begins");
  });

  test("to less than half continues, and to more is none", () => {
    for (let seed = 1; seed <= 20; seed++) {
      expect(judgeDrop(fallen(4_000, 0.35, seed), now).kind).toBe("continues");
      expect(judgeDrop(fallen(4_000, 0.65, seed), now).kind).toBe("no");
    }
  });

  test("needs 200 clicks on each of seven days, and a link that is old enough", () => {
    expect(judgeDrop(fallen(150, 0, 1), now).kind).toBe("no");
    expect(judgeDrop(fallen(500, 0, 1, 7), now).kind).toBe("no");
    const { firstAt, quarters } = fallen(500, 0, 1);
    const gap = new Map([...quarters].filter(([at]) => at < now - 3 * dayMs || at >= now - 2 * dayMs));
    expect(judgeDrop({ firstAt, quarters: gap }, now).kind).toBe("no");
  });

  test("at night or on a Sunday is none for a link that sleeps then", () => {
    const pattern = trafficOf({ perDay: 1_000, days: 36 }, 3);
    const sunday = now - dayMs;
    expect(new Date(sunday).getUTCDay()).toBe(0);
    const asleep = new Map([...pattern.quarters].filter(([at]) => new Date(at).getUTCHours() >= 6));
    for (let at = sunday; at < now; at += quarterMs) {
      expect(judgeDrop({ ...pattern, quarters: asleep }, at).kind).toBe("no");
    }
  });
});
