/**
 * Whatever is away, visitors are led right, and nobody is told that a link does not exist which does.
 *
 * Two servers share one PostgreSQL and one Redis. Visitors ask both at a fixed rate for links that are in memory, in
 * Redis, only in SQL, or nowhere (`outage/questions.ts`), while one row of the failure matrix after the other comes true
 * for some seconds. Every answer is checked. Then it is put right, and the row ends when breakers are closed, the change
 * feed is followed and both servers call themselves ready.
 *
 * It holds if no visitor was led elsewhere or wrongly told 404; if hot links were always answered; if with Redis away
 * every link was; and if with SQL away only those were not that nobody but SQL knows: cold ones, missing ones, and those
 * whose limit must be written down. On a busy machine Redis or SQL may let pass the 50 and 100 ms they have without
 * being away: whoever must be answered and is told 503 asks again, and is counted (`asked_again`). Times are printed and decide nothing: p50 and p99 before → during the outage, when
 * the first server opened a breaker, how long after the end the last one closed it, and when all was well again.
 *
 * `stampede` is a row of its own kind: both caches are lost, and hundreds ask for different links at once.
 */
import { progress, round } from "../bench/show.ts";
import { type Asking, createLoad, type Load } from "./outage/load.ts";
import { hotCount, type Kind, kinds } from "./outage/questions.ts";
import { direct, failover, proxied, type Row } from "./outage/rows.ts";
import { type Site, startSite } from "./outage/site.ts";
import { stampede } from "./outage/stampede.ts";
import { percentile, sum, type Tally } from "./outage/tally.ts";
import { type BreakerTimes, startWatch, stateOf } from "./outage/watch.ts";
import type { Proof } from "./proof.ts";

export const outage: Proof = {
  name: "outage",
  shows: "constant load while Redis or SQL is killed, stopped, slow, full, cut off: right answers, and recovery",
  needs: ["postgresql", "redis-server"],
  run,
};

const perSecondByDefault = 200;
const beforeMs = 2_000;
const lastsMsByDefault = 4_000;
const shownMost = 5;
const askedAgainShare = 0.05;

async function run(): Promise<boolean> {
  const shown = progress();
  shown.now("starting PostgreSQL, Redis and two servers");
  const site = await startSite();
  const load = createLoad();
  const sentinel = await failover();
  try {
    const held: boolean[] = [];
    const playAll = async (rows: readonly Row[]) => {
      for (const row of rows) {
        shown.now(row.name);
        held.push(await play(row, site, load));
      }
    };
    await playAll(direct);
    await site.restart({ REDIS_URL: sentinel.url });
    await playAll([sentinel.row]);
    await site.restart(site.byProxy);
    await playAll(proxied);
    shown.now("stampede");
    held.push(await stampede(site));
    return held.every(Boolean);
  } finally {
    shown.end();
    await load.stop();
    await site.stop();
    await sentinel.stop();
  }
}

async function play(row: Row, site: Site, load: Load): Promise<boolean> {
  const { questions, servers } = site;
  const { lastsMs = lastsMsByDefault, hotLinks = hotCount, perSecond = perSecondByDefault } = row;
  const asking: Asking = {
    perSecond,
    next: () => questions.next(hotLinks),
    insists: ({ kind }) => kind === "warm" || (row.away !== "sql" && kind !== "hot"),
  };
  await questions.warmUp();
  const before = load.begin(asking);
  await Bun.sleep(beforeMs);
  const watch = await startWatch(servers);
  const during = load.begin(asking);
  await row.begin(site);
  await Bun.sleep(lastsMs);
  const states = await Promise.all(servers.map(stateOf));
  const after = load.begin(asking);
  await row.end(site);
  watch.ended();
  const recoveredMs = await watch.recovered();
  await load.pause();
  const { breakers, stale } = await watch.stop();

  const tallies = [before, during, after];
  const unexpected = tallies.flatMap((tally) => tally.unexpected);
  console.log(
    [
      `row=${row.name} seed="${row.seed}" requests=${sum(tallies, ({ requests }) => requests)}`,
      `ok=${sum(tallies, ({ ok }) => ok)} 5xx ${unavailableIn(tallies)}`,
      `wrong_location=${sum(tallies, ({ wrongLocation }) => wrongLocation)}`,
      `false_404=${sum(tallies, ({ false404 }) => false404)} unexpected=${unexpected.length}`,
      `asked_again=${sum(tallies, ({ askedAgain }) => askedAgain)}`,
      `p50_ms=${change(before.latencies, during.latencies, 0.5)} p99_ms=${change(before.latencies, during.latencies, 0.99)}`,
      `hot_p99_ms=${change(before.hotLatencies, during.hotLatencies, 0.99)} stale=${stale}`,
      `readyz="${[...new Set(states)].join(", ")}" breakers ${breakers.map(times).join(" ") || "closed"}`,
      `recovered_ms=${recoveredMs === undefined ? "never" : Math.round(recoveredMs)}`,
      ...(row.tell ? [await row.tell(site)] : []),
    ].join(" "),
  );
  for (const what of unexpected.slice(0, shownMost)) console.log(`  unexpected: ${what}`);
  return recoveredMs !== undefined && states.every((state) => state.startsWith("200 ")) && isRight(row, tallies);
}

function isRight({ away }: Row, tallies: readonly Tally[]): boolean {
  const wrong = sum(tallies, ({ wrongLocation, false404, unexpected, withoutRetry }) => {
    return wrongLocation + false404 + unexpected.length + withoutRetry;
  });
  const refused = (...of: readonly Kind[]) =>
    sum(tallies, ({ unavailable }) => of.reduce((total, kind) => total + unavailable[kind], 0));
  const answered = refused(...(away === "sql" ? (["hot", "warm"] as const) : kinds)) === 0;
  const askedAgainMost = sum(tallies, ({ requests }) => requests) * askedAgainShare;
  return wrong === 0 && answered && sum(tallies, ({ askedAgain }) => askedAgain) <= askedAgainMost;
}

const unavailableIn = (tallies: readonly Tally[]): string =>
  kinds.map((kind) => `${kind}=${sum(tallies, ({ unavailable }) => unavailable[kind])}`).join(" ");

function change(before: readonly number[], during: readonly number[], share: number): string {
  const [was, is] = [percentile(before, share), percentile(during, share)];
  return `${round(was, 1)}→${round(is, 1)} (×${round(is / was, 1)})`;
}

const times = ({ of, openedMs, closedMs }: BreakerTimes): string =>
  `${of}:opened_ms=${Math.round(openedMs)},closed_ms=${closedMs === undefined ? "never" : Math.round(closedMs)}`;
