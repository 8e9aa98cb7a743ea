/**
 * What a redirect costs, compared with the least it could cost.
 *
 * Method: nginx with a constant 302 without a body, a bare `Bun.serve` with a constant 302, and the real server with
 * everything on: one link that is in memory; 1,000 links in turn, without limits and with the limit of the default plan,
 * whose hits are leased. Each is measured with five headers of a browser, and with all 14 that Chrome sends. How it is
 * measured is in `contenders.ts`. Links with rules are in `rules.ts`. If `QL_BENCH_BEFORE` has the folder of another copy of the
 * program, its links are measured in the same rounds.
 *
 * The server listens on a loopback address, as behind a proxy on the same machine. On all addresses, a redirect with facts takes about
 * 1.2 µs more, to ask for the visitor's address (ADR 0058).
 *
 * The figure is CPU time per request, not requests per second, which depend on what else runs on the machine. The ratios
 * are taken within each round, and their median is compared with the target. "least" is the ratio of the two least
 * disturbed rounds, because other load also costs caches.
 */
import type { Server } from "../test/ground/server.ts";
import type { Bench, Figure, Target } from "./bench.ts";
import {
  type Contender,
  fromChrome,
  measure,
  ours,
  ratioOf,
  returnedMs,
  showSamples,
  startBare,
  startNginx,
} from "./contenders.ts";
import { pin, twoCores } from "./cpu.ts";
import { olderFolder, startOlder } from "./older.ts";
import { progress } from "./show.ts";
import { createLink, createLinks, startSubject } from "./subject.ts";

export const redirectTargets = {
  bare: { most: 1.15 },
  nginx: { most: 2, stretch: 1.6 },
} as const satisfies Record<string, Target>;

const beforeTarget: Target = { most: 1 };

const rounds = 7;
const warmSeconds = 3;
const roundSeconds = 2;
const links = 1_000;
/** Hits per link and month under the default plan. */
const defaultLimit = 10_000;

export const redirect: Bench = {
  name: "redirect",
  shows: "CPU per redirect: nginx, a bare Bun.serve, ours from memory, and an older commit",
  needs: ["nginx"],
  run,
};

async function run(): Promise<readonly Figure[]> {
  const folder = olderFolder();
  if (folder === undefined) console.log("  without an older commit: set QL_BENCH_BEFORE, as bench/older.ts says");
  const cores = twoCores();
  const [nginx, bare, subject] = [await startNginx(), await startBare(), await startSubject("sqlite")];
  const older = folder === undefined ? undefined : await startOlder(folder, "sqlite");
  const shown = progress();
  try {
    const { server } = subject;
    const [one, many] = await unlimited("ours", server);
    const leasedCodes = await createLinks(server, links, defaultLimit);
    const leased = { ...ours("ours, 1,000 links, default plan", server, leasedCodes), writesMs: returnedMs };
    const before = older === undefined ? [] : await unlimited("before", older.server);
    const usual = { nginx, bare, before, own: [one, many, leased] };
    const chrome = {
      ...{ nginx: fromChrome(nginx), bare: fromChrome(bare) },
      ...{ before: before.map(fromChrome), own: usual.own.map(fromChrome) },
    };
    const contenders = [usual, chrome].flatMap(({ nginx, bare, before, own }) => [nginx, bare, ...before, ...own]);
    for (const { pid } of [nginx, bare, one, ...before.slice(0, 1)]) await pin(pid, cores.server);
    const samples = await measure(contenders, { rounds, warmSeconds, roundSeconds, core: cores.client }, shown);
    shown.end();
    showSamples(contenders, samples);
    return [usual, chrome].flatMap(({ nginx, bare, before, own }) =>
      own.flatMap((link, place) => {
        const same = before[place];
        return [
          ratioOf(samples, `${link.name} / bare`, link, bare, redirectTargets.bare),
          ratioOf(samples, `${link.name} / nginx`, link, nginx, redirectTargets.nginx),
          ...(same === undefined ? [] : [ratioOf(samples, `${link.name} / before`, link, same, beforeTarget)]),
        ];
      }),
    );
  } finally {
    shown.end();
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop(), subject.stop(), older?.stop()]);
  }
}

const unlimited = async (name: string, server: Server): Promise<[Contender, Contender]> => [
  ours(`${name}, one link`, server, [await createLink(server)]),
  ours(`${name}, 1,000 links`, server, await createLinks(server, links)),
];
