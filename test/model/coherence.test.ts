import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mutant } from "../ground/mutant.ts";
import { type Code, loadCode, ownCode } from "./coherence/code.ts";
import { mistakes } from "./coherence/mistakes.ts";
import { kinds, type Scenario, scenarios } from "./coherence/scenario.ts";
import { play } from "./coherence/world.ts";

const runs = 1_000;
/** More than ten times what the rarest of the mistakes needs to be seen. */
const runsOfMistakes = 4_000;
const timeoutMs = 120_000;

type Counts = Awaited<ReturnType<typeof play>>[number];

const property = (code: Code, scenarios: fc.Arbitrary<Scenario>, seen: (counts: Counts) => void = () => {}) =>
  fc.asyncProperty(fc.scheduler(), scenarios, async (scheduler, scenario) => {
    for (const counts of await play(code, scheduler, scenario)) seen(counts);
  });

describe("two instances on one Redis and one database, in any order of steps", () => {
  test(
    "never serve an older version after a newer one, and all end with the newest",
    async () => {
      const happened = { redis: 0, fence: 0, older: 0, untrusted: 0, failed: 0, fill_rejected: 0 };
      const seen = ({ hit, why, events }: Counts) => {
        const counts: Record<string, number> = { ...hit, ...why, ...events };
        for (const what of Object.keys(happened) as (keyof typeof happened)[]) happened[what] += counts[what] ?? 0;
      };
      await fc.assert(property(await ownCode(), scenarios, seen), { numRuns: runs });
      // A model in which none of this happens would show nothing. (Stale answers are too rare to require.)
      expect(Object.entries(happened).filter(([, times]) => times === 0)).toEqual([]);
    },
    timeoutMs,
  );

  test.each(Object.entries(mistakes))(
    "would be seen to fail if %s",
    async (_, { seenIn, edits }) => {
      const code = await loadCode(mutant(edits));
      const { failed } = await fc.check(property(code, kinds[seenIn]), { numRuns: runsOfMistakes, endOnFailure: true });
      expect(failed).toBe(true);
    },
    timeoutMs,
  );
});
