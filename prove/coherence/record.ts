/**
 * What was acknowledged and what was answered, and what follows from the two.
 *
 * The staleness of a version on a server is the time from its acknowledgement to the server's last answer with an older
 * one; nothing if none came after. A server went back if a request that was sent after one of its answers had come in
 * was answered with an older version than that.
 */
import { quantile } from "../../bench/show.ts";

export interface Staleness {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Recorded {
  readonly acked: number;
  readonly reads: number;
  /** 503, and connections that were refused or lost. */
  readonly unanswered: number;
  readonly wentBack: number;
  readonly staleness: Staleness;
}

export interface Record {
  /** Before a request is sent; what comes back belongs to `answer`. */
  highest(server: number, code: string): number;
  answer(server: number, code: string, version: number, highestBefore: number): void;
  noAnswer(): void;
  ack(code: string, version: number): void;
  /** Of all that was acknowledged so far; the next record begins with the versions that were seen. */
  conclude(): Recorded;
}

interface Acked {
  readonly version: number;
  readonly at: number;
  /** By server, ms. */
  readonly staleFor: number[];
}

export function createRecord(servers: number): Record {
  const highest = new Map<string, number>();
  const place = (server: number, code: string) => `${server} ${code}`;
  let acked = new Map<string, Acked[]>();
  let [reads, unanswered, wentBack] = [0, 0, 0];

  return {
    highest: (server, code) => highest.get(place(server, code)) ?? 0,

    answer(server, code, version, highestBefore) {
      const now = performance.now();
      reads++;
      if (version < highestBefore) wentBack++;
      if (version > this.highest(server, code)) highest.set(place(server, code), version);
      for (const one of (acked.get(code) ?? []).toReversed()) {
        if (one.version <= version) return;
        one.staleFor[server] = now - one.at;
      }
    },

    noAnswer() {
      unanswered++;
    },

    ack(code, version) {
      const staleFor = Array.from({ length: servers }, () => 0);
      const before = acked.get(code);
      const one = { version, at: performance.now(), staleFor };
      if (before === undefined) acked.set(code, [one]);
      else before.push(one);
    },

    conclude() {
      const all = [...acked.values()].flat();
      const figures = all.flatMap(({ staleFor }) => staleFor);
      const staleness = { p50: quantile(figures, 0.5), p99: quantile(figures, 0.99), max: Math.max(...figures) };
      const recorded = { acked: all.length, reads, unanswered, wentBack, staleness };
      acked = new Map();
      [reads, unanswered, wentBack] = [0, 0, 0];
      return recorded;
    },
  };
}
