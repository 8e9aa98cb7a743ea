/**
 * Whatever is unavailable, visitors are redirected correctly, and none waits longer than the failure matrix allows.
 *
 * Two servers share one PostgreSQL and one Redis. Visitors ask both at a fixed rate, half of them for links with
 * limits, for links that are in memory, in Redis, only in SQL, or nowhere (`outage/questions.ts`), while one row of the
 * failure matrix after the other is simulated for some seconds. Every answer is checked and timed. Then the fault is
 * removed; the row ends a moment after breakers are closed, the change feed is followed and both servers are ready.
 *
 * `outage/judge.ts` defines the criteria: no visitor gets a wrong destination or a wrong 404; with Redis unavailable
 * every link is answered, typically at most 15 ms later than before; with SQL unavailable only links that only SQL
 * knows are refused, including those whose limit must be recorded. A visitor who gets an avoidable 503 retries until
 * answered, and their time continues. Each row also claims that its fault had an effect. A row that something else kept
 * from being judged is repeated, up to three times.
 *
 * `stampede` is a special row: both caches are lost, and hundreds of visitors ask for different links at once.
 */
import { progress, round } from "../bench/show.ts";
import { controls } from "./outage/controls.ts";
import { groups, judge, type Phases, waitsOf } from "./outage/judge.ts";
import { type Asking, createLoad, type Load } from "./outage/load.ts";
import { hotCount, kinds } from "./outage/questions.ts";
import { clusterFailover, direct, proxied, type Row, sentinelFailover } from "./outage/rows.ts";
import { type Site, startSite } from "./outage/site.ts";
import { stampede, stampedeName } from "./outage/stampede.ts";
import { askedIn, percentile, sum } from "./outage/tally.ts";
import { type BreakerTimes, recoverMostMs, startWatch, stateOf } from "./outage/watch.ts";
import { type Attempt, type Claim, type Proof, verdictOf } from "./proof.ts";

export const outage: Proof = {
  name: "outage",
  shows:
    "constant load while Redis or SQL is killed, stopped, slow, full, cut off: right answers in time, and recovery",
  needs: ["postgresql", "redis-server"],
  controls,
  run,
};

const perSecondByDefault = 200;
const idleMs = 2_500;
const lastsMsByDefault = 4_000;
const afterMs = 1_000;
const shownMost = 5;
const timesMost = 3;

const failovers = [
  { name: "redis_failed_over", start: sentinelFailover },
  { name: "cluster_failed_over", start: clusterFailover },
];

async function run({ plays, claim, short }: Attempt): Promise<void> {
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and two servers");
  const site = await startSite(short ? 3 : 8);
  const load = createLoad(site.control);
  const opened: { stop(): Promise<void> }[] = [];
  const chosen = <Named extends { readonly name: string }>(all: readonly Named[]) =>
    all.filter(({ name }) => plays(name));
  const playAll = async (rows: readonly Row[]) => {
    for (const row of rows) {
      shown.now(row.name);
      for (const one of await claimsOf(async () => row, site, load)) claim(one);
    }
  };
  try {
    await playAll(chosen(direct));
    for (const { name, start } of chosen(failovers)) {
      // A master dies once.
      const anew = async () => {
        const failover = await start();
        opened.push(failover);
        await site.restart({ REDIS_URL: failover.url });
        return failover.row;
      };
      shown.now(name);
      for (const one of await claimsOf(anew, site, load)) claim(one);
    }
    const byProxy = chosen(proxied);
    if (byProxy.length > 0) await site.restart(site.byProxy);
    await playAll(byProxy);
    if (plays(stampedeName)) {
      shown.now(stampedeName);
      for (const one of await stampede(site)) claim(one);
    }
  } finally {
    shown.end();
    await load.stop();
    await site.stop();
    await Promise.all(opened.map((one) => one.stop()));
  }
}

/** Of the first time that nothing else kept the machine busy, or that something was wrong all the same. */
async function claimsOf(prepare: () => Promise<Row>, site: Site, load: Load): Promise<Claim[]> {
  for (let times = 1; ; times++) {
    const claims = await play(await prepare(), site, load);
    const verdicts = claims.map(verdictOf);
    if (times === timesMost || verdicts.includes("missed") || !verdicts.includes("not judged")) return claims;
  }
}

async function play(row: Row, site: Site, load: Load): Promise<Claim[]> {
  const { questions, servers } = site;
  const { name: scenario, impact, lastsMs = lastsMsByDefault, hotLinks = hotCount } = row;
  const { perSecond = perSecondByDefault } = row;
  const asking: Asking = {
    perSecond,
    next: () => questions.next(hotLinks),
    insists: ({ kind }) => !impact.refuses.includes(kind),
  };
  await questions.warmUp();
  const idle = load.begin(asking);
  await Bun.sleep(idleMs);
  const watch = await startWatch(servers);
  const during = load.begin(asking);
  await row.begin(site);
  await Bun.sleep(lastsMs);
  const states = await Promise.all(servers.map(stateOf));
  const gained = await watch.gained();
  const recovery = load.begin(asking);
  await row.end(site);
  watch.ended();
  const recoveredMs = await watch.recovered();
  const after = load.begin(asking);
  await Bun.sleep(afterMs);
  await load.pause();
  const { breakers, gained: all } = await watch.stop();

  const phases: Phases = { idle, outage: during, recovery, after };
  const felt = await row.felt({ outage: during, breakers, gained }, site);
  const claims: Claim[] = [
    ...judge(scenario, impact, phases),
    ...felt.map(({ measure, what, figure, least }) => ({
      ...{ scenario, measure, promise: "the fault happened", done: what, times: askedIn(during) },
      ...{ figure, bound: { least } },
    })),
    {
      ...{ scenario, measure: "ready", promise: "servers stay ready during an outage" },
      ...{ done: `/readyz said ${[...new Set(states)].join(", ")} during the outage`, times: states.length },
      ...{ figure: states.filter((state) => state.startsWith("200 ")).length, bound: { least: servers.length } },
    },
    {
      ...{ scenario, measure: "recovered_ms", promise: "everything recovers by itself", unit: "ms", times: 1 },
      done: `breakers ${breakers.map(timesOf).join(" ") || "stayed closed"}; then all closed, the feed followed, servers ready`,
      ...{ figure: recoveredMs, bound: { most: recoverMostMs } },
    },
  ];
  const tallies = Object.values(phases);
  console.log(
    [
      `row=${scenario} seed="${row.seed}"`,
      `requests=${sum(tallies, askedIn)} ok=${sum(tallies, ({ ok }) => ok)}`,
      `wrong_location=${sum(tallies, ({ wrongLocation }) => wrongLocation)}`,
      `false_404=${sum(tallies, ({ false404 }) => false404)} unexpected=${sum(tallies, ({ unexpected }) => unexpected.length)}`,
      `told_503 ${refusedIn(phases)}`,
      ...Object.entries(groups).map(([name, of]) => `${name}_ms ${change(waitsOf(idle, of), waitsOf(during, of))}`),
      `control_ms ${change(idle.control, during.control)}`,
      `from_redis=${gained.byRedis} past_redis=${gained.pastRedis} stale=${all.stale}`,
      ...felt.map(({ measure, figure }) => `${measure}=${figure}`),
      `readyz="${[...new Set(states)].join(", ")}" breakers ${breakers.map(timesOf).join(" ") || "closed"}`,
      `recovered_ms=${Math.round(recoveredMs)}`,
    ].join(" "),
  );
  for (const one of claims) {
    const verdict = verdictOf(one);
    if (verdict !== "held") console.log(`  ${one.measure} ${verdict}: ${one.figure}; ${one.done}`);
  }
  for (const what of tallies.flatMap(({ unexpected }) => unexpected).slice(0, shownMost))
    console.log(`  unexpected: ${what}`);
  return claims;
}

/** By kind, from the start of the outage until recovery, and outside of that. */
function refusedIn({ idle, outage, recovery, after }: Phases): string {
  return kinds
    .map((kind) => {
      const [within, outside] = [sum([outage, recovery], refused), sum([idle, after], refused)];
      return `${kind}=${within}${outside > 0 ? `(+${outside} outside)` : ""}`;
      function refused({ by }: Phases["idle"]): number {
        return by[kind].refused;
      }
    })
    .join(" ");
}

const change = (idle: readonly number[], during: readonly number[]): string =>
  ([0.5, 0.95, 1] as const)
    .map((share) => `${name(share)}=${round(percentile(idle, share), 1)}→${round(percentile(during, share), 1)}`)
    .join(",");

const name = (share: number): string => (share === 1 ? "max" : `p${share * 100}`);

const timesOf = ({ of, openedMs, closedMs }: BreakerTimes): string =>
  `${of}:opened_ms=${Math.round(openedMs)},closed_ms=${closedMs === undefined ? "never" : Math.round(closedMs)}`;
