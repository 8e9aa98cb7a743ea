/**
 * One keep-alive connection with one request at a time, to one server at a time.
 *
 * It uses plain sockets, because `fetch` passes its work to another thread and back, and silently sends a request twice
 * if it finds its connection closed.
 */
import type { Socket } from "bun";
import { chromeHeaders } from "./load.ts";

/** The status; `unsent` if no connection could be made, `cut` if it ended before the answer was complete. */
export type Answer = number | "unsent" | "cut";

export interface Line {
  /** `headers`: whole lines, instead of the one that names a browser. */
  ask(port: number, path: string, headers?: string): Promise<Answer>;
  /** Of the last answer. */
  header(name: string): string | undefined;
  hangUp(): void;
}

const answerMs = 15_000;
const triesMost = 100;
const pauseMs = 100;

export function createLine(): Line {
  let connected: { port: number; socket: Socket<undefined> } | undefined;
  let waiting: ((answer: Answer) => void) | undefined;
  let received = "";
  let head = "";

  function settle(answer: Answer): void {
    head = received.slice(0, Math.max(0, received.indexOf("\r\n\r\n")));
    waiting?.(answer);
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
      // An event of an earlier connection does not concern the current one.
      if (connected?.socket !== socket) return;
      connected = undefined;
      settle("cut");
    };
    const socket = await Bun.connect<undefined>({
      hostname: "127.0.0.1",
      port,
      socket: {
        data(socket, chunk) {
          if (connected?.socket !== socket) return;
          received += chunk.toString("latin1");
          const status = statusOf(received);
          if (status !== undefined) settle(status);
        },
        close: cut,
        error: cut,
      },
    });
    connected = { port, socket };
    return socket;
  }

  return {
    async ask(port, path, headers = browser) {
      let socket: Socket<undefined>;
      try {
        socket = await connect(port);
      } catch {
        return "unsent";
      }
      const { promise, resolve } = Promise.withResolvers<Answer>();
      waiting = resolve;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}\r\n`);
      const timer = setTimeout(() => {
        hangUp();
        settle("cut");
      }, answerMs);
      const answer = await promise;
      clearTimeout(timer);
      return answer;
    },
    header: (name) => headerOf(head, name),
    hangUp,
  };
}

/** Visits each link once, with all headers that Chrome sends; again after a 503, because a busy machine may miss the deadline of a lookup. */
export async function visit(port: number, codes: readonly string[], connections: number): Promise<void> {
  const waiting = codes.values();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const line = createLine();
      for (const code of waiting) {
        let answer = await line.ask(port, `/${code}`, chrome);
        for (let tries = 1; answer === 503 && tries < triesMost; tries++) {
          await Bun.sleep(pauseMs);
          answer = await line.ask(port, `/${code}`, chrome);
        }
        if (answer !== 302) throw new Error(`${code} was answered with ${answer}`);
      }
      line.hangUp();
    }),
  );
}

/** Of a complete answer, including its body. */
function statusOf(received: string): number | undefined {
  const head = received.indexOf("\r\n\r\n");
  if (head < 0) return undefined;
  const length = Number(headerOf(received.slice(0, head), "content-length") ?? 0);
  return received.length >= head + 4 + length ? Number(received.slice(9, 12)) : undefined;
}

const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}: (.*)`, "i").exec(head)?.[1];

export const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

const browser = `User-Agent: ${userAgent}\r\n`;
const chrome = chromeHeaders.map((header) => `${header}\r\n`).join("");
