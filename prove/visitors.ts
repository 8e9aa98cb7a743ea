/**
 * Many visitors of one link, spread over several servers, each with an open connection.
 *
 * Answers are counted as visitors get them. 302 is granted and 429 denied; 503 is neither, and is retried on another
 * server, a bounded number of times. A request whose connection is cut has an unknown outcome: it may have been granted
 * without the answer arriving. It is counted separately, and retried too, as a visitor would.
 */
import { type Answer, createLine, type Line } from "../bench/line.ts";

type Outcome = "granted" | "denied" | "unavailable" | "cut" | "unsent";

export interface Seen {
  granted: number;
  denied: number;
  /** Gave up after many attempts. */
  unavailable: number;
  /** Requests that were cut off. */
  unknown: number;
  /** Answers of 503. */
  askedAgain: number;
}

export interface Visitors {
  readonly count: number;
  readonly seen: Readonly<Seen>;
  /** How long each of them waits after an answer. */
  thinkMs: number;
  /** The number of requests, by all of them together. */
  come(requests: number): Promise<void>;
  /** One request on each server. */
  lookIn(): Promise<void>;
  leave(): void;
}

interface Visitor {
  readonly line: Line;
  /** Which server; the next one after a failed answer. */
  at: number;
}

const visitors = 128;
const triesMost = 60;
const askAgainMs = 100;

export function createVisitors(path: string, ports: readonly number[]): Visitors {
  const seen: Seen = { granted: 0, denied: 0, unavailable: 0, unknown: 0, askedAgain: 0 };
  const crowd = Array.from({ length: visitors }, (_, at) => ({ line: createLine(), at }));
  let thinkMs = 0;

  async function visit(visitor: Visitor): Promise<void> {
    for (let tries = 0; tries < triesMost; tries++) {
      const port = ports[visitor.at % ports.length] ?? 0;
      const outcome = outcomeOf(await visitor.line.ask(port, path));
      if (outcome === "granted" || outcome === "denied") {
        seen[outcome]++;
        return;
      }
      if (outcome === "cut") seen.unknown++;
      if (outcome === "unavailable") seen.askedAgain++;
      visitor.at++;
      await Bun.sleep(askAgainMs);
    }
    seen.unavailable++;
  }

  return {
    count: visitors,
    seen,
    get thinkMs() {
      return thinkMs;
    },
    set thinkMs(ms) {
      thinkMs = ms;
    },
    async come(requests) {
      let left = requests;
      await Promise.all(
        crowd.map(async (visitor) => {
          while (left-- > 0) {
            await visit(visitor);
            if (thinkMs > 0) await Bun.sleep(thinkMs * (0.5 + Math.random()));
          }
        }),
      );
    },
    async lookIn() {
      const some = crowd.slice(0, ports.length);
      for (const [at, visitor] of some.entries()) visitor.at = at;
      await Promise.all(some.map(visit));
    },
    leave() {
      for (const { line } of crowd) line.hangUp();
    },
  };
}

function outcomeOf(answer: Answer): Outcome {
  if (answer === 302) return "granted";
  if (answer === 429) return "denied";
  if (answer === 503) return "unavailable";
  if (answer === "cut" || answer === "unsent") return answer;
  throw new Error(`a visitor was answered with ${answer}`);
}
