/**
 * A million links are imported from a file, and none is lost.
 *
 * Into each database, beside a running server: a CSV file of a million links, every other one with a custom code, is
 * imported by the command line. In the middle the importing process is killed with -9, and the same command is run
 * again. Then SQL is checked: every URL of the file must exist (`lost`) exactly once (`doubled`), with a live version
 * and a change (`torn`). For some hundred, picked across the file, the redirect is followed.
 *
 * Meanwhile a client visits other links of the same server at a fixed rate, each visit timed from when it was due; the
 * same before and after the import, for comparison. "client late" is how late that client itself woke up: with two
 * cores for the client, the server, the import and PostgreSQL, much of the growth of p99 is the wait for a core.
 *
 * `peak_mb` is the peak memory of the importing process (VmHWM). Links per second are those of both runs together,
 * including the program's start and the reading of what was imported before.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openPacer, type Paced } from "../bench/paced.ts";
import { progress, quantile, round } from "../bench/show.ts";
import { createLinks, type Database, databases, type Subject, startSubject } from "../bench/subject.ts";
import { acrossTenants } from "../src/sql/tenant-db.ts";
import { type Child, cleanEnvironment, type Environment, startProcess, until } from "../test/ground/process.ts";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import { look } from "./database.ts";
import { type Proof, wholly } from "./proof.ts";

export const importing: Proof = {
  name: "import",
  shows: "a million links into each database, killed in the middle and started again: none is lost or doubled",
  needs: ["postgresql"],
  options: ["links"],
  controls: [],
  run: wholly(run),
};

const linksUsual = 1_000_000;
const peakMostMb = 300;
const visitsPerSecond = 300;
const visitedLinks = 1_000;
const idleMs = 8_000;
const lookMs = 250;
const sampled = 500;
const linesAtOnce = 10_000;
const prefix = "https://example.com/imported/";

async function run(options: ReadonlyMap<string, number>): Promise<boolean> {
  const links = options.get("links") ?? linksUsual;
  const folder = tempFolder("import");
  const file = join(folder, "links.csv");
  writeFile(file, links);
  const results = [];
  for (const database of databases) results.push(await takeIn(database, file, links));
  removeFolder(folder);
  return results.every(Boolean);
}

const codeOf = (i: number): string => (i % 2 === 0 ? `import-${i}` : "");

function writeFile(path: string, links: number): void {
  const file = openSync(path, "w");
  writeSync(file, "url,code,title,tags\n");
  for (let start = 0; start < links; start += linesAtOnce) {
    const lines = Array.from({ length: Math.min(linesAtOnce, links - start) }, (_, n) => {
      const i = start + n;
      return `${prefix}${i}?utm_source=newsletter&utm_medium=email,${codeOf(i)},"Landing page, ${i}","import,campaign"\n`;
    });
    writeSync(file, lines.join(""));
  }
  closeSync(file);
}

async function takeIn(database: Database, file: string, links: number): Promise<boolean> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  try {
    const env = { ...subject.env, QL_DATA: subject.server.dataDir };
    const paths = (await createLinks(subject.server, visitedLinks)).map((code) => `/${code}`);
    const pacer = await openPacer(subject.server.port, 302);
    const visit = (end: Promise<unknown>) => pacer.run(paths, visitsPerSecond, end);
    for (const path of paths) await remember(subject, path);
    const idle = [await visit(Bun.sleep(idleMs))];
    const importing = importTwice(env, file, links, (text) => shown.now(`${database}: ${text}`));
    const busy = await visit(importing);
    const { seconds, peakMb, killedAt } = await importing;
    idle.push(await visit(Bun.sleep(idleMs)));
    pacer.close();
    shown.now(`${database}: counting`);
    const found = await count(env, links);
    const astray = await follow(subject, env, links);
    shown.end();
    const ratio = report(idle, busy);
    console.log(
      `database=${database} links=${links} links_per_second=${Math.round(links / seconds)} peak_mb=${Math.round(peakMb)} ` +
        `killed_at=${killedAt} lost=${links - found.urls} doubled=${found.rows - found.urls} torn=${found.torn} ` +
        `astray=${astray} ${ratio}`,
    );
    const killedInside = killedAt > 0 && killedAt < links;
    const whole = found.urls === links && found.rows === links && found.torn === 0 && astray === 0;
    return whole && killedInside && peakMb <= peakMostMb;
  } finally {
    shown.end();
    await subject.stop();
  }
}

/**
 * In the server's memory: from there a link is answered whatever PostgreSQL does; 503 is left to links it has never
 * seen.
 */
async function remember({ server }: Subject, path: string): Promise<void> {
  await until(`${path} to be in memory`, async () => {
    const { status } = await fetch(server.url + path, { redirect: "manual" });
    return status === 302 ? true : undefined;
  });
}

function report(idle: readonly Paced[], busy: Paced): string {
  const latencies = idle.flatMap((spell) => spell.latencies);
  const lateness = idle.flatMap((spell) => spell.lateness);
  const [before, during] = [quantile(latencies, 0.99), quantile(busy.latencies, 0.99)];
  return (
    `redirect_p99_ms_idle=${round(before)} redirect_p99_ms_import=${round(during)} ratio=${round(during / before)} ` +
    `client_late_p99_ms_idle=${round(quantile(lateness, 0.99))} client_late_p99_ms_import=${round(quantile(busy.lateness, 0.99))}`
  );
}

/** Once until it is killed in the middle, and once to its end. */
async function importTwice(env: Environment, file: string, links: number, say: (text: string) => void) {
  const started = performance.now();
  const first = startImport(env, file);
  const { peakMb: firstMb, records: killedAt } = await watch(first, env, say, Math.floor(links / 2));
  await first.kill();
  const second = startImport(env, file);
  const { peakMb: secondMb } = await watch(second, env, say);
  const status = await second.exited;
  if (status !== 0) throw new Error(`the import ended with ${status}\n${second.output()}`);
  return { seconds: (performance.now() - started) / 1_000, peakMb: Math.max(firstMb, secondMb), killedAt };
}

const startImport = (env: Environment, file: string): Child =>
  startProcess([process.execPath, "--no-env-file", "src/main.ts", "import", file], {
    cwd: join(import.meta.dir, ".."),
    env: cleanEnvironment(env),
  });

/** Until it ends, or has reached `enough`. */
async function watch(child: Child, env: Environment, say: (text: string) => void, enough = Number.POSITIVE_INFINITY) {
  return await look(env, async ({ db }) => {
    let peakMb = 0;
    for (let records = 0; ; ) {
      if (!child.running() || records >= enough) return { peakMb, records };
      await Bun.sleep(lookMs);
      peakMb = Math.max(peakMb, peakOf(child.pid));
      records = (await acrossTenants(db).selectFrom("imports").select("records").executeTakeFirst())?.records ?? 0;
      say(`${records} rows, ${Math.round(peakMb)} MB`);
    }
  });
}

/** 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

async function count(env: Environment, links: number): Promise<{ rows: number; urls: number; torn: number }> {
  return await look(env, async ({ db }) => {
    const ours = acrossTenants(db).selectFrom("links as l").where("l.url", "like", `${prefix}%`);
    const { rows, urls } = await ours
      .select(({ fn }) => [fn.countAll<number>().as("rows"), fn.count<number>("l.url").distinct().as("urls")])
      .executeTakeFirstOrThrow();
    const { whole } = await ours
      .innerJoin("link_versions as v", (join) =>
        join.onRef("v.domain", "=", "l.domain").onRef("v.code", "=", "l.code").on("v.state", "=", "live"),
      )
      .innerJoin("changes as c", (join) =>
        join.onRef("c.domain", "=", "l.domain").onRef("c.code", "=", "l.code").onRef("c.version", "=", "v.version"),
      )
      .select(({ fn }) => fn.countAll<number>().as("whole"))
      .executeTakeFirstOrThrow();
    return { rows: Number(rows), urls: Number(urls), torn: Math.abs(Number(whole) - links) };
  });
}

/** How many, of some across the file, lead to the wrong URL. */
async function follow({ server }: Subject, env: Environment, links: number): Promise<number> {
  const codes = await look(env, async ({ db }) => {
    const step = Math.max(1, Math.floor(links / sampled));
    const some = Array.from({ length: Math.floor(links / step) }, (_, n) => {
      return `${prefix}${n * step}?utm_source=newsletter&utm_medium=email`;
    });
    return await acrossTenants(db).selectFrom("links").select(["code", "url"]).where("url", "in", some).execute();
  });
  let astray = 0;
  for (const { code, url } of codes) {
    const answer = await until(`an answer for ${code}`, async () => {
      const response = await fetch(`${server.url}/${code}`, { redirect: "manual" });
      return response.status === 503 ? undefined : response;
    });
    if (answer.headers.get("location") !== url) astray++;
  }
  return codes.length === 0 ? links : astray;
}
