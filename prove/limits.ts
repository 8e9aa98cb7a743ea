/**
 * Limits of hits: the program's own leases and recorder, in a simulation where clocks, networks, stores and instances
 * fail. `prove/limits/world.ts` describes what happens in one seed, `books.ts` what is checked.
 *
 * `--seed N` runs one seed alone, with a full trace; then not every kind of fault must have happened.
 */
import { availableParallelism } from "node:os";
import { progress } from "../bench/show.ts";
import { ownCode } from "./limits/code.ts";
import { controls } from "./limits/controls.ts";
import { claimChecks, claimVariety, printFigures } from "./limits/figures.ts";
import { openGround } from "./limits/ground.ts";
import { type Outcome, runWorld } from "./limits/world.ts";
import type { Proof } from "./proof.ts";

export const limits: Proof = {
  name: "limits",
  shows: "leases never overshoot a limit, whatever fails; the worst that losses and crashes cost (--seeds N, --seed N)",
  needs: [],
  options: ["seeds", "seed"],
  controls,
  async run(attempt) {
    const { options, short } = attempt;
    const seed = options.get("seed");
    const seeds = options.get("seeds") ?? (short ? shortSeeds : usualSeeds);
    const outcomes = seed === undefined ? await runMany(seeds, short) : [await runAlone(seed)];
    printFigures(outcomes);
    claimChecks(attempt, outcomes);
    if (seed === undefined) claimVariety(attempt, outcomes);
  },
};

const usualSeeds = 3_000;
const shortSeeds = 40;

async function runAlone(seed: number): Promise<Outcome> {
  return await runWorld(seed, await ownCode(), await openGround(), (line) => console.log(line()));
}

/**
 * As many at once as there are processors. A seed gives the same result wherever it runs. `upToFirst`: a seed that does
 * not hold is enough.
 */
async function runMany(seeds: number, upToFirst: boolean): Promise<Outcome[]> {
  const shown = progress();
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL("./limits/worker.ts", import.meta.url));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.onmessage = ({ data }: MessageEvent<Outcome | "ready">) => {
        if (data !== "ready") outcomes.push(data);
        if (data !== "ready" && data.violations.length > 0 && upToFirst) next = seeds;
        shown.now(`seeds: ${outcomes.length.toLocaleString("en-US")} of ${seeds.toLocaleString("en-US")}`);
        if (next < seeds) worker.postMessage(next++);
        else {
          worker.terminate();
          resolve();
        }
      };
    });
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  shown.end();
  return outcomes.sort((a, b) => a.seed - b.seed);
}
