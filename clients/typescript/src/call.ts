import type { Problem } from "./generated.ts";

/**
 * One call of the API: with the key, within a time, and again when that is safe and the server asks for it.
 *
 * A POST gets an Idempotency-Key of its own, so it may be sent again even when nobody knows whether it arrived. What was
 * refused for now (429), or is still being worked on (409), is sent again after the time that the server names; so is,
 * for GET and POST, what failed on the way or at the server (503). All within a budget: a limit that is back next month is
 * told at once.
 */
export interface ClientSettings {
  /** Such as `https://go.example.com`. */
  readonly baseUrl: string;
  /** `ql_…` */
  readonly key: string;
  /** For one attempt. */
  readonly timeoutMs?: number;
  /** For waiting between attempts, of one call. 0: never send anything twice. */
  readonly retryBudgetMs?: number;
  readonly fetch?: (request: Request) => Promise<Response>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PostOptions extends CallOptions {
  /** To repeat a request of an earlier run; made up if there is none. */
  readonly idempotencyKey?: string;
}

export type RawBody = string | Blob | ArrayBuffer;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: RawBody;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The server said no, and why. `code` is for programs, `detail` for people. */
export class QuickLinkError extends Error {
  readonly code: Problem["code"];
  readonly status: number;
  readonly detail: string;
  readonly errors: NonNullable<Problem["errors"]>;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(problem: Problem, retryAfterMs?: number) {
    super(`${problem.code}: ${problem.detail}`);
    this.name = "QuickLinkError";
    this.code = problem.code;
    this.status = problem.status;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

const defaultTimeoutMs = 30_000;
const defaultBudgetMs = 30_000;
const firstWaitMs = 100;
const longestWaitMs = 5_000;

export class Caller {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  async json<Result>(asked: Asked): Promise<Result> {
    return (await (await this.response(asked)).json()) as Result;
  }

  async nothing(asked: Asked): Promise<void> {
    await (await this.response(asked)).body?.cancel();
  }

  async response(asked: Asked): Promise<Response> {
    const { retryBudgetMs = defaultBudgetMs } = this.#settings;
    // The same on every attempt: that is what makes them one request.
    const key = asked.method === "POST" ? (asked.idempotencyKey ?? crypto.randomUUID()) : undefined;
    let waitedMs = 0;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(asked, key);
      if (outcome instanceof Response) return outcome;
      asked.signal?.throwIfAborted();
      const asks = outcome instanceof QuickLinkError ? (outcome.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(asks, backoff(attempt));
      if (!isPassing(asked.method, outcome) || waitedMs + waitMs > retryBudgetMs) throw outcome;
      await wait(waitMs, asked.signal);
      waitedMs += waitMs;
    }
  }

  /** The answer, or why there is none. */
  async #attempt(asked: Asked, key: string | undefined): Promise<unknown> {
    const { timeoutMs = defaultTimeoutMs, fetch: send = globalThis.fetch } = this.#settings;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(
        new Request(this.#address(asked), {
          method: asked.method,
          headers: this.#headers(asked, key),
          redirect: "manual",
          signal: asked.signal ? AbortSignal.any([asked.signal, late]) : late,
          ...bodyOf(asked),
        }),
      );
      return response.ok ? response : await errorOf(response);
    } catch (error) {
      return error;
    }
  }

  #address({ path, query = {} }: Asked): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
    }
    const text = search.toString();
    return `${this.#settings.baseUrl.replace(/\/+$/, "")}${path}${text === "" ? "" : `?${text}`}`;
  }

  #headers(asked: Asked, key: string | undefined): Headers {
    const headers = new Headers({ accept: "application/json", authorization: `Bearer ${this.#settings.key}` });
    if (asked.json !== undefined) headers.set("content-type", "application/json");
    if (key !== undefined) headers.set("idempotency-key", key);
    for (const [name, value] of Object.entries(asked.headers ?? {})) if (value !== undefined) headers.set(name, value);
    return headers;
  }
}

function bodyOf({ json, body }: Asked): { body?: RawBody } {
  if (json !== undefined) return { body: JSON.stringify(json) };
  return body === undefined ? {} : { body };
}

async function errorOf(response: Response): Promise<Error> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  // A proxy on the way may answer in its own words.
  if (typeof problem?.code !== "string") return new Error(`the server answered ${response.status}`);
  return new QuickLinkError(problem, Number.isFinite(seconds) ? seconds * 1_000 : undefined);
}

/** Whether the same may well work soon, and sending it again does no harm. */
function isPassing(method: string, error: unknown): boolean {
  const repeatable = method === "GET" || method === "POST";
  if (!(error instanceof QuickLinkError)) return repeatable;
  return error.status === 429 || error.code === "idempotency_in_flight" || (repeatable && error.status === 503);
}

/** Longer every time, and not all at once. */
const backoff = (attempt: number): number =>
  Math.min(longestWaitMs, firstWaitMs * 2 ** attempt) * (0.5 + Math.random() / 2);

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Everything, page by page, as it is asked for. */
export async function* eachOf<Item>(ask: (cursor: string | undefined) => Promise<Page<Item>>): AsyncGenerator<Item> {
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await ask(cursor);
    yield* items;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}
