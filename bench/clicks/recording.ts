/**
 * Clicks recorded per second, and what that does to redirects.
 *
 * Method: as in `bulk.ts`: a client requests 1,000 links of a real server, 500 times per second, and times each request
 * from the moment it was due. Meanwhile another process records clicks in the same database as fast as it can, over 1, 1,000 or
 * 100,000 links, with the writer of the server. Quiet and busy periods alternate. Clicks of one link are soon beyond the cap of
 * events, and are counted in overflow rows. CPU is that of the process that records, without the database's.
 */
import { join } from "node:path";
import { runProcess } from "../../test/ground/process.ts";
import { openPacer, type Paced } from "../paced.ts";
import { rotated } from "../rounds.ts";
import { type Progress, quantile, round, table } from "../show.ts";
import { createLinks, type Database, databases, type Subject, startSubject } from "../subject.ts";

const spreads = [1, 1_000, 100_000] as const;
const spells = 2;
const spellMs = 4_000;
const perSecond = 500;
const pacedLinks = 1_000;
const writeMs = 60_000;

interface Written {
  readonly events: number;
  readonly overflow: number;
  readonly ms: number;
  /** Microseconds. */
  readonly cpu: number;
}

interface Recorded {
  readonly database: Database;
  readonly links: number;
  readonly written: Written[];
  readonly paced: Paced[];
}

export async function recording(shown: Progress): Promise<void> {
  const rows = [
    [
      "recording",
      "clicks/s",
      "CPU µs each",
      "as events",
      "redirect p50 ms",
      "p99 ms",
      "client late",
      "refused",
      "p99 / idle",
    ],
  ];
  for (const database of databases) {
    const { quiet, busy } = await measure(database, shown);
    const idle = together(quiet);
    rows.push([`${database}, idle`, "", "", "", ...latency(idle), ""]);
    for (const { links, written, paced } of busy) {
      const sum = (of: (one: Written) => number) => written.reduce((total, one) => total + of(one), 0);
      const clicks = sum(({ events, overflow }) => events + overflow);
      const while_ = together(paced);
      rows.push([
        `${database}, over ${links.toLocaleString("en-US")} ${links === 1 ? "link" : "links"}`,
        round((clicks * 1_000) / sum(({ ms }) => ms)),
        round(sum(({ cpu }) => cpu) / clicks),
        `${Math.round((100 * sum(({ events }) => events)) / clicks)} %`,
        ...latency(while_),
        round(p99(while_) / p99(idle)),
      ]);
    }
  }
  shown.end();
  table(rows);
}

async function measure(database: Database, shown: Progress): Promise<{ quiet: Paced[]; busy: Recorded[] }> {
  shown.now(`recording into ${database}: starting`);
  const subject = await startSubject(database);
  try {
    const paths = (await createLinks(subject.server, pacedLinks)).map((code) => `/${code}`);
    const pacer = await openPacer(subject.server.port, 302, { mayRefuse: true });
    const rest = () => pacer.run(paths, perSecond, Bun.sleep(spellMs));
    await rest(); // all links are in memory, and the code is compiled
    const quiet: Paced[] = [];
    const busy: Recorded[] = spreads.map((links) => ({ database, links, written: [], paced: [] }));
    for (let spell = 0; spell < spells; spell++) {
      for (const { links, written, paced } of rotated(busy, spell)) {
        shown.now(`recording into ${database}, over ${links} links, ${spell + 1} of ${spells}`);
        quiet.push(await rest());
        const writing = write(subject, links).then((one) => written.push(one));
        paced.push(await pacer.run(paths, perSecond, writing));
      }
    }
    pacer.close();
    return { quiet, busy };
  } finally {
    await subject.stop();
  }
}

async function write({ database, server, env }: Subject, links: number): Promise<Written> {
  const where = database === "sqlite" ? join(server.dataDir, "quicklink.sqlite") : String(env.DATABASE_URL);
  const script = join(import.meta.dir, "write-clicks.ts");
  const { code, stdout, stderr } = await runProcess(
    [process.execPath, "--no-env-file", script, where, String(links), String(spellMs)],
    { timeoutMs: writeMs },
  );
  if (code !== 0) throw new Error(`clicks could not be written\n${stderr}`);
  return JSON.parse(stdout) as Written;
}

const together = (parts: readonly Paced[]): Paced => ({
  latencies: parts.flatMap((part) => part.latencies),
  lateness: parts.flatMap((part) => part.lateness),
  refused: parts.reduce((sum, part) => sum + part.refused, 0),
});

const p99 = ({ latencies }: Paced): number => quantile(latencies, 0.99);

const latency = (paced: Paced): string[] => [
  round(quantile(paced.latencies, 0.5)),
  round(p99(paced)),
  round(quantile(paced.lateness, 0.99)),
  String(paced.refused),
];
