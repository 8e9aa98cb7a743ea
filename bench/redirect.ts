/**
 * What a redirect costs, compared with the least it could cost.
 *
 * Method: nginx with a constant 302 without a body, a bare `Bun.serve` with a constant 302, and the real server with
 * everything on: one link that is in memory; 1,000 links in turn, without limits and with the limit of the default plan,
 * whose hits are leased; one link with three rules, by country, device and language, none of which matches; and one link
 * with all 14 headers that Chrome sends, which nginx and the bare server get in other samples, too. How it is measured is
 * in `contenders.ts`.
 *
 * The server listens on a loopback address, as behind a proxy on the same machine. On all addresses, a redirect with facts takes about
 * 1.2 µs more, to ask for the visitor's address (ADR 0058).
 *
 * The figure is CPU time per request, not requests per second, which depend on what else runs on the machine. The ratios
 * are taken within each round, and their median is compared with the target. "least" is the ratio of the two least
 * disturbed rounds, because other load also costs caches.
 */
import type { Bench, Figure, Target } from "./bench.ts";
import { type Contender, measure, ours, returnedMs, type Sample, startBare, startNginx } from "./contenders.ts";
import { pin, twoCores } from "./cpu.ts";
import { chromeHeaders } from "./load.ts";
import { compare } from "./rounds.ts";
import { median, progress, round, table } from "./show.ts";
import { createLink, createLinks, createRuledLink, startSubject } from "./subject.ts";

export const redirectTargets = {
  bare: { most: 1.15 },
  nginx: { most: 2, stretch: 1.6 },
  rules: { most: 2 },
} as const satisfies Record<string, Target>;

const rounds = 7;
const warmSeconds = 3;
const roundSeconds = 2;
const links = 1_000;
/** Hits per link and month under the default plan. */
const defaultLimit = 10_000;

export const redirect: Bench = {
  name: "redirect",
  shows: "CPU per redirect: nginx, a bare Bun.serve, and ours from memory",
  needs: ["nginx", "wrk"],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const cores = twoCores();
  const [nginx, bare, subject] = [await startNginx(), await startBare(), await startSubject("sqlite")];
  const shown = progress();
  try {
    const { server } = subject;
    const one = ours("ours, one link", server, [await createLink(server)]);
    const many = ours("ours, 1,000 links", server, await createLinks(server, links));
    const leasedCodes = await createLinks(server, links, defaultLimit);
    const leased = { ...ours("ours, 1,000 links, default plan", server, leasedCodes), writesMs: returnedMs };
    const ruled = ours("ours, one link with rules", server, [await createRuledLink(server)]);
    const [nginxChrome, bareChrome, oneChrome] = [nginx, bare, one].map(fromChrome) as [
      Contender,
      Contender,
      Contender,
    ];
    const contenders: Contender[] = [nginx, bare, one, many, leased, ruled, nginxChrome, bareChrome, oneChrome];
    for (const { pid } of [nginx, bare, one]) await pin(pid, cores.server);
    const samples = await measure(contenders, { rounds, warmSeconds, roundSeconds, core: cores.client }, shown);
    shown.end();
    show(contenders, samples);
    const ratio = (name: string, one: Contender, other: Contender, target: Target): Figure => ({
      ...{ name, target },
      ...compare(microsOf(samples(one)), microsOf(samples(other))),
    });
    return [
      ...[one, many, leased].flatMap((own) => [
        ratio(`${own.name} / bare`, own, bare, redirectTargets.bare),
        ratio(`${own.name} / nginx`, own, nginx, redirectTargets.nginx),
      ]),
      ratio(`${oneChrome.name} / bare`, oneChrome, bareChrome, redirectTargets.bare),
      ratio(`${oneChrome.name} / nginx`, oneChrome, nginxChrome, redirectTargets.nginx),
      ratio("one link with rules / one without", ruled, one, redirectTargets.rules),
    ];
  } finally {
    shown.end();
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop(), subject.stop()]);
  }
}

const fromChrome = (contender: Contender): Contender => ({
  ...contender,
  name: `${contender.name}, Chrome's headers`,
  headers: chromeHeaders,
});

const microsOf = (samples: readonly Sample[]): number[] => samples.map(({ micros }) => micros);

function show(contenders: readonly Contender[], samples: (contender: Contender) => readonly Sample[]): void {
  table([
    ["", "CPU µs per request", "min", "requests/s", "busy"],
    ...contenders.map((contender) => {
      const all = samples(contender);
      return [
        contender.name,
        round(median(microsOf(all))),
        round(Math.min(...microsOf(all))),
        round(median(all.map(({ perSecond }) => perSecond))),
        `${Math.round(100 * median(all.map(({ busy }) => busy)))}%`,
      ];
    }),
  ]);
}
