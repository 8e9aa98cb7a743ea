/**
 * An edit in one region is seen in the other, soon after the replica has it, and no region goes back.
 *
 * Region a has PostgreSQL; region b reads from a replica of it, and each has a Redis of its own. Visitors ask both for
 * the same links all the time, while those are edited: through a, then through b, so that nobody is woken by an edit next
 * to it. The version of a link stands in the address it leads to; `coherence/record.ts` says what staleness and going
 * back are.
 *
 * Then the replica is held still for three seconds, and edits go on through both: visitors of b are led where the links
 * led before, and not back and forth; when the replica goes on, b catches up.
 *
 * Promised: a sees its own edits within 100 ms (99 of 100), those of b within 0.6 s; b sees all within the replica's lag
 * and 0.6 s. These are printed, and a machine that is busy may miss them; three seconds more than the lag is what
 * decides, and no going back at all.
 */
import { progress, round } from "../bench/show.ts";
import { until } from "../test/ground/process.ts";
import { createRecord } from "./coherence/record.ts";
import type { Proof } from "./proof.ts";
import { regions as both, type Region, type Site, startSite } from "./regions/site.ts";
import { edit, type Records, startVisitors } from "./regions/traffic.ts";

export const regions: Proof = {
  name: "regions",
  shows: "2 regions, one on a replica: edits are seen in both in time, also when the replica stands still",
  needs: ["postgresql", "redis-server"],
  run,
};

const editsMs = 5_000;
const heldMs = 3_000;
/** Until everything acknowledged must have been seen, with some to spare. */
const afterwardsMs = 2_000;
const ownMs = 100;
const otherMs = 600;
const boundMs = 3_000;
const lookMs = 50;

interface Phase {
  readonly name: string;
  /** Where edits are made. */
  readonly through: readonly Region[];
  /** What else is worth knowing. */
  work(site: Site, records: Records): Promise<string>;
}

const phases: readonly Phase[] = [
  { name: "edited_in_a", through: ["a"], work: (site, records) => allWell(site, records, ["a"]) },
  { name: "edited_in_b", through: ["b"], work: (site, records) => allWell(site, records, ["b"]) },
  { name: "replica_held", through: both, work: holdReplica },
];

async function run(): Promise<boolean> {
  const shown = progress();
  shown.now("starting PostgreSQL, its replica, two Redis and two servers");
  const site = await startSite();
  const records: Records = { a: createRecord(1), b: createRecord(1) };
  const visitors = startVisitors(site, records);
  try {
    const held: boolean[] = [];
    for (const phase of phases) {
      shown.now(phase.name);
      held.push(await watch(phase, site, records));
    }
    return held.every(Boolean);
  } finally {
    shown.end();
    await visitors.stop();
    await site.stop();
  }
}

async function allWell(site: Site, records: Records, through: readonly Region[]): Promise<string> {
  await edit(site, records, through, editsMs);
  return "";
}

async function holdReplica(site: Site, records: Records): Promise<string> {
  await site.replica.pauseReplay();
  await edit(site, records, both, heldMs);
  await site.replica.resumeReplay();
  const resumedAt = performance.now();
  const upToDate = () => site.links.every(({ code, version }) => records.b.highest(0, code) === version) || undefined;
  await until("b to catch up", upToDate);
  return ` caught_up_ms=${Math.round(performance.now() - resumedAt)}`;
}

/** Does it, waits until all of it must have been seen, prints its figures. */
async function watch({ name, through, work }: Phase, site: Site, records: Records): Promise<boolean> {
  let lagMs = 0;
  const looking = setInterval(async () => {
    lagMs = Math.max(lagMs, await site.lagMs());
  }, lookMs);
  const more = await work(site, records);
  await Bun.sleep(afterwardsMs);
  clearInterval(looking);
  let holds = true;
  for (const reader of both) {
    const { acked, reads, unanswered, wentBack, staleness } = records[reader].conclude();
    const ownLagMs = reader === "b" ? lagMs : 0;
    const promisedMs = ownLagMs + (reader === "a" && !through.includes("b") ? ownMs : otherMs);
    const met = staleness.p99 <= promisedMs ? "met" : "missed";
    console.log(
      `${name} seen_in=${reader} edits=${acked} reads=${reads} unanswered=${unanswered} went_back=${wentBack} ` +
        `replica_lag_ms=${round(ownLagMs, 1)} staleness_ms p50=${round(staleness.p50, 1)} ` +
        `p99=${round(staleness.p99, 1)} (≤ ${round(promisedMs, 0)} ${met}) max=${round(staleness.max, 1)}` +
        `${reader === "b" ? more : ""}`,
    );
    holds &&= wentBack === 0 && staleness.max <= ownLagMs + boundMs;
  }
  return holds;
}
