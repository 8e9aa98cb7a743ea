/**
 * A link in memory is answered with little more work than a constant answer: no promise, no log line, no parsing.
 *
 * Method: as `npm run bench -- redirect`, in a shorter form (`bench/contenders.ts`): CPU time per redirect of nginx and of
 * a bare `Bun.serve`, both with a constant 302, and of the real server, for one link and for 1,000 links in turn. All are
 * measured once in each round, and compared within it; a claim is about the median.
 *
 * The server is also compared with a second one of the same program. Under a control that one has no mistake, so a small
 * mistake shows, too, on whatever machine. One server is measured twice in each round: if the two differ too much, the
 * machine is too busy to judge.
 */
import { join } from "node:path";
import { type Contender, measure, ours, type Sample, startBare, startNginx } from "../bench/contenders.ts";
import { pin, twoCores } from "../bench/cpu.ts";
import { redirectTargets } from "../bench/redirect.ts";
import { compare } from "../bench/rounds.ts";
import { progress } from "../bench/show.ts";
import { createLink, createLinks, type Subject, startSubject } from "../bench/subject.ts";
import type { Edit } from "../test/ground/mutant.ts";
import type { Server } from "../test/ground/server.ts";
import type { Attempt, Control, Proof } from "./proof.ts";

const links = 1_000;
const asItIs = join(import.meta.dir, "../src");
/** What two servers of the same program may differ by. */
const itselfMost = 1.15;
/** What two measurements of the same server may differ by, in either direction. */
const steadyMost = 1.15;
const roundSeconds = 1;

const promise = "a link in memory is answered with little more work than a constant answer";

const served = (to: string): Edit => ({
  file: "redirect/serve.ts",
  from: 'return answer(request, key, known, method === "HEAD", false);',
  to,
});

const control = (name: string, edits: readonly Edit[]): Control => ({
  ...{ name, edits, plays: ["itself"], breaks: ["itself.ratio"] },
});

export const redirect: Proof = {
  name: "redirect",
  shows: "CPU per redirect, compared with nginx, a bare server and itself",
  needs: ["nginx"],
  controls: [
    control("a promise and a log line for each redirect", [
      served(
        'return Promise.resolve().then(() => { log.warn({ path }, "redirect"); return answer(request, key, known, method === "HEAD", false); });',
      ),
    ]),
    control("an entry parsed for each redirect", [
      served('return answer(request, key, JSON.parse(JSON.stringify(known)), method === "HEAD", false);'),
    ]),
    control("every link looked up the slow way", [
      {
        file: "redirect/serve.ts",
        from: "if (known === undefined || !isSettled(known.value, tenants)) return slow(request, path, domain);",
        to: "if (true) return slow(request, path, domain);",
      },
    ]),
  ],
  run,
};

async function run(attempt: Attempt): Promise<void> {
  const { plays } = attempt;
  const subjects: Subject[] = [];
  const start = async (source?: string): Promise<Server> => {
    const subject = await startSubject("sqlite", {}, source);
    subjects.push(subject);
    return subject.server;
  };
  try {
    const server = await start();
    const one = ours("one link", server, [await createLink(server)]);
    if (plays("one_link") || plays("many_links")) await compareWithOthers(attempt, server, one);
    if (plays("itself")) await compareWithItself(attempt, one, await start(asItIs));
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
}

async function compareWithOthers({ short, plays, claim }: Attempt, server: Server, one: Contender): Promise<void> {
  const [nginx, bare] = [await startNginx(), await startBare()];
  try {
    const many = ours("1,000 links", server, await createLinks(server, links));
    const again = { ...bare, name: "the bare server again" };
    const samples = await measureAll([nginx, bare, again, one, many], short ? 3 : 9);
    const doubt = unsteadiness(samples, bare, again);
    const claimRatio = (scenario: string, name: string, own: Contender, other: Contender, most: number) => {
      if (plays(scenario)) claim({ ...judged(ratio(samples, own, other), most, doubt), scenario, measure: name });
    };
    claimRatio("one_link", "nginx", one, nginx, redirectTargets.nginx.most);
    claimRatio("one_link", "bare", one, bare, redirectTargets.bare.most);
    claimRatio("many_links", "nginx", many, nginx, redirectTargets.nginx.most);
  } finally {
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop()]);
  }
}

async function compareWithItself({ short, claim }: Attempt, one: Contender, twin: Server): Promise<void> {
  // What is written later is the same for all, and falls on all.
  const own = { ...one, writesMs: 0 };
  const other = { ...ours("the same program", twin, [await createLink(twin)]), writesMs: 0 };
  const again = { ...other, name: "the same program again" };
  const samples = await measureAll([own, other, again], short ? 7 : 9);
  const doubt = unsteadiness(samples, other, again);
  claim({
    ...judged(ratio(samples, own, other, again), itselfMost, doubt),
    ...{ scenario: "itself", measure: "ratio" },
  });
}

type Samples = (contender: Contender) => readonly Sample[];

async function measureAll(contenders: readonly Contender[], rounds: number): Promise<Samples> {
  const cores = twoCores();
  for (const pid of new Set(contenders.map((contender) => contender.pid))) await pin(pid, cores.server);
  const shown = progress();
  try {
    return await measure(contenders, { rounds, warmSeconds: 1, roundSeconds, core: cores.client }, shown);
  } finally {
    shown.end();
  }
}

/** Of one that was measured once in each round to one that was measured once, or twice. */
function ratio(samples: Samples, own: Contender, ...others: readonly Contender[]) {
  const theirs = microsOf(samples, own).map((_, i) => mean(others.map((other) => microsOf(samples, other)[i] ?? 0)));
  const { figure, spread } = compare(microsOf(samples, own), theirs);
  const times = samples(own).reduce((sum, { perSecond }) => sum + Math.round(perSecond * roundSeconds), 0);
  const name = others[0]?.name ?? "";
  console.log(`${own.name} / ${name}: ${figure.toFixed(3)} (${spread})`);
  const rounds = samples(own).length;
  const done = `${times.toLocaleString("en-US")} redirects in ${rounds} rounds, each compared with ${name} (${spread})`;
  return { promise, done, times, figure, unit: "×" };
}

/** By what factor one server differs from itself, measured twice in each round. */
function unsteadiness(samples: Samples, one: Contender, again: Contender): number {
  const { figure, spread } = compare(microsOf(samples, one), microsOf(samples, again));
  console.log(`${one.name}, measured twice: ${figure.toFixed(3)} (${spread})`);
  return Math.max(figure, 1 / figure);
}

/** On an unsteady machine, only a figure that is so far from its bound that the doubt changes nothing. */
function judged<Of extends { readonly figure: number }>(of: Of, most: number, doubt: number) {
  const certain = doubt <= steadyMost || of.figure * doubt <= most || of.figure / doubt > most;
  const why = `the machine was too busy: one server, measured twice, differs by a factor of ${doubt.toFixed(2)}`;
  return { ...of, bound: { most }, notJudged: certain ? undefined : why };
}

const microsOf = (samples: Samples, contender: Contender): number[] => samples(contender).map(({ micros }) => micros);

const mean = (figures: readonly number[]): number => figures.reduce((sum, one) => sum + one, 0) / figures.length;
