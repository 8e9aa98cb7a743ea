/**
 * How a large import affects redirects.
 *
 * Method: a client requests 1,000 links in turn, 500 times per second, and times each request from the moment it was
 * due. Meanwhile another process creates 100,000 links with `POST /api/links/bulk`, 1,000 at a time, one request after
 * the other. Quiet and busy periods alternate, so that both see the same machine. SQLite writes in the server's
 * background thread, PostgreSQL in its own processes; in both cases the server parses 1,000 links and returns them.
 *
 * "client late" is how late the client itself woke up, at the 99th percentile: if that has grown as much as the p99,
 * the machine was busy and not the server.
 */
import { join } from "node:path";
import { runProcess } from "../test/ground/process.ts";
import type { Bench } from "./bench.ts";
import { openPacer, type Paced } from "./paced.ts";
import { rotated } from "./rounds.ts";
import { progress, quantile, round, table } from "./show.ts";
import { createLinks, databases, type Subject, startSubject } from "./subject.ts";

const spells = 5;
const postsPerSpell = 20;
const linksPerPost = 1_000;
const quietMs = 3_000;
const perSecond = 500;
const bulkMs = 300_000;

interface Figures {
  readonly quiet: Paced;
  readonly busy: Paced;
  readonly linksPerSecond: number;
}

export const bulk: Bench = {
  name: "bulk",
  shows: "redirect latency while 100,000 links are written in bulk, against idle",
  needs: ["postgresql"],
  run,
};

async function run(): Promise<readonly []> {
  const rows = [["", "p50 ms", "p99 ms", "worst ms", "client late", "links/s"]];
  const ratios: string[] = [];
  for (const database of databases) {
    const { quiet, busy, linksPerSecond } = await measure(database);
    rows.push(row(`${database}, idle`, quiet, ""), row(`${database}, bulk`, busy, round(linksPerSecond)));
    const p99 = ({ latencies }: Paced) => quantile(latencies, 0.99);
    ratios.push(`${database}: p99 during bulk / idle = ${round(p99(busy) / p99(quiet))}`);
  }
  table(rows);
  for (const ratio of ratios) console.log(`  ${ratio}`);
  return [];
}

async function measure(database: Subject["database"]): Promise<Figures> {
  const shown = progress();
  shown.now(`${database}: starting`);
  const subject = await startSubject(database);
  try {
    const paths = (await createLinks(subject.server, linksPerPost)).map((code) => `/${code}`);
    const pacer = await openPacer(subject.server.port, 302);
    // Once each, so that all links are in memory and the code is compiled.
    await pacer.run(paths, perSecond, Bun.sleep(quietMs));
    const quiet: Paced[] = [];
    const busy: Paced[] = [];
    let writingMs = 0;
    const rest = async (): Promise<void> => {
      quiet.push(await pacer.run(paths, perSecond, Bun.sleep(quietMs)));
    };
    const work = async (): Promise<void> => {
      const started = performance.now();
      const writing = write(subject).then(() => {
        writingMs += performance.now() - started;
      });
      busy.push(await pacer.run(paths, perSecond, writing));
    };
    for (let spell = 1; spell <= spells; spell++) {
      shown.now(`${database}: spells ${spell} of ${spells}`);
      for (const part of rotated([rest, work], spell)) await part();
    }
    pacer.close();
    const links = spells * postsPerSpell * linksPerPost;
    return { quiet: together(quiet), busy: together(busy), linksPerSecond: (links * 1_000) / writingMs };
  } finally {
    shown.end();
    await subject.stop();
  }
}

async function write({ server }: Subject): Promise<void> {
  const script = join(import.meta.dir, "bulk-writer.ts");
  const { code, stdout, stderr } = await runProcess(
    [process.execPath, "--no-env-file", script, server.url, server.key, String(postsPerSpell), String(linksPerPost)],
    { timeoutMs: bulkMs },
  );
  if (code !== 0 || Number(stdout) !== postsPerSpell * linksPerPost)
    throw new Error(`the bulk writer failed\n${stderr}`);
}

const together = (parts: readonly Paced[]): Paced => ({
  latencies: parts.flatMap((part) => part.latencies),
  lateness: parts.flatMap((part) => part.lateness),
  refused: 0,
});

const row = (name: string, { latencies, lateness }: Paced, links: string): string[] => [
  name,
  round(quantile(latencies, 0.5)),
  round(quantile(latencies, 0.99)),
  round(quantile(latencies, 1)),
  round(quantile(lateness, 0.99)),
  links,
];
