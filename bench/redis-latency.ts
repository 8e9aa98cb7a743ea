/**
 * How long a lookup in Redis takes.
 *
 * Method: this process looks up random links, 500 per second, over one connection to a private Redis with 10,000 links:
 * through the tier, as a server does, and with a bare `GET` of the same key, in alternate rounds. The time is from the
 * call to the answer. The figures are the median over the rounds and, next to it, the least disturbed round. "late" is
 * how late this process itself woke up, at the 99th percentile: if that is above a millisecond, the machine was busy,
 * and an answer waited as long for its core.
 */
import type { Figure, Target } from "./bench.ts";
import { codeOf } from "./many-links.ts";
import { type PacedCalls, paceCalls } from "./paced-calls.ts";
import { openRedisLinks } from "./redis-links.ts";
import { rotated, spreadOf } from "./rounds.ts";
import { median, progress, quantile, round, table } from "./show.ts";

const targets = { p99Ms: { most: 1 } } as const satisfies Record<string, Target>;

const rounds = 9;
const roundMs = 2_000;
const perSecond = 500;
const links = 10_000;

interface Contender {
  readonly name: string;
  readonly ask: (code: string) => Promise<unknown>;
  readonly rounds: PacedCalls[];
}

export async function redisLatency(): Promise<readonly Figure[]> {
  const shared = await openRedisLinks();
  const shown = progress();
  try {
    await shared.fill(0, links);
    const { redis, tier } = shared;
    const contenders: readonly Contender[] = [
      { name: "bare GET", ask: (code) => redis.send(code, ["GET", `ql:v6:link:{${code}}`]), rounds: [] },
      { name: "the tier", ask: tier.get, rounds: [] },
    ];
    for (let i = 0; i <= rounds; i++) {
      for (const contender of rotated(contenders, i)) {
        shown.now(`latency of Redis: round ${i} of ${rounds}, ${contender.name}`);
        const taken = await paceCalls(() => contender.ask(randomCode()), perSecond, roundMs);
        if (i > 0) contender.rounds.push(taken);
      }
    }
    shown.end();
    return report(contenders);
  } finally {
    shown.end();
    await shared.close();
  }
}

const randomCode = () => codeOf(Math.floor(Math.random() * links));

function report(contenders: readonly Contender[]): readonly Figure[] {
  const over = (rounds: readonly PacedCalls[], kind: keyof PacedCalls, share: number) =>
    rounds.map((one) => quantile(one[kind], share));
  table([
    ["a lookup in Redis", "p50 ms", "p99 ms", "min", "late"],
    ...contenders.map(({ name, rounds }) => [
      name,
      round(median(over(rounds, "ms", 0.5))),
      round(median(over(rounds, "ms", 0.99))),
      round(Math.min(...over(rounds, "ms", 0.99))),
      round(median(over(rounds, "lateMs", 0.99))),
    ]),
  ]);
  const p99s = over(contenders.at(-1)?.rounds ?? [], "ms", 0.99);
  const name = `p99 of the Redis tier at ${perSecond} a second, ms`;
  return [{ name, figure: median(p99s), spread: spreadOf(p99s), target: targets.p99Ms }];
}
