/**
 * Limits of hits: the program's own leases and recorder, in a simulation where clocks, networks, stores and instances
 * fail. `prove/limits/world.ts` describes what happens in one seed, `books.ts` what is checked.
 *
 * Mistakes planted into a copy of the code must be found by the same checks.
 */
import { availableParallelism } from "node:os";
import { progress } from "../bench/show.ts";
import { ownCode } from "./limits/code.ts";
import { figuresOf } from "./limits/figures.ts";
import { openGround } from "./limits/ground.ts";
import { hunt, mistakes } from "./limits/planted.ts";
import { type Outcome, runWorld } from "./limits/world.ts";
import { type Proof, wholly } from "./proof.ts";

export const limits: Proof = {
  name: "limits",
  shows: "leases never overshoot a limit, whatever fails; the worst that losses and crashes cost (--seeds N, --seed N)",
  needs: [],
  options: ["seeds", "seed"],
  controls: [],
  run: wholly(run),
};

const seedsByDefault = 400;
const huntSeeds = 300;

async function run(options: ReadonlyMap<string, number>): Promise<boolean> {
  const seed = options.get("seed");
  if (seed !== undefined) return await runAlone(seed);
  const { holds, lines } = figuresOf(await runMany(options.get("seeds") ?? seedsByDefault));
  for (const line of lines) console.log(line);
  return (await runPlanted()) && holds;
}

/** With a full trace. */
async function runAlone(seed: number): Promise<boolean> {
  const sql = await openGround();
  const outcome = await runWorld(seed, await ownCode(), sql, (line) => console.log(line()));
  const { holds, lines } = figuresOf([outcome]);
  for (const line of lines) console.log(line);
  return holds;
}

/** As many at once as there are processors. A seed gives the same result wherever it runs. */
async function runMany(seeds: number): Promise<Outcome[]> {
  const shown = progress();
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL("./limits/worker.ts", import.meta.url));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.onmessage = ({ data }: MessageEvent<Outcome | "ready">) => {
        if (data !== "ready") outcomes.push(data);
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

async function runPlanted(): Promise<boolean> {
  const shown = progress();
  const sql = await openGround();
  const hunts = [];
  for (const mistake of mistakes) {
    shown.now(`looking for a planted mistake: ${mistake.name}`);
    hunts.push(await hunt(mistake, sql, huntSeeds));
  }
  shown.end();
  const caught = hunts.filter(({ caughtBy }) => caughtBy !== undefined);
  console.log(`planted=${hunts.length} caught=${caught.length}`);
  for (const { name, caughtBy, seed } of hunts) {
    console.log(`  ${name}: ${caughtBy === undefined ? "NOT CAUGHT" : `caught_by=${caughtBy}`} seeds=${seed + 1}`);
  }
  return caught.length === hunts.length;
}
