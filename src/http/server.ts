import type { BlockList } from "node:net";
import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { escapeHtml } from "../base/escape-html.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { sameText } from "../base/signature.ts";
import { findTcpConnection, type Peer, type TcpConnection } from "../base/tcp-connection.ts";
import type { CustomHost, Hosts } from "../domains/hosts.ts";
import { ownDomain } from "../links/link.ts";
import { finalPage, page } from "../redirect/error-pages.ts";
import { toResponse, type VisitReply } from "../redirect/redirection.ts";
import type { ServeRedirect } from "../redirect/serve.ts";
import type { VisitRequest } from "../redirect/visit-request.ts";
import type { HttpApi } from "./api.ts";
import type { Readiness } from "./health.ts";
import type { Mount, MountTools, SendingLimits } from "./mount.ts";
import { problemResponse, wrongMethod } from "./problem.ts";
import { apiElsewhere, malformedHost, misdirected, tooLongToExist } from "./refused-address.ts";
import { clientAddress, isApi, isLoopback, isTrusted, targetOf } from "./request.ts";
import { type Front, listenFront } from "./socket/front.ts";
import { PlainRequest } from "./socket/plain-request.ts";
import { loopback } from "./socket/tunnel.ts";

/**
 * The server, behind the socket that clients connect to (`socket/front.ts`). The host of a request is decided first, once for everything
 * behind. A redirect is tried next and answered without entering the framework; everything else is looked up in a short list of fixed
 * paths, and /api goes to the API. Plain redirects come from the socket (`visit`), all other requests through Bun's server (`receive`).
 *
 * | host | answers |
 * |---|---|
 * | ours | everything |
 * | a custom domain | its links, root and 404 targets, and mounts that allow it; never the API or its documentation |
 * | foreign | 421 |
 * | malformed, or two | 400 |
 *
 * Probes (health, metrics, `/domains/allowed`) are answered on every host, because they use their own names.
 */
export interface ServerSettings {
  readonly hostname: string;
  readonly port: number;
  /** Whether other processes of ours listen on the same port. */
  readonly sharesPort: boolean;
  readonly baseUrl: string;
  readonly redirect: ServeRedirect;
  /** Loaded on first use. */
  readonly api: () => Promise<HttpApi>;
  readonly hosts: Pick<Hosts, "of">;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly metricsToken: string | undefined;
  readonly trustedProxies: BlockList;
  readonly bodyLimitBytes: number;
  /** The largest body of a mount, if larger than the API's. */
  readonly uploadLimitBytes: number;
  readonly mounts: readonly Mount[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Server {
  readonly port: number;
  /**
   * The client's address, if it can be trusted. A proxy on this machine that is not listed forwards everyone under its
   * own address, so that address counts as unknown.
   */
  addressOf(request: VisitRequest): string | undefined;
  /** Whether the request came through one of our proxies, whose headers are trusted. */
  isFromProxy(request: VisitRequest): boolean;
  /** Stops accepting, lets running requests finish, and aborts the rest at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

const pathMost = 4_096;
/**
 * What a slow client takes arrives here in bursts, because it comes out of two buffers of the kernel: with ten seconds, clients of 200 KB/s
 * were cut off.
 */
const idleSeconds = 20;
const wallBytes = 64 * 1_048_576;
/** Bun resets its timeout when it starts to send a file, and restarts it whenever we set it. */
const armMs = [0, 1_000, 5_000];
const watchMs = 50;
/** Most downloads have ended by then, so their connection need not be searched for. */
const firstLookMs = 1_000;

export function startServer(settings: ServerSettings): Server {
  const { redirect, api, hosts, log, trustedProxies } = settings;
  let stopping = false;
  const watch = createWatch(watchMs);
  const hasProxies = trustedProxies.rules.length > 0;
  const peers = new Map<number, Peer>();

  // Behind our own socket, for everything but plain redirects.
  const server = Bun.serve({
    hostname: loopback,
    port: 0,
    development: false,
    // Outside development Bun shares the port by default.
    reusePort: false,
    idleTimeout: idleSeconds,
    // The API's own limit answers with a problem that explains itself; this is a larger limit behind it, which does
    // not.
    maxRequestBodySize: Math.max(settings.bodyLimitBytes, settings.uploadLimitBytes) + wallBytes,
    routes: { "/:code": (request) => receive(request, request.params.code) },
    fetch: (request) => receive(request, undefined),
    error: failed,
  });

  let front: Front;
  try {
    front = listenFront({
      ...{ hostname: settings.hostname, port: settings.port, sharesPort: settings.sharesPort },
      inner: { port: server.port ?? 0, peers, log },
      receive: visit,
      failed,
      clock: settings.clock,
      log,
    });
  } catch (error) {
    void server.stop(true);
    throw error;
  }

  function failed(error: unknown): Response {
    log.error({ error }, "request failed unexpectedly");
    return problemResponse(
      new Problem("internal", "Internal server error. Try again; if it persists, contact the operator."),
    );
  }

  /** A plain request, from our own socket. What this declines comes again, to `receive`. */
  function visit(request: PlainRequest): VisitReply | Promise<VisitReply> | undefined {
    const host = hosts.of(request.get("host"));
    if (host.kind === "ours") return redirect(request, request.code, ownDomain);
    return host.kind === "custom" ? redirect(request, request.code, host.host) : undefined;
  }

  /** `code`: the path if it has one part, decoded. */
  function receive(request: Request, code: string | undefined): Response | Promise<Response> {
    const host = hosts.of(request.headers.get("host"));
    if (host.kind === "malformed") return malformedHost();
    if (code !== undefined && host.kind !== "foreign") {
      const answer = redirect(request, code, host.kind === "custom" ? host.host : ownDomain);
      if (answer !== undefined) return tunnelled(request, answer);
    }
    const { path } = targetOf(request.url);
    if (path.length > pathMost) return tooLongToExist(request, path);
    const probed = probes.get(path);
    if (probed !== undefined) return isReading(request) ? probed(request) : wrongMethod("GET", "HEAD");
    switch (host.kind) {
      case "ours":
        return onOwnHost(request, path);
      case "custom":
        return onCustomDomain(request, path, host);
      case "foreign":
        return misdirected(request, path);
    }
  }

  const probes = new Map<string, (request: Request) => Response | Promise<Response>>([
    ["/healthz", () => plain("ok\n")],
    ["/readyz", ready],
    ["/metrics", metrics],
    ["/domains/allowed", allowed],
  ]);

  function onOwnHost(request: Request, path: string): Response | Promise<Response> {
    if (isApi(path)) return callApi(request);
    const mount = settings.mounts.find(({ prefix }) => path.startsWith(prefix));
    if (mount !== undefined) return handOver(mount, request, path, ownDomain);
    if (!isReading(request)) return wrongMethod("GET", "HEAD");
    switch (path) {
      case "/":
        return home(settings.baseUrl);
      case "/openapi.json":
        return document(request);
      case "/docs":
        return docs(request);
      case "/robots.txt":
        return robots();
      default:
        return finalPage({ kind: "missing" }, request);
    }
  }

  function onCustomDomain(request: Request, path: string, domain: CustomHost): Response | Promise<Response> {
    if (isApi(path)) return apiElsewhere(settings.baseUrl);
    const mount = settings.mounts.find(({ prefix, onCustomDomains }) => onCustomDomains && path.startsWith(prefix));
    if (mount !== undefined) return handOver(mount, request, path, domain.host);
    if (!isReading(request)) return wrongMethod("GET", "HEAD");
    switch (path) {
      case "/":
        return domain.rootUrl === null
          ? bare(domain.host)
          : new Response(null, { status: 302, headers: { Location: domain.rootUrl } });
      case "/robots.txt":
        return robots();
      default:
        return finalPage({ kind: "missing" }, request);
    }
  }

  /** For a proxy with on-demand certificates: whether links are served on this host. */
  function allowed(request: Request): Response {
    const host = hosts.of(new URLSearchParams(targetOf(request.url).query).get("domain"));
    const known = host.kind === "custom" || (host.kind === "ours" && host.named);
    return known ? plain("yes\n") : new Response("no\n", { status: 404, headers: pageless });
  }

  async function handOver(mount: Mount, request: Request, path: string, domain: string): Promise<Response> {
    let isPatient = false;
    const tools: MountTools = {
      path,
      domain,
      address: addressOf(request),
      patient() {
        isPatient = true;
        server.timeout(request, 0);
      },
      sending: (limits) => watchSending(request, limits),
      file(path, part) {
        const whole = Bun.file(path);
        return part === undefined ? whole : whole.slice(part.start, part.start + part.length);
      },
    };
    try {
      return await mount.handle(request, tools);
    } finally {
      // A timeout belongs to the connection and outlives the request it was set for.
      if (isPatient) server.timeout(request, idleSeconds);
    }
  }

  /**
   * Bun tells neither how much a client has received nor when it has everything, so the kernel is asked. Bun forgets a
   * request that has ended, and restarts its timeout whenever the socket accepts more: without the kernel, that is all
   * we have. A stream of our own would lose the Content-Length.
   */
  function watchSending(request: Request, limits: SendingLimits): Promise<void> {
    const { stallMs, deadlineMs, windowMs, leastBytesPerSecond } = limits;
    const leastBytes = (leastBytesPerSecond * windowMs) / 1_000;
    return new Promise((resolve) => {
      let [passedMs, armed, hungUp] = [0, 0, false];
      let connection: TcpConnection | undefined;
      let [judgeAtMs, takenBefore] = [firstLookMs, 0];

      function hangUp(): void {
        hungUp = true;
        if (connection !== undefined) connection.reset();
        // A client fast enough to be seen every second is as good as done.
        else server.timeout(request, 1);
      }

      /** Whether enough was received since the last check. */
      function isFastEnough(): boolean {
        const taken = connection?.takenBytes();
        const enough = taken === undefined || taken - takenBefore >= leastBytes;
        takenBefore = taken ?? 0;
        return enough;
      }

      const stopWatching = watch(() => {
        passedMs += watchMs;
        const peer = clientEnd(request);
        if (peer === undefined) {
          stopWatching();
          resolve();
          return;
        }
        if (hungUp) return;
        if (armed < armMs.length && passedMs >= (armMs[armed] ?? 0)) {
          armed++;
          server.timeout(request, Math.ceil(stallMs / 1_000));
        }
        if (passedMs > deadlineMs) return hangUp();
        if (passedMs < judgeAtMs) return;
        judgeAtMs = passedMs + windowMs;
        if (connection !== undefined) {
          if (!isFastEnough()) hangUp();
          return;
        }
        connection = findTcpConnection(front.port, peer);
        takenBefore = connection?.takenBytes() ?? 0;
      });
    });
  }

  async function document(request: Request): Promise<Response> {
    return (await api()).document(request);
  }

  async function docs(request: Request): Promise<Response> {
    return (await api()).docs(request);
  }

  async function callApi(request: Request): Promise<Response> {
    const peer = peerOf(request);
    const from = {
      trustedPeer: hasProxies && isTrusted(peer ?? "", trustedProxies),
      address: clientOf(request, peer),
      allowSilence: (seconds: number) => server.timeout(request, seconds),
    };
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

  /**
   * Metrics cover all tenants' traffic, so they are for the operator: with the token, or directly from this machine.
   */
  async function metrics(request: Request): Promise<Response> {
    const { metricsToken } = settings;
    const allowed =
      metricsToken === undefined
        ? isLoopback(addressOf(request))
        : sameText(request.headers.get("authorization") ?? "", `Bearer ${metricsToken}`);
    if (!allowed) {
      const hint =
        "Send Authorization: Bearer with the value of QL_METRICS_TOKEN, or send the request from the server itself.";
      return problemResponse(new Problem("forbidden", hint));
    }
    const { text, contentType } = await settings.metrics.scrape();
    return new Response(text, { headers: { "content-type": contentType, ...pageless } });
  }

  const peerOf = (request: VisitRequest): string | undefined =>
    request instanceof PlainRequest ? request.peer.address : clientEnd(request)?.address;

  /** The client's end of its connection; undefined once that or the request has ended. */
  function clientEnd(request: VisitRequest): Peer | undefined {
    const end = request instanceof Request ? server.requestIP(request) : null;
    // Never the address of our own end, nor of another program of this machine: it would count as somebody it is not.
    return end?.address === loopback ? peers.get(end.port) : undefined;
  }

  const isFromProxy = (request: VisitRequest): boolean => isTrusted(peerOf(request) ?? "", trustedProxies);

  const addressOf = (request: VisitRequest): string | undefined => clientOf(request, peerOf(request));

  function clientOf(request: VisitRequest, peer: string | undefined): string | undefined {
    const client = hasProxies ? clientAddress(peer, request.headers.get("x-forwarded-for"), trustedProxies) : peer;
    return isLoopback(client) && !isDirect(request) ? undefined : client;
  }

  return {
    port: front.port,
    addressOf,
    isFromProxy,
    async stop(deadlineMs) {
      stopping = true;
      const late = setTimeout(() => {
        void server.stop(true);
        front.closeAll();
      }, deadlineMs);
      await front.stop();
      await Promise.all([server.stop(), front.closed()]);
      clearTimeout(late);
    },
  };
}

/** One timer for everything that is watched; none when nothing is. */
function createWatch(everyMs: number): (look: () => void) => () => void {
  const looks = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  return (look) => {
    looks.add(look);
    timer ??= setInterval(() => {
      for (const one of looks) one();
    }, everyMs);
    return () => {
      looks.delete(look);
      if (looks.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}

/**
 * Of a visit that came through a tunnel. The connection ends with it, so that the next visit can be plain again: proxies use a connection
 * for many visitors. A form is sent by a person.
 */
function tunnelled(request: Request, answer: VisitReply | Promise<VisitReply>): Response | Promise<Response> {
  if (answer instanceof Promise) return answer.then((reply) => tunnelled(request, reply));
  const response = toResponse(answer);
  if (isReading(request)) response.headers.set("connection", "close");
  return response;
}

const pageless = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

const plain = (text: string): Response =>
  new Response(text, { headers: { "content-type": "text/plain; charset=utf-8", ...pageless } });

const robots = (): Response => plain("User-agent: *\nDisallow: /api/\n");

const isReading = ({ method }: Request): boolean => method === "GET" || method === "HEAD";

const isDirect = ({ headers }: VisitRequest): boolean =>
  !(headers.has("x-forwarded-for") || headers.has("forwarded") || headers.has("via") || headers.has("x-real-ip"));

const bare = (host: string): Response =>
  page(200, "Short links", `<p><code>${escapeHtml(host)}</code> serves short links.</p>`);

function home(baseUrl: string): Response {
  return page(
    200,
    "QuickLink is running",
    `<p>Short links start with <code>${escapeHtml(baseUrl)}/</code></p>
<p><a href="/app">Open the dashboard</a> to create links and see what happens to them.</p>
<small><a href="/docs">API</a> · <a href="/readyz">Status</a></small>`,
  );
}
