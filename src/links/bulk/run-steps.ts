import { Problem } from "../../base/errors.ts";
import type { Actor } from "../../history/history.ts";
import { isUnavailable } from "../../sql/sql.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { changedMeanwhile, missing, unknownVersion } from "../create/refusals.ts";
import { changeOf, type Link, type LinkFields } from "../link.ts";
import { ownerFields } from "../past/changed-fields.ts";
import type { LinkPast } from "../past/link-history.ts";
import type { LinkStore } from "../store.ts";
import type { createChangeMany, ManyChange, ManyOutcome } from "./change-many.ts";
import type { MoveLink } from "./move-link.ts";
import { changeFields, differingFields, type LinkStep, type StepOutcome } from "./step.ts";

/**
 * Does many things to many links. Edits, undos and deletions that follow each other share transactions; links that are
 * restored or moved have one each. A step that is refused leaves its link as it is, and the others go on.
 */
export interface StepParts {
  readonly store: Pick<LinkStore, "get">;
  readonly past: LinkPast;
  readonly changeMany: ReturnType<typeof createChangeMany>;
  readonly moveLink: MoveLink;
  /** By today's rules. */
  readonly check: (tenant: Tenant, fields: LinkFields, given: ReadonlySet<keyof LinkFields>) => LinkFields;
  readonly restore: (tenant: Tenant, id: Link["id"], by: Actor) => Promise<Link>;
  readonly now: () => number;
}

const batchRows = 50; // short transactions: another writer waits for at most one of them

export function createRunSteps(parts: StepParts) {
  const { store, past, changeMany, moveLink, check, restore, now } = parts;

  return async (tenant: Tenant, steps: readonly LinkStep[], by: Actor): Promise<StepOutcome[]> => {
    const outcomes: StepOutcome[] = [];
    for (let at = 0; at < steps.length; ) {
      const step = steps[at];
      if (step === undefined) break;
      try {
        outcomes.push(...(await some(tenant, step, steps, at, by)));
      } catch (error) {
        if (outcomes.length === 0 || !isUnavailable(error)) throw error;
        return [...outcomes, ...steps.slice(at).map(notReached)];
      }
      at = outcomes.length;
    }
    return outcomes;
  };

  /** The step alone, or those that share a transaction with it. */
  async function some(
    tenant: Tenant,
    step: LinkStep,
    steps: readonly LinkStep[],
    at: number,
    by: Actor,
  ): Promise<StepOutcome[]> {
    if (isTogether(step)) return await together(tenant, batchFrom(steps, at), by);
    return [await orProblem(() => alone(tenant, step, by))];
  }

  async function alone(
    tenant: Tenant,
    step: Extract<LinkStep, { kind: "restore" | "move" }>,
    by: Actor,
  ): Promise<StepOutcome> {
    if (step.kind === "restore") {
      const link = await restore(tenant, step.id, by);
      const undo: LinkStep = { kind: "delete", id: link.id, expected: link.version };
      return { kind: "changed", link, undo, changes: [changeOf(link)] };
    }
    const { before, link, changes } = await moveLink(tenant.id, step.id, step.domain, by, now(), step.expected);
    if (changes.length === 0) return { kind: "unchanged", link };
    const undo: LinkStep = { kind: "move", id: link.id, domain: before.domain, expected: link.version };
    return { kind: "changed", link, undo, changes };
  }

  async function together(tenant: Tenant, steps: readonly Together[], by: Actor): Promise<StepOutcome[]> {
    const outcomes = new Map<number, StepOutcome>();
    const planned: { readonly place: number; readonly change: ManyChange }[] = [];
    for (const [place, step] of steps.entries()) {
      const change = await orProblem(() => plan(tenant, step));
      if ("kind" in change) outcomes.set(place, change);
      else planned.push({ place, change });
    }
    const asked = planned.map(({ change }) => change);
    const changed = await changeMany(tenant.id, asked, by, now());
    for (const [n, { place }] of planned.entries()) {
      const [outcome, step] = [changed[n], steps[place]];
      if (outcome === undefined || step === undefined) throw new Error("fewer outcomes than changes");
      outcomes.set(place, told(step, outcome));
    }
    return steps.map((_, place) => outcomes.get(place) ?? { kind: "failed", problem: missing() });
  }

  async function plan(tenant: Tenant, step: Together): Promise<ManyChange | StepOutcome> {
    const { id, expected } = step;
    const requireVersion = (link: Link) => {
      if (expected !== undefined && expected !== link.version) throw changedMeanwhile();
    };
    if (step.kind === "delete") {
      const decide = (link: Link) => {
        requireVersion(link);
        return null;
      };
      return { id, decide };
    }
    if (step.kind === "edit") {
      const decide = (link: Link) => {
        requireVersion(link);
        const before = ownerFields(link);
        const after = changeFields(before, step.change);
        return check(tenant, after, differingFields(before, after));
      };
      return { id, decide };
    }
    const link = await store.get(tenant.id, id);
    if (link === undefined) throw missing();
    const fields = step.version === link.version ? ownerFields(link) : await past.fieldsAt(link, step.version);
    if (fields === undefined) throw unknownVersion(step.version);
    const decide = (current: Link) => {
      requireVersion(current);
      // What was read above is the past of this version only.
      if (current.version !== link.version) throw changedMeanwhile();
      return check(tenant, fields, differingFields(ownerFields(current), fields));
    };
    return { id, decide, file: fields.file, undoTo: step.version };
  }
}

/** For the rest when the database fails: what was done before is told, so that it can be undone. */
export const notReached = (): StepOutcome => ({
  kind: "failed",
  problem: new Problem("unavailable", "The database did not answer. Look whether the link was changed.", {
    retryAfterSeconds: 5,
  }),
});

type Together = Extract<LinkStep, { kind: "edit" | "delete" | "undo" }>;

const isTogether = (step: LinkStep): step is Together => step.kind !== "restore" && step.kind !== "move";

/** A link that occurs again begins the next batch: its second step finds what the first one left. */
function batchFrom(steps: readonly LinkStep[], at: number): Together[] {
  const some: Together[] = [];
  const ids = new Set<string>();
  for (const step of steps.slice(at, at + batchRows)) {
    if (!isTogether(step) || ids.has(step.id)) break;
    ids.add(step.id);
    some.push(step);
  }
  return some;
}

function told(step: Together, outcome: ManyOutcome): StepOutcome {
  if (outcome.kind === "missing") return { kind: "failed", problem: missing() };
  if (outcome.kind !== "changed") return outcome;
  const { before, link } = outcome;
  const undo: LinkStep =
    step.kind === "delete"
      ? { kind: "restore", id: link.id }
      : { kind: "undo", id: link.id, version: before.version, expected: link.version };
  return { kind: "changed", link, undo, changes: [changeOf(link)] };
}

async function orProblem<Result>(work: () => Promise<Result>): Promise<Result | StepOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) return { kind: "failed", problem: error };
    throw error;
  }
}
