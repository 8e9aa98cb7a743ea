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
 * answered, and their time continues. Each row must also show that its fault had an effect. A row that fails while
 * something else keeps the machine busy is repeated, up to three times.
 *
 * The same is then done with a planted mistake (`outage/planted.ts`), which the row must find. `--planted 1` does that
 * with every mistake and every row without Redis, and holds if none of them held.
 *
 * `stampede` is a special row: both caches are lost, and hundreds of visitors ask for different links at once.
 */
import { progress, round } from "../bench/show.ts";
import { mutant } from "../test/ground/mutant.ts";
import { groups, judge, type Phases, tooBusy, waitsOf } from "./outage/judge.ts";
import { type Asking, createLoad, type Load } from "./outage/load.ts";
import { planted } from "./outage/planted.ts";
import { hotCount, kinds } from "./outage/questions.ts";
import { clusterFailover, direct, proxied, type Row, sentinelFailover } from "./outage/rows.ts";
import { type Site, startSite } from "./outage/site.ts";
import { stampede } from "./outage/stampede.ts";
import { askedIn, percentile, sum } from "./outage/tally.ts";
import { type BreakerTimes, startWatch, stateOf } from "./outage/watch.ts";
import { type Proof, wholly } from "./proof.ts";

export const outage: Proof = {
  name: "outage",
  shows:
    "constant load while Redis or SQL is killed, stopped, slow, full, cut off: right answers in time, and recovery",
  needs: ["postgresql", "redis-server"],
  options: ["planted"],
  controls: [],
  run: wholly(run),
};

const perSecondByDefault = 200;
const idleMs = 2_500;
const lastsMsByDefault = 4_000;
const afterMs = 1_000;
const shownMost = 5;
const timesMost = 3;

async function run(options: ReadonlyMap<string, number>): Promise<boolean> {
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and two servers");
  const site = await startSite();
  const load = createLoad(site.control);
  const opened: { stop(): Promise<void> }[] = [];
  const playAll = async (rows: readonly Row[]) => {
    const held: boolean[] = [];
    for (const row of rows) {
      shown.now(row.name);
      held.push(await holds(async () => row, site, load));
    }
    return held;
  };
  try {
    if (options.get("planted") === 1) return await findsAll(site, Object.keys(planted), withoutRedis, playAll);
    const held: boolean[] = [];
    held.push(...(await playAll(direct)));
    for (const start of [sentinelFailover, clusterFailover]) {
      // A master dies once.
      const anew = async () => {
        const failover = await start();
        opened.push(failover);
        await site.restart({ REDIS_URL: failover.url });
        return failover.row;
      };
      shown.now(start.name);
      held.push(await holds(anew, site, load));
    }
    await site.restart(site.byProxy);
    held.push(...(await playAll(proxied)));
    held.push(await findsAll(site, ["refuses_a_third"], withoutRedis.slice(0, 1), playAll));
    shown.now("stampede");
    held.push(await stampede(site));
    return held.every(Boolean);
  } finally {
    shown.end();
    await load.stop();
    await site.stop();
    await Promise.all(opened.map((one) => one.stop()));
  }
}

/** Rows in which Redis does not answer or is not trusted, so that lookups go to SQL. */
const withoutRedis = [...direct, ...proxied].filter(({ name }) =>
  /^redis_(refused|stopped|came|slow|part|resets)/.test(name),
);

/** With each of these mistakes in the servers, none of the rows may hold. */
async function findsAll(
  site: Site,
  mistakes: readonly string[],
  rows: readonly Row[],
  playAll: (rows: readonly Row[]) => Promise<boolean[]>,
): Promise<boolean> {
  const found: boolean[] = [];
  for (const mistake of mistakes) {
    console.log(`planted=${mistake}`);
    await site.restart(site.byProxy, mutant(planted[mistake] ?? []));
    const held = await playAll(rows);
    console.log(`planted=${mistake} rows=${held.length} found_by=${held.filter((one) => !one).length}`);
    found.push(held.every((one) => !one));
  }
  return found.every(Boolean);
}

/** Repeated when something else kept the machine busy. */
async function holds(prepare: () => Promise<Row>, site: Site, load: Load): Promise<boolean> {
  for (let times = 1; ; times++) {
    const verdict = await play(await prepare(), site, load);
    if (verdict !== "too busy") return verdict;
    if (times === timesMost) return false;
  }
}

async function play(row: Row, site: Site, load: Load): Promise<boolean | "too busy"> {
  const { questions, servers } = site;
  const { impact, lastsMs = lastsMsByDefault, hotLinks = hotCount, perSecond = perSecondByDefault } = row;
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
  const missing = await row.felt({ outage: during, breakers, gained }, site);
  const faults = [
    ...judge(impact, phases),
    ...(missing === undefined ? [] : [`the fault was not felt: ${missing}`]),
    ...(recoveredMs === undefined ? ["it did not recover"] : []),
    ...(states.every((state) => state.startsWith("200 ")) ? [] : [`/readyz said ${states.join(", ")}`]),
  ];
  const tallies = Object.values(phases);
  const busy = tooBusy(phases);
  console.log(
    [
      `row=${row.name} seed="${row.seed}" ${faults.length === 0 ? "holds" : busy ? "TOO BUSY TO TELL" : "FAILS"}`,
      `requests=${sum(tallies, askedIn)} ok=${sum(tallies, ({ ok }) => ok)}`,
      `wrong_location=${sum(tallies, ({ wrongLocation }) => wrongLocation)}`,
      `false_404=${sum(tallies, ({ false404 }) => false404)} unexpected=${sum(tallies, ({ unexpected }) => unexpected.length)}`,
      `told_503 ${refusedIn(phases)}`,
      ...Object.entries(groups).map(([name, of]) => `${name}_ms ${change(waitsOf(idle, of), waitsOf(during, of))}`),
      `control_ms ${change(idle.control, during.control)}`,
      `from_redis=${gained.byRedis} past_redis=${gained.pastRedis} stale=${all.stale}`,
      `readyz="${[...new Set(states)].join(", ")}" breakers ${breakers.map(times).join(" ") || "closed"}`,
      `recovered_ms=${recoveredMs === undefined ? "never" : Math.round(recoveredMs)}`,
      ...(row.tell ? [await row.tell(site)] : []),
    ].join(" "),
  );
  for (const fault of faults) console.log(`  ${fault}`);
  for (const what of tallies.flatMap(({ unexpected }) => unexpected).slice(0, shownMost))
    console.log(`  unexpected: ${what}`);
  return faults.length === 0 || (busy ? "too busy" : false);
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

const times = ({ of, openedMs, closedMs }: BreakerTimes): string =>
  `${of}:opened_ms=${Math.round(openedMs)},closed_ms=${closedMs === undefined ? "never" : Math.round(closedMs)}`;
