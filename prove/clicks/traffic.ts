/** The run: traffic on all servers, and in its middle SQL away, one server stopped, one killed. */
import { until } from "../../test/ground/process.ts";
import { type Crowd, createCrowd, type Place } from "./crowd.ts";
import type { Groups } from "./groups.ts";
import { type Site, untilReady, untilStored } from "./site.ts";
import type { Visit } from "./truth.ts";

export interface Run {
  readonly crowd: Crowd;
  /** Answered visits besides those of the crowd. */
  readonly extra: Visit[];
  /** When the server was killed. */
  readonly killedAt: number;
  /** What was seen to happen. */
  readonly faults: readonly string[];
  readonly seconds: number;
}

/** Of all visits: where the first fault comes, and the next. */
const sqlAwayAfter = 0.1;
const stopAfter = 0.5;
/** Traffic on a server before it ends: it has several batches behind it, and one under way. */
const beforeMs = { stop: 1_500, kill: 4_500 };
const plantedVisits = 200;

export async function runTraffic(
  site: Site,
  groups: Groups,
  { count, thinkMs }: { readonly count: number; readonly thinkMs: number },
  show: (text: string) => void,
): Promise<Run> {
  const { servers, database } = site;
  const crowd = createCrowd(thinkMs);
  const faults: string[] = ["answers of transactions lost"];
  const extra: Visit[] = [];
  const portOf = (place: number) => servers[place]?.port ?? 0;
  const all = servers.map((_, place) => place);
  const shared = (places: readonly number[]): Place[] =>
    places.map((at) => ({ port: portOf(at), next: groups.shared }));
  const serverAt = (place: number) => {
    const server = servers[place];
    if (server === undefined) throw new Error("there is no such server");
    return server;
  };
  const ready = async (place: number) => {
    const visits = await untilReady(serverAt(place), groups.ready);
    for (let i = 0; i < visits; i++) extra.push(groups.readyVisit);
  };
  const now = (what: string) => show(`${database}: ${crowd.served.length} visits, ${what}`);
  try {
    for (const place of all) await ready(place);
    const started = performance.now();
    await tour(crowd, groups, all.map(portOf));
    await crowd.come([{ port: portOf(0), next: groups.planted.next }], counted(crowd, plantedVisits));

    let isOver = false;
    now("SQL goes away");
    const first = crowd.come(shared(all), () => isOver && crowd.served.length >= count * stopAfter);
    await reached(crowd, count * sqlAwayAfter);
    faults.push(await site.loseSql());
    isOver = true;
    await first;

    const [stopping, killing] = [all.at(1) ?? 0, all.at(2) ?? 0];
    const others = (place: number) => all.filter((other) => other !== place);
    await untilStored(serverAt(stopping));
    isOver = false;
    now("SIGTERM");
    const second = crowd.come(
      [{ port: portOf(stopping), next: groups.stopped.next }, ...shared(others(stopping))],
      () => isOver,
    );
    await untilBusy(crowd, "stopped");
    await Bun.sleep(beforeMs.stop);
    const code = await serverAt(stopping).stop();
    if (code === 0) faults.push("a server stopped by SIGTERM");
    await site.restart(stopping);
    await ready(stopping);
    isOver = true;
    await second;

    const mortal = serverAt(killing);
    // What it has of other groups must be stored: it would be lost, and nobody could tell which.
    await untilStored(mortal);
    isOver = false;
    now("kill -9");
    const third = crowd.come(
      [{ port: portOf(killing), next: groups.killed.next }, ...shared(others(killing))],
      () => isOver,
    );
    await untilBusy(crowd, "killed");
    await Bun.sleep(beforeMs.kill);
    await mortal.kill();
    const killedAt = performance.now();
    faults.push("a server killed by kill -9");
    await site.restart(killing);
    await ready(killing);
    isOver = true;
    await third;

    now("the rest");
    await crowd.come(shared(all), () => crowd.served.length >= count);
    // Right after the last answer: what they have not stored yet, they must store now.
    await Promise.all(servers.map((server) => server.stop()));
    return { crowd, extra, killedAt, faults, seconds: (performance.now() - started) / 1_000 };
  } finally {
    crowd.leave();
  }
}

/** Every link once on every server, so that it is cached when SQL goes away. */
async function tour(crowd: Crowd, groups: Groups, ports: readonly number[]): Promise<void> {
  const { cool, hot, stopped, killed } = groups;
  const all = [cool, hot, stopped, killed].flatMap((group) => group.links.map((link) => ({ group, link })));
  let left = ports.length * all.length;
  const places = ports.map((port): Place => {
    let at = 0;
    return {
      port,
      next() {
        left--;
        const one = all[at++ % all.length];
        if (one === undefined) throw new Error("there is no link");
        return { ...one.group.next(), link: one.link };
      },
    };
  });
  await crowd.come(places, () => left <= 0);
}

function counted(crowd: Crowd, visits: number): () => boolean {
  const end = crowd.served.length + visits;
  return () => crowd.served.length >= end;
}

const busyVisits = 300;

/** Until a server that is about to end has answered some more of its visits: it may still recover from the last fault. */
async function untilBusy({ served }: Crowd, tag: string): Promise<void> {
  const visits = () => served.reduce((sum, { link }) => sum + (link.tag === tag ? 1 : 0), 0);
  const end = visits() + busyVisits;
  await until(`visits of ${tag} links`, () => visits() >= end || undefined, reachedMs);
}

const lookMs = 20;
const reachedMs = 60_000;

async function reached(crowd: Crowd, visits: number): Promise<void> {
  const end = performance.now() + reachedMs;
  while (crowd.served.length < visits && performance.now() < end) await Bun.sleep(lookMs);
}
