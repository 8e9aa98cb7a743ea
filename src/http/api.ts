import { randomBytes } from "node:crypto";
import { HTTPException } from "hono/http-exception";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Observe } from "../base/metrics.ts";
import type { CallLimiter } from "../limits/call-limiter.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Sessions } from "../people/sessions.ts";
import type { Keys } from "../tenants/keys.ts";
import type { Tenants } from "../tenants/tenants.ts";
import { createAuthentication, workspaceHeader } from "./auth.ts";
import { checkBody } from "./body.ts";
import { type CachedPage, cachedPage } from "./cached-page.ts";
import { docsHeaders, docsPage } from "./docs-page.ts";
import type { RunOnce } from "./idempotency.ts";
import type { Document } from "./openapi.ts";
import { problemResponse } from "./problem.ts";
import { limitCalls } from "./rate-limit.ts";
import { targetOf } from "./request.ts";
import { type Api, createApi } from "./route.ts";
import type { SessionCookie } from "./session-cookie.ts";

/**
 * The API as one function: a request ID, the caller and its limits, a bounded body, the routes, and a problem for
 * everything that goes wrong.
 */
export interface HttpApi {
  handle(request: Request, from: RequestOrigin): Promise<Response>;
  /** OpenAPI, for programs. */
  readonly document: CachedPage;
  /** The same as a page for people. */
  readonly docs: CachedPage;
}

export interface RequestOrigin {
  /** The peer of the connection is one of our proxies. */
  readonly trustedPeer: boolean;
  /** The client's address, if known. */
  readonly address: string | undefined;
  /** How many seconds the connection may be silent until it is closed; 0 for any number. */
  readonly allowSilence: (seconds: number) => void;
}

export interface ApiSettings {
  readonly keys: Keys;
  readonly sessions: Pick<Sessions, "authenticate">;
  readonly cookie: SessionCookie;
  readonly tenants: Pick<Tenants, "byId">;
  readonly guesses: Guesses;
  readonly limiter: CallLimiter;
  readonly runOnce: RunOnce;
  readonly baseUrl: string;
  /** QL_BASE_URL is not set. */
  readonly anyHost: boolean;
  readonly version: string;
  readonly bodyLimitBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observeSeconds: Observe<"method" | "status">;
  /** Whether an error means that the database or the file storage is unavailable, rather than a bug. */
  readonly isUnavailable: (error: unknown) => boolean;
  /** The caller's mistake, where no field was checked for it. */
  readonly hasUnstorableText: (error: unknown) => boolean;
  /** Each subject adds its routes. */
  readonly routes: readonly ((api: Api) => void)[];
}

/** A body that comes within this time is as good as sent with its headers. */
const promptMs = 100;

export function createHttpApi(settings: ApiSettings): HttpApi {
  const { log, clock, baseUrl, observeSeconds } = settings;
  const api = createApi();
  // Authentication and the rate limit come before any byte of the body is read.
  const authentication = createAuthentication(settings);
  api.use("/api/*", authentication.first);
  api.use("/api/*", limitCalls(settings.limiter, clock));
  api.use("/api/*", async (c, next) => {
    const started = clock.elapsed();
    await checkBody(c.req, settings.bodyLimitBytes);
    if (clock.elapsed() - started > promptMs) await authentication.again(c);
    c.set("runOnce", settings.runOnce);
    c.set("again", () => authentication.again(c));
    await next();
  });
  for (const add of settings.routes) add(api);
  api.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "http",
    scheme: "bearer",
    description: "API key (ql_…)",
  });
  api.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: settings.cookie.name,
    description: `The session of a person who is signed in. Writes must come from this server's own origin. The header ${workspaceHeader} names the workspace.`,
  });
  const methods = methodTable(api);
  api.notFound((c) => {
    throw nothingHere(methods, c.req.path);
  });
  api.onError((error, c) => {
    return problemResponse(toProblem(error, c.env.requestId), c.env.requestId);
  });

  function toProblem(error: unknown, requestId: string): Problem {
    if (error instanceof Problem) return error;
    // Errors of hono itself: a body that was announced but did not arrive.
    if (error instanceof HTTPException && error.status < 500) {
      return new Problem(
        "invalid_json",
        "The request body is missing. Send JSON with the header Content-Type: application/json.",
      );
    }
    if (settings.hasUnstorableText(error)) {
      return new Problem("invalid_input", "The request contains a NUL character (U+0000), which no value has.");
    }
    if (settings.isUnavailable(error)) {
      log.warn({ error, requestId }, "request failed: a dependency is unavailable");
      return new Problem("unavailable", "The database or the file storage is unavailable. Try again shortly.", {
        retryAfterSeconds: 5,
      });
    }
    log.error({ error, requestId }, "request failed unexpectedly");
    return new Problem(
      "internal",
      `Internal server error. Quote request ID ${requestId} when you contact the operator.`,
    );
  }

  // On request, because it takes a third of the time that the server needs to start.
  const document = () =>
    api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "QuickLink",
        version: settings.version,
        description: "Short links with custom domains, routing rules and exact limits.",
      },
      servers: [{ url: baseUrl }],
    });

  return {
    async handle(request, { trustedPeer, address, allowSilence }) {
      const started = clock.elapsed();
      const requestId = requestIdOf(request, trustedPeer);
      const headers = new Headers();
      const response = await api.fetch(request, { requestId, address, headers, allowSilence });
      secure(response.headers, baseUrl);
      for (const [name, value] of headers) response.headers.set(name, value);
      response.headers.set("x-request-id", requestId);
      const ms = clock.elapsed() - started;
      observeSeconds({ method: request.method, status: String(response.status) }, ms / 1_000);
      if (log.isLevelEnabled("info")) {
        const path = shownPath(request.url);
        log.info({ requestId, method: request.method, path, status: response.status, ms: Math.round(ms) }, "request");
      }
      return response;
    },
    document: cachedPage(documentHeaders, () => JSON.stringify(document())),
    docs: cachedPage(docsHeaders, () => docsPage(document() as unknown as Document)),
  };
}

const documentHeaders = {
  "content-type": "application/json;charset=utf-8",
  "cache-control": "no-cache",
  "x-content-type-options": "nosniff",
};

/**
 * For the log: a client may have pasted a key in place of an ID, and neither email addresses nor tokens (43 characters)
 * must be logged.
 */
const shownPath = (url: string): string =>
  targetOf(url)
    .path.split("/")
    .map((part) => (/@|%40|^[\w-]{43}$/.test(part) ? "…" : part.replace(/ql_\w+/g, "ql_…")))
    .join("/")
    .slice(0, 200);

/** API responses are not for caches, frames or scripts of other sites. */
function secure(headers: Headers, baseUrl: string): void {
  headers.set("cache-control", "no-store");
  headers.set("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  headers.set("referrer-policy", "no-referrer");
  headers.set("x-content-type-options", "nosniff");
  if (baseUrl.startsWith("https:")) headers.set("strict-transport-security", "max-age=31536000");
}

/** One of our proxies may have assigned a request ID; from any other client it could only confuse the logs. */
function requestIdOf(request: Request, trustedPeer: boolean): string {
  const given = trustedPeer ? request.headers.get("x-request-id") : null;
  return given !== null && /^[\w.-]{1,64}$/.test(given) ? given : `req_${randomBytes(9).toString("base64url")}`;
}

type MethodTable = readonly { readonly parts: readonly string[]; readonly method: string }[];

function methodTable(api: Api): MethodTable {
  return api.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === "route"
      ? [{ parts: definition.route.path.split("/"), method: definition.route.method.toUpperCase() }]
      : [],
  );
}

function nothingHere(table: MethodTable, path: string): Problem {
  const given = path.split("/");
  const methods = table.filter(({ parts }) => fits(parts, given)).map((row) => row.method);
  return methods.length > 0
    ? new Problem("method_not_allowed", `${path} supports: ${methods.join(", ")}.`, { allow: methods })
    : new Problem("not_found", `No route at ${path}. See /openapi.json for all routes.`);
}

/** `{id}` matches any non-empty part. */
const fits = (parts: readonly string[], given: readonly string[]): boolean =>
  parts.length === given.length &&
  parts.every((part, i) => (part.startsWith("{") ? given[i] !== "" : given[i] === part));
