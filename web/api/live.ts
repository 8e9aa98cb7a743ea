import { send } from "./call.ts";

/**
 * Live numbers of a workspace: one stream for the whole page, opened while something shows it. It reconnects by itself with
 * growing pauses; `paused` is shown meanwhile, so that nobody takes old numbers for new ones.
 */
export type LiveState = "connecting" | "live" | "paused";

export interface LiveEvent {
  /** One of the stream; or `begun`: it is a new stream, for which no notice of the last one holds. */
  readonly event: string;
  readonly data: unknown;
}

type Listener = (event: LiveEvent) => void;

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The server sends something at least this often. */
const silentMs = 45_000;

const listeners = new Set<Listener>();
const stateListeners = new Set<() => void>();
let state: LiveState = "connecting";
let running: AbortController | undefined;

export const liveState = (): LiveState => state;

export function onLiveState(listener: () => void): () => void {
  stateListeners.add(listener);
  return () => stateListeners.delete(listener);
}

export function onLive(listener: Listener): () => void {
  listeners.add(listener);
  if (running === undefined) {
    running = new AbortController();
    void follow(running.signal);
  }
  return () => {
    listeners.delete(listener);
    // A page that is left and the next one that listens share the stream.
    setTimeout(() => {
      if (listeners.size > 0) return;
      running?.abort();
      running = undefined;
    }, 0);
  };
}

/** For another workspace. */
export function restartLive(): void {
  if (running === undefined) return;
  running.abort();
  running = new AbortController();
  void follow(running.signal);
}

async function follow(signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  set("connecting");
  while (!signal.aborted) {
    try {
      await read(signal, () => {
        pauseMs = firstPauseMs;
        set("live");
      });
    } catch {
      // Shown as paused; the next attempt says whether it lasts.
    }
    if (signal.aborted) return;
    set("paused");
    await wait(pauseMs, signal);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}

function wait(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, pauseMs);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

async function read(signal: AbortSignal, begun: () => void): Promise<void> {
  const attempt = new AbortController();
  const end = () => attempt.abort();
  signal.addEventListener("abort", end);
  let silence = setTimeout(end, silentMs);
  try {
    // Not `AbortSignal.timeout`: a stream has no end.
    const response = await send("GET /api/live", { signal: attempt.signal, headers: { accept: "text/event-stream" } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) return;
    begun();
    tellAll({ event: "begun", data: null });
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, silentMs);
      rest += value;
      const parts = rest.split("\n\n");
      rest = parts.pop() ?? "";
      for (const part of parts) tell(part);
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", end);
  }
}

function tell(block: string): void {
  let event = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  if (data === "") return;
  tellAll({ event, data: JSON.parse(data) as unknown });
}

function tellAll(told: LiveEvent): void {
  for (const listener of listeners) listener(told);
}

function set(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of stateListeners) listener();
}
