/** `npm run prove -- codes` runs the proofs that are named, `npm run prove` lists what there is. */
import { ensure } from "../test/ground/machine.ts";
import { codes } from "./codes.ts";
import { coherence } from "./coherence.ts";
import { crash } from "./crash.ts";
import type { Proof } from "./proof.ts";

const proofs: readonly Proof[] = [codes, coherence, crash];

process.exitCode = await main(Bun.argv.slice(2));
// Connections that were left open would keep the process; what it started is ended by its keeper.
process.exit();

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !proofs.some((proof) => proof.name === name));
  if (names.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) console.error(`There is no proof ${unknown.join(", ")}.`);
    console.log("There are:");
    for (const { name, shows } of proofs) console.log(`  npm run prove -- ${name.padEnd(10)} ${shows}`);
    return unknown.length > 0 ? 2 : 0;
  }
  const chosen = proofs.filter((proof) => names.includes(proof.name));
  const missing = await ensure([...new Set(chosen.flatMap((proof) => proof.needs))]);
  for (const { name, install } of missing)
    console.error(`${name} is not on this machine. To install it:\n  ${install}`);
  if (missing.length > 0) return 1;
  let held = true;
  for (const proof of chosen) {
    console.log(`${proof.name}: ${proof.shows}`);
    const holds = await proof.run().catch((error: unknown) => {
      console.error(error);
      return false;
    });
    console.log(`${proof.name}: ${holds ? "holds" : "DOES NOT HOLD"}\n`);
    held &&= holds;
  }
  return held ? 0 : 1;
}
