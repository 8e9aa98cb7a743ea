/**
 * Random calls against every store, each compared with a reference that keeps a list of what happened and counts it from
 * the beginning every time. What is compared after every call are the answer and what all limits then say, so a denial or
 * an undo that changes anything, a grant over the limit, or an id that answers twice is seen at once.
 *
 * In process time is ours and passes: by less than a bucket up to a day. On Redis it does not, and nothing runs out.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { manualClock } from "../../src/base/clock.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import {
  type Charge,
  type Counters,
  type CounterVerdict,
  type Limit,
  rememberDenialMs,
  rememberedUntil,
  rememberMostMs,
} from "../../src/limits/counters.ts";
import { monthOf, monthWindow, slidingHour, slidingMinute, totalWindow, type Window } from "../../src/limits/window.ts";
import { type CounterStore, onEachStore } from "../conformance/counter-stores.ts";

const hourMs = 3_600_000;
const holdTtlsMs = [600_000, 7_200_000];

interface Op {
  readonly kind: "take" | "hold";
  state: "held" | "settled" | "released" | "denied";
  readonly amounts: ReadonlyMap<string, number>;
  /** When it was charged permanently; infinity if it was not, or was released. */
  countedAt: number;
  readonly expiresAt: number;
  forgetAt: number;
}

/** What should be true. */
class Reference {
  readonly all: Op[] = [];
  readonly byId = new Map<number, Op>();

  constructor(
    readonly limits: Limit[],
    readonly picks: readonly Picks[],
    public now: number,
  ) {}

  used(limit: Limit, at = this.now): number {
    let used = 0;
    for (const op of this.all) {
      if (op.countedAt === Number.POSITIVE_INFINITY || !counts(limit.window, op.countedAt, at)) continue;
      used += op.amounts.get(limit.key) ?? 0;
    }
    return used;
  }

  held(limit: Limit, at = this.now): number {
    let held = 0;
    for (const op of this.all) if (op.state === "held" && op.expiresAt > at) held += op.amounts.get(limit.key) ?? 0;
    return held;
  }

  /** The first time at which the amount fits, found by looking at every time at which anything changes. */
  fitsAt(limit: Limit, amount: number): number | null {
    const changes = this.all.flatMap((op) => [op.expiresAt, leavesAt(limit.window, op.countedAt)]);
    const times = changes.filter((at) => at >= this.now && Number.isFinite(at)).toSorted((a, b) => a - b);
    return times.find((at) => this.used(limit, at) + this.held(limit, at) + amount <= (limit.max ?? 0)) ?? null;
  }

  full(charges: readonly Charge[]): Charge[] {
    return charges.filter(({ limit, amount }) => this.used(limit) + this.held(limit) + amount > (limit.max ?? 0));
  }

  /** Of the limit that denies longest. */
  retryAt(charges: readonly Charge[]): number | null {
    const waits = this.full(charges).map(({ limit, amount }) => this.fitsAt(limit, amount));
    return waits.some((wait) => wait === null) ? null : Math.max(...waits.map(Number));
  }

  /** An id always comes with the same charges, against the limits of today. */
  chargesOf(id: number): Charge[] {
    return (this.picks[id] ?? []).flatMap(([index, amount]) => {
      const limit = this.limits[index];
      return limit === undefined ? [] : [{ limit, amount }];
    });
  }

  find(id: number): Op | undefined {
    const op = this.byId.get(id);
    return op !== undefined && op.forgetAt > this.now ? op : undefined;
  }

  charge(kind: Op["kind"], id: number, charges: readonly Charge[], ttlMs: number): string {
    const known = this.find(id);
    if (known !== undefined) {
      // A denial is remembered for the id, whatever it is asked as next.
      if (known.state === "denied") return "denied";
      if (known.kind !== kind) return "invalid";
      return known.state === "released" || this.isExpired(known) ? "closed" : "granted";
    }
    const full = this.full(charges);
    const op: Op = {
      kind,
      state: full.length > 0 ? "denied" : kind === "take" ? "settled" : "held",
      amounts: new Map(charges.map(({ limit, amount }) => [limit.key, amount])),
      countedAt: full.length === 0 && kind === "take" ? this.now : Number.POSITIVE_INFINITY,
      expiresAt: this.now + ttlMs,
      forgetAt: 0,
    };
    this.byId.set(id, op);
    if (full.length > 0) {
      op.forgetAt = Math.min(this.now + rememberDenialMs, this.retryAt(charges) ?? Number.POSITIVE_INFINITY);
      return "denied";
    }
    this.all.push(op);
    op.forgetAt = kind === "take" ? this.rememberedUntil(op) : op.expiresAt + rememberMostMs;
    return "granted";
  }

  settle(id: number): string {
    const op = this.find(id);
    if (op === undefined || op.state === "denied") return "unknown";
    if (op.state !== "held" || this.isExpired(op)) return "already";
    op.state = "settled";
    op.countedAt = this.now;
    op.forgetAt = this.rememberedUntil(op);
    return "settled";
  }

  release(id: number): string {
    const op = this.find(id);
    if (op === undefined || op.state === "denied") return "unknown";
    if (op.state === "released" || this.isExpired(op)) return "already";
    if (op.kind === "hold" && op.state === "settled") return "already";
    op.countedAt = Number.POSITIVE_INFINITY;
    op.state = "released";
    op.forgetAt = Math.max(op.forgetAt, this.now + 60_000);
    return "released";
  }

  private isExpired(op: Op): boolean {
    return op.state === "held" && op.expiresAt <= this.now;
  }

  private rememberedUntil(op: Op): number {
    const limits = this.limits.filter(({ key }) => op.amounts.has(key));
    return rememberedUntil(Math.max(...limits.map(({ window }) => leavesAt(window, this.now))), this.now);
  }
}

/** Whether a charge of one time counts at another, by the sentence and not by the code: see window.ts. */
function counts(window: Window, chargedAt: number, at: number): boolean {
  if (window.kind === "total") return true;
  if (window.kind === "month") return monthOf(chargedAt).name === monthOf(at).name;
  return Math.floor(at / window.bucketMs) - Math.floor(chargedAt / window.bucketMs) <= window.buckets;
}

function leavesAt(window: Window, chargedAt: number): number {
  if (window.kind === "total" || !Number.isFinite(chargedAt)) return Number.POSITIVE_INFINITY;
  if (window.kind === "month") return monthOf(chargedAt).endsAt;
  return (Math.floor(chargedAt / window.bucketMs) + window.buckets + 1) * window.bucketMs;
}

interface Real {
  readonly store: CounterStore;
  readonly isVirtual: boolean;
  readonly scope: string;
}

type Step = fc.AsyncCommand<Reference, Real>;

async function compare(reference: Reference, { store }: Real): Promise<void> {
  const answer = await store.counters.status(reference.limits);
  if (answer.kind !== "known") throw new Error(`status is ${answer.kind}`);
  const shown = answer.limits.map(({ used, held }) => [used, held]);
  expect(shown).toEqual(reference.limits.map((limit) => [reference.used(limit), reference.held(limit)]));
}

const idCount = 25;
const ids = fc.nat({ max: idCount - 1 });
const amounts = fc.integer({ min: 1, max: 4 });
/** Which limits a charge is against, and how much each. */
const picks = fc.uniqueArray(fc.tuple(fc.nat({ max: 3 }), amounts), {
  selector: ([index]) => index,
  minLength: 1,
  maxLength: 4,
});
type Picks = readonly (readonly [index: number, amount: number])[];

function step(text: string, run: (reference: Reference, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    run: async (reference, real) => {
      await run(reference, real);
      await compare(reference, real);
    },
    toString: () => text,
  };
}

const steps = (isVirtual: boolean): fc.Arbitrary<Step>[] => [
  ids.map((id) =>
    step(`take(${id})`, (reference, real) =>
      ask(reference, real, "take", id, 0, (name, charges) => real.store.counters.take(name, charges)),
    ),
  ),
  fc
    .tuple(ids, fc.constantFrom(...holdTtlsMs))
    .map(([id, ttlMs]) =>
      step(`hold(${id}, ${ttlMs})`, (reference, real) =>
        ask(reference, real, "hold", id, ttlMs, (name, charges) => real.store.counters.hold(name, charges, ttlMs)),
      ),
    ),
  ids.map((id) =>
    step(`settle(${id})`, async (reference, { store, scope }) => {
      const answer = await store.counters.settle(`${scope}/${id}`);
      expect(answer.kind).toBe(reference.settle(id) as typeof answer.kind);
    }),
  ),
  ids.map((id) =>
    step(`release(${id})`, async (reference, { store, scope }) => {
      const answer = await store.counters.release(`${scope}/${id}`);
      expect(answer.kind).toBe(reference.release(id) as typeof answer.kind);
    }),
  ),
  fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 12 })).map(([index, max]) =>
    step(`limit ${index} becomes ${max}`, async (reference) => {
      const limit = reference.limits[index];
      if (limit !== undefined) reference.limits[index] = { ...limit, max };
    }),
  ),
  ...(isVirtual
    ? [
        fc.oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 2 * hourMs }), fc.nat({ max: 24 * hourMs })).map((ms) =>
          step(`${ms} ms pass`, async (reference, { store }) => {
            await store.pass(ms);
            reference.now += ms;
          }),
        ),
      ]
    : []),
];

async function ask(
  reference: Reference,
  { isVirtual, scope }: Real,
  kind: Op["kind"],
  id: number,
  ttlMs: number,
  call: (id: string, charges: readonly Charge[]) => Promise<CounterVerdict>,
): Promise<void> {
  const charges = reference.chargesOf(id);
  const isNew = reference.find(id) === undefined;
  const expected = reference.charge(kind, id, charges, ttlMs);
  const verdict = await call(`${scope}/${id}`, charges);
  expect(verdict.kind).toBe(expected as typeof verdict.kind);
  if (!isNew) return;
  if (verdict.kind === "granted") {
    for (const { limit } of charges) {
      expect(reference.used(limit) + reference.held(limit)).toBeLessThanOrEqual(limit.max ?? 0);
    }
  }
  if (verdict.kind === "denied" && isVirtual) {
    const retryAt = reference.retryAt(charges);
    expect(verdict.retryAfterMs).toBe(retryAt === null ? null : retryAt - reference.now);
  }
}

onEachStore((store, name) => {
  const isVirtual = name === "in process";
  const runs = isVirtual ? 400 : 40;

  test("behaves as the reference in any order of calls", async () => {
    let round = 0;
    const tables = fc.array(picks, { minLength: idCount, maxLength: idCount });
    const calls = fc.commands(steps(isVirtual), { maxCommands: 60, size: "max" });
    await fc.assert(
      fc.asyncProperty(tables, calls, async (table, commands) => {
        const scope = `model-${++round}`;
        const reference = new Reference(limitsFor(scope), table, await store().now());
        const setUp = () => ({ model: reference, real: { store: store(), isVirtual, scope } });
        await fc.asyncModelRun(setUp, commands);
        await expectWindowedKeysExpire(store(), reference.limits);
      }),
      { numRuns: runs, endOnFailure: !isVirtual },
    );
  }, 120_000);
});

/** Some in one slot, some not, one of each window. */
function limitsFor(scope: string): Limit[] {
  const limit = (key: string, window: Window, max: number): Limit => ({ name: key, subject: scope, max, window, key });
  return [
    limit(`tenant:{${scope}}:smtp`, slidingHour, 6),
    limit(`platform-aggregate-${scope}`, slidingMinute, 9),
    limit(`links:{${scope}}`, monthWindow, 8),
    limit(`quota:tenant:{${scope}-b}:used`, totalWindow, 10),
  ];
}

async function expectWindowedKeysExpire({ redis, now }: CounterStore, limits: readonly Limit[]): Promise<void> {
  if (redis === undefined) return;
  const { name } = monthOf(await now());
  for (const { key, window } of limits) {
    if (window.kind === "total") continue;
    const usedKey = window.kind === "month" ? `${key}:${name}` : key;
    const holds = key.includes("{") ? `${key}:holds` : `{${key}}:holds`;
    for (const each of [usedKey, holds]) expect(await redis.send(each, ["PTTL", each])).not.toBe(-1);
  }
}

describe("a sliding hour", () => {
  const moves = fc.array(
    fc.record({
      pauseMs: fc.oneof(fc.nat({ max: 90_000 }), fc.nat({ max: 20 * 60_000 })),
      amount: fc.integer({ min: 1, max: 7 }),
      held: fc.boolean(),
    }),
    { minLength: 20, maxLength: 150 },
  );

  test("never grants more than its limit in any 60 minutes, wherever they begin", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: hourMs }), fc.integer({ min: 3, max: 20 }), moves, async (start, max, list) => {
        const clock = manualClock(start);
        const counters = createMemoryCounters({ clock });
        const limit = hourly(max);
        const granted: { at: number; amount: number }[] = [];
        let open: string | undefined;
        for (const [i, { pauseMs, amount, held }] of list.entries()) {
          clock.advance(pauseMs);
          if (open !== undefined && (await counters.settle(open)).kind === "settled") {
            granted.push({ at: clock.now(), amount: Number(open.split("/")[1]) });
          }
          open = held ? `${i}/${amount}` : undefined;
          const verdict = await charged(counters, `${i}/${amount}`, { limit, amount }, held);
          if (verdict === "granted" && !held) granted.push({ at: clock.now(), amount });
        }
        for (const { at: from } of granted) {
          const inHour = granted.filter(({ at }) => at >= from && at < from + hourMs);
          expect(inHour.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(max);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("says exactly when there is room again: not a millisecond before, and then there is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: hourMs }), fc.integer({ min: 7, max: 20 }), moves, async (start, max, list) => {
        const clock = manualClock(start);
        const counters = createMemoryCounters({ clock });
        const limit = hourly(max);
        for (const [i, { pauseMs, amount }] of list.entries()) {
          clock.advance(pauseMs);
          const verdict = await counters.take(`${i}`, [{ limit, amount }]);
          if (verdict.kind !== "denied") continue;
          const { retryAfterMs } = verdict;
          if (retryAfterMs === null) throw new Error("an amount below the limit fits some time");
          clock.advance(retryAfterMs - 1);
          expect((await counters.take(`${i}-early`, [{ limit, amount }])).kind).toBe("denied");
          clock.advance(1);
          expect((await counters.take(`${i}-again`, [{ limit, amount }])).kind).toBe("granted");
        }
      }),
      { numRuns: 200 },
    );
  });
});

const hourly = (max: number): Limit => ({
  name: "hour",
  subject: "me",
  max,
  window: slidingHour,
  key: "tenant:{me}:smtp",
});

async function charged(counters: Counters, id: string, charge: Charge, held: boolean): Promise<string> {
  const verdict = held ? await counters.hold(id, [charge], hourMs) : await counters.take(id, [charge]);
  return verdict.kind;
}
