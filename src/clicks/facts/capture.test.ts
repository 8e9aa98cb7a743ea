import { describe, expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { createMetrics } from "../../base/metrics.ts";
import { cacheKey } from "../../links/link.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import { type ClickBatch, dimensions } from "../click.ts";
import { type Capture, createCapture, sliceMost } from "./capture.ts";
import {
  type Columns,
  createColumns,
  type FactText,
  factText,
  noText,
  type RecordedLink,
  recordedLink,
} from "./columns.ts";

const start = Date.UTC(2026, 10, 17, 12, 1);
const request = new Request("http://localhost/abc");
const targetOf = (link: number, tags: readonly string[] = []): RecordedLink =>
  recordedLink({ link: link as LinkNumber, tenant: 7 as TenantNumber, tags, facts: true });

/** A capture whose only fact is the variant, and whose loop turns when the test says so. */
function begin(bytesMost?: number, facts = "kept", ready?: Promise<void>) {
  const clock = manualClock(start);
  const turns: (() => void)[] = [];
  let reads = 0;
  const capture = createCapture({
    readFacts(_visit, _key, _link, variant) {
      reads++;
      if (variant === "excluded") return variant;
      return { facts: dimensions.map((name) => (name === "variant" ? factText(variant) : noText)), visitor: 5 };
    },
    visitOf: ({ headers }) => ({ headers, query: undefined, address: undefined, country: undefined }),
    clock,
    metrics: createMetrics(),
    soon: (work) => turns.push(work),
    ...(bytesMost === undefined ? {} : { bytesMost }),
    ...(ready && { ready }),
  });
  const click = (code: string, link: RecordedLink, { domain = "", reason = 0, variant = facts } = {}) =>
    capture.record(request, cacheKey(domain, code), link, reason, variant, "https://example.com/");
  return {
    clock,
    capture,
    click,
    turn: () => turns.splice(0).forEach((work) => void work()),
    turns,
    reads: () => reads,
  };
}

function drainAll(capture: Capture, most = 10_000): ClickBatch[] {
  const batches: ClickBatch[] = [];
  for (;;) {
    const batch = capture.drain(most);
    if (batch === undefined) return batches;
    batches.push(batch);
  }
}

const itemised = (batches: readonly ClickBatch[]) => batches.reduce((sum, { at }) => sum + at.length, 0);
const bareIn = (batches: readonly ClickBatch[]) =>
  batches.flatMap(({ bare }) => bare.flatMap(({ reasons }) => reasons)).reduce((sum, count) => sum + count, 0);
const droppedIn = (batches: readonly ClickBatch[]) => batches.reduce((sum, { dropped }) => sum + dropped, 0);

describe("a drained batch", () => {
  test("has the clicks in the order in which they were made, with their links and facts", () => {
    const { capture, click, clock, turn } = begin();
    const [one, two] = [targetOf(1), targetOf(2, ["spring"])];
    click("one", one, { variant: "rule 1" });
    clock.advance(5);
    click("two", two, { domain: "go.example.com", reason: 1, variant: "" });
    turn();
    clock.advance(5);
    click("one", one, { variant: "rule 1" });
    const batch = capture.drain(10);
    expect(batch?.links).toEqual([
      { link: 1 as LinkNumber, tenant: 7 as TenantNumber, domain: "", code: "one", tags: [] },
      { link: 2 as LinkNumber, tenant: 7 as TenantNumber, domain: "go.example.com", code: "two", tags: ["spring"] },
    ]);
    expect([...(batch?.at ?? [])]).toEqual([start, start + 5, start + 10]);
    expect([...(batch?.link ?? [])]).toEqual([0, 1, 0]);
    expect([...(batch?.reason ?? [])]).toEqual([0, 1, 0]);
    expect([...(batch?.visitor ?? [])]).toEqual([5, 5, 5]);
    expect(batch?.texts).toEqual(["", "rule 1"]);
    const variant = dimensions.indexOf("variant");
    expect([0, 1, 2].map((i) => batch?.facts[i * dimensions.length + variant])).toEqual([1, 0, 1]);
    expect(batch?.facts.length).toBe(3 * dimensions.length);
    expect(capture.drain(10)).toBeUndefined();
  });

  test("has at most as many as asked for, and each click is in one batch", () => {
    const { capture, click } = begin();
    for (let i = 0; i < 25; i++) click(`code${i}`, targetOf(i + 1), { variant: `split ${i}` });
    expect(capture.waiting).toBe(25);
    const batches = drainAll(capture, 10);
    expect(batches.map(({ at }) => at.length)).toEqual([10, 10, 5]);
    const codes = batches.flatMap(({ links, link }) => [...link].map((place) => links[place]?.code));
    expect(codes).toEqual(Array.from({ length: 25 }, (_, i) => `code${i}`));
    expect(capture.waiting).toBe(0);
  });

  test("names a link once, also if it was loaded again in between, and twice if its tags changed", () => {
    const { capture, click } = begin();
    for (const tags of [["a"], ["a"], ["b"]]) click("one", targetOf(1, tags));
    const [batch] = drainAll(capture);
    expect(batch?.links.map(({ tags }) => tags)).toEqual([["a"], ["b"]]);
    expect([...(batch?.link ?? [])]).toEqual([0, 0, 1]);
  });
});

test("a link that is remembered has its own place in every batch", () => {
  const [first, second] = [createColumns(10), createColumns(10)];
  const [one, two] = [targetOf(1), targetOf(2)];
  const add = (columns: Columns, link: RecordedLink) =>
    columns.add(0, cacheKey("", `link-${link.link}`), link, 0, 0, [noText]);
  for (const link of [one, two, one]) add(first, link);
  for (const link of [two, one]) add(second, link);
  add(first, two);
  const codesOf = ({ links, link }: ReturnType<typeof first.take>) => [...link].map((place) => links[place]?.code);
  expect(codesOf(first.take(10))).toEqual(["link-1", "link-2", "link-1", "link-2"]);
  expect(codesOf(second.take(10))).toEqual(["link-2", "link-1"]);
});

test("a text that is remembered has its own place in every batch", () => {
  const [first, second] = [createColumns(10), createColumns(10)];
  const [shared, extra] = [factText("shared"), factText("extra")];
  const add = (columns: Columns, facts: readonly FactText[]) =>
    columns.add(0, cacheKey("", "one"), targetOf(1), 0, 0, facts);
  add(first, [extra, shared]);
  add(second, [shared, noText]);
  add(first, [shared, extra]);
  const width = dimensions.length;
  const textsOf = ({ texts, facts }: ReturnType<typeof first.take>) =>
    Array.from({ length: facts.length / width }, (_, i) => [0, 1].map((at) => texts[facts[i * width + at] ?? 0]));
  expect(textsOf(first.take(10))).toEqual([
    ["extra", "shared"],
    ["shared", "extra"],
  ]);
  expect(textsOf(second.take(10))).toEqual([["shared", ""]]);
});

describe("when there is no room", () => {
  test("facts are dropped before counts, and counts before nothing: no click is lost", () => {
    const { capture, click, clock, turn } = begin(0);
    const made = 12_000;
    for (let i = 0; i < made; i++) {
      click(`code${i}`, targetOf(i + 1), { reason: i % 7 });
      if (i % 1_000 === 0) turn();
    }
    clock.advance(1);
    const batches = drainAll(capture);
    expect(itemised(batches)).toBe(0);
    expect(bareIn(batches)).toBe(10_000);
    expect(droppedIn(batches)).toBe(2_000);
    const [count] = batches.flatMap(({ bare }) => bare);
    expect(count?.quarter).toBe(Date.UTC(2026, 10, 17, 12, 0));
    expect(drainAll(capture)).toEqual([]);
  });

  test("there is room again once the writer has taken some", () => {
    const { capture, click, turn } = begin(2_500_000);
    const one = targetOf(1);
    const fill = () => {
      for (let i = 0; i < 60_000; i++) {
        click("one", one);
        if (i % 500 === 0) turn();
      }
      turn();
      const batches = drainAll(capture);
      expect(itemised(batches) + bareIn(batches)).toBe(60_000);
      return itemised(batches);
    };
    const first = fill();
    expect(first).toBeGreaterThan(sliceMost);
    expect(first).toBeLessThan(60_000);
    expect(fill()).toBe(first);
  });

  test("no request is kept: each is read at once", () => {
    const { capture, click, turns, reads } = begin();
    for (let i = 0; i < 5_000; i++) click("one", targetOf(1), { reason: 2 });
    expect([reads(), capture.waiting, turns.length]).toEqual([5_000, 5_000, 0]);
    expect(itemised(drainAll(capture))).toBe(5_000);
  });
});

test("a million distinct values take no more than the bound", () => {
  const bytesMost = 8_000_000;
  const { capture, click, turn } = begin(bytesMost);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  for (let i = 0; i < 1_000_000; i++) {
    click("one", targetOf(1), { variant: `${i} ${"x".repeat(80)}` });
    if (i % 500 === 0) turn();
  }
  turn();
  Bun.gc(true);
  expect(process.memoryUsage.rss() - before).toBeLessThan(8 * bytesMost);
  const batches = drainAll(capture);
  expect(itemised(batches) + bareIn(batches) + droppedIn(batches)).toBe(1_000_000);
  expect(batches.flatMap(({ texts }) => texts).join("").length).toBeLessThan(bytesMost);
});

test("the first clicks are read in slices of some milliseconds, and later ones after them", async () => {
  const clock = manualClock(start);
  const loaded = Promise.withResolvers<void>();
  let turns = 0;
  const capture = createCapture({
    readFacts() {
      clock.advance(1);
      return { facts: [], visitor: 0 };
    },
    visitOf: ({ headers }) => ({ headers, query: undefined, address: undefined, country: undefined }),
    clock,
    metrics: createMetrics(),
    soon: () => turns++,
    ready: loaded.promise,
  });
  const click = (reason: number) => capture.record(request, cacheKey("", "one"), targetOf(1), reason, "", "");
  for (let i = 0; i < 100; i++) click(0);
  loaded.resolve();
  await capture.ready;
  expect(turns).toBe(1);
  click(1);
  const first = capture.drain(1_000);
  expect(first?.at.length).toBeLessThan(100);
  expect(capture.waiting).toBeGreaterThan(0);
  const reasons = [first, ...drainAll(capture)].flatMap((batch) => [...(batch?.reason ?? [])]);
  expect(reasons).toEqual([...Array.from({ length: 100 }, () => 0), 1]);
});

test("an excluded visit is counted and nothing else", () => {
  const { capture, click } = begin();
  click("one", targetOf(1), { variant: "excluded" });
  click("one", targetOf(1), { variant: "excluded" });
  const [batch, ...more] = drainAll(capture);
  expect(batch).toMatchObject({ excluded: 2, dropped: 0, links: [], bare: [] });
  expect(batch?.at.length).toBe(0);
  expect(more).toEqual([]);
});

describe("before the tables are loaded", () => {
  test("clicks wait, are counted as waiting, and are all read afterwards", async () => {
    const loaded = Promise.withResolvers<void>();
    const { capture, click, turn, turns, reads } = begin(undefined, "kept", loaded.promise);
    for (let i = 0; i < 5; i++) click("one", targetOf(1));
    turn();
    expect(capture.drain(10)).toBeUndefined();
    expect([reads(), capture.waiting, turns.length]).toEqual([0, 5, 0]);
    loaded.resolve();
    await capture.ready;
    turn();
    expect(reads()).toBe(5);
    expect(itemised(drainAll(capture))).toBe(5);
    click("one", targetOf(1));
    turn();
    expect(itemised(drainAll(capture))).toBe(1);
  });

  test("a burst is read without them, and no click is lost", async () => {
    const loaded = Promise.withResolvers<void>();
    const { capture, click, reads } = begin(undefined, "kept", loaded.promise);
    for (let i = 0; i < 5_000; i++) click("one", targetOf(1));
    expect(capture.waiting).toBe(5_000);
    expect(reads()).toBeGreaterThan(2_000);
    loaded.resolve();
    await capture.ready;
    expect(itemised(drainAll(capture))).toBe(5_000);
  });
});
