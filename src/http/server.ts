import { timingSafeEqual } from "node:crypto";
import type { BlockList } from "node:net";
import { Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { escapeHtml, finalPage, page } from "../redirect/pages.ts";
import type { ServeRedirect } from "../redirect/serve.ts";
import { targetOf } from "./address.ts";
import type { HttpApi } from "./api.ts";
import { clientAddress, isLoopback, isTrusted } from "./client.ts";
import type { Readiness } from "./health.ts";
import { problemResponse } from "./problem.ts";

/**
 * The socket. A redirect is tried first and answered without entering the framework; what it declines is looked up in a
 * short list of fixed addresses, and everything under /api goes to the API.
 */
export interface ServerSettings {
  readonly hostname: string;
  readonly port: number;
  /** With other processes of ours. */
  readonly sharesPort: boolean;
  readonly baseUrl: string;
  readonly redirect: ServeRedirect;
  /** Loaded when first asked for. */
  readonly api: () => Promise<HttpApi>;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly metricsToken: string | undefined;
  readonly trustedProxies: BlockList;
  readonly bodyLimitBytes: number;
  readonly log: Logger;
}

export interface Server {
  readonly port: number;
  /**
   * Who asks, as far as they can be held to it. A proxy on this machine that is not listed passes on everybody under its
   * own address, so that address is nobody's.
   */
  addressOf(request: Request): string | undefined;
  /** Stops accepting, lets what runs finish, and cuts off what has not by the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

const idleSeconds = 10;
const wallBytes = 64 * 1_048_576;

export function startServer(settings: ServerSettings): Server {
  const { redirect, api, log, trustedProxies } = settings;
  let stopping = false;

  const server = Bun.serve({
    hostname: settings.hostname,
    port: settings.port,
    development: false,
    // Outside of development Bun shares the port by default, and a second server would go unnoticed.
    reusePort: settings.sharesPort,
    idleTimeout: idleSeconds,
    // The API's own limit answers with a problem that explains itself; this is the wall far behind it, which does not.
    maxRequestBodySize: settings.bodyLimitBytes + wallBytes,
    routes: { "/:code": (request) => redirect(request, request.params.code) ?? elsewhere(request) },
    fetch: elsewhere,
    error(error) {
      log.error({ error }, "a request failed unexpectedly");
      return problemResponse(new Problem("internal", "Something went wrong on our side."));
    },
  });

  function elsewhere(request: Request): Response | Promise<Response> {
    const { path } = targetOf(request.url);
    if (path === "/api" || path.startsWith("/api/")) return callApi(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      return problemResponse(
        new Problem("method_not_allowed", "Only GET and HEAD are answered here.", { allow: ["GET", "HEAD"] }),
      );
    }
    switch (path) {
      case "/":
        return home(settings.baseUrl);
      case "/healthz":
        return plain("ok\n");
      case "/readyz":
        return ready();
      case "/metrics":
        return metrics(request);
      case "/openapi.json":
        return document();
      case "/docs":
        return docs();
      case "/robots.txt":
        return plain("User-agent: *\nDisallow: /api/\n");
      default:
        return finalPage({ kind: "missing" }, request);
    }
  }

  async function document(): Promise<Response> {
    return Response.json((await api()).document, { headers: pageless });
  }

  async function docs(): Promise<Response> {
    return (await api()).docs();
  }

  async function callApi(request: Request): Promise<Response> {
    const from = { trustedPeer: isTrusted(peerOf(request) ?? "", trustedProxies), address: addressOf(request) };
    return (await api()).handle(request, from);
  }

  async function ready(): Promise<Response> {
    const state = await settings.readiness();
    const status = stopping ? "stopping" : state.status;
    return Response.json(
      { status, dependencies: state.dependencies },
      { status: status === "ready" || status === "degraded" ? 200 : 503, headers: pageless },
    );
  }

  /** Figures about everybody's traffic are the operator's: with the token, or straight from this machine. */
  async function metrics(request: Request): Promise<Response> {
    const { metricsToken } = settings;
    const allowed =
      metricsToken === undefined
        ? isLoopback(addressOf(request))
        : sameText(request.headers.get("authorization") ?? "", `Bearer ${metricsToken}`);
    if (!allowed) {
      const hint =
        "Send Authorization: Bearer with the value of QL_METRICS_TOKEN, or ask from the server's own machine.";
      return problemResponse(new Problem("forbidden", hint));
    }
    const { text, contentType } = await settings.metrics.scrape();
    return new Response(text, { headers: { "content-type": contentType, ...pageless } });
  }

  function peerOf(request: Request): string | undefined {
    return server.requestIP(request)?.address;
  }

  function addressOf(request: Request): string | undefined {
    const client = clientAddress(peerOf(request), request.headers.get("x-forwarded-for"), trustedProxies);
    return isLoopback(client) && !isDirect(request) ? undefined : client;
  }

  return {
    port: server.port ?? settings.port,
    addressOf,
    async stop(deadlineMs) {
      stopping = true;
      const late = setTimeout(() => void server.stop(true), deadlineMs);
      await server.stop();
      clearTimeout(late);
    },
  };
}

const pageless = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

const plain = (text: string): Response =>
  new Response(text, { headers: { "content-type": "text/plain; charset=utf-8", ...pageless } });

const isDirect = (request: Request): boolean =>
  !["x-forwarded-for", "forwarded", "via", "x-real-ip"].some((name) => request.headers.has(name));

function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function home(baseUrl: string): Response {
  return page(
    200,
    "QuickLink is running",
    `<p>Short links here start with <code>${escapeHtml(baseUrl)}/</code></p>
<p>Make one with the line that the first start printed, or with <code>npm run quicklink -- link create https://example.com</code>.</p>
<small><a href="/docs">API</a> · <a href="/readyz">State</a></small>`,
  );
}
