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
 * several times; then servers are killed with -9. Uploads continue until all faults have happened. lowered: uploads
 * are announced and sent, the limit is lowered to half of them, and then all are completed at once: SQL has the last
 * word.
 *
 * over_quota: moments at which more was stored than allowed, by the tenant's row or by the sum of its files. late:
 * refused by SQL after the bytes were sent, because the counters had forgotten; 0 while they do not. unknown:
 * announcements whose answer was cut off. left: what Redis still counts or holds beyond what is stored.
 */
import { randomInt } from "node:crypto";
import { progress } from "../bench/show.ts";
import type { Attempt, Bound, Proof } from "./proof.ts";
import { createClient, type Met, type Upload } from "./storage/client.ts";
import { controls } from "./storage/controls.ts";
import { type Owner, type Site, startSite } from "./storage/site.ts";

export const storage: Proof = {
  name: "storage",
  shows: "a tenant's bytes on four servers: races, 200 uploads at once, every fate of an upload, FLUSHALL and kill -9",
  needs: ["postgresql", "redis-server"],
  controls,
  async run(attempt) {
    const { short, plays } = attempt;
    const site = await startSite();
    try {
      if (plays("race")) await race(attempt, site, short ? 10 : 60);
      if (plays("crowd")) await crowd(attempt, site, short ? 40 : 200);
      if (plays("lowered")) await lowered(attempt, site, short ? 20 : 60);
      const flush = { planned: short ? 2 : 5, what: "FLUSHALL", strike: site.flush };
      const kill = {
        planned: short ? 1 : 3,
        what: "kill -9",
        strike: () => site.crash(randomInt(site.servers.length)),
      };
      if (plays("nothing_wrong")) await comeAndGo(attempt, site, "nothing_wrong");
      if (plays("flushed")) await comeAndGo(attempt, site, "flushed", flush);
      if (plays("killed")) await comeAndGo(attempt, site, "killed", kill);
    } finally {
      await site.stop();
    }
  },
};

const max = 1_000_000;
const atOnce = 48;
const [smallest, largest] = [2_000, 12_000];
/** With faults uploads continue for longer: half as large, there is room for them. */
const largestWithFaults = 6_000;
const watchMs = 50;
const faultMs = 700;
/** Of all requests: on a busy machine Redis does not always answer in time. */
const unavailableMost = 0.1;

const promises = {
  limit: "a tenant never stores more than its limit",
  admitted: "of concurrent uploads as many are admitted as fit together",
  freed: "failed, abandoned and deleted uploads free exactly what they reserved or used",
  kept: "what is stored, counted and on disk is what the clients know was kept",
  answered: "uploads are answered whatever fails",
  broken: "each fault happens while uploads are in progress",
};

interface Fault {
  readonly planned: number;
  readonly what: string;
  /** Whether it had an effect. */
  strike(): Promise<boolean>;
}

const newMet = (): Met => ({ asked: 0, unavailable: 0, interrupted: 0 });

const say =
  ({ claim }: Attempt, scenario: string, done: string) =>
  (promise: string, measure: string, times: number, figure: number, bound: Bound): void =>
    claim({ promise, scenario, measure, done, times, figure, bound });

const clientOf = (site: Site, owner: Owner, at: number, met: Met) => createClient(owner, site.servers, at, met);

async function keep(
  site: Site,
  owner: Owner,
  at: number,
  size: number,
  met: Met,
): Promise<Upload | "refused" | "late"> {
  const client = clientOf(site, owner, at, met);
  const upload = await client.announce(size);
  if (typeof upload === "string") return "refused";
  await client.send(upload);
  return (await client.complete(upload)) === "stored" ? upload : "late";
}

async function race(attempt: Attempt, site: Site, rounds: number): Promise<void> {
  const shown = progress();
  const owner = await site.newOwner(max);
  const met = newMet();
  await keep(site, owner, 0, 800_000, met);
  const counts = { one: 0, both: 0, none: 0, overQuota: 0, late: 0 };
  for (let round = 0; round < rounds; round++) {
    shown.now(`race: round ${round}`);
    const [first, second, before] = [randomInt(4), randomInt(4), met.unavailable];
    const kept = await Promise.all([keep(site, owner, first, 100_000, met), keep(site, owner, second, 150_000, met)]);
    const winners = kept.filter((upload) => typeof upload !== "string");
    counts[winners.length === 1 ? "one" : winners.length === 2 ? "both" : "none"]++;
    counts.late += kept.filter((upload) => upload === "late").length;
    if ((await site.storedOf(owner)) > max) counts.overQuota++;
    for (const { id } of winners) await clientOf(site, owner, round, met).remove(id);
    if (met.unavailable > before) await site.sweep(owner);
  }
  shown.end();
  const { bytes, used, held } = await site.truthOf(owner);
  console.log(
    `storage: scenario=race rounds=${rounds} one_admitted=${counts.one} both=${counts.both} none=${counts.none} late=${counts.late} ` +
      `unavailable=${met.unavailable} over_quota=${counts.overQuota} used_at_the_end=${used} held=${held}`,
  );
  const done = `${rounds} races of two uploads for room that only one fits in`;
  const claim = say(attempt, "race", done);
  claim(promises.limit, "over_quota", rounds, counts.both + counts.overQuota, { exactly: 0 });
  claim(promises.admitted, "late", rounds, counts.late, { exactly: 0 });
  // A client that got 503 may hold bytes until the sweeper came.
  claim(promises.admitted, "none", rounds, counts.none, { most: met.unavailable });
  claim(promises.freed, "left", rounds, Math.abs(bytes - 800_000) + Math.abs(used - 800_000) + held, { exactly: 0 });
  claim(promises.answered, "unavailable", met.asked, met.unavailable / met.asked, { most: unavailableMost });
}

async function crowd(attempt: Attempt, site: Site, size: number): Promise<void> {
  const owner = await site.newOwner(max);
  const watch = watchOver(site, owner);
  const met = newMet();
  const bytes = (2 * max) / size;
  const kept = await Promise.all(Array.from({ length: size }, (_, at) => keep(site, owner, at, bytes, met)));
  const atOnceStored = kept.filter((upload) => typeof upload !== "string").length;
  await site.sweep(owner);
  let stored = atOnceStored;
  while (typeof (await keep(site, owner, stored, bytes, met)) !== "string") stored++;
  const late = kept.filter((upload) => upload === "late").length;
  const overQuota = await watch.end();
  const { sum, used, held } = await site.truthOf(owner);
  console.log(
    `storage: scenario=crowd uploads=${size} stored=${stored} (at once ${atOnceStored}) late=${late} ` +
      `unavailable=${met.unavailable} over_quota=${overQuota} looked=${watch.looked()} ` +
      `used=${used} held=${held} limit=${max}`,
  );
  const claim = say(attempt, "crowd", `${size} uploads at once on four servers, of which half fit`);
  claim(promises.limit, "over_quota", watch.looked(), overQuota, { exactly: 0 });
  claim(promises.admitted, "stored", size, stored * bytes, { exactly: max });
  claim(promises.admitted, "late", size, late, { exactly: 0 });
  // A client that got 503 may hold bytes until the sweeper came.
  claim(promises.admitted, "not_at_once", size, stored - atOnceStored, { most: met.unavailable });
  claim(promises.kept, "miscounted", size, Math.abs(sum - max) + Math.abs(used - max) + held, { exactly: 0 });
  claim(promises.answered, "unavailable", met.asked, met.unavailable / met.asked, { most: unavailableMost });
}

/** The counters have admitted all of them. */
async function lowered(attempt: Attempt, site: Site, count: number): Promise<void> {
  const before = await site.newOwner(max);
  const met = newMet();
  const size = 10_000;
  const clients = Array.from({ length: count }, (_, at) => clientOf(site, before, at, met));
  const uploads = await Promise.all(
    clients.map(async (client) => {
      const upload = await client.announce(size);
      if (typeof upload === "string") throw new Error(`an upload within the limit was ${upload}`);
      await client.send(upload);
      return { client, upload };
    }),
  );
  const owner = await site.lower(before, (count / 2) * size);
  const outcomes = await Promise.all(uploads.map(({ client, upload }) => client.complete(upload)));
  const refused = outcomes.filter((outcome) => outcome === "late").length;
  await site.sweep(owner);
  const { bytes, sum, used, held } = await site.truthOf(owner);
  console.log(
    `storage: scenario=lowered uploads=${count} refused=${refused} row=${bytes} files=${sum} used=${used} held=${held} limit=${owner.max}`,
  );
  const claim = say(
    attempt,
    "lowered",
    `${count} uploads completed at once after the limit was lowered to half of them`,
  );
  claim(promises.limit, "over_quota", refused, Math.max(0, Math.max(bytes, sum) - owner.max), { exactly: 0 });
  claim(promises.kept, "stored", count, sum, { exactly: owner.max });
  claim(promises.freed, "left", refused, Math.abs(used - sum) + held, { exactly: 0 });
}

type Fate = "stored" | "deleted" | "bad" | "taken_back" | "announced" | "sent";
const fates: readonly Fate[] = ["stored", "stored", "deleted", "bad", "taken_back", "announced", "sent"];
/** Of those that only wait for the last fault: they leave nothing behind that would fill the limit. */
const passingFates: readonly Fate[] = ["deleted", "bad", "taken_back"];

interface Tally extends Met {
  readonly fates: Record<Fate, number>;
  uploads: number;
  refused: number;
  late: number;
  unknown: number;
  keptBytes: number;
  keptFiles: number;
}

async function comeAndGo(attempt: Attempt, site: Site, name: string, fault?: Fault): Promise<void> {
  const shown = progress();
  const owner = await site.newOwner(max);
  const tally: Tally = {
    ...newMet(),
    fates: { stored: 0, deleted: 0, bad: 0, taken_back: 0, announced: 0, sent: 0 },
    ...{ uploads: 0, refused: 0, late: 0, unknown: 0, keptBytes: 0, keptFiles: 0 },
  };
  const watch = watchOver(site, owner);
  let [left, running, troubled, happened] = [attempt.short ? 100 : 300, true, fault !== undefined, 0];
  const coming = Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      while (left-- > 0 || troubled) {
        shown.now(`${name}: ${Math.max(0, left)} uploads to come`);
        await meet(site, owner, at, tally, {
          fate: oneOf(left > 0 ? fates : passingFates),
          size: randomInt(smallest, fault === undefined ? largest : largestWithFaults),
        });
      }
    }),
  ).finally(() => {
    running = false;
  });
  const drifts: number[] = [];
  const syncing = (async () => {
    while (running) drifts.push(await site.sync(owner));
  })();
  for (let planned = fault?.planned ?? 0; planned > 0; planned--) {
    await Bun.sleep(faultMs);
    if (await fault?.strike()) happened++;
  }
  troubled = false;
  await Promise.all([coming, syncing]);
  shown.now(`${name}: hours pass`);
  const unfinished = await site.sweep(owner);
  // A request for storage updates counters that forgot.
  const asked = await clientOf(site, owner, 0, tally).announce(1);
  if (typeof asked !== "string") await clientOf(site, owner, 1, tally).remove(asked.id);
  drifts.push(await site.sync(owner));
  const overQuota = await watch.end();
  const truth = await site.truthOf(owner);
  shown.end();

  const { stored, deleted, bad, taken_back, announced, sent } = tally.fates;
  const { uploads, keptBytes, keptFiles } = tally;
  const drift = drifts.reduce((sum, one) => sum + Math.abs(one), 0);
  console.log(
    `storage: scenario=${name} uploads=${uploads} stored=${stored} deleted=${deleted} bad=${bad} taken_back=${taken_back} ` +
      `abandoned=${announced + sent} refused=${tally.refused} late=${tally.late} unknown=${tally.unknown} interrupted=${tally.interrupted} ` +
      `unavailable=${tally.unavailable} faults=${happened} over_quota=${overQuota} looked=${watch.looked()} syncs=${drifts.length} drift=${drift} ` +
      `kept=${keptBytes} row=${truth.bytes} files=${truth.sum} used=${truth.used} held=${truth.held} ` +
      `objects=${truth.objects} rows=${truth.files} unfinished=${unfinished}`,
  );
  const faults = fault === undefined ? "" : `; ${fault.what} ${happened} times`;
  const claim = say(attempt, name, `${uploads} uploads with every outcome, ${atOnce} at a time${faults}`);
  const everyFate = Math.min(...Object.values(tally.fates));
  const wrongBytes = Math.abs(truth.bytes - keptBytes) + Math.abs(truth.sum - keptBytes);
  const wrongFiles = Math.abs(truth.files - keptFiles) + Math.abs(truth.objects - keptFiles);
  claim(promises.limit, "over_quota", watch.looked(), overQuota, { exactly: 0 });
  claim(promises.kept, "drift", drifts.length, drift, { exactly: 0 });
  claim(promises.kept, "wrong_bytes", keptFiles, wrongBytes, { exactly: 0 });
  claim(promises.kept, "wrong_files", keptFiles, wrongFiles, { exactly: 0 });
  claim(promises.freed, "left", everyFate, Math.abs(truth.used - keptBytes) + truth.held, { exactly: 0 });
  claim(promises.freed, "unfinished", everyFate, unfinished, { exactly: 0 });
  claim(promises.answered, "unavailable", tally.asked, tally.unavailable / tally.asked, { most: unavailableMost });
  if (fault === undefined) {
    claim(promises.admitted, "late", uploads, tally.late + tally.unknown, { exactly: 0 });
    return;
  }
  claim(promises.broken, "faults", happened, happened, { least: fault.planned });
  if (name === "killed") claim(promises.broken, "interrupted", happened, tally.interrupted, { least: happened });
}

const oneOf = (some: readonly Fate[]): Fate => some[randomInt(some.length)] ?? "stored";

async function meet(
  site: Site,
  owner: Owner,
  at: number,
  tally: Tally,
  { fate, size }: { readonly fate: Fate; readonly size: number },
): Promise<void> {
  const client = clientOf(site, owner, at, tally);
  tally.uploads++;
  const upload = await client.announce(size, fate === "bad" ? "image/png" : "text/plain");
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
