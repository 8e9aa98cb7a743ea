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
  /** The writer ends right after its commit: nobody is told. */
  readonly dies: boolean;
}

export type Event =
  | { readonly kind: "look"; readonly at: Name; readonly code: string }
  | Write
  | { readonly kind: "tick"; readonly at: Name }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "save" }
  | { readonly kind: "restart"; readonly from: "saved" | "nothing" | "latest" }
  | { readonly kind: "flush" };

export interface Scenario {
  readonly events: readonly Event[];
  /** Of one call after the other. */
  readonly fates: readonly (Fault | undefined)[];
}

const kind = <Kind extends string>(one: Kind) => fc.constant(one);
const at = fc.constantFrom(...names);
const code = fc.constantFrom("x", "x", "x", "y");
const times = fc.constantFrom(0, 1, 1, 2);

const looks = fc.record({ kind: kind("look"), at, code });
const writes = fc.record({
  kind: kind("write"),
  at,
  code,
  something: fc.boolean(),
  heard: fc.record({ A: times, B: times }),
  dies: fc.constantFrom(false, false, false, true),
});
const ticks = fc.record({ kind: kind("tick"), at });
/** Less than a ticket lives; more than memory and Redis are trusted unheard; than entries; than fences. */
const passes = fc.record({ kind: kind("pass"), ms: fc.constantFrom(400, 400, 400, 1_600, 1_600, 31_000, 61_000) });
const losses: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: kind("save") }),
  fc.record({ kind: kind("restart"), from: fc.constantFrom("saved", "nothing", "latest") }),
  fc.record({ kind: kind("flush") }),
);

const eventsWith = (lossWeight: number) =>
  fc.array(
    fc.oneof(
      { weight: 8, arbitrary: looks },
      { weight: 4, arbitrary: writes },
      { weight: 4, arbitrary: ticks },
      { weight: 2, arbitrary: passes },
      { weight: lossWeight, arbitrary: losses },
    ),
    { minLength: 6, maxLength: 40, size: "max" },
  );

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  events: fc.oneof(eventsWith(0), eventsWith(2)),
  fates: fc.array(
    fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...faults) }),
    { maxLength: 100, size: "max" },
  ),
});
