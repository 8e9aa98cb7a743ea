import { describe, expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { hitReasons } from "../../redirect/decide.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import { type ClickBatch, type ClickedLink, dimensions } from "../click.ts";
import { type Caps, createCaps } from "./caps.ts";
import { partsOf } from "./parts.ts";
import { byQuarter, timesOf } from "./quarter-clicks.ts";
import type { Step } from "./step.ts";

const now = Date.UTC(2026, 10, 17, 12, 1);
const bot = hitReasons.indexOf("bot");
const linkOf = (link: number, tenant = 1): ClickedLink => ({
  ...{ link: link as LinkNumber, tenant: tenant as TenantNumber, domain: "", code: `code${link}`, tags: [] },
});

interface Some {
  readonly link: ClickedLink;
  readonly clicks: number;
  readonly reason?: number;
}

function batchOf(...some: readonly Some[]): ClickBatch {
  const all = some.flatMap(({ clicks, reason = 0 }, place) =>
    Array.from({ length: clicks }, () => ({ place, reason })),
  );
  return {
    ...{ texts: [""], links: some.map(({ link }) => link), bare: [], dropped: 0, excluded: 0 },
    at: new Float64Array(all.length).fill(now),
    link: Uint16Array.from(all, ({ place }) => place),
    reason: Uint8Array.from(all, ({ reason }) => reason),
    visitor: new Float64Array(all.length),
    facts: new Uint16Array(all.length * dimensions.length),
  };
}

/** Events of each link, and whether they are stored. */
function eventsOf(caps: Caps, batch: ClickBatch, isStored = true): Record<number, number> {
  const plan = caps.plan(batch);
  const events: Record<number, number> = {};
  for (const part of partsOf(batch, 50)) {
    const stored: (() => void)[] = [];
    const step = { onceStored: (work: () => void) => stored.push(work) } as unknown as Step;
    const clicks = byQuarter(part, part.links, timesOf(part, now).at);
    const { isEvent, events: count } = caps.split(step, part, clicks, plan);
    expect(isEvent.filter((one) => one === 1).length).toBe(count);
    for (const { link, from, to } of part.links) {
      events[link.link] = (events[link.link] ?? 0) + isEvent.subarray(from, to).filter((one) => one === 1).length;
    }
    if (isStored) for (const work of stored) work();
  }
  return events;
}

describe("a cap of 20 events", () => {
  test("is for each link and class, over all batches of a quarter", () => {
    const caps = createCaps({ most: 20 });
    const batch = batchOf({ link: linkOf(1), clicks: 15 }, { link: linkOf(2), clicks: 5 });
    expect(eventsOf(caps, batch)).toEqual({ 1: 15, 2: 5 });
    expect(eventsOf(caps, batch)).toEqual({ 1: 5, 2: 5 });
    expect(eventsOf(caps, batchOf({ link: linkOf(1), clicks: 30, reason: bot }))).toEqual({ 1: 20 });
  });

  test("does not count what was not stored", () => {
    const caps = createCaps({ most: 20 });
    const batch = batchOf({ link: linkOf(1), clicks: 15 });
    eventsOf(caps, batch, false);
    expect(eventsOf(caps, batch)).toEqual({ 1: 15 });
  });
});

describe("with 100 events a second", () => {
  const begin = () => {
    const clock = manualClock(now);
    return { clock, caps: createCaps({ eventsPerSecond: 100, elapsed: clock.elapsed }) };
  };

  test("a second's worth come at once, and then as many as time brings", () => {
    const { clock, caps } = begin();
    const batch = batchOf({ link: linkOf(1), clicks: 300 });
    expect(eventsOf(caps, batch)).toEqual({ 1: 100 });
    expect(eventsOf(caps, batch)).toEqual({ 1: 0 });
    clock.advance(500);
    expect(eventsOf(caps, batch)).toEqual({ 1: 50 });
    clock.advance(60_000);
    expect(eventsOf(caps, batch)).toEqual({ 1: 100 });
  });

  test("a link with few clicks keeps all of them next to busy ones, also when these begin earlier", () => {
    const { clock, caps } = begin();
    const busy = [1, 2, 3].map((link) => ({ link: linkOf(link), clicks: 400 }));
    eventsOf(caps, batchOf(...busy));
    clock.advance(1_000);
    const { 9: quiet = 0, ...others } = eventsOf(caps, batchOf(...busy, { link: linkOf(9), clicks: 40 }));
    expect(quiet).toBe(40);
    expect(Object.values(others).reduce((sum, one) => sum + one, 0)).toBe(60);
  });

  test("tenants have the same share, however many links they have", () => {
    const { caps } = begin();
    const many = Array.from({ length: 50 }, (_, i) => ({ link: linkOf(100 + i, 1), clicks: 10 }));
    const events = eventsOf(caps, batchOf(...many, { link: linkOf(7, 2), clicks: 300 }));
    expect(events[7]).toBe(50);
    expect(Object.entries(events).filter(([link, count]) => link !== "7" && count === 1).length).toBe(50);
  });

  test("links beyond their cap take nothing from the others", () => {
    const clock = manualClock(now);
    const caps = createCaps({ most: 50, eventsPerSecond: 100, elapsed: clock.elapsed });
    const batch = batchOf({ link: linkOf(1), clicks: 500 }, { link: linkOf(2), clicks: 1 });
    expect(eventsOf(caps, batch)).toEqual({ 1: 50, 2: 1 });
    for (let i = 0; i < 20; i++) {
      clock.advance(10);
      expect(eventsOf(caps, batch)).toEqual({ 1: 0, 2: 1 });
    }
  });

  test("more links than events: some have one now, others next time", () => {
    const { clock, caps } = begin();
    const links = Array.from({ length: 400 }, (_, i) => ({ link: linkOf(1 + i), clicks: 1 }));
    const seen = new Set<string>();
    for (let i = 0; i < 8; i++) {
      for (const [link, count] of Object.entries(eventsOf(caps, batchOf(...links)))) if (count > 0) seen.add(link);
      clock.advance(1_000);
    }
    expect(seen.size).toBe(400);
  });
});
