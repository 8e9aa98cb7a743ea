/** `npm run prove -- codes` runs the named proofs, `npm run prove` lists all. */
import { ensure } from "../test/ground/machine.ts";
import { codes } from "./codes.ts";
import { coherence } from "./coherence.ts";
import { crash } from "./crash.ts";
import { email } from "./email.ts";
import { fairness } from "./fairness.ts";
import { idempotency } from "./idempotency.ts";
import { importing } from "./import.ts";
import { limits } from "./limits.ts";
import { outage } from "./outage.ts";
import type { Proof } from "./proof.ts";
import { quota } from "./quota.ts";
import { regions } from "./regions.ts";
import { ssrf } from "./ssrf.ts";
import { storage } from "./storage.ts";

const proofs: readonly Proof[] = [
  ...[codes, coherence, crash, email, fairness, idempotency, importing, limits, outage, quota, regions, ssrf, storage],
];

process.exitCode = await main(Bun.argv.slice(2));
// Connections left open would keep the process alive; its keeper ends what it started.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  const { names, options } = parse(args);
  const unknown = names.filter((name) => !proofs.some((proof) => proof.name === name));
  if (names.length === 0 || unknown.length > 0) {
    if (unknown.length > 0) console.error(`There is no proof ${unknown.join(", ")}.`);
    console.log("There are:");
    for (const { name, shows } of proofs) console.log(`  npm run prove -- ${name.padEnd(10)} ${shows}`);
    return unknown.length > 0 ? 2 : 0;
  }
  const chosen = proofs.filter((proof) => names.includes(proof.name));
  const foreign = [...options].filter(
    ([name, value]) => !Number.isSafeInteger(value) || !chosen.some((proof) => proof.options?.includes(name)),
  );
  if (foreign.length > 0) {
    console.error(`No proof takes ${foreign.map(([name, value]) => `--${name} ${value}`).join(", ")}.`);
    return 2;
  }
  const missing = await ensure([...new Set(chosen.flatMap((proof) => proof.needs))]);
  for (const { name, install } of missing)
    console.error(`${name} is not on this machine. To install it:\n  ${install}`);
  if (missing.length > 0) return 1;
  let held = true;
  for (const proof of chosen) {
    console.log(`${proof.name}: ${proof.shows}`);
    const holds = await proof.run(options).catch((error: unknown) => {
      console.error(error);
      return false;
    });
    console.log(`${proof.name}: ${holds ? "holds" : "DOES NOT HOLD"}\n`);
    held &&= holds;
  }
  return held ? 0 : 1;
}

/** What follows a name that starts with -- is its value. */
function parse(args: readonly string[]): { names: string[]; options: Map<string, number> } {
  const names: string[] = [];
  const options = new Map<string, number>();
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? "";
    if (word.startsWith("--")) options.set(word.slice(2), Number(args[++i] ?? Number.NaN));
    else names.push(word);
  }
  return { names, options };
}
