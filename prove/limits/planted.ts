/**
 * Mistakes that the simulation must find, or it would show nothing. Each is put into a copy of the source, by replacing
 * text that must be there exactly once: the program has no switch for it, and a mistake that no longer fits is an error.
 */
import type { Sql } from "../../src/sql/sql.ts";
import { type Edit, mutant } from "../../test/ground/mutant.ts";
import type { Check } from "./books.ts";
import { loadCode } from "./code.ts";
import { runWorld } from "./world.ts";

export interface Mistake {
  readonly name: string;
  readonly edits: readonly Edit[];
}

export const mistakes: readonly Mistake[] = [
  {
    name: "no_shrink",
    edits: [
      {
        file: "redis/lease.lua",
        from: "math.min(math.max(want, least), most, math.floor(remaining / (2 * holders)))",
        to: "math.min(math.max(want, least), most)",
      },
      {
        file: "limits/lease-size.ts",
        from: "Math.min(Math.max(want, leastWhilePlenty), largestLease(max), fair)",
        to: "Math.min(Math.max(want, leastWhilePlenty), largestLease(max), fair < 0 ? 0 : max)",
      },
    ],
  },
  {
    name: "return_twice",
    edits: [
      {
        file: "redis/lease.lua",
        from: '    leases[lease] = { validUntil = now }\n    write("l:" .. lease, "ended:" .. text(now))\n',
        to: "",
      },
    ],
  },
  {
    name: "new_id_on_retry",
    edits: [{ file: "limits/meters.ts", from: "lane.ask ??= {", to: "lane.ask = {" }],
  },
  {
    name: "total_not_carried",
    edits: [
      {
        file: "redis/leases.ts",
        from: 'String(totals.get(key) ?? "")',
        to: 'fresh ? String(totals.get(key) ?? "") : ""',
      },
    ],
  },
  {
    name: "two_lease_rule_off",
    edits: [
      {
        file: "limits/meters.ts",
        from: "if (lane.unrecorded > largestLease(max)) await settings.flush();",
        to: "void largestLease;",
      },
    ],
  },
  {
    name: "ahead_while_two_leases_are_out",
    edits: [
      {
        file: "limits/meters.ts",
        from: "if (lane.left + lane.unrecorded <= largestLease(max)) {",
        to: "if (max > 0) {",
      },
    ],
  },
  {
    name: "refund_to_wrong_window",
    edits: [
      {
        file: "limits/meters.ts",
        from: "waiting.push({ key, draws, month, lender, spent: none, units: 0, leased: 0, unspent, lease });",
        to: "waiting.push({ key, draws, month: month && settings.month(), lender, spent: none, units: 0, leased: 0, unspent, lease });",
      },
    ],
  },
  {
    name: "seed_as_zero",
    edits: [{ file: "redis/leases.ts", from: "totals.set(key, await readTotal(month));", to: "totals.set(key, 0);" }],
  },
];

export interface Hunt {
  readonly name: string;
  /** Undefined if it got away. */
  readonly caughtBy: Check | undefined;
  readonly seed: number;
}

export async function hunt({ name, edits }: Mistake, sql: Sql, seedsMost: number): Promise<Hunt> {
  const code = await loadCode(mutant(edits));
  for (let seed = 0; seed < seedsMost; seed++) {
    const [found] = (await runWorld(seed, code, sql)).violations;
    if (found !== undefined) return { name, caughtBy: found.check, seed };
  }
  return { name, caughtBy: undefined, seed: seedsMost };
}
