/**
 * `npm run prove -- quota --control`: a short version of a proof, in a process of its own, first with the program as it
 * is, then with each mistake that the proof exists to find. The first must hold; each of the others must miss a claim
 * that is about its mistake. To fail in another way, such as not to start, is not enough.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mutant } from "../test/ground/mutant.ts";
import { cleanEnvironment, runProcess } from "../test/ground/process.ts";
import { sourceVariable } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { type Control, idOf, type Proof, verdictOf } from "./proof.ts";
import { holds, type Result } from "./report.ts";

/** A mistake may let a proof wait for something that never comes. */
const shortRunMs = 240_000;

/** Whether the proof holds, and finds all of its mistakes. */
export async function runControls(proof: Proof): Promise<boolean> {
  if (proof.controls.length === 0) {
    console.log(`${proof.name}: has no controls`);
    return false;
  }
  const scenarios = [...new Set(proof.controls.flatMap(({ plays }) => plays))];
  const started = performance.now();
  const base = await runShort(proof, scenarios);
  console.log(`control: ${proof.name} without a mistake ${holds(base) ? "holds" : "DOES NOT HOLD"} ${secondsOf(base)}`);
  if (!holds(base)) explain(base);
  const unknown = proof.controls
    .flatMap(({ breaks }) => breaks)
    .filter((id) => !base.claims.some((c) => idOf(c) === id));
  if (unknown.length > 0) console.log(`control: ${proof.name} claims nothing about ${unknown.join(", ")}`);
  let caught = 0;
  for (const control of proof.controls) {
    const result = await runShort(proof, control.plays, control);
    const missed = result.claims.filter((claim) => verdictOf(claim) === "missed").map(idOf);
    const about = missed.filter((id) => control.breaks.includes(id));
    console.log(
      `control: ${proof.name} with ${control.name} ${about.length > 0 ? `is caught by ${about.join(", ")}` : "IS NOT CAUGHT"} ${secondsOf(result)}`,
    );
    if (about.length > 0) caught++;
    else explain(result);
  }
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`control: ${proof.name} planted=${proof.controls.length} caught=${caught} seconds=${seconds}`);
  return holds(base) && unknown.length === 0 && caught === proof.controls.length;
}

const secondsOf = ({ seconds }: Result) => `(${Math.round(seconds)} s)`;

function explain({ claims, error }: Result): void {
  for (const claim of claims) console.log(`  ${idOf(claim)}: ${claim.figure} ${JSON.stringify(claim.bound)}`);
  if (error !== undefined) console.log(`  ${error}`);
}

async function runShort({ name }: Proof, scenarios: readonly string[], control?: Control): Promise<Result> {
  const path = join(tempFolder("control"), "result.json");
  const source = control === undefined ? {} : { [sourceVariable]: mutant(control.edits) };
  const command = [process.execPath, "--no-env-file", join(import.meta.dir, "run.ts"), name, "--short"];
  const started = performance.now();
  const { stdout, stderr } = await runProcess([...command, "--plays", scenarios.join(","), "--result", path], {
    env: cleanEnvironment(source),
    timeoutMs: shortRunMs,
  }).catch((error: unknown) => ({ stdout: "", stderr: String(error) }));
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Result;
  } catch {
    const seconds = (performance.now() - started) / 1_000;
    return {
      proof: name,
      claims: [],
      seconds,
      error: `it ended without a result\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`,
    };
  }
}
