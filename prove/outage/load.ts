/**
 * Constant load: a number of requests per second, each due at its time whatever happened to earlier ones, and timed
 * from then to its last answer: a visitor who gets an avoidable 503 retries, and waits. A bounded number of connections
 * to each server, each with one request at a time; when all are in use, a request waits and its time runs.
 */
import { createLine, type Line } from "../../bench/line.ts";
import type { Question } from "./questions.ts";
import { add, createTally, type Tally } from "./tally.ts";

export interface Load {
  /** What is asked from now on is counted in the tally that is returned. */
  begin(asking: Asking): Tally;
  /** Asks nothing more, and waits for the last answers. */
  pause(): Promise<void>;
  stop(): Promise<void>;
}

export interface Asking {
  readonly perSecond: number;
  next(): Question;
  /** Whether a visitor who gets 503 retries: a store could have answered. */
  insists(question: Question): boolean;
}

interface Due {
  readonly question: Question;
  readonly atMs: number;
  readonly insists: boolean;
  readonly tally: Tally;
}

interface Connections {
  readonly free: Line[];
  readonly waiting: Due[];
}

const connectionsEach = 48;
const tickMs = 2;
const controlEvery = 4;
const triesMost = 20;
const againMs = 100;

/** `control`: the port of a server that answers at once, asked beside the others to know how busy the machine is. */
export function createLoad(control: number): Load {
  const idle = Array.from({ length: connectionsEach }, createLine);
  let asked = 0;
  const byPort = new Map<number, Connections>();
  let current: { asking: Asking; tally: Tally } | undefined;
  let dueMs = performance.now();
  let underWay = 0;

  function connectionsTo(port: number): Connections {
    const there = byPort.get(port);
    if (there !== undefined) return there;
    const opened = { free: Array.from({ length: connectionsEach }, createLine), waiting: [] };
    byPort.set(port, opened);
    return opened;
  }

  async function ask(line: Line, { question, atMs, insists, tally }: Due): Promise<void> {
    let [refusals, withoutRetry] = [0, 0];
    for (;;) {
      const answer = await line.ask(question.port, `/${question.code}`);
      if (answer === 503) {
        refusals++;
        if (line.header("retry-after") === undefined) withoutRetry++;
        if (insists && refusals < triesMost) {
          await Bun.sleep(againMs);
          continue;
        }
      }
      const ms = performance.now() - atMs;
      add(tally, question, { answer, location: line.header("location"), refusals, withoutRetry, ms });
      break;
    }
    underWay--;
  }

  async function askControl(line: Line, atMs: number, tally: Tally): Promise<void> {
    await line.ask(control, "/");
    tally.control.push(performance.now() - atMs);
    idle.push(line);
    underWay--;
  }

  async function use(line: Line, { free, waiting }: Connections, first: Due): Promise<void> {
    for (let due: Due | undefined = first; due !== undefined; due = waiting.shift()) await ask(line, due);
    free.push(line);
  }

  function tick(): void {
    if (current === undefined) return;
    const { asking, tally } = current;
    const nowMs = performance.now();
    for (; dueMs <= nowMs; dueMs += 1_000 / asking.perSecond) {
      const question = asking.next();
      const due = { question, atMs: dueMs, insists: asking.insists(question), tally };
      const connections = connectionsTo(question.port);
      const line = connections.free.shift();
      underWay++;
      if (line === undefined) connections.waiting.push(due);
      else void use(line, connections, due);
      const spare = ++asked % controlEvery === 0 ? idle.shift() : undefined;
      if (spare !== undefined) {
        underWay++;
        void askControl(spare, dueMs, tally);
      }
    }
  }

  async function pause(): Promise<void> {
    current = undefined;
    while (underWay > 0) await Bun.sleep(tickMs);
  }

  const timer = setInterval(tick, tickMs);
  return {
    begin(asking) {
      tick();
      if (current === undefined) dueMs = performance.now();
      current = { asking, tally: createTally() };
      return current.tally;
    },
    pause,
    async stop() {
      clearInterval(timer);
      await pause();
      for (const { free } of byPort.values()) for (const line of free) line.hangUp();
      for (const line of idle) line.hangUp();
    },
  };
}
