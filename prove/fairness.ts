/**
 * No tenant can exclude the others from a shared resource.
 *
 * One real server with five tenants. For each shared resource the others first work alone, and then while one tenant,
 * or one network, attacks: slow uploads, downloads that are never read, floods of bulk creates, right passwords by the
 * dozen, domains whose DNS does not answer (`fairness/rows.ts`). Once on SQLite, once on PostgreSQL. Checks of
 * destinations, which run in rounds, are played once (`fairness/targets.ts`).
 *
 * It holds if all of the others' requests succeed while they are alone and at least 0.99 under attack, and if the
 * attacker felt it: refused, or kept waiting. Times are printed (p99 alone → under attack, and their ratio), but do not
 * decide.
 */
import { progress, round } from "../bench/show.ts";
import { type Database, databases, figures } from "../bench/subject.ts";
import { controls } from "./fairness/controls.ts";
import { type Counts, type Play, type Row, rows } from "./fairness/rows.ts";
import { type Party, type Site, startSite } from "./fairness/site.ts";
import { playTargets, targets } from "./fairness/targets.ts";
import { percentile } from "./outage/tally.ts";
import type { Attempt, Proof } from "./proof.ts";

export const fairness: Proof = {
  name: "fairness",
  shows: "one tenant or network does its worst on each shared resource, while others work: 0.99 of theirs succeeds",
  needs: ["postgresql"],
  controls,
  async run(attempt) {
    const shown = progress();
    for (const database of databases) {
      const played = rows.filter((row) => attempt.plays(nameOf(row, database)));
      const playsTargets = database === "sqlite" && attempt.plays(targets);
      if (played.length === 0 && !playsTargets) continue;
      shown.now(`starting a server on ${database}`);
      const site = await startSite(database);
      try {
        for (const row of played) {
          shown.now(`${database}: ${row.worst}`);
          await play(attempt, database, site, row);
        }
        if (playsTargets) {
          shown.now("sqlite: checks of destinations");
          await playTargets(attempt, site);
        }
      } finally {
        shown.end();
        await site.stop();
      }
    }
  },
};

interface Duration {
  readonly aloneMs: number;
  readonly attackMs: number;
  /** Longer if the others could not ask this often, but not longer than `mostMs`. */
  readonly requestsLeast: number;
  readonly mostMs: number;
}

const usual: Duration = { aloneMs: 3_000, attackMs: 7_000, requestsLeast: 50, mostMs: 60_000 };
const brief: Duration = { aloneMs: 1_500, attackMs: 4_000, requestsLeast: 20, mostMs: 12_000 };
/** Until the attack has taken all it can get; refused requests have waited for five seconds. */
const buildUpMs = 6_000;
const thinkMs = 20;
const sampleMs = 200;
const succeedLeast = 0.99;
const feltLeast = 10;

const nameOf = ({ resource }: Row, database: Database): string => `${resource}_${database}`;

async function play({ short, claim }: Attempt, database: Database, site: Site, row: Row): Promise<void> {
  const { aloneMs, attackMs, ...duration } = short ? brief : usual;
  const prepared = await row.prepare(site);
  const alone = await work(site, prepared, { ...duration, forMs: aloneMs });
  const counts: Counts = { served: 0, refused: 0 };
  const ending = new AbortController();
  const watch = await startWatch(site, row.resource);
  const attack = prepared.attack(counts, ending.signal);
  await Bun.sleep(buildUpMs);
  const during = await work(site, prepared, { ...duration, forMs: attackMs });
  const { runningMost, waitingMost } = watch.stop();
  ending.abort();
  await attack;

  const [before, after] = [percentile(alone.latencies, 0.99), percentile(during.latencies, 0.99)];
  const share = during.succeeded / during.asked;
  console.log(
    [
      `database=${database} row=${row.resource} alone=${alone.succeeded}/${alone.asked} others=${during.succeeded}/${during.asked} share=${share.toFixed(4)}`,
      `p99_ms=${round(before)}→${round(after)} ratio=${round(after / before)}`,
      `attacker served=${counts.served} refused=${counts.refused} running_most=${runningMost} waiting_most=${waitingMost} (${row.worst})`,
    ].join(" "),
  );
  for (const wrong of [...alone.wrong, ...during.wrong].slice(0, 3)) console.log(`  unexpected: ${wrong}`);
  const promise = "no tenant or network can keep the others from a shared resource";
  const said = { promise, scenario: nameOf(row, database) };
  claim({
    ...{ ...said, measure: "alone", done: `${alone.asked} requests of ${site.others.length} others alone` },
    ...{ times: alone.asked, figure: alone.succeeded / alone.asked, bound: { exactly: 1 } },
  });
  claim({
    ...{ ...said, measure: "succeeded", done: `${during.asked} requests of the others during ${row.worst}` },
    ...{ times: during.asked, figure: share, bound: { least: succeedLeast } },
  });
  claim({
    ...{ ...said, measure: "felt", done: `${counts.refused} requests of the attacker refused, ${waitingMost} waiting` },
    ...{ times: runningMost, figure: counts.refused + waitingMost, bound: { least: feltLeast } },
  });
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
async function work(
  { others }: Site,
  { other }: Play,
  { forMs, requestsLeast, mostMs }: Pick<Duration, "requestsLeast" | "mostMs"> & { readonly forMs: number },
): Promise<Tally> {
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
