/** Starts `run-by-hand.ts`. */
import { join } from "node:path";
import { runProcess } from "../test/ground/process.ts";

export interface ByHand {
  /** A path or a URL. */
  readonly address: string;
  readonly tenant: string;
  /** Links in a transaction. */
  readonly each: number;
  /** Connections. */
  readonly lines: number;
  /** For so long, or so many links. */
  readonly ms?: number;
  readonly links?: number;
  readonly priority?: number;
  /** 0 if there is none. */
  readonly postgresPid: number;
}

export interface HandSample {
  readonly perSecond: number;
  readonly clientMicros: number;
  readonly databaseMicros: number;
}

const byHandMs = 300_000;

export async function runByHand(hand: ByHand): Promise<HandSample> {
  const { address, tenant, each, lines, ms = 0, links = 0, priority = 0, postgresPid } = hand;
  const numbers = [each, lines, ms, links, priority, postgresPid].map(String);
  const script = join(import.meta.dir, "run-by-hand.ts");
  const { code, stdout, stderr } = await runProcess(
    [process.execPath, "--no-env-file", script, address, tenant, ...numbers],
    { timeoutMs: byHandMs },
  );
  if (code !== 0) throw new Error(`the links by hand failed\n${stdout}${stderr}`);
  return JSON.parse(stdout) as HandSample;
}
