/**
 * `npm run bench` runs all benchmarks, `npm run bench -- redirect` only the named ones. A missed target is printed and
 * is not a failure: on a shared machine, figures are for reading, not for assertions.
 */
import { ensure } from "../test/ground/machine.ts";
import type { Bench } from "./bench.ts";
import { bulk } from "./bulk.ts";
import { cache } from "./cache.ts";
import { create } from "./create.ts";
import { limits } from "./limits.ts";
import { redirect } from "./redirect.ts";
import { start } from "./start.ts";
import { writeThrough } from "./write-through.ts";

const benches: readonly Bench[] = [redirect, create, bulk, start, limits, cache, writeThrough];

process.exitCode = await main(Bun.argv.slice(2));
// Open connections would keep the process alive; its keeper ends the processes it started.
process.exit();

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknown.length > 0) {
    console.error(`There is no benchmark ${unknown.join(", ")}. There are:`);
    for (const { name, shows } of benches) console.error(`  npm run bench -- ${name.padEnd(10)} ${shows}`);
    return 2;
  }
  const chosen = benches.filter((bench) => names.length === 0 || names.includes(bench.name));
  const missing = await ensure([...new Set(chosen.flatMap((bench) => bench.needs))]);
  let failed = 0;
  for (const bench of chosen) {
    console.log(`\n${bench.name}: ${bench.shows}`);
    const lacks = missing.filter((tool) => bench.needs.includes(tool.name));
    for (const { name, install } of lacks) console.log(`  did not run, for want of ${name}. To install it: ${install}`);
    if (lacks.length > 0) {
      failed++;
      continue;
    }
    try {
      await bench.run();
    } catch (error) {
      console.error(error);
      failed++;
    }
  }
  return failed === 0 ? 0 : 1;
}
