/**
 * An edit in one region is visible in the other soon after the replica has it, and no region goes back.
 *
 * Region a has PostgreSQL; region b reads from a replica of it, and each has its own Redis. Visitors ask both for the
 * same links all the time, while those are edited: through a, then through b, so that no server is woken by a local
 * edit. The version of a link is in its destination; `coherence/record.ts` defines staleness, going back and a wrong
 * answer, `coherence/judge.ts` decides.
 *
 * Then the replica is paused for three seconds, and edits continue through both: visitors of b get the previous
 * destinations, and not back and forth; when the replica continues, b catches up.
 *
 * Promised, for 99 of 100 edits: a sees its own within 100 ms, those of b within 0.6 s; b sees all within the replica's
 * lag plus 0.6 s. None takes three seconds more than the lag. A server sees its own edits with its next answer, unless
 * it reads from a replica.
 *
 * At the end b is made far from the limits Redis and the primary (`regions/far.ts`): redirects of busy links do not
 * wait.
 */
import { progress, round } from "../bench/show.ts";
import { until } from "../test/ground/process.ts";
import { conclude, type Judged, judge, type Rules } from "./coherence/judge.ts";
import { createRecord, type Record } from "./coherence/record.ts";
import { type Proof, wholly } from "./proof.ts";
import { busyLinksDoNotWait } from "./regions/far.ts";
import { regions as both, type Region, type Site, startSite } from "./regions/site.ts";
import { edit, visit } from "./regions/traffic.ts";

export const regions: Proof = {
  name: "regions",
  shows: "2 regions, one on a replica: edits are seen in both in time, also when the replica stands still",
  needs: ["postgresql", "redis-server"],
  controls: [],
  run: wholly(run),
};

const editsMs = 5_000;
const heldMs = 3_000;
/** Until everything acknowledged must have been seen, plus a margin. */
const afterwardsMs = 2_000;
const ownMs = 100;
const otherMs = 600;
const boundMs = 3_000;
const lookMs = 50;

interface Phase {
  readonly name: string;
  /** Where edits are made. */
  readonly through: readonly Region[];
  /** Further figures. */
  work(site: Site, record: Record): Promise<string>;
}

const phases: readonly Phase[] = [
  { name: "edited_in_a", through: ["a"], work: (site, record) => allWell(site, record, ["a"]) },
  { name: "edited_in_b", through: ["b"], work: (site, record) => allWell(site, record, ["b"]) },
  { name: "replica_held", through: both, work: holdReplica },
];

async function run(): Promise<boolean> {
  const shown = progress();
  shown.now("starting PostgreSQL, its replica, two Redis and two servers");
  const site = await startSite();
  const record = createRecord(both.length);
  const visitors = visit(site, record);
  const judged: Judged[] = [];
  try {
    let holds = true;
    for (const phase of phases) {
      shown.now(phase.name);
      const each = await watch(phase, site, record);
      holds = conclude(each) && holds;
      judged.push(...each);
    }
    shown.now("b far from the ledger and the primary");
    holds = (await busyLinksDoNotWait(site)) && holds;
    for (const { unjudged } of judged) if (unjudged !== undefined) console.log(`NOT JUDGED ${unjudged}`);
    return holds;
  } finally {
    shown.end();
    await visitors.stop();
    await site.stop();
  }
}

async function allWell(site: Site, record: Record, through: readonly Region[]): Promise<string> {
  await edit(site, record, through, editsMs);
  return "";
}

async function holdReplica(site: Site, record: Record): Promise<string> {
  await site.replica.pauseReplay();
  await edit(site, record, both, heldMs);
  await site.replica.resumeReplay();
  const resumedAt = performance.now();
  const upToDate = () =>
    site.links.every(({ code, version }) => record.seen(both.indexOf("b"), code) === version) || undefined;
  await until("b to catch up", upToDate);
  return ` caught_up_ms=${Math.round(performance.now() - resumedAt)}`;
}

/** Runs it, waits until everything must have been seen, judges both regions. */
async function watch({ name, through, work }: Phase, site: Site, record: Record): Promise<Judged[]> {
  let lagMs = 0;
  const looking = setInterval(async () => {
    lagMs = Math.max(lagMs, await site.lagMs());
  }, lookMs);
  const more = await work(site, record);
  await Bun.sleep(afterwardsMs);
  clearInterval(looking);
  return record.conclude().map((recorded, place) => {
    const reader = both[place] as Region;
    const ownLagMs = reader === "b" ? lagMs : 0;
    const rules: Rules = {
      p99Ms: ownLagMs + (reader === "a" && !through.includes("b") ? ownMs : otherMs),
      maxMs: ownLagMs + boundMs,
      unansweredMost: 0.01,
      ownAtOnce: reader === "a",
    };
    const judged = judge(`${name} seen_in=${reader}`, recorded, rules);
    const lag = reader === "b" ? ` replica_lag_ms=${round(lagMs, 1)}${more}` : "";
    return { ...judged, figures: judged.figures + lag };
  });
}
