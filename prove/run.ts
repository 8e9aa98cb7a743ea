/**
 * `npm run prove` runs every proof, ends with a table of all claims, and writes docs/proof.md. With names, only those, and
 * only their lines are replaced there. With `--control`, each proof runs against the mistakes that it must find.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ensure } from "../test/ground/machine.ts";
import { runControls } from "./controls.ts";
import { writePage } from "./page.ts";
import type { Claim, Proof } from "./proof.ts";
import { proofs } from "./proofs.ts";
import { holds, printTable, type Result } from "./report.ts";

process.exitCode = await main(Bun.argv.slice(2));
// Connections left open would keep the process alive; its keeper ends what it started.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  const given = parse(args);
  if (typeof given === "string") {
    console.error(`${given}\nThere are:`);
    for (const { name, shows, options = [] } of [
      { name: "all", shows: "all of them (the default)" },
      ...proofs,
    ] as Proof[])
      console.error(`  npm run prove -- ${name.padEnd(11)} ${shows}${options.map((o) => ` [--${o} N]`).join("")}`);
    console.error("  --control    runs a short version with each mistake that the proof must find");
    return 2;
  }
  const { chosen, options } = given;
  const missing = await ensure([...new Set(chosen.flatMap((proof) => proof.needs))]);
  for (const { name, install } of missing)
    console.error(`${name} is not on this machine. To install it:\n  ${install}`);
  if (missing.length > 0) return 1;
  if (given.control) return await controlAll(chosen);

  const results: Result[] = [];
  for (const proof of chosen) {
    console.log(`${proof.name}: ${proof.shows}`);
    const result = await run(proof, { options, short: given.short, plays: given.plays });
    if (result.error !== undefined) console.error(result.error);
    console.log(`${proof.name}: ${holds(result) ? "holds" : "DOES NOT HOLD"} (${Math.round(result.seconds)} s)\n`);
    results.push(result);
  }
  if (given.result !== undefined) writeFileSync(given.result, JSON.stringify(results[0]));
  printTable(results);
  // Only what ran in full, as everybody would run it.
  if (!given.short && given.plays === undefined && options.size === 0) writePage(results);
  return results.every(holds) ? 0 : 1;
}

async function run(
  proof: Proof,
  {
    options,
    short,
    plays,
  }: { options: ReadonlyMap<string, number>; short: boolean; plays: readonly string[] | undefined },
): Promise<Result> {
  const claims: Claim[] = [];
  const started = performance.now();
  let error: string | undefined;
  try {
    await proof.run({
      options,
      short,
      plays: (scenario) => plays === undefined || plays.includes(scenario),
      claim: (claim) => claims.push(claim),
    });
  } catch (thrown) {
    error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
  return { proof: proof.name, claims, seconds: (performance.now() - started) / 1_000, error };
}

async function controlAll(chosen: readonly Proof[]): Promise<number> {
  const started = performance.now();
  const failed: string[] = [];
  for (const proof of chosen) if (!(await runControls(proof))) failed.push(proof.name);
  const planted = chosen.reduce((sum, { controls }) => sum + controls.length, 0);
  console.log(
    `controls: proofs=${chosen.length} planted=${planted} failed=${failed.length} minutes=${((performance.now() - started) / 60_000).toFixed(1)}${failed.map((name) => `\n  ${name}`).join("")}`,
  );
  return failed.length === 0 ? 0 : 1;
}

interface Given {
  readonly chosen: readonly Proof[];
  readonly options: ReadonlyMap<string, number>;
  readonly control: boolean;
  /** For controls and tests: how they start one proof in a process of its own. */
  readonly short: boolean;
  readonly plays: readonly string[] | undefined;
  readonly result: string | undefined;
}

/** What is wrong with the arguments, as a sentence. */
function parse(args: readonly string[]): Given | string {
  const numbers = [...new Set(proofs.flatMap(({ options = [] }) => options))];
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        control: { type: "boolean", default: false },
        short: { type: "boolean", default: false },
        plays: { type: "string" },
        result: { type: "string" },
        ...Object.fromEntries(numbers.map((name) => [name, { type: "string" as const }])),
      },
    });
    const given: Readonly<Record<string, unknown>> = values;
    const names = positionals.filter((name) => name !== "all");
    const unknown = names.filter((name) => !proofs.some((proof) => proof.name === name));
    if (unknown.length > 0) return `There is no proof ${unknown.join(", ")}.`;
    const chosen = proofs.filter((proof) => names.length === 0 || names.includes(proof.name));
    const options = new Map(
      numbers.flatMap((name) => (given[name] === undefined ? [] : [[name, Number(given[name])]])),
    );
    for (const [name, value] of options) {
      if (!chosen.some((proof) => proof.options?.includes(name))) return `${names.join(", ")} takes no --${name}.`;
      if (!Number.isSafeInteger(value) || value < 1) return `--${name} must be a whole number from 1.`;
    }
    const { control, short, plays, result } = values;
    return {
      chosen,
      options,
      control: control === true,
      short: short === true,
      plays: text(plays)?.split(","),
      result: text(result),
    };
  } catch (error) {
    return (error as Error).message;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
