/**
 * What routing rules cost a redirect.
 *
 * Method: a link without rules and two with three rules, by country, device and language: of one no rule matches, of the other
 * the last one. All are in memory. nginx with a constant 302 and a bare `Bun.serve` are measured beside them, and another copy
 * of the program, if `QL_BENCH_BEFORE` has its folder. Each gets five headers of a browser, and all 14 that Chrome sends. How it
 * is measured is in `contenders.ts`.
 */
import type { Bench, Figure, Target } from "./bench.ts";
import { fromChrome, measure, microsOf, ours, ratioOf, showSamples, startBare, startNginx } from "./contenders.ts";
import { pin, twoCores } from "./cpu.ts";
import { olderFolder, startOlder } from "./older.ts";
import { compare } from "./rounds.ts";
import { progress, round } from "./show.ts";
import { createLink, createRuledLink, type Subject, startSubject } from "./subject.ts";

const target: Target = { most: 1.5 };

const rounds = 5;
const warmSeconds = 2;
const roundSeconds = 1;

export const rules: Bench = {
  name: "rules",
  shows: "CPU per redirect of links with rules, against one without and an older commit",
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
    const now = await linksOf(subject, "ours");
    const before = older === undefined ? undefined : await linksOf(older, "before");
    const others = [nginx, bare, ...(before === undefined ? [] : [before.plain, before.ruled])];
    const usual = { plain: now.plain, ruled: now.ruled, matched: now.matched, others };
    const chrome = {
      ...{ plain: fromChrome(now.plain), ruled: fromChrome(now.ruled), matched: fromChrome(now.matched) },
      others: others.map(fromChrome),
    };
    const contenders = [usual, chrome].flatMap(({ plain, ruled, matched, others }) => [
      ...others,
      ...[plain, ruled, matched],
    ]);
    for (const { pid } of [...others, now.plain]) await pin(pid, cores.server);
    const samples = await measure(contenders, { rounds, warmSeconds, roundSeconds, core: cores.client }, shown);
    shown.end();
    showSamples(contenders, samples);
    if (before !== undefined) {
      const { figure, spread } = compare(microsOf(samples(now.ruled)), microsOf(samples(before.ruled)));
      console.log(`  with rules, ours / before: ${round(figure)} (${spread})`);
    }
    return [usual, chrome].flatMap(({ plain, ruled, matched }) => [
      ratioOf(samples, `${ruled.name} / without`, ruled, plain, target),
      ratioOf(samples, `${matched.name} / without`, matched, plain, target),
    ]);
  } finally {
    shown.end();
    await Promise.all([nginx.child.stop({ signal: "SIGTERM" }), bare.child.stop(), subject.stop(), older?.stop()]);
  }
}

async function linksOf({ server }: Subject, name: string) {
  return {
    plain: ours(`${name}, without rules`, server, [await createLink(server)]),
    ruled: ours(`${name}, no rule matches`, server, [await createRuledLink(server, "fr")]),
    matched: ours(`${name}, the last rule matches`, server, [await createRuledLink(server, "en")]),
  };
}
