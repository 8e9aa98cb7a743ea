/**
 * No tenant can exclude the others from a shared resource.
 *
 * One real server with five tenants. For each shared resource the others first work alone, and then while one tenant,
 * or one network, attacks: slow uploads, downloads that are never read, floods of bulk creates, right passwords by the
 * dozen, domains whose DNS does not answer (`fairness/rows.ts`). Once on SQLite, once on PostgreSQL.
 *
 * It holds if at least 0.99 of the others' requests succeed, and if the attacker felt it: refused, or kept waiting.
 * Times are printed (p99 alone → under attack, and their ratio), but do not decide.
 *
 * `--planted 1` runs it on a program whose holders may take every free place, `--planted 2` on one that does not know
 * holders and so has no turns. Neither may hold.
 */
import { progress, round } from "../bench/show.ts";
import { figures } from "../bench/subject.ts";
import type { Edit } from "../test/ground/mutant.ts";
import { type Counts, type Play, type Row, rows } from "./fairness/rows.ts";
import { type Party, type Site, startSite } from "./fairness/site.ts";
import { percentile } from "./outage/tally.ts";
import { type Proof, wholly } from "./proof.ts";

export const fairness: Proof = {
  name: "fairness",
  shows: "one tenant or network does its worst on each shared resource, while others work: 0.99 of theirs succeeds",
  needs: ["postgresql"],
  options: ["planted"],
  controls: [],
  run: wholly(run),
};

const aloneMs = 5_000;
const attackMs = 10_000;
/** Until the attack has taken all it can get; refused requests have waited for five seconds. */
const buildUpMs = 7_000;
const thinkMs = 20;
const sampleMs = 200;
const succeedLeast = 0.99;
const mostMs = 60_000;
const requestsLeast = 50;
const waitingLeast = 10;

const planted: Readonly<Record<number, readonly Edit[]>> = {
  1: [{ file: "base/fair-queue.ts", from: "if (line.running >= free) continue;", to: "" }],
  2: [
    {
      file: "base/shares.ts",
      from: "function enter(holder: string, {",
      to: 'function enter(_: string, { holder = "all",',
    },
  ],
};

async function run(options: ReadonlyMap<string, number>): Promise<boolean> {
  const edits = planted[options.get("planted") ?? 0] ?? [];
  const shown = progress();
  const held: boolean[] = [];
  // The planted mistake is in what both have in common.
  for (const database of edits.length > 0 ? (["sqlite"] as const) : (["sqlite", "postgres"] as const)) {
    shown.now(`starting a server on ${database}`);
    const site = await startSite(database, edits);
    try {
      for (const row of rows) {
        shown.now(`${database}: ${row.worst}`);
        held.push(await play(database, site, row));
      }
    } finally {
      shown.end();
      await site.stop();
    }
  }
  return held.every(Boolean);
}

async function play(database: string, site: Site, row: Row): Promise<boolean> {
  const prepared = await row.prepare(site);
  const alone = await work(site, prepared, aloneMs);
  const counts: Counts = { served: 0, refused: 0 };
  const ending = new AbortController();
  const watch = await startWatch(site, row.resource);
  const attack = prepared.attack(counts, ending.signal);
  await Bun.sleep(buildUpMs);
  const during = await work(site, prepared, attackMs);
  const { runningMost, waitingMost } = watch.stop();
  ending.abort();
  await attack;

  const [before, after] = [percentile(alone.latencies, 0.99), percentile(during.latencies, 0.99)];
  const share = during.succeeded / during.asked;
  const felt = counts.refused > 0 || waitingMost >= waitingLeast;
  console.log(
    [
      `database=${database} row=${row.resource} others=${during.asked} succeeded=${during.succeeded} share=${share.toFixed(4)}`,
      `p99_ms=${round(before)}→${round(after)} ratio=${round(after / before)}`,
      `attacker served=${counts.served} refused=${counts.refused} running_most=${runningMost} waiting_most=${waitingMost}`,
      `felt=${felt ? "yes" : "no"} (${row.worst})`,
    ].join(" "),
  );
  for (const wrong of [...alone.wrong, ...during.wrong].slice(0, 3)) console.log(`  unexpected: ${wrong}`);
  const enough = Math.min(alone.asked, during.asked) >= requestsLeast && alone.succeeded === alone.asked;
  if (!enough)
    console.log(`  others asked ${alone.asked} times alone (${alone.succeeded} well) and ${during.asked} then`);
  return enough && felt && share >= succeedLeast;
}

interface Tally {
  asked: number;
  succeeded: number;
  readonly latencies: number[];
  readonly wrong: string[];
}

/**
 * Each of the others sends one request after the other, longer on a slow machine. Failures count with their duration.
 */
async function work({ others }: Site, { other }: Play, forMs: number): Promise<Tally> {
  const tally: Tally = { asked: 0, succeeded: 0, latencies: [], wrong: [] };
  const started = performance.now();
  const isOver = () => {
    const passedMs = performance.now() - started;
    return passedMs > mostMs || (passedMs > forMs && tally.asked >= requestsLeast);
  };
  const ask = async (party: Party) => {
    while (!isOver()) {
      const asked = performance.now();
      const wrong = await other(party);
      tally.latencies.push(performance.now() - asked);
      tally.asked++;
      if (wrong === undefined) tally.succeeded++;
      else tally.wrong.push(wrong);
      await Bun.sleep(thinkMs);
    }
  };
  await Promise.all(others.map(ask));
  return tally;
}

/** How many run and wait, according to the server. */
async function startWatch({ server }: Site, resource: string) {
  let [runningMost, waitingMost] = [0, 0];
  const look = async () => {
    const read = await figures(server);
    runningMost = Math.max(runningMost, read(`quicklink_shares_running{resource="${resource}"}`));
    waitingMost = Math.max(waitingMost, read(`quicklink_shares_waiting{resource="${resource}"}`));
  };
  await look();
  const timer = setInterval(() => void look().catch(() => {}), sampleMs);
  return {
    stop() {
      clearInterval(timer);
      return { runningMost, waitingMost };
    },
  };
}
