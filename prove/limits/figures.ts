/** What many seeds came to. */
import { type Bounded, checks, type Violation, worse } from "./books.ts";
import { type FaultKind, faultKinds, noFaults } from "./faults.ts";
import type { Outcome } from "./world.ts";

export interface Figures {
  readonly holds: boolean;
  readonly lines: readonly string[];
}

const shownMost = 10;

export function figuresOf(outcomes: readonly Outcome[]): Figures {
  const sum = (of: (one: Outcome) => number) => outcomes.reduce((total, one) => total + of(one), 0);
  const exact = outcomes.filter(({ kind }) => kind === "sql" || kind === "redis");
  const overGrant = Math.max(0, ...exact.map((one) => one.overGrant));
  const failed = outcomes.filter(({ violations }) => violations.length > 0);
  const tally = noFaults();
  for (const one of outcomes) for (const kind of faultKinds) tally[kind] += one.tally[kind];
  const never = faultKinds.filter((kind: FaultKind) => tally[kind] === 0);
  return {
    holds: failed.length === 0 && overGrant === 0,
    lines: [
      `seeds=${outcomes.length} steps=${sum((one) => one.steps)} over_grant=${overGrant} seeds_without_loss=${exact.length}`,
      `granted=${sum((one) => one.granted)} denied=${sum((one) => one.denied)} unavailable=${sum((one) => one.unavailable)}`,
      `over_grant_while_both_lend=${worst(outcomes, "degrade")}`,
      `over_grant_after_loss=${worst(outcomes, "loss")}`,
      `stranded=${bounded(outcomes.map((one) => one.stranded))}`,
      `faults: ${faultKinds.map((kind) => `${kind}=${tally[kind]}`).join(" ")}`,
      ...(never.length > 0 ? [`never happened: ${never.join(", ")}`] : []),
      ...failed.slice(0, shownMost).flatMap(({ seed, kind, violations }) => story(seed, kind, violations)),
      ...(failed.length > shownMost ? [`and ${failed.length - shownMost} more seeds`] : []),
    ],
  };
}

const worst = (outcomes: readonly Outcome[], world: Outcome["kind"]): string =>
  bounded(outcomes.filter(({ kind }) => kind === world).map(({ overshoot }) => overshoot));

/** Of all seeds the one that came nearest to its bound. */
function bounded(all: readonly (Bounded | undefined)[]): string {
  const { figure, bound } = all.reduce<Bounded>((most, one) => (one === undefined ? most : worse(most, one)), {
    figure: 0,
    bound: 1,
  });
  return figure === 0 ? "0 bound=any" : `${figure} bound=${bound}`;
}

function story(seed: number, kind: string, violations: readonly Violation[]): string[] {
  const first = new Map(violations.toReversed().map((one) => [one.check, one]));
  return [
    `seed ${seed} (${kind}) does not hold; to see it alone: npm run prove -- limits --seed ${seed}`,
    ...[...first.values()].map(({ check, text }) => `  ${check}: ${checks[check]}: ${text}`),
  ];
}
