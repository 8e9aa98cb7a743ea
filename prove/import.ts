/**
 * A million links are imported from a file, and each is as the file says.
 *
 * Into each database, beside a running server: a CSV file of a million links, every other one with a custom code, is
 * imported by the command line, in a time zone that is not UTC. In the middle the importing process is killed with -9,
 * and the same command is run again. Then every row of the database is compared with its row of the file, field by
 * field (`fields`): each must exist (`lost`) exactly once (`doubled`), with a live version and a change (`torn`). For
 * some hundred, picked across the file, the redirect is followed (`astray`).
 *
 * Meanwhile a client visits other links of the same server at a fixed rate, each visit timed from when it was due; the
 * same before and after the import, for comparison. "client late" is how late that client itself woke up: with two
 * cores for the client, the server, the import and PostgreSQL, much of the growth of p99 is the wait for a core.
 *
 * `peak_mb` is the peak memory of the importing process (VmHWM). Links per second are those of both runs together,
 * including the program's start and the reading of what was imported before.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openPacer, type Paced } from "../bench/paced.ts";
import { progress, quantile, round } from "../bench/show.ts";
import { createLinks, type Database, databases, destination, type Subject, startSubject } from "../bench/subject.ts";
import { acrossTenants, ofTenant } from "../src/sql/tenant-db.ts";
import type { Edit } from "../test/ground/mutant.ts";
import { type Child, cleanEnvironment, type Environment, startProcess, until } from "../test/ground/process.ts";
import { program } from "../test/ground/server.ts";
import { removeFolder, tempFolder } from "../test/ground/temp.ts";
import { look } from "./database.ts";
import {
  customDomain,
  differences,
  isPlain,
  type Made,
  numberOf,
  passwordOf,
  urlOf,
  writeLinks,
} from "./import/file.ts";
import type { Attempt, Control, Proof } from "./proof.ts";

/** A column that is not read. */
const passingOver = (field: string): Edit => ({
  file: "import-export/formats.ts",
  from: 'if (cell === "") continue;',
  to: `if (cell === "" || name === "${field}") continue;`,
});

const onSqlite = (name: string, breaks: string, ...edits: Edit[]): Control => ({
  ...{ name, edits, plays: ["sqlite"], breaks: [`sqlite.${breaks}`] },
});

const resumed: Pick<Edit, "file" | "from"> = {
  file: "import-export/import.ts",
  from: "if (++passed <= skipped) continue;",
};

export const importing: Proof = {
  name: "import",
  shows: "a million links into each database, killed in the middle and started again: each is as the file says",
  needs: ["postgresql"],
  options: ["links"],
  controls: [
    onSqlite("the code ignored", "fields", passingOver("code")),
    onSqlite("the title dropped", "fields", passingOver("title")),
    onSqlite("the tags dropped", "fields", passingOver("tags")),
    onSqlite("a time in local time", "fields", {
      file: "import-export/formats.ts",
      from: " + offset);",
      to: ");",
    }),
    {
      name: "a time in seconds",
      edits: [
        {
          file: "import-export/import.ts",
          from: "fromIso(String(created))",
          to: "Math.floor(fromIso(String(created)) / 1_000)",
        },
      ],
      plays: ["postgres"],
      breaks: ["postgres.fields"],
    },
    onSqlite("a row skipped when it continues", "lost", {
      ...resumed,
      to: "if (++passed <= skipped + 1) continue;",
    }),
    onSqlite("a row repeated when it continues", "doubled", {
      ...resumed,
      to: "if (++passed < skipped) continue;",
    }),
  ],
  run,
};

const linksUsual = 1_000_000;
const linksShort = 24_000;
const rateShort = 8_000;
const peakMostMb = 300;
const visitsPerSecond = 300;
const visitedLinks = 1_000;
const idleMs = 5_000;
const idleShortMs = 1_000;
const lookMs = 100;
const sampled = 500;
const pageRows = 20_000;
/** Far from UTC, and not by whole hours. */
const zone = "Asia/Kathmandu";

async function run(attempt: Attempt): Promise<void> {
  const links = attempt.options.get("links") ?? (attempt.short ? linksShort : linksUsual);
  const folder = tempFolder("import");
  const file = join(folder, "links.csv");
  writeLinks(file, links);
  for (const database of databases) if (attempt.plays(database)) await takeIn(attempt, database, file, links);
  removeFolder(folder);
}

async function takeIn({ short, claim }: Attempt, database: Database, file: string, links: number): Promise<void> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  try {
    const env = { ...subject.env, QL_DATA: subject.server.dataDir };
    await addDomain(env);
    const paths = (await createLinks(subject.server, visitedLinks)).map((code) => `/${code}`);
    const pacer = await openPacer(subject.server.port, 302);
    const visit = (end: Promise<unknown>) => pacer.run(paths, visitsPerSecond, end);
    for (const path of paths) await remember(subject, path);
    const idle = [await visit(Bun.sleep(short ? idleShortMs : idleMs))];
    const from = Date.now();
    const importing = importTwice(env, short ? [file, "--rate", String(rateShort)] : [file], links, (text) =>
      shown.now(`${database}: ${text}`),
    );
    const busy = await visit(importing);
    const { seconds, peakMb, killedAt, continuedAt } = await importing;
    const made = { from, until: Date.now() };
    idle.push(await visit(Bun.sleep(short ? idleShortMs : idleMs)));
    pacer.close();
    const found = await compare(env, links, made, (rows) => shown.now(`${database}: compared ${rows} rows`));
    const torn = await countTorn(env, links);
    const { followed, astray } = await follow(subject, found.plain);
    shown.end();
    console.log(
      `database=${database} links=${links} links_per_second=${Math.round(links / seconds)} peak_mb=${Math.round(peakMb)} ` +
        `killed_at=${killedAt} lost=${found.lost} doubled=${found.doubled} not_in_the_file=${found.strange} ` +
        `other_fields=${sum(found.other.values())} torn=${torn} astray=${astray} ${latencies(idle, busy)}`,
    );
    for (const [field, rows] of found.other)
      console.log(`  ${field}: ${rows} rows, such as ${found.examples.get(field)}`);

    const promise =
      "an import that is killed and started again creates each row of the file once, with all of its fields";
    const done = `${links.toLocaleString("en-US")} rows imported, the process killed after ${killedAt.toLocaleString("en-US")}`;
    const about = { promise, scenario: database, done };
    const fields = { times: found.fields, figure: sum(found.other.values()), unit: "fields" };
    claim({ ...about, measure: "lost", times: links, figure: found.lost, bound: { exactly: 0 } });
    claim({ ...about, measure: "doubled", times: links, figure: found.doubled + found.strange, bound: { exactly: 0 } });
    claim({ ...about, measure: "fields", ...fields, bound: { exactly: 0 } });
    claim({ ...about, measure: "torn", times: links, figure: torn, bound: { exactly: 0 } });
    claim({ ...about, measure: "astray", times: followed, figure: astray, bound: { exactly: 0 } });
    const inside = killedAt > 0 && killedAt < links ? 1 : 0;
    claim({ ...about, measure: "kills_inside", times: 1, figure: inside, bound: { exactly: 1 } });
    const repeated = Math.abs(killedAt - continuedAt);
    claim({ ...about, measure: "read_twice", times: inside, figure: repeated, unit: "rows", bound: { exactly: 0 } });
    claim({
      promise: "an import takes little memory, whatever the size of the file",
      ...{ scenario: database, measure: "peak", done, times: 2, figure: Math.round(peakMb), unit: "MB" },
      bound: { most: peakMostMb },
    });
  } finally {
    shown.end();
    await subject.stop();
  }
}

const sum = (figures: Iterable<number>): number => [...figures].reduce((total, figure) => total + figure, 0);

/** As if it had been verified. */
async function addDomain(env: Environment): Promise<void> {
  await look(env, async ({ db }) => {
    const { id } = await db.selectFrom("tenants").select("id").executeTakeFirstOrThrow();
    const at = Date.now();
    await ofTenant(db, id)
      .insertInto("domains")
      .values({
        ...{ host: customDomain, state: "verified", token: "token", is_default: 0, root_url: null, missing_url: null },
        ...{ root_blocked: 0, missing_blocked: 0, created_at: at, verified_at: at },
      })
      .execute();
  });
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

function latencies(idle: readonly Paced[], busy: Paced): string {
  const all = idle.flatMap((spell) => spell.latencies);
  const lateness = idle.flatMap((spell) => spell.lateness);
  const [before, during] = [quantile(all, 0.99), quantile(busy.latencies, 0.99)];
  return (
    `redirect_p99_ms_idle=${round(before)} redirect_p99_ms_import=${round(during)} ratio=${round(during / before)} ` +
    `client_late_p99_ms_idle=${round(quantile(lateness, 0.99))} client_late_p99_ms_import=${round(quantile(busy.lateness, 0.99))}`
  );
}

/** Once until it is killed in the middle, and once to its end. */
async function importTwice(env: Environment, args: readonly string[], links: number, say: (text: string) => void) {
  const started = performance.now();
  const first = startImport(env, args);
  const firstMb = await watch(first, env, say, Math.floor(links / 2));
  await first.kill();
  const killedAt = await look(env, recordsOf);
  const second = startImport(env, args);
  const secondMb = await watch(second, env, say);
  const status = await second.exited;
  if (status !== 0) throw new Error(`the import ended with ${status}\n${second.output()}`);
  const seconds = (performance.now() - started) / 1_000;
  const continuedAt = Number(/; (\d+) links already created/.exec(second.output())?.[1] ?? 0);
  return { seconds, peakMb: Math.max(firstMb, secondMb), killedAt, continuedAt };
}

const startImport = (env: Environment, args: readonly string[]): Child =>
  startProcess([...program, "import", ...args], {
    cwd: join(import.meta.dir, ".."),
    env: cleanEnvironment({ ...env, TZ: zone }),
  });

/** Until it ends, or has reached `enough`; returns its peak of memory. */
async function watch(child: Child, env: Environment, say: (text: string) => void, enough = Number.POSITIVE_INFINITY) {
  return await look(env, async (sql) => {
    let peakMb = 0;
    for (let records = 0; child.running() && records < enough; ) {
      await Bun.sleep(lookMs);
      peakMb = Math.max(peakMb, peakOf(child.pid));
      records = await recordsOf(sql);
      say(`${records} rows, ${Math.round(peakMb)} MB`);
    }
    return peakMb;
  });
}

async function recordsOf({ db }: Parameters<Parameters<typeof look>[1]>[0]): Promise<number> {
  return (await acrossTenants(db).selectFrom("imports").select("records").executeTakeFirst())?.records ?? 0;
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

/** Every row of the database with its row of the file. */
async function compare(env: Environment, links: number, made: Made, say: (rows: number) => void) {
  return await look(env, async ({ db }) => {
    const seen = new Uint8Array(links);
    const other = new Map<string, number>();
    const examples = new Map<string, string>();
    const plain: { code: string; url: string }[] = [];
    const step = Math.max(1, Math.floor(links / sampled));
    const differ = (field: string, example: unknown) => {
      other.set(field, (other.get(field) ?? 0) + 1);
      if (!examples.has(field)) examples.set(field, JSON.stringify(example));
    };
    let [rows, fields, strange] = [0, 0, 0];
    for (let after = ""; ; ) {
      const page = await acrossTenants(db)
        .selectFrom("links")
        .selectAll()
        .where("id", ">", after as never)
        .orderBy("id")
        .limit(pageRows)
        .execute();
      for (const row of page) {
        const i = numberOf(row.url);
        if (i === undefined || i >= links) {
          if (!row.url.startsWith(destination)) strange++;
          continue;
        }
        rows++;
        seen[i] = (seen[i] ?? 0) + 1;
        const { compared, differ: others } = differences(i, row, made);
        fields += compared + 1;
        for (const field of others) differ(field, row);
        if (!(await hasPassword(i, row.password_hash))) differ("password", row);
        if (isPlain(i) && rows % step === 0) plain.push(row);
      }
      say(rows);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.id;
    }
    const lost = seen.filter((times) => times === 0).length;
    return { rows, fields, lost, doubled: rows - (links - lost), strange, other, examples, plain };
  });
}

async function hasPassword(i: number, hash: string | null): Promise<boolean> {
  const password = passwordOf(i);
  if (password === undefined || hash === null) return password === undefined && hash === null;
  return await Bun.password.verify(password, hash);
}

/** How many have no live version, or no change. */
async function countTorn(env: Environment, links: number): Promise<number> {
  return await look(env, async ({ db }) => {
    const { whole } = await acrossTenants(db)
      .selectFrom("links as l")
      .where("l.url", "like", `${urlOf(0).split("0?")[0]}%`)
      .innerJoin("link_versions as v", (join) =>
        join.onRef("v.domain", "=", "l.domain").onRef("v.code", "=", "l.code").on("v.state", "=", "live"),
      )
      .innerJoin("changes as c", (join) =>
        join.onRef("c.domain", "=", "l.domain").onRef("c.code", "=", "l.code").onRef("c.version", "=", "v.version"),
      )
      .select(({ fn }) => fn.countAll<number>().as("whole"))
      .executeTakeFirstOrThrow();
    return Math.abs(Number(whole) - links);
  });
}

/** How many of these lead to the wrong URL. */
async function follow({ server }: Subject, links: readonly { readonly code: string; readonly url: string }[]) {
  let astray = 0;
  for (const { code, url } of links) {
    const answer = await until(`an answer for ${code}`, async () => {
      const response = await fetch(`${server.url}/${code}`, { redirect: "manual" });
      return response.status === 503 ? undefined : response;
    });
    if (answer.headers.get("location") !== url) astray++;
  }
  return { followed: links.length, astray };
}
