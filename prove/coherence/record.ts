/**
 * What was acknowledged and what was answered, and what follows from the two.
 *
 * - The staleness of a version on a server is the time from its acknowledgement to the server's last answer with an
 *   older one; zero if none came after.
 * - A server went back if a request sent after one of its answers had arrived was answered with an older version.
 * - A writer was behind itself if a request sent to it after it had acknowledged a version was answered with an older
 *   one.
 * - An answer that is not a version of the link at all (a 404, another URL) is wrong. A 503 is not an answer.
 */
import { quantile } from "../../bench/show.ts";

export interface Staleness {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Of one server. */
export interface Recorded {
  /** Edits, wherever they were made. */
  readonly acked: number;
  readonly reads: number;
  /** Of them, before the last edit was acknowledged. */
  readonly readsMeanwhile: number;
  readonly wrong: number;
  /** For example. */
  readonly wrongExample: string | undefined;
  /** 503. */
  readonly unanswered: number;
  /** Connections that were refused or lost. */
  readonly lost: number;
  readonly wentBack: number;
  /** Edits that it acknowledged itself. */
  readonly own: number;
  readonly behindItself: number;
  readonly staleness: Staleness;
  /** Duration of a redirect of an unedited link, on any server, 99 of 100: how slow everything is here. */
  readonly idleP99Ms: number;
}

/** What a server had answered for a link before the request. */
export interface Before {
  readonly seen: number;
  readonly own: number;
}

export interface Record {
  before(server: number, code: string): Before;
  answer(server: number, code: string, version: number, before: Before): void;
  wrong(server: number, what: string): void;
  noAnswer(server: number, kind: "unanswered" | "lost"): void;
  /** A redirect of an unedited link. */
  idle(server: number, ms: number): void;
  /** `writer` is the server that acknowledged it, if any. */
  ack(code: string, version: number, writer: number | undefined): void;
  /** The newest version that a server answered with. */
  seen(server: number, code: string): number;
  /** By server, of all that was acknowledged so far; the next record begins with the versions that were seen. */
  conclude(): Recorded[];
}

interface Acked {
  readonly version: number;
  readonly at: number;
  /** By server, ms. */
  readonly staleFor: number[];
}

const newCounts = () => ({
  ...{ reads: 0, readsMeanwhile: 0, wrong: 0, unanswered: 0, lost: 0, wentBack: 0, own: 0, behindItself: 0 },
  wrongExample: undefined as string | undefined,
  idleMs: [] as number[],
});

export function createRecord(servers: number): Record {
  const everyServer = <Value>(value: () => Value) => Array.from({ length: servers }, value);
  const seen = everyServer(() => new Map<string, number>());
  const own = everyServer(() => new Map<string, number>());
  let counts = everyServer(newCounts);
  let acked = new Map<string, Acked[]>();

  const countsOf = (server: number) => counts[server] ?? newCounts();
  const raise = (versions: Map<string, number> | undefined, code: string, version: number) =>
    void versions?.set(code, Math.max(version, versions.get(code) ?? 0));

  return {
    seen: (server, code) => seen[server]?.get(code) ?? 0,

    before: (server, code) => ({ seen: seen[server]?.get(code) ?? 0, own: own[server]?.get(code) ?? 0 }),

    answer(server, code, version, before) {
      const now = performance.now();
      const count = countsOf(server);
      count.reads++;
      if (version < before.seen) count.wentBack++;
      if (version < before.own) count.behindItself++;
      raise(seen[server], code, version);
      for (const one of (acked.get(code) ?? []).toReversed()) {
        if (one.version <= version) return;
        one.staleFor[server] = now - one.at;
      }
    },

    wrong(server, what) {
      const count = countsOf(server);
      count.wrong++;
      count.wrongExample ??= what;
    },

    noAnswer(server, kind) {
      countsOf(server)[kind]++;
    },

    idle(server, ms) {
      countsOf(server).idleMs.push(ms);
    },

    ack(code, version, writer) {
      const one = { version, at: performance.now(), staleFor: everyServer(() => 0) };
      const before = acked.get(code);
      if (before === undefined) acked.set(code, [one]);
      else before.push(one);
      for (const count of counts) count.readsMeanwhile = count.reads;
      if (writer === undefined) return;
      raise(own[writer], code, version);
      countsOf(writer).own++;
    },

    conclude() {
      const all = [...acked.values()].flat();
      const idleMs = counts.flatMap((count) => count.idleMs);
      const idleP99Ms = idleMs.length === 0 ? 0 : quantile(idleMs, 0.99);
      const recorded = counts.map(({ idleMs: _, ...count }, server) => {
        const figures = all.map(({ staleFor }) => staleFor[server] ?? 0);
        const staleness =
          figures.length === 0
            ? { p50: 0, p99: 0, max: 0 }
            : { p50: quantile(figures, 0.5), p99: quantile(figures, 0.99), max: Math.max(...figures) };
        return { ...count, acked: all.length, staleness, idleP99Ms };
      });
      acked = new Map();
      counts = everyServer(newCounts);
      return recorded;
    },
  };
}
