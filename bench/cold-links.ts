/**
 * What a limit costs for links that are visited once: each needs its own lease, and returns nearly all of it.
 *
 * Method: two servers with embedded databases, one tenant on the default plan (10,000 hits per link), one without
 * limits, 100,000 links each, created in bulk. Both servers are restarted, so that nothing is in memory, and every link
 * is visited once over 64 connections, 25,000 on one server and then on the other. CPU is that of the server process
 * until it has recorded all hits and returned all leases, a few seconds after the last visit.
 */
import { cli, type Server, startServer } from "../test/ground/server.ts";
import { cpuMicros } from "./cpu.ts";
import { visit } from "./line.ts";
import { rotated } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, startSubject, untilIdle } from "./subject.ts";

const linksPerPost = 1_000;
const posts = 100;
const spells = 4;
const connections = 64;

interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly codes: readonly string[];
}

interface Sample {
  readonly perSecond: number;
  readonly micros: number;
}

export async function coldLinks(): Promise<void> {
  const shown = progress();
  shown.now("cold links: making them");
  const contenders = [await prepare("without a limit", "unlimited"), await prepare("a limit of 10,000", "default")];
  try {
    const samples: Sample[][] = contenders.map(() => []);
    for (let spell = 0; spell < spells; spell++) {
      for (const [place, contender] of rotated([...contenders.entries()], spell)) {
        shown.now(`cold links: spell ${spell + 1} of ${spells}, ${contender.name}`);
        samples[place]?.push(await visitAll(contender, spell));
      }
    }
    shown.end();
    report(contenders, samples);
  } finally {
    shown.end();
    for (const { server } of contenders) await server.stop();
  }
}

function report(contenders: readonly Contender[], samples: readonly Sample[][]): void {
  const micros = (place: number) => (samples[place] ?? []).map((one) => one.micros);
  table([
    ["cold links, each visited once", "redirects/s", "CPU µs per redirect", "min"],
    ...contenders.map(({ name }, place) => [
      name,
      round(median((samples[place] ?? []).map((one) => one.perSecond))),
      round(median(micros(place))),
      round(Math.min(...micros(place))),
    ]),
  ]);
  const [without, within] = [median(micros(0)), median(micros(1))];
  const share = Math.round((100 * (within - without)) / within);
  console.log(`  the lease is ${share}% of a cold redirect: ${round(within - without)} µs, given back and all`);
}

/** A server that has just been started, with its links, and its tenant on this plan. */
async function prepare(name: string, plan: string): Promise<Contender> {
  const { server, env } = await startSubject("sqlite");
  const codes: string[] = [];
  for (let i = 0; i < posts; i++) codes.push(...(await createLinks(server, linksPerPost)));
  await server.stop();
  const { dataDir, key } = server;
  const set = await cli(["tenant", "update", "default", "--plan", plan], { env: { ...env, QL_DATA: dataDir } });
  if (set.code !== 0) throw new Error(`the plan could not be set\n${set.stderr}`);
  return { name, server: await startServer({ env, dataDir, key }), codes };
}

async function visitAll({ server, codes }: Contender, spell: number): Promise<Sample> {
  const each = codes.length / spells;
  const [cpu, started] = [cpuMicros(server.pid), performance.now()];
  await visit(server.port, codes.slice(spell * each, (spell + 1) * each), connections);
  const seconds = (performance.now() - started) / 1_000;
  await untilIdle(server);
  return { perSecond: each / seconds, micros: (cpuMicros(server.pid) - cpu) / each };
}
