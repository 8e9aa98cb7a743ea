/**
 * Many visitors of one link, spread over several servers, each with a connection that stays open.
 *
 * What they were told is counted as they were told it. 302 is granted and 429 denied; 503 is neither, and is asked again
 * elsewhere, a bounded number of times. A request whose connection is cut has an unknown fate: it may have been granted
 * without anybody hearing of it. It is counted apart, and asked again too, as a visitor would. Plain sockets, because
 * `fetch` sends a request twice when it finds its connection closed, and says nothing.
 */
import type { Socket } from "bun";

/** `unsent`: there was nobody to connect to. */
type Outcome = "granted" | "denied" | "unavailable" | "unknown" | "unsent";

export interface Seen {
  granted: number;
  denied: number;
  /** Gave up after many tries. */
  unavailable: number;
  /** Requests that were cut off. */
  unknown: number;
  /** Answers of 503. */
  askedAgain: number;
}

export interface Visitors {
  readonly seen: Readonly<Seen>;
  /** How long each of them waits after an answer. */
  thinkMs: number;
  /** So many requests, by all of them at once. */
  come(requests: number): Promise<void>;
  /** One request on each server. */
  lookIn(): Promise<void>;
  leave(): void;
}

const visitors = 128;
const triesMost = 60;
const askAgainMs = 100;
const answerMs = 15_000;

export function createVisitors(path: string, ports: readonly number[]): Visitors {
  const seen: Seen = { granted: 0, denied: 0, unavailable: 0, unknown: 0, askedAgain: 0 };
  const lines = Array.from({ length: visitors }, () => createLine(path));
  const portOf = (place: number) => ports[place % ports.length] ?? 0;
  let thinkMs = 0;

  async function visit(line: Line, from: number): Promise<void> {
    for (let tries = 0; tries < triesMost; tries++) {
      const outcome = await line.ask(portOf(from + tries));
      if (outcome === "granted" || outcome === "denied") {
        seen[outcome]++;
        return;
      }
      if (outcome === "unknown") seen.unknown++;
      if (outcome === "unavailable") seen.askedAgain++;
      await Bun.sleep(askAgainMs);
    }
    seen.unavailable++;
  }

  return {
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
        lines.map(async (line, place) => {
          while (left-- > 0) {
            await visit(line, place);
            if (thinkMs > 0) await Bun.sleep(thinkMs * (0.5 + Math.random()));
          }
        }),
      );
    },
    async lookIn() {
      await Promise.all(ports.map((_, place) => visit(lines[place] ?? createLine(path), place)));
    },
    leave() {
      for (const line of lines) line.hangUp();
    },
  };
}

interface Line {
  ask(port: number): Promise<Outcome>;
  hangUp(): void;
}

/** One connection at a time, one request at a time. */
function createLine(path: string): Line {
  let connected: { port: number; socket: Socket<undefined> } | undefined;
  let waiting: ((outcome: Outcome) => void) | undefined;
  let received = "";

  function settle(outcome: Outcome): void {
    waiting?.(outcome);
    waiting = undefined;
    received = "";
  }

  function hangUp(): void {
    connected?.socket.end();
    connected = undefined;
  }

  async function connect(port: number): Promise<Socket<undefined>> {
    if (connected?.port === port) return connected.socket;
    hangUp();
    const cut = (socket: Socket<undefined>) => {
      // One that we have left has nothing to say about the next.
      if (connected?.socket !== socket) return;
      connected = undefined;
      settle("unknown");
    };
    const socket = await Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port,
      socket: {
        data(socket, chunk) {
          if (connected?.socket !== socket) return;
          received += chunk.toString("latin1");
          const status = statusOf(received);
          if (status !== undefined) settle(outcomeOf(status));
        },
        close: cut,
        error: cut,
      },
    });
    connected = { port, socket };
    return socket;
  }

  return {
    async ask(port) {
      let socket: Socket<undefined>;
      try {
        socket = await connect(port);
      } catch {
        return "unsent";
      }
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      waiting = resolve;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: ${userAgent}\r\n\r\n`);
      const timer = setTimeout(() => {
        hangUp();
        settle("unknown");
      }, answerMs);
      const outcome = await promise;
      clearTimeout(timer);
      return outcome;
    },
    hangUp,
  };
}

/** Of an answer that is there in full, with its body. */
function statusOf(received: string): number | undefined {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1] ?? 0);
  return received.length >= head + 4 + length ? Number(received.slice(9, 12)) : undefined;
}

function outcomeOf(status: number): Outcome {
  if (status === 302) return "granted";
  if (status === 429) return "denied";
  if (status === 503) return "unavailable";
  throw new Error(`a visitor was answered with ${status}`);
}

const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
