/**
 * A short run of `npm run prove -- limits`: the program's own leases and recorder in a simulation where clocks,
 * networks, stores and instances fail. `prove/limits/books.ts` has the checks.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Code, loadCode, ownCode } from "../../prove/limits/code.ts";
import { controls } from "../../prove/limits/controls.ts";
import { openGround } from "../../prove/limits/ground.ts";
import { type Outcome, runWorld } from "../../prove/limits/world.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { mutant } from "../ground/mutant.ts";

const seeds = 15;
const huntSeeds = 120;
let sql: Sql;

beforeAll(async () => {
  sql = await openGround();
});
afterAll(() => sql.close());

describe("leases in a world where everything fails", () => {
  test("hold what is promised of them", async () => {
    const code = await ownCode();
    const failed: Pick<Outcome, "seed" | "violations">[] = [];
    let granted = 0;
    for (let seed = 0; seed < seeds; seed++) {
      const outcome = await runWorld(seed, code, sql);
      granted += outcome.granted;
      if (outcome.violations.length > 0) failed.push({ seed, violations: outcome.violations });
    }
    expect(failed).toEqual([]);
    expect(granted).toBeGreaterThan(4_000);
  }, 120_000);

  test("go the same way with the same seed", async () => {
    const code = await ownCode();
    for (const seed of [3, 5]) {
      const stories = [[], []] as [string[], string[]];
      for (const story of stories) await runWorld(seed, code, sql, (line) => story.push(line()));
      expect(stories[0].length).toBeGreaterThan(50);
      expect(stories[1]).toEqual(stories[0]);
    }
  }, 60_000);

  for (const { name, edits, breaks } of controls) {
    test(`do not hold with a mistake in them: ${name}`, async () => {
      expect(breaks).toContain(`worlds.${await firstViolation(await loadCode(mutant(edits)))}`);
    }, 60_000);
  }
});

async function firstViolation(code: Code): Promise<string | undefined> {
  for (let seed = 0; seed < huntSeeds; seed++) {
    const [found] = (await runWorld(seed, code, sql)).violations;
    if (found !== undefined) return found.check;
  }
  return undefined;
}
