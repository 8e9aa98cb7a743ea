/**
 * `npm run bench` runs all benchmarks, `npm run bench -- redirect` only the named ones, `npm run bench -- clicks reports` only a
 * part of one, and prints whether they meet their targets. With `--check` a missed target is a failure. Then it does not judge while others use the machine, and
 * says so.
 */
import { parseArgs } from "node:util";
import { ensure } from "../test/ground/machine.ts";
import { type Bench, type Figure, isMet } from "./bench.ts";
import { bulk } from "./bulk.ts";
import { cache } from "./cache.ts";
import { clicks } from "./clicks.ts";
import { cold } from "./cold.ts";
import { create } from "./create.ts";
import { dashboard } from "./dashboard.ts";
import { importing } from "./import.ts";
import { limits } from "./limits.ts";
import { memory } from "./memory.ts";
import { tooBusy, watchOthers } from "./others.ts";
import { redirect } from "./redirect.ts";
import { rules } from "./rules.ts";
import { session } from "./session.ts";
import { round } from "./show.ts";
import { start } from "./start.ts";
import { uploads } from "./uploads.ts";
import { workers } from "./workers.ts";
import { writeThrough } from "./write-through.ts";

const benches: readonly Bench[] = [
  redirect,
  rules,
  cold,
  create,
  importing,
  bulk,
  start,
  uploads,
  limits,
  cache,
  writeThrough,
  clicks,
  session,
  workers,
  memory,
  dashboard,
];

const exitCodes = { met: 0, missed: 1, misused: 2, notJudged: 3 } as const;
type Outcome = Exclude<keyof typeof exitCodes, "misused">;

/** To see whether the machine is quiet before minutes are spent on it. */
const lookMs = 3_000;

process.exitCode = await main(Bun.argv.slice(2));
// Open connections would keep the process alive; its keeper ends the processes it started.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  const given = parse(args);
  if (typeof given === "string") {
    console.error(`${given}\nThere are:`);
    for (const { name, shows, parts = [] } of benches) {
      console.error(`  npm run bench -- ${name.padEnd(13)} ${shows}`);
      if (parts.length > 0) console.error(`    parts of ${name}: ${parts.join(", ")}`);
    }
    console.error("  --check: fail (1) if a target is missed, or (3) if the machine is too busy to judge");
    return exitCodes.misused;
  }
  const { chosen, parts, check } = given;
  const missing = await ensure([...new Set(chosen.flatMap((bench) => bench.needs))]);
  const outcomes: Outcome[] = [];
  for (const bench of chosen) {
    console.log(`\n${bench.name}: ${bench.shows}`);
    const lacks = missing.filter((tool) => bench.needs.includes(tool.name));
    for (const { name, install } of lacks) console.log(`  did not run, for want of ${name}. To install it: ${install}`);
    try {
      outcomes.push(lacks.length > 0 ? "missed" : await run(bench, parts, check));
    } catch (error) {
      console.error(error);
      outcomes.push("missed");
    }
  }
  if (!check) return outcomes.includes("missed") ? exitCodes.missed : exitCodes.met;
  const count = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length;
  console.log(
    `\nbenchmarks=${chosen.length} met=${count("met")} missed=${count("missed")} not_judged=${count("notJudged")}`,
  );
  const worst = (["missed", "notJudged"] as const).find((outcome) => outcomes.includes(outcome)) ?? "met";
  return exitCodes[worst];
}

async function run(bench: Bench, parts: readonly string[], check: boolean): Promise<Outcome> {
  if (check) {
    const before = watchOthers();
    await Bun.sleep(lookMs);
    const busy = tooBusy(before());
    if (busy !== undefined) {
      console.log(`  not judged, and not run: ${busy}`);
      return "notJudged";
    }
  }
  const others = watchOthers();
  const figures = await bench.run(parts);
  const busy = tooBusy(others());
  for (const figure of figures) console.log(`  ${lineOf(figure)}`);
  if (busy !== undefined) console.log(`  ${check ? "not judged" : "to be read with care"}: ${busy}`);
  if (!check) return "met";
  if (busy !== undefined) return "notJudged";
  return figures.every(isMet) ? "met" : "missed";
}

function lineOf(figure: Figure): string {
  const { name, spread, target } = figure;
  const verdict = isMet(figure) ? "met" : "missed";
  const proud =
    target.stretch === undefined
      ? ""
      : `, stretch ≤ ${target.stretch} ${figure.figure <= target.stretch ? "met" : "missed"}`;
  return `${name}${spread === undefined ? "" : ` (${spread})`}: ${round(figure.figure)}, target ≤ ${target.most} ${verdict}${proud}`;
}

interface Given {
  readonly chosen: readonly Bench[];
  readonly parts: readonly string[];
  readonly check: boolean;
}

/** What is wrong with the arguments, as a sentence. */
function parse(args: readonly string[]): Given | string {
  try {
    const { values, positionals: names } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { check: { type: "boolean", default: false } },
    });
    const chosen = benches.filter((bench) => names.length === 0 || names.includes(bench.name));
    const parts = names.filter((name) => !benches.some((bench) => bench.name === name));
    const unknown = parts.filter((part) => !chosen.some((bench) => bench.parts?.includes(part)));
    if (unknown.length > 0) return `There is no benchmark ${unknown.join(", ")}, and no such part of a named one.`;
    return { chosen, parts, check: values.check };
  } catch (error) {
    return (error as Error).message;
  }
}
