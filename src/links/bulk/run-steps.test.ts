import { expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { newId, type TenantId } from "../../base/ids.ts";
import { byCommand } from "../../history/history.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import type { Link } from "../link.ts";
import type { ManyChange, ManyOutcome } from "./change-many.ts";
import { createRunSteps, type StepParts } from "./run-steps.ts";
import type { LinkStep } from "./step.ts";

const clock = manualClock(Date.UTC(2026, 10, 17));
const tenant = { id: newId("tenant", clock) as TenantId } as Tenant;
const linkOf = (id: Link["id"]): Link => ({ id, domain: "", code: id, version: 2 }) as Partial<Link> as Link;

/** Deletes links until the database is gone. */
function runUntil(failsAt: number, error: Error) {
  let calls = 0;
  const changeMany = async (_: TenantId, changes: readonly ManyChange[]): Promise<ManyOutcome[]> => {
    if (++calls === failsAt) throw error;
    return changes.map(({ id }) => ({ kind: "changed", before: { ...linkOf(id), version: 1 }, link: linkOf(id) }));
  };
  return createRunSteps({ changeMany, now: clock.now } as unknown as StepParts);
}

const steps = Array.from({ length: 120 }, (): LinkStep => ({ kind: "delete", id: newId("link", clock) }));
const gone = Object.assign(new Error("terminating connection"), { code: "57P01" });

test("a database that fails in the middle leaves the undo of what was done", async () => {
  const outcomes = await runUntil(2, gone)(tenant, steps, byCommand);
  expect(outcomes).toHaveLength(120);
  expect(outcomes.filter(({ kind }) => kind === "changed")).toHaveLength(50);
  expect(outcomes[0]).toMatchObject({ undo: { kind: "restore" } });
  expect(outcomes[50]).toMatchObject({ kind: "failed", problem: { code: "unavailable" } });
});

test("if nothing was done, or the mistake is ours, the whole request fails", async () => {
  expect(runUntil(1, gone)(tenant, steps, byCommand)).rejects.toBe(gone);
  const ours = new TypeError("not a function");
  expect(runUntil(2, ours)(tenant, steps, byCommand)).rejects.toBe(ours);
});
