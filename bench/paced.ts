/**
 * Sends requests at a fixed rate and times each from the moment it was due, whatever happened to earlier ones. A client
 * that waits for an answer before it sends the next request would miss exactly the stalls that it should find.
 *
 * It uses plain sockets, because `fetch` passes its work to another thread and back. A connection carries one request
 * at a time; if all are busy, a request waits, and its time runs. The delay of the client itself is reported
 * separately, to tell a busy machine from a busy server.
 */
import type { Socket } from "bun";
import { userAgent } from "./line.ts";

export interface Paced {
  /** Milliseconds from due to answered, for each request. */
  readonly latencies: readonly number[];
  /** Milliseconds from due to when the client woke up. */
  readonly lateness: readonly number[];
  /** How many answers were 503, if that is allowed. */
  readonly refused: number;
}

export interface Pacer {
  /** Requests the paths in turn until the promise settles, and waits for the last answers. */
  run(paths: readonly string[], perSecond: number, until: Promise<unknown>): Promise<Paced>;
  close(): void;
}

export interface PacerOptions {
  /** A 503 is counted and not a failure. */
  readonly mayRefuse?: boolean;
  readonly connections?: number;
  /** Wakes up for each request, and keeps a core busy: otherwise those that are due in the same millisecond are sent together. */
  readonly exact?: boolean;
  /** The text of a request; by default a GET of the path. */
  readonly requestOf?: (path: string) => string;
}

const usualConnections = 32;
const lastAnswersMs = 10_000;
const endOfHead = "\r\n\r\n";

interface Line {
  socket?: Socket<undefined>;
  received: string;
  dueMs: number | undefined;
}

export async function openPacer(port: number, status: number, options: PacerOptions = {}): Promise<Pacer> {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: ${userAgent}\r\n\r\n`;
  const { mayRefuse = false, connections = usualConnections, exact = false, requestOf = get } = options;
  const lines: Line[] = Array.from({ length: connections }, () => ({ received: "", dueMs: undefined }));
  // Used in turn: the server closes connections that are idle for some seconds.
  const free = [...lines];
  const waiting: { dueMs: number; path: string }[] = [];
  let latencies: number[] = [];
  let refused = 0;
  let failure: Error | undefined;

  function send(line: Line, dueMs: number, path: string): void {
    line.dueMs = dueMs;
    line.socket?.write(requestOf(path));
  }

  function take(line: Line, chunk: string): void {
    line.received += chunk;
    const head = line.received.indexOf(endOfHead);
    if (head < 0 || line.dueMs === undefined) return;
    const bytes = Number(/content-length: (\d+)/i.exec(line.received)?.[1] ?? 0);
    if (line.received.length < head + endOfHead.length + bytes) return;
    if (mayRefuse && line.received.startsWith("HTTP/1.1 503 ")) refused++;
    else if (!line.received.startsWith(`HTTP/1.1 ${status} `))
      failure ??= new Error(`unexpected answer\n${line.received}`);
    latencies.push(performance.now() - line.dueMs);
    line.received = "";
    line.dueMs = undefined;
    const next = waiting.shift();
    if (next === undefined) free.push(line);
    else send(line, next.dueMs, next.path);
  }

  let closing = false;
  for (const line of lines) {
    line.socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data: (_, chunk) => take(line, chunk.toString("latin1")),
        close: () => {
          if (!closing) failure ??= new Error("the server closed a connection");
        },
      },
    });
  }

  return {
    async run(paths, perSecond, until) {
      latencies = [];
      refused = 0;
      const lateness: number[] = [];
      let running = true;
      until.then(
        () => {
          running = false;
        },
        (error: unknown) => {
          failure ??= error instanceof Error ? error : new Error(String(error));
        },
      );
      const stepMs = 1_000 / perSecond;
      let dueMs = performance.now();
      for (let i = 0; running && failure === undefined; ) {
        const nowMs = performance.now();
        for (; dueMs <= nowMs; dueMs += stepMs, i++) {
          lateness.push(nowMs - dueMs);
          const path = paths[i % paths.length] ?? "/";
          const line = free.shift();
          if (line === undefined) waiting.push({ dueMs, path });
          else send(line, dueMs, path);
        }
        if (exact) await new Promise((resolve) => setImmediate(resolve));
        else await Bun.sleep(Math.max(0, dueMs - performance.now()));
      }
      const deadlineMs = performance.now() + lastAnswersMs;
      while (failure === undefined && latencies.length < lateness.length) {
        if (performance.now() > deadlineMs) failure = new Error("the last requests were not answered");
        await Bun.sleep(1);
      }
      if (failure !== undefined) throw failure;
      return { latencies, lateness, refused };
    },
    close() {
      closing = true;
      for (const line of lines) line.socket?.end();
    },
  };
}
