import type { Context } from "hono";
import { invalid, Problem } from "../base/errors.ts";
import type { Answers, BeginOutcome, IdempotentRun, StoredAnswer } from "../idempotency/answers.ts";
import { runClaimMs } from "../idempotency/answers.ts";
import { sha256 } from "../idempotency/derived-ids.ts";
import { targetOf } from "./request.ts";
import type { Caller, RouteEnv } from "./route.ts";

/**
 * `Idempotency-Key` on every POST. The first request with a key runs, and its response is kept for a day; a repeat gets
 * the same response and does nothing. Only success is kept: a refusal changed nothing, so a repeat runs for the first
 * time. After a failure of ours the outcome is unknown, and a repeat runs again where that is safe.
 */
export type RunOnce = (
  key: string,
  c: Context<RouteEnv>,
  next: () => Promise<void>,
  repeatable: boolean,
) => Promise<void>;

export type IdempotencyOutcome = (typeof idempotencyOutcomes)[number];
export const idempotencyOutcomes = ["run", "replay", "mismatch", "in_flight", "unknown"] as const;

export interface IdempotencySettings {
  readonly answers: Answers;
  readonly count: Record<IdempotencyOutcome, number>;
  /** Called when a response could not be kept, or the key not released. */
  readonly failed: (error: unknown) => void;
}

const pattern = /^[\x21-\x7e]{1,255}$/;
/** The headers that belong to the response itself; the others are about the request, or the same on all. */
const keptHeaders = ["content-type", "etag", "location"];

export function createRunOnce({ answers, count, failed }: IdempotencySettings): RunOnce {
  return async (key, c, next, repeatable) => {
    if (!pattern.test(key)) {
      throw invalid("Idempotency-Key", "bad_key", "Must have 1 to 255 visible ASCII characters.");
    }
    const { tenant } = c.get("caller");
    const begun = await answers.begin(tenant.id, ownKey(c.get("caller"), key), await fingerprintOf(c), repeatable);
    count[begun.kind]++;
    if (begun.kind === "replay") {
      c.res = replay(begun.answer);
    } else if (begun.kind === "run") {
      await work(c, next, begun.run);
    } else {
      throw refusal(begun);
    }
  };

  async function work(c: Context<RouteEnv>, next: () => Promise<void>, run: IdempotentRun): Promise<void> {
    let changedNothing = false;
    const { id, secret } = run.derived;
    c.set("once", {
      id,
      secret,
      forget() {
        changedNothing = true;
      },
    });
    const renewing = setInterval(() => void run.renew().catch(failed), runClaimMs / 3);
    try {
      await next();
    } finally {
      clearInterval(renewing);
    }
    // The caller has what they asked for and is told so, even if the response cannot be kept. A repeat finds it.
    await keep(c.res, run, changedNothing).catch(failed);
  }

  async function keep(response: Response, run: IdempotentRun, changedNothing: boolean): Promise<void> {
    if (response.status >= 500) return run.release();
    if (!response.ok || changedNothing) return run.forget();
    return run.finish(await answerOf(response));
  }
}

/**
 * Keys of a workspace are one program to it. People are not: the answer to an owner may be more than an admin would get, such as
 * the link of an invitation.
 */
const ownKey = ({ by }: Caller, key: string): string => (by.kind === "person" ? `${by.person.id} ${key}` : key);

/** Byte for byte: method, path, query and body. */
async function fingerprintOf(c: Context<RouteEnv>): Promise<string> {
  const { path, query } = targetOf(c.req.url);
  return sha256(`${c.req.method} ${path}${query}\n${await c.req.text()}`);
}

async function answerOf(response: Response): Promise<StoredAnswer> {
  const headers = keptHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.clone().text() };
}

function replay({ status, headers, body }: StoredAnswer): Response {
  return new Response(body === "" ? null : body, { status, headers: { ...headers, "idempotency-replayed": "true" } });
}

function refusal(begun: Exclude<BeginOutcome, { kind: "run" | "replay" }>): Problem {
  switch (begun.kind) {
    case "mismatch":
      return new Problem(
        "idempotency_mismatch",
        "This Idempotency-Key was used for a request with a different path or body. Use a new key for a new request.",
      );
    case "in_flight":
      return new Problem(
        "idempotency_in_flight",
        "The first request with this Idempotency-Key is still running. Send the same request again shortly.",
        { retryAfterSeconds: Math.max(1, Math.ceil(begun.retryAfterMs / 1_000)) },
      );
    case "unknown":
      return new Problem(
        "idempotency_unknown",
        "The first request with this Idempotency-Key was interrupted and may have completed. Check whether it did; if not, send it again with a new key.",
      );
  }
}
