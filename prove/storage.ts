/**
 * A tenant's storage quota is never exceeded, and unused bytes are returned exactly.
 *
 * Four server processes share one PostgreSQL, one Redis and one folder. A tenant may have 1,000,000 bytes: a byte
 * stands for a kilobyte in the requirements, because the arithmetic is proven here and not the disk.
 *
 * race: 800,000 are used, and 100,000 and 150,000 are announced at the same moment on two servers, many times. Exactly
 * one of the two must be admitted. crowd: 200 uploads of 10,000 at once on four servers: 100 of them are admitted, and
 * the limit is used to the last byte. If the machine is too busy and Redis does not answer in time, clients get 503 and
 * retry (`unavailable`), and bytes held without an answer are free after the sweeper ran: then refused ones retry once
 * more. Then 300 uploads come and go, 48 at a time, with every outcome: stored; stored and deleted; refused because the
 * bytes are wrong; cancelled; announced and abandoned; sent and abandoned. Meanwhile `quicklink sync quotas` runs again
 * and again. At the end hours pass for abandoned uploads, the sweeper runs, and what is stored, what Redis counts and
 * what is on disk must match what the clients know was kept. First without faults; then Redis is flushed in the middle,
 * several times; then servers are killed with -9.
 *
 * over_quota: moments at which more was stored than allowed, by the tenant's row or by the sum of its files. late:
 * refused by SQL after the bytes were sent, because the counters had forgotten; 0 while they do not. unknown:
 * announcements whose answer was cut off. left: what Redis still counts or holds beyond what is stored.
 */
import { randomInt } from "node:crypto";
import { progress } from "../bench/show.ts";
import { type Proof, wholly } from "./proof.ts";
import { createClient, type Met, type Upload } from "./storage/client.ts";
import { type Owner, type Site, startSite, type Truth } from "./storage/site.ts";

export const storage: Proof = {
  name: "storage",
  shows: "a tenant's bytes on four servers: races, 200 uploads at once, every fate of an upload, FLUSHALL and kill -9",
  needs: ["postgresql", "redis-server"],
  controls: [],
  run: wholly(run),
};

const max = 1_000_000;
const rounds = 60;
const crowdSize = 200;
const crowdBytes = 10_000;
const uploads = 300;
const atOnce = 48;
const [smallest, largest] = [2_000, 12_000];
const watchMs = 50;
const flushes = 5;
const kills = 3;
const faultMs = 700;

async function run(): Promise<boolean> {
  const site = await startSite();
  try {
    const held = [await race(site), await crowd(site)];
    held.push(await comeAndGo(site, "nothing_wrong", 0, async () => {}));
    held.push(await comeAndGo(site, "flushed", flushes, () => site.redis.flush()));
    held.push(await comeAndGo(site, "killed", kills, () => site.crash(randomInt(site.servers.length))));
    return held.every(Boolean);
  } finally {
    await site.stop();
  }
}

const clientOf = (site: Site, owner: Owner, at: number, met: Met) => createClient(owner, site.servers, at, met);

async function keep(site: Site, owner: Owner, at: number, size: number, met: Met): Promise<Upload | undefined> {
  const client = clientOf(site, owner, at, met);
  const upload = await client.announce(size);
  if (typeof upload === "string") return undefined;
  await client.send(upload);
  return (await client.complete(upload)) === "stored" ? upload : undefined;
}

async function race(site: Site): Promise<boolean> {
  const shown = progress();
  const owner = await site.newOwner(max);
  const met = { unavailable: 0 };
  await keep(site, owner, 0, 800_000, met);
  const counts = { one: 0, both: 0, none: 0, overQuota: 0 };
  for (let round = 0; round < rounds; round++) {
    shown.now(`race: round ${round}`);
    const [first, second, before] = [randomInt(4), randomInt(4), met.unavailable];
    const kept = await Promise.all([keep(site, owner, first, 100_000, met), keep(site, owner, second, 150_000, met)]);
    const winners = kept.filter((upload) => upload !== undefined);
    counts[winners.length === 1 ? "one" : winners.length === 2 ? "both" : "none"]++;
    if ((await site.storedOf(owner)) > max) counts.overQuota++;
    for (const { id } of winners) await clientOf(site, owner, round, met).remove(id);
    if (met.unavailable > before) await site.sweep(owner);
  }
  shown.end();
  const truth = await site.truthOf(owner);
  const exact = truth.bytes === 800_000 && truth.used === 800_000 && truth.held === 0;
  console.log(
    `storage: scenario=race rounds=${rounds} one_admitted=${counts.one} both=${counts.both} none=${counts.none} ` +
      `unavailable=${met.unavailable} over_quota=${counts.overQuota} used_at_the_end=${truth.used} held=${truth.held}`,
  );
  return counts.both === 0 && counts.none <= met.unavailable && counts.overQuota === 0 && exact;
}

async function crowd(site: Site): Promise<boolean> {
  const owner = await site.newOwner(max);
  const watch = watchOver(site, owner);
  const met = { unavailable: 0 };
  const kept = await Promise.all(Array.from({ length: crowdSize }, (_, at) => keep(site, owner, at, crowdBytes, met)));
  const atOnceStored = kept.filter((upload) => upload !== undefined).length;
  await site.sweep(owner);
  let stored = atOnceStored;
  while ((await keep(site, owner, stored, crowdBytes, met)) !== undefined) stored++;
  const overQuota = await watch.end();
  const truth = await site.truthOf(owner);
  console.log(
    `storage: scenario=crowd uploads=${crowdSize} stored=${stored} (at once ${atOnceStored}) refused=${crowdSize - stored} ` +
      `unavailable=${met.unavailable} over_quota=${overQuota} looked=${watch.looked()} ` +
      `used=${truth.used} held=${truth.held} limit=${max}`,
  );
  const exact = stored * crowdBytes === max && truth.sum === max && truth.used === max && truth.held === 0;
  return exact && overQuota === 0 && (atOnceStored === stored || met.unavailable > 0);
}

type Fate = "stored" | "deleted" | "bad" | "taken_back" | "announced" | "sent";
const fates: readonly Fate[] = ["stored", "stored", "deleted", "bad", "taken_back", "announced", "sent"];

interface Tally extends Met {
  readonly fates: Record<Fate, number>;
  refused: number;
  late: number;
  unknown: number;
  keptBytes: number;
  keptFiles: number;
}

async function comeAndGo(site: Site, name: string, faults: number, fault: () => Promise<void>): Promise<boolean> {
  const shown = progress();
  const owner = await site.newOwner(max);
  const tally: Tally = {
    fates: { stored: 0, deleted: 0, bad: 0, taken_back: 0, announced: 0, sent: 0 },
    ...{ refused: 0, late: 0, unknown: 0, unavailable: 0, keptBytes: 0, keptFiles: 0 },
  };
  const watch = watchOver(site, owner);
  let [left, running] = [uploads, true];
  const coming = Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      while (left-- > 0) {
        shown.now(`${name}: ${left} uploads to come`);
        await meet(site, owner, at, tally);
      }
    }),
  ).finally(() => {
    running = false;
  });
  const drifts: number[] = [];
  const syncing = (async () => {
    while (running) drifts.push(await site.sync(owner));
  })();
  for (let i = 0; i < faults && running; i++) {
    await Bun.sleep(faultMs);
    await fault();
  }
  await Promise.all([coming, syncing]);
  shown.now(`${name}: hours pass`);
  await site.sweep(owner);
  // A request for storage updates counters that forgot.
  const asked = await clientOf(site, owner, 0, tally).announce(1);
  if (typeof asked !== "string") await clientOf(site, owner, 1, tally).remove(asked.id);
  drifts.push(await site.sync(owner));
  const overQuota = await watch.end();
  const truth = await site.truthOf(owner);
  shown.end();

  const { stored, deleted, bad, taken_back, announced, sent } = tally.fates;
  const drift = drifts.reduce((sum, one) => sum + Math.abs(one), 0);
  console.log(
    `storage: scenario=${name} uploads=${uploads} stored=${stored} deleted=${deleted} bad=${bad} taken_back=${taken_back} ` +
      `abandoned=${announced + sent} refused=${tally.refused} late=${tally.late} unknown=${tally.unknown} unavailable=${tally.unavailable} faults=${faults} ` +
      `over_quota=${overQuota} looked=${watch.looked()} syncs=${drifts.length} drift=${drift} ` +
      `kept=${tally.keptBytes} row=${truth.bytes} files=${truth.sum} left=${truth.used - truth.sum + truth.held} ` +
      `objects=${truth.objects} rows=${truth.files}`,
  );
  const forgets = name === "nothing_wrong" ? tally.late === 0 && tally.unknown === 0 : true;
  return overQuota === 0 && drift === 0 && forgets && isExact(truth, tally) && stored > 0 && deleted > 0;
}

function isExact({ bytes, sum, files, used, held, objects }: Truth, { keptBytes, keptFiles }: Tally): boolean {
  const everywhere = [bytes, sum, used].every((figure) => figure === keptBytes);
  return everywhere && held === 0 && files === keptFiles && objects === keptFiles;
}

async function meet(site: Site, owner: Owner, at: number, tally: Tally): Promise<void> {
  const client = clientOf(site, owner, at, tally);
  const fate = fates[randomInt(fates.length)] ?? "stored";
  const upload = await client.announce(randomInt(smallest, largest), fate === "bad" ? "image/png" : "text/plain");
  if (upload === "refused" || upload === "unknown") {
    tally[upload]++;
    return;
  }
  if (fate === "announced") {
    tally.fates.announced++;
    return;
  }
  await client.send(upload);
  if (fate === "taken_back") await client.remove(upload.id);
  const completes = fate === "stored" || fate === "deleted" || fate === "bad";
  const outcome = completes ? await client.complete(upload) : fate;
  if (outcome === "late") {
    tally.late++;
    return;
  }
  tally.fates[fate]++;
  if (fate === "deleted") await client.remove(upload.id);
  if (fate !== "stored") return;
  if (outcome !== "stored") throw new Error(`a good upload was ${outcome}`);
  tally.keptBytes += upload.size;
  tally.keptFiles++;
}

interface Watch {
  looked(): number;
  /** How often more was stored than allowed. */
  end(): Promise<number>;
}

function watchOver(site: Site, owner: Owner): Watch {
  let [looked, over, running] = [0, 0, true];
  const watching = (async () => {
    while (running) {
      if ((await site.storedOf(owner)) > owner.max) over++;
      looked++;
      await Bun.sleep(watchMs);
    }
  })();
  return {
    looked: () => looked,
    async end() {
      running = false;
      await watching;
      return over;
    },
  };
}
