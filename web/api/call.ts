import { randomId } from "../random-id.ts";
import type { Problem, Routes } from "./generated.ts";

/**
 * A call of the API from the dashboard: with the session's cookie, for the workspace that the address names. A POST has an
 * Idempotency-Key, so that a form that is sent twice acts once.
 */
export type RouteName = keyof Routes;
export type ResultOf<Name extends RouteName> = Routes[Name]["result"];
export type BodyOf<Name extends RouteName> = Routes[Name]["body"];
export type QueryOf<Name extends RouteName> = Routes[Name]["query"];

type Given<Key extends string, Value> = undefined extends Value
  ? { readonly [key in Key]?: Value }
  : { readonly [key in Key]: Value };

export type CallOptions<Name extends RouteName> = Given<"path", Routes[Name]["path"]> &
  Given<"body", Routes[Name]["body"]> & {
    readonly query?: Routes[Name]["query"];
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    /** To send the same request again. By default each call is a new one. */
    readonly idempotencyKey?: string;
  };

/**
 * What went wrong without words of the API. `offline`: no answer arrived. `disconnected`: a change was not sent, because the
 * browser has no connection. `no_workspace`: the address names none of yours.
 */
type OwnCode = "offline" | "disconnected" | "no_workspace";

/** What went wrong, in the API's words. */
export class ApiError extends Error {
  readonly code: Problem["code"] | OwnCode;
  readonly status: number;
  /** For people, next to the fields that they are about. */
  readonly errors: NonNullable<Problem["errors"]>;
  readonly problem: Problem | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: Problem | undefined, retryAfterSeconds?: number, without: OwnCode = "offline") {
    super(problem?.detail ?? "");
    this.name = "ApiError";
    this.code = problem?.code ?? without;
    this.status = problem?.status ?? 0;
    this.errors = problem?.errors ?? [];
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const timeoutMs = 30_000;
let workspace: string | undefined;
let onSignedOut: () => void = () => {};

/** Calls are for this workspace from now on. */
export function callsForWorkspace(slug: string | undefined): void {
  workspace = slug;
}

export const callsWorkspace = (): string | undefined => workspace;

/** Called when a call is refused because the session has ended. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

type Rest<Name extends RouteName> =
  object extends CallOptions<Name> ? [options?: CallOptions<Name>] : [options: CallOptions<Name>];

export async function call<Name extends RouteName>(name: Name, ...rest: Rest<Name>): Promise<ResultOf<Name>> {
  const response = await send(name, ...rest);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as ResultOf<Name>;
}

/** The response itself, for downloads and streams. */
export async function send<Name extends RouteName>(name: Name, ...rest: Rest<Name>): Promise<Response> {
  const [method = "GET"] = name.split(" ", 1);
  const options: CallOptions<RouteName> = rest[0] ?? {};
  const { body, signal } = options;
  // Refused here and not left to the browser, so that all changes are refused at once and in the same words.
  if (method !== "GET" && !navigator.onLine) throw new ApiError(undefined, undefined, "disconnected");
  const isRaw = typeof body === "string" || body instanceof Blob;
  const headers: Record<string, string> = {
    ...(workspace !== undefined && { "ql-workspace": workspace }),
    ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
    ...(method === "POST" && { "idempotency-key": options.idempotencyKey ?? randomId() }),
    ...options.headers,
  };
  // Until the answer begins: a stream or a download may last.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  let response: Response;
  try {
    response = await fetch(addressOf(name, options), {
      method,
      headers,
      credentials: "same-origin",
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(undefined);
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.status === 401 && !name.includes("/api/auth/")) onSignedOut();
  throw error;
}

/** The address of a route, for links and pictures. */
export function addressOf<Name extends RouteName>(
  name: Name,
  options: { readonly path?: Routes[Name]["path"]; readonly query?: Routes[Name]["query"] } = {},
): string {
  const given: Readonly<Record<string, string>> = { ...options.path };
  const path = name
    .slice(name.indexOf(" ") + 1)
    .replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(given[key] ?? ""));
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(options.query ?? {})) {
    for (const one of [value].flat()) if (one !== undefined && one !== null) query.append(key, String(one));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
  const problem = isProblem ? ((await response.json().catch(() => undefined)) as Problem | undefined) : undefined;
  return new ApiError(problem, Number.isFinite(seconds) ? seconds : undefined);
}
