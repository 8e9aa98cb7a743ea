/** What can happen to two instances, and what can become of their calls. In which order is up to the scheduler. */
import fc from "fast-check";
import { type Fault, faults } from "./steps.ts";

export const names = ["A", "B"] as const;
export const codes = ["x", "y"] as const;
export type Name = (typeof names)[number];

export interface Write {
  readonly kind: "write";
  readonly at: Name;
  readonly code: string;
  /** Created, updated, created again; or else disabled or deleted. */
  readonly something: boolean;
  /** How often each instance hears of it: lost, once, doubled. When is another question. */
  readonly heard: Readonly<Record<Name, number>>;
  /** The writer ends right after its commit, and announces nothing. */
  readonly dies: boolean;
}

export type Event = {
  /** How many steps it waits, at least. */
  readonly after: number;
} & (
  | { readonly kind: "look"; readonly at: Name; readonly code: string }
  | Write
  | { readonly kind: "tick"; readonly at: Name }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "save" }
  | { readonly kind: "restart"; readonly from: "saved" | "nothing" | "latest" }
  | { readonly kind: "flush" }
);

export interface Scenario {
  readonly events: readonly Event[];
  /** Of one call after the other. */
  readonly fates: readonly (Fault | undefined)[];
}

const kind = <Kind extends string>(one: Kind) => fc.constant(one);
const after = fc.constantFrom(0, 0, 4, 16);
const at = fc.constantFrom(...names);
const code = fc.constantFrom("x", "x", "x", "y");
const times = fc.constantFrom(0, 1, 1, 2);

const looks = fc.record({ kind: kind("look"), after, at, code });
const writes = fc.record({
  kind: kind("write"),
  after,
  at,
  code,
  something: fc.boolean(),
  heard: fc.record({ A: times, B: times }),
  dies: fc.constantFrom(false, false, false, true),
});
const ticks = fc.record({ kind: kind("tick"), after, at });
/** Less than a ticket lives; more than memory and Redis are trusted unheard; than entries; than fences. */
const passes = fc.record({
  kind: kind("pass"),
  after,
  ms: fc.constantFrom(400, 400, 400, 1_600, 1_600, 31_000, 61_000),
});
const losses: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: kind("save"), after }),
  fc.record({ kind: kind("restart"), after, from: fc.constantFrom("saved", "nothing", "latest") }),
  fc.record({ kind: kind("flush"), after }),
);

interface Weights {
  readonly looks: number;
  readonly writes: number;
  readonly ticks: number;
  readonly passes: number;
  readonly losses: number;
}

const eventsOf = (weights: Weights, maxLength: number): fc.Arbitrary<Event[]> =>
  fc.array(
    fc.oneof(
      { weight: weights.looks, arbitrary: looks },
      { weight: weights.writes, arbitrary: writes },
      { weight: weights.ticks, arbitrary: ticks },
      { weight: weights.passes, arbitrary: passes },
      { weight: weights.losses, arbitrary: losses },
    ),
    { minLength: 4, maxLength, size: "max" },
  );

/** One call in so many goes wrong. */
const fatesOf = (oneIn: number, which: readonly Fault[] = faults): fc.Arbitrary<(Fault | undefined)[]> =>
  fc.array(
    fc.oneof(
      { weight: oneIn - 1, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...which) },
    ),
    { maxLength: 100, size: "max" },
  );

const fill: Event = { kind: "look", after: 0, at: "B", code: "x" };
const quietly = { kind: "write", at: "A", something: true, heard: { A: 0, B: 0 } } as const;
const change: Event = { ...quietly, after: 4, code: "x", dies: false };

const slowly = (...events: Event[]): fc.Arbitrary<Scenario> =>
  fc.record({ events: fc.constant(events), fates: fatesOf(2, ["sql-slow", "redis-slow"]) });

export const kinds = {
  /** Much going on. */
  busy: fc.record({
    events: eventsOf({ looks: 8, writes: 4, ticks: 4, passes: 2, losses: 0 }, 40),
    fates: fatesOf(12),
  }),
  /** Redis loses what it has, or gets back what it had. */
  losing: fc.record({
    events: eventsOf({ looks: 8, writes: 4, ticks: 6, passes: 2, losses: 3 }, 30),
    fates: fatesOf(12),
  }),
  /** Little going on, most of it slow or in vain. */
  failing: fc.record({
    events: eventsOf({ looks: 3, writes: 2, ticks: 2, passes: 2, losses: 0 }, 10),
    fates: fatesOf(3),
  }),
  /** A fill that is on its way while a change is made and fenced, and until no fence is left. */
  late: slowly(fill, change, { kind: "tick", after: 8, at: "A" }, { kind: "pass", after: 20, ms: 61_000 }),
  /** A fill in flight while a change is made, Redis is emptied, and starts over. */
  emptied: slowly(fill, change, { kind: "flush", after: 8 }, { kind: "tick", after: 10, at: "A" }),
  /** Two changes of which the one that began first is committed last, with the feed being read in between. */
  overlapping: slowly(
    fill,
    { ...quietly, after: 4, code: "x", dies: true },
    { ...quietly, after: 4, code: "y", dies: true },
    { kind: "tick", after: 4, at: "B" },
  ),
} satisfies Record<string, fc.Arbitrary<Scenario>>;

export type Kind = keyof typeof kinds;
export const scenarios: fc.Arbitrary<Scenario> = fc.oneof(...Object.values(kinds));
