/** Child processes with captured output and deadlines. Only what was started here is ever ended here. */
import { keep, type LastSignal } from "./keeper.ts";

export type Environment = Record<string, string>;

export type Child = {
  readonly pid: number;
  /** Resolves with the exit code, 128 + signal when killed, after the last output was read. */
  readonly exited: Promise<number>;
  /** Standard output and standard error in order of arrival. */
  output(): string;
  stdout(): string;
  running(): boolean;
  /** Waits for output that matches; fails as soon as the process ends without it. */
  waitForOutput(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  /** Waits until a GET answers 2xx; fails as soon as the process ends. */
  waitForUrl(url: string, timeoutMs?: number): Promise<void>;
  /** Asks it to exit and returns its exit code; one that does not exit in time is killed, which is an error. */
  stop(options?: { signal?: NodeJS.Signals; timeoutMs?: number }): Promise<number>;
  kill(): Promise<void>;
};

export type StartOptions = { cwd?: string; env?: Environment; lastSignal?: LastSignal };
export type RunOptions = { cwd?: string; env?: Environment; input?: string; timeoutMs?: number };
export type Finished = { code: number; stdout: string; stderr: string };

// They decide nothing but how late a failure is noticed: on two cores with a load of 25, all takes ten times as long.
const readyMs = 30_000;
const stopMs = 30_000;
const runMs = 60_000;
// Often at first, because most things are ready soon; less often later, because polling takes time from what is waited
// for.
const pollFirstMs = 5;
const pollLastMs = 100;
const pollGrowth = 1.2;
const drainMs = 1_000;
const outputMaxChars = 4_000_000;

export function startProcess(command: readonly string[], options: StartOptions = {}): Child {
  const process = Bun.spawn([...command], {
    env: options.env ?? cleanEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const forget = keep({ pid: process.pid, signal: options.lastSignal ?? "KILL" });

  let stdout = "";
  let output = "";
  const reading = Promise.all([
    read(process.stdout, (text) => {
      stdout = (stdout + text).slice(-outputMaxChars);
      output = (output + text).slice(-outputMaxChars);
    }),
    read(process.stderr, (text) => {
      output = (output + text).slice(-outputMaxChars);
    }),
  ]);

  let running = true;
  const exited = process.exited.then(async (code) => {
    running = false;
    forget();
    // A grandchild may hold the pipe open for longer than its parent lived.
    await Promise.race([reading, Bun.sleep(drainMs)]);
    return code;
  });

  const title = command.join(" ");
  async function waitFor<T>(what: string, attempt: (leftMs: number) => Promise<T | undefined>, timeoutMs: number) {
    return await until(
      `${title} to ${what}`,
      async (leftMs) => {
        const found = await attempt(leftMs);
        if (found !== undefined || running) return found;
        const code = await exited;
        const late = await attempt(leftMs);
        if (late === undefined) throw new Error(`${title} ended with ${code} before it could ${what}\n${output}`);
        return late;
      },
      timeoutMs,
      () => output,
    );
  }

  return {
    pid: process.pid,
    exited,
    output: () => output,
    stdout: () => stdout,
    running: () => running,
    waitForOutput: (pattern, timeoutMs = readyMs) =>
      waitFor(`print ${pattern}`, async () => pattern.exec(output) ?? undefined, timeoutMs),
    waitForUrl: async (url, timeoutMs = readyMs) => {
      await waitFor(`answer ${url}`, (leftMs) => answers(url, leftMs), timeoutMs);
    },
    stop: async ({ signal = "SIGTERM", timeoutMs = stopMs } = {}) => {
      process.kill(signal);
      const code = await Promise.race([exited, Bun.sleep(timeoutMs).then(() => undefined)]);
      if (code !== undefined) return code;
      process.kill("SIGKILL");
      await exited;
      throw new Error(`${title} did not end within ${timeoutMs} ms of ${signal}\n${output}`);
    },
    kill: async () => {
      process.kill("SIGKILL");
      await exited;
    },
  };
}

/** Runs to completion; one that takes too long is killed, which is an error. */
export async function runProcess(command: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const timeoutMs = options.timeoutMs ?? runMs;
  const process = Bun.spawn([...command], {
    env: options.env ?? cleanEnvironment(),
    stdin: new Blob([options.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const forget = keep({ pid: process.pid, signal: "KILL" });
  const [stdout, stderr, code] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.exited,
  ]);
  forget();
  if (process.signalCode === "SIGKILL") {
    throw new Error(`${command.join(" ")} was killed, the limit is ${timeoutMs} ms\n${stdout}${stderr}`);
  }
  return { code, stdout, stderr };
}

/** What a program needs to run at all, so that no setting of the developer's shell leaks into a test. */
export function cleanEnvironment(extra: Environment = {}): Environment {
  const clean: Environment = {};
  for (const name of ["PATH", "HOME", "TMPDIR", "TZ"]) {
    const value = Bun.env[name];
    if (value !== undefined) clean[name] = value;
  }
  return { ...clean, ...extra };
}

/** Polls until the attempt returns something; for events outside this process, which cannot be awaited. */
export async function until<T>(
  what: string,
  attempt: (leftMs: number) => T | undefined | Promise<T | undefined>,
  timeoutMs = readyMs,
  explain: () => string = () => "",
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * pollGrowth, pollLastMs)) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) throw new Error(`waited ${timeoutMs} ms for ${what}\n${explain()}`);
    const found = await attempt(leftMs);
    if (found !== undefined) return found;
    await Bun.sleep(pollMs);
  }
}

async function answers(url: string, leftMs: number): Promise<true | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(Math.ceil(leftMs)) });
    await response.arrayBuffer();
    return response.ok ? true : undefined;
  } catch {
    return undefined;
  }
}

async function read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
