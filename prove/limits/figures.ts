/** What many seeds came to. */
import type { Attempt } from "../proof.ts";
import { type Bounded, type Check, checks, type Violation, type WorldKind, worse } from "./books.ts";
import { faultKinds, noFaults } from "./faults.ts";
import type { Outcome } from "./world.ts";

const shownMost = 10;

export function printFigures(outcomes: readonly Outcome[]): void {
  const sum = (of: (one: Outcome) => number) => sumOf(outcomes, of);
  const failed = outcomes.filter(({ violations }) => violations.length > 0);
  const faults = faultsOf(outcomes);
  const lines = [
    `seeds=${outcomes.length} steps=${sum((one) => one.steps)} over_grant=${Math.max(0, ...exactWorlds(outcomes).map((one) => one.overGrant))}`,
    `granted=${sum((one) => one.granted)} denied=${sum((one) => one.denied)} unavailable=${sum((one) => one.unavailable)}`,
    `over_grant_while_both_lend=${shown(worstOf(outcomes, "degrade"))}`,
    `over_grant_after_loss=${shown(worstOf(outcomes, "loss"))}`,
    `stranded=${shown(nearest(outcomes.map(({ stranded }) => stranded)))}`,
    `leases_by_sql=${sum(({ leases }) => leases.sql)} leases_by_redis=${sum(({ leases }) => leases.redis)} first_visits=${sum(({ firsts }) => firsts)}`,
    `faults: ${faultKinds.map((kind) => `${kind}=${faults[kind]}`).join(" ")}`,
    ...failed.slice(0, shownMost).flatMap(({ seed, kind, violations }) => story(seed, kind, violations)),
    ...(failed.length > shownMost ? [`and ${failed.length - shownMost} more seeds`] : []),
  ];
  for (const line of lines) console.log(line);
}

/** Of any seeds, also of one. */
export function claimChecks({ claim }: Attempt, outcomes: readonly Outcome[]): void {
  const granted = sumOf(outcomes, (one) => one.granted);
  const done = `${counted(outcomes.length)} seeds with ${counted(granted)} visits, simulated`;
  for (const check of Object.keys(checks) as Check[]) {
    const found = sumOf(outcomes, ({ violations }) => violations.filter((one) => one.check === check).length);
    const times = check === "overspent" ? sumOf(outcomes, (one) => one.accountsClosed) : outcomes.length;
    claim({
      promise: `it never happens that ${checks[check]}`,
      ...{ scenario: "worlds", measure: check, done, times, figure: found, bound: { exactly: 0 } },
    });
  }
}

/** Of so many seeds that everything must have happened in them. */
export function claimVariety({ claim }: Attempt, outcomes: readonly Outcome[]): void {
  const faults = faultsOf(outcomes);
  const never = faultKinds.filter((kind) => faults[kind] === 0);
  claim({
    promise: "every kind of fault happens in the simulation",
    ...{ scenario: "worlds", measure: "fault_kinds" },
    done: never.length === 0 ? "all kinds" : `never: ${never.join(", ")}`,
    times: faultKinds.reduce((sum, kind) => sum + faults[kind], 0),
    figure: faultKinds.length - never.length,
    bound: { least: faultKinds.length },
  });
  const inFiles = outcomes.filter(({ kind }) => kind === "file");
  claim({
    promise: "first visits are counted without a lease where the database is a file",
    ...{ scenario: "worlds", measure: "first_visits", done: `${counted(inFiles.length)} seeds with a file` },
    ...{ times: inFiles.length, figure: sumOf(inFiles, ({ firsts }) => firsts), bound: { least: 1 } },
  });
  for (const kind of ["degrade", "loss"] as const) {
    const some = outcomes.filter((one) => one.kind === kind);
    const done = `${counted(some.length)} seeds in which ${kind === "loss" ? "Redis loses its data" : "Redis is away at times"}`;
    const world = { scenario: "worlds", done, times: some.length };
    claim({
      ...{ ...world, promise: "SQL lends while Redis is away", measure: `lent_by_sql_${kind}` },
      figure: sumOf(some, ({ leases }) => leases.sql),
      bound: { least: 1 },
    });
    const { figure, bound } = worstOf(outcomes, kind);
    claim({
      ...{ ...world, promise: "a limit is overshot by at most two leases for each instance and crash" },
      ...{ measure: `overshoot_${kind}`, figure, bound: { most: bound } },
    });
  }
}

const exactWorlds = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes.filter(({ kind }) => kind === "sql" || kind === "redis" || kind === "file");

function faultsOf(outcomes: readonly Outcome[]) {
  const faults = noFaults();
  for (const one of outcomes) for (const kind of faultKinds) faults[kind] += one.tally[kind];
  return faults;
}

const sumOf = (outcomes: readonly Outcome[], of: (one: Outcome) => number): number =>
  outcomes.reduce((sum, one) => sum + of(one), 0);

const worstOf = (outcomes: readonly Outcome[], world: WorldKind): Bounded =>
  nearest(outcomes.filter(({ kind }) => kind === world).map(({ overshoot }) => overshoot));

/** Of all seeds the one that came nearest to its bound. */
const nearest = (all: readonly (Bounded | undefined)[]): Bounded =>
  all.reduce<Bounded>((most, one) => (one === undefined ? most : worse(most, one)), { figure: 0, bound: 1 });

const shown = ({ figure, bound }: Bounded): string => (figure === 0 ? "0 bound=any" : `${figure} bound=${bound}`);

const counted = (count: number): string => count.toLocaleString("en-US");

function story(seed: number, kind: string, violations: readonly Violation[]): string[] {
  const first = new Map(violations.toReversed().map((one) => [one.check, one]));
  return [
    `seed ${seed} (${kind}) does not hold; to see it alone: npm run prove -- limits --seed ${seed}`,
    ...[...first.values()].map(({ check, text }) => `  ${check}: ${checks[check]}: ${text}`),
  ];
}
