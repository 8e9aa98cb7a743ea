/**
 * An edit in one region is visible in the other soon after the replica has it, and no region goes back.
 *
 * Region a has PostgreSQL; region b reads from a replica of it, and each has its own Redis. Visitors ask both for the
 * same links all the time, while those are edited: through a, then through b, so that no server is woken by a local
 * edit. The version of a link is in its destination; `coherence/record.ts` defines staleness, going back and a wrong
 * answer, `coherence/judge.ts` makes claims of them.
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
import { claimsOf, figuresOf, type Rules } from "./coherence/judge.ts";
import { createRecord, type Record } from "./coherence/record.ts";
import type { Attempt, Claim, Proof } from "./proof.ts";
import { controls } from "./regions/controls.ts";
import { busyLinksDoNotWait, farAway } from "./regions/far.ts";
import { regions as both, type Region, type Site, startSite } from "./regions/site.ts";
import { edit, visit } from "./regions/traffic.ts";

export const regions: Proof = {
  name: "regions",
  shows: "2 regions, one on a replica: edits are seen in both in time, also when the replica stands still",
  needs: ["postgresql", "redis-server"],
  controls,
  run,
};

const editsLeast = 50;
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
  /** What else can be said of it. */
  work(site: Site, record: Record, editsMs: number): Promise<Claim[]>;
}

const phases: readonly Phase[] = [
  { name: "edited_in_a", through: ["a"], work: (site, record, forMs) => allWell(site, record, ["a"], forMs) },
  { name: "edited_in_b", through: ["b"], work: (site, record, forMs) => allWell(site, record, ["b"], forMs) },
  { name: "replica_held", through: both, work: holdReplica },
];

async function run(attempt: Attempt): Promise<void> {
  const shown = progress();
  shown.now("starting PostgreSQL, its replica, two Redis and two servers");
  const site = await startSite();
  const record = createRecord(both.length);
  const visitors = visit(site, record);
  try {
    for (const phase of phases.filter(({ name }) => attempt.plays(name))) {
      shown.now(phase.name);
      for (const claim of await watch(phase, site, record, attempt.short ? 2_000 : 5_000)) attempt.claim(claim);
    }
    if (attempt.plays(farAway)) {
      shown.now("b far from the ledger and the primary");
      for (const claim of await busyLinksDoNotWait(site, attempt.short)) attempt.claim(claim);
    }
  } finally {
    shown.end();
    await visitors.stop();
    await site.stop();
  }
}

async function allWell(site: Site, record: Record, through: readonly Region[], forMs: number): Promise<Claim[]> {
  await edit(site, record, through, forMs);
  return [];
}

async function holdReplica(site: Site, record: Record): Promise<Claim[]> {
  await site.replica.pauseReplay();
  await edit(site, record, both, heldMs);
  const behind = () => site.links.filter(({ code, version }) => record.seen(both.indexOf("b"), code) < version).length;
  const behindWhileHeld = behind();
  await site.replica.resumeReplay();
  const resumedAt = performance.now();
  const scenario = "replica_held";
  await until("b to catch up", () => behind() === 0 || undefined, boundMs).catch(() => {});
  const caughtUpMs = performance.now() - resumedAt;
  console.log(`${scenario} behind_while_held=${behindWhileHeld} caught_up_ms=${Math.round(caughtUpMs)}`);
  return [
    {
      ...{ scenario, measure: "behind", promise: "the fault happened: b could not know the edits" },
      ...{ done: `${site.links.length} links edited while the replica stood still`, times: site.links.length },
      ...{ figure: behindWhileHeld, bound: { least: site.links.length } },
    },
    {
      ...{ scenario, measure: "caught_up_ms", promise: "b catches up when the replica continues", unit: "ms" },
      ...{ done: `${behindWhileHeld} links behind when the replica continued`, times: behindWhileHeld },
      ...{ figure: caughtUpMs, bound: { most: boundMs } },
    },
  ];
}

/** Runs it, waits until everything must have been seen, claims what visitors of both regions saw. */
async function watch({ name, through, work }: Phase, site: Site, record: Record, editsMs: number): Promise<Claim[]> {
  let lagMs = 0;
  const looking = setInterval(async () => {
    lagMs = Math.max(lagMs, await site.lagMs());
  }, lookMs);
  const more = await work(site, record, editsMs);
  await Bun.sleep(afterwardsMs);
  clearInterval(looking);
  const claims = record.conclude().flatMap((recorded, place) => {
    const reader = both[place] as Region;
    const ownLagMs = reader === "b" ? lagMs : 0;
    const rules: Rules = {
      p99Ms: ownLagMs + (reader === "a" && !through.includes("b") ? ownMs : otherMs),
      maxMs: ownLagMs + boundMs,
      unansweredMost: 0.01,
      ownAtOnce: reader === "a" && through.includes("a"),
    };
    const one = { recorded, rules };
    const lag = reader === "b" ? ` replica_lag_ms=${round(lagMs, 1)}` : "";
    console.log(figuresOf(`${name} seen_in=${reader}`, one) + lag);
    return claimsOf(`${name}_seen_in_${reader}`, editsLeast, [one]);
  });
  return [...claims, ...more];
}
