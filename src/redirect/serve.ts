import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { type Patience, within } from "../base/patience.ts";
import type { Brand } from "../branding/brand.ts";
import type { Brands } from "../branding/brands.ts";
import type { Cache, Versioned } from "../cache/cache.ts";
import type { Capture } from "../clicks/facts/capture.ts";
import { isReserved, slugPattern } from "../codes/slugs.ts";
import type { Hosts } from "../domains/hosts.ts";
import { wrongMethod } from "../http/problem.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Meters } from "../limits/meters.ts";
import type { Verdict } from "../limits/verdict.ts";
import { cacheKey, keyOfPath, type LinkKey, type TargetFile } from "../links/link.ts";
import type { LinkDetails } from "../links/read/details.ts";
import type { KnownTenants, Standing } from "../tenants/known-tenants.ts";
import { type IsBot, isPrefetch } from "./bots.ts";
import { type Answer, complete, type Decision, decide, type HitReason, hitReasons, type VisitFacts } from "./decide.ts";
import { finalPage, type VisitRefusal, wantsJson } from "./error-pages.ts";
import { type CachedLink, hitsMaxOf, isSettled, settle } from "./link-source.ts";
import type { PasswordGate, PasswordOutcome } from "./password-gate.ts";
import { previewPage } from "./preview.ts";
import { Redirection, toResponse, type VisitReply } from "./redirection.ts";
import type { RouteVisitor } from "./routing.ts";
import type { VisitRequest } from "./visit-request.ts";

/**
 * The redirect path, in front of everything else. A link in memory is answered at once: no promise, no log line, no
 * parsing. Everything else takes `slow`, which may wait for the next tier and declines what is not a code. Guessing is
 * stopped there too: for an address with too many misses, only links in memory are answered.
 *
 * For a link with rules, a split, forwarded parameters or a password, `routing.ts` chooses the destination for each visitor,
 * behind `gate`. A link keeps the answer of each destination; with forwarded parameters it is built.
 */
export type ServeRedirect = (
  request: VisitRequest,
  path: string,
  /** The domain of the request. */
  domain: string,
) => VisitReply | Promise<VisitReply> | undefined;

export interface RedirectSettings {
  readonly cache: Cache<CachedLink, LinkKey>;
  readonly tenants: KnownTenants;
  readonly hosts: Pick<Hosts, "of">;
  readonly isBot: IsBot;
  readonly meters: Meters;
  readonly guesses: Guesses;
  readonly gate: PasswordGate;
  readonly routeVisitor: RouteVisitor;
  /** Takes every answer that counts, for reports. */
  readonly capture: Pick<Capture, "record">;
  /** For the preview page; `undefined` if unavailable. */
  readonly detailsOf: (key: string) => Promise<LinkDetails | undefined>;
  /** The client's address, if known. */
  readonly addressOf: (request: VisitRequest) => string | undefined;
  /** How the pages of a workspace look. */
  readonly brands: Brands;
  /** A temporary URL of a file's bytes. */
  readonly signDownload: (file: TargetFile) => Promise<string>;
  /** How long a visitor waits in total for Redis and for SQL. */
  readonly wait: Readonly<Patience>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

const outcomes = [
  ...hitReasons,
  ...(["missing", "suspended", "expired", "password", "wrong_password", "attempts", "not_ours", "busy"] as const),
  ...(["spent", "guessing", "unavailable"] as const),
] as const;
const placeOf = Object.fromEntries(hitReasons.map((reason, place) => [reason, place])) as Record<HitReason, number>;

// Browsers remember a 301; this short, so that an edit takes effect and hits are missed for at most this long.
const permanentCaching = "private, max-age=90";
// Built for one visitor: not for anyone else, and not for later.
const personalCaching = "private, no-store";
const retrySeconds = 5;

export function createRedirect(settings: RedirectSettings): ServeRedirect {
  const { cache, tenants, hosts, isBot, meters, guesses, gate, routeVisitor, detailsOf, addressOf, brands } = settings;
  const { capture, signDownload, wait, clock, metrics, log } = settings;
  const count = metrics.tally("quicklink_redirects_total", "Redirects by outcome.", "outcome", outcomes);
  let failing = false;

  function serve(request: VisitRequest, path: string, domain: string): VisitReply | Promise<VisitReply> | undefined {
    const key = keyOfPath(domain, path);
    if (key === undefined) return undefined;
    const known = cache.peek(key);
    if (known === undefined || !isSettled(known.value, tenants)) return slow(request, path, domain);
    const method = request.method;
    if (method !== "GET" && method !== "HEAD") return method === "POST" ? tryPassword(request, key, known) : undefined;
    return answer(request, key, known, method === "HEAD", false);
  }

  function slow(request: VisitRequest, path: string, domain: string): VisitReply | Promise<VisitReply> | undefined {
    const preview = path.endsWith("+");
    const code = preview ? path.slice(0, -1) : path;
    if (!slugPattern.test(code) || isReserved(code)) return undefined;
    const key = cacheKey(domain, code);
    if (!["GET", "HEAD", "POST"].includes(request.method)) return undefined;
    // The address is read only if it matters: that is a system call.
    const wait = guesses.blocked === 0 ? undefined : guesses.blockedFor(addressOf(request));
    // Whether or not the code exists: that is what a guesser wants to learn.
    if (wait !== undefined && cache.peek(key)?.value === undefined) return refuse(request, wait);
    return lookUp(request, key, preview);
  }

  function refuse(request: VisitRequest, retryAfterSeconds: number): Response {
    count.guessing++;
    return finalPage({ kind: "guessing", retryAfterSeconds }, request);
  }

  async function miss(request: VisitRequest, patience: Patience = { ...wait }): Promise<VisitReply> {
    // A miss that cannot be counted in time is not limited.
    const counted = within(patience, "redis", guesses.missed(addressOf(request)), clock);
    const seconds = await counted.catch(() => undefined);
    if (seconds !== undefined) return refuse(request, seconds);
    count.missing++;
    const host = hosts.of(request.headers.get("host"));
    const missingUrl = host.kind === "custom" ? host.missingUrl : null;
    return missingUrl === null ? finalPage({ kind: "missing" }, request, await brandOf(request)) : personal(missingUrl);
  }

  /** Of the workspace that has the link; of a custom domain's if there is none. Programs get no page. */
  function brandOf(request: VisitRequest, target?: CachedLink): Brand | undefined | Promise<Brand | undefined> {
    if (wantsJson(request)) return undefined;
    if (target !== undefined) return brands.of({ tenant: target.clicks.tenant });
    const host = hosts.of(request.headers.get("host"));
    return host.kind === "custom" ? brands.of({ domain: host.host }) : undefined;
  }

  async function lookUp(request: VisitRequest, key: LinkKey, preview: boolean): Promise<VisitReply> {
    const patience = { ...wait };
    const known = await find(key, patience);
    if (known === undefined) {
      count.unavailable++;
      const brand = await brandOf(request);
      return finalPage({ kind: "unavailable", retryAfterSeconds: retrySeconds }, request, brand);
    }
    if (request.method === "POST") return tryPassword(request, key, known);
    return answer(request, key, known, request.method === "HEAD", preview, false, patience);
  }

  /** `undefined`: it cannot be looked up now. */
  async function find(key: LinkKey, patience?: Patience): Promise<Versioned<CachedLink> | undefined> {
    try {
      const known = await cache.lookup(key, patience);
      const link = known.value;
      if (link !== undefined && !isSettled(link, tenants)) settle(link, await standingOf(link, patience));
      if (failing) log.info("database available: looking up links again");
      failing = false;
      return known;
    } catch (error) {
      if (!failing) log.error({ error }, "database unavailable: serving cached links only");
      failing = true;
      return undefined;
    }
  }

  /** Of its tenant: as it is, or else, like the link itself, as it was last known. */
  async function standingOf({ clicks: { tenant } }: CachedLink, patience: Patience | undefined): Promise<Standing> {
    // Shared by all visitors who wait for the tenant, so the time of one must not end it for the others.
    const found = tenants.lookup(tenant);
    try {
      return await (patience === undefined ? found : within(patience, "sql", found, clock));
    } catch (error) {
      const last = tenants.recall(tenant);
      if (last === undefined) throw error;
      return last;
    }
  }

  /** Handles a submitted password. If it is right, the visit continues as usual and counts once. */
  async function tryPassword(request: VisitRequest, key: LinkKey, known: Versioned<CachedLink>): Promise<Response> {
    if (known.value === undefined) return toResponse(await miss(request));
    // Our own socket reads no bodies.
    if (!known.value.password || !(request instanceof Request)) return notForPosts();
    let outcome: PasswordOutcome;
    try {
      outcome = await gate.tryPassword(request, key);
    } catch (error) {
      log.error({ error }, "cannot check a password");
      outcome = { kind: "busy", retryAfterSeconds: retrySeconds };
    }
    switch (outcome.kind) {
      case "open":
        return enter(request, key, outcome.version, outcome.pass);
      case "unprotected":
        return notForPosts();
      default:
        return refused(request, outcome, known.value);
    }
  }

  async function refused(
    request: VisitRequest,
    refusal: VisitRefusal & { readonly kind: (typeof outcomes)[number] },
    target?: CachedLink,
  ): Promise<Response> {
    count[refusal.kind]++;
    return finalPage(refusal, request, await brandOf(request, target));
  }

  /** The password belongs to this version: nothing older may be served for it. */
  async function enter(request: VisitRequest, key: LinkKey, version: number, pass: string): Promise<Response> {
    cache.announce(key, version);
    const known = await find(key);
    if (known === undefined) return refused(request, { kind: "unavailable", retryAfterSeconds: retrySeconds });
    const response = toResponse(await answer(request, key, known, false, false, known.version === version));
    const headers = new Headers(response.headers);
    headers.append("set-cookie", pass);
    // 303: follow with GET, whatever the method was.
    return new Response(response.body, { status: response.status === 302 ? 303 : response.status, headers });
  }

  function answer(
    request: VisitRequest,
    key: LinkKey,
    known: Versioned<CachedLink>,
    head: boolean,
    preview: boolean,
    entered = false,
    patience?: Patience,
  ): VisitReply | Promise<VisitReply> {
    const headers = request.headers;
    const target = known.value;
    const facts: VisitFacts = {
      head,
      prefetch: isPrefetch(headers),
      bot: isBot(headers.get("user-agent")),
      preview,
      stopped: target?.standing.isStopped === true,
      unlocked: target?.password === true && !preview && (entered || gate.isOpen(request, key, known.version)),
    };
    const decision = decide(target, facts, clock.now());
    if (target === undefined || !isAnswer(decision)) return respond(request, key, target, decision, patience);
    const verdict = charge(key, target, decision, patience);
    return verdict instanceof Promise
      ? verdict.then((late) => afterCharge(request, key, target, decision, late, patience))
      : afterCharge(request, key, target, decision, verdict, patience);
  }

  function charge(
    key: LinkKey,
    target: CachedLink,
    answer: Answer,
    patience: Patience | undefined,
  ): Verdict | Promise<Verdict> {
    const meter = meters.of(key, target.meter);
    if (meter !== target.meter) target.meter = meter;
    return meters.spend(meter, answer.draws, hitsMaxOf(target), placeOf[answer.reason], patience);
  }

  /** A denied visit may be sent to the fallback, which asks the other limit: at most twice. */
  function afterCharge(
    request: VisitRequest,
    key: LinkKey,
    target: CachedLink,
    answer: Answer,
    verdict: Verdict,
    patience: Patience | undefined,
  ): VisitReply | Promise<VisitReply> {
    const decision = complete(target, answer, verdict);
    if (decision === answer || !isAnswer(decision)) return respond(request, key, target, decision);
    const second = charge(key, target, decision, patience);
    return second instanceof Promise
      ? second.then((late) => respond(request, key, target, complete(target, decision, late)))
      : respond(request, key, target, complete(target, decision, second));
  }

  function respond(
    request: VisitRequest,
    key: LinkKey,
    target: CachedLink | undefined,
    decision: Decision,
    patience?: Patience,
  ): VisitReply | Promise<VisitReply> {
    if (!isAnswer(decision)) {
      if (decision.kind === "missing") return miss(request, patience);
      return refused(request, decision, target);
    }
    count[decision.reason]++;
    // `decide` answers a missing link with a refusal.
    if (target === undefined) return redirect(decision);
    const place = placeOf[decision.reason];
    if (isPersonal(decision, target)) return personalAnswer(request, key, target, place);
    capture.record(request, key, target.clicks, place, "", decision.url);
    if (decision.reason === "fallback" || decision.reason === "over_quota") return redirect(decision);
    if (decision.kind === "preview") return preview(request, key, target);
    if (target.redirection === undefined) {
      target.redirection = null;
      return redirect(decision);
    }
    target.redirection ??= redirect(decision);
    return target.redirection;
  }

  /** A response for this visitor only. */
  function personalAnswer(
    request: VisitRequest,
    key: LinkKey,
    target: CachedLink,
    reason: number,
  ): VisitReply | Promise<VisitReply> {
    const { url: own, file, choice, clicks } = target;
    const { url, sent, variant } =
      choice === null ? { url: own, sent: own, variant: "" } : routeVisitor(choice, own, request, key);
    capture.record(request, key, clicks, reason, variant, url);
    if (sent === "" && file !== null) return download(request, file);
    return sent === url ? keptRedirection(target, url) : personal(sent);
  }

  async function preview(request: VisitRequest, key: LinkKey, target: CachedLink): Promise<Response> {
    const [details, brand] = await Promise.all([detailsOf(key).catch(() => undefined), brandOf(request, target)]);
    return previewPage(key, target, details, clock.now(), brand);
  }

  /** Already counted: the response is sent even if the file cannot be fetched. */
  async function download(request: VisitRequest, file: TargetFile): Promise<VisitReply> {
    try {
      return personal(await signDownload(file));
    } catch (error) {
      log.error({ error }, "cannot sign the URL of a file");
      return finalPage({ kind: "unavailable", retryAfterSeconds: retrySeconds }, request);
    }
  }

  return serve;
}

/** Without forwarded parameters, a link has as many personal answers as destinations. */
function keptRedirection(target: CachedLink, url: string): Redirection {
  if (url === target.url) {
    target.redirection ??= personal(url);
    return target.redirection;
  }
  target.otherRedirections ??= new Map();
  let kept = target.otherRedirections.get(url);
  if (kept === undefined) {
    kept = personal(url);
    target.otherRedirections.set(url, kept);
  }
  return kept;
}

const notForPosts = (): Response => wrongMethod("GET", "HEAD");

const personal = (url: string): Redirection => new Redirection(302, url, personalCaching);

const isAnswer = (decision: Decision): decision is Answer =>
  decision.kind === "redirect" || decision.kind === "download" || decision.kind === "preview";

/** Whether the answer is built for this visitor. A fallback and a preview are the same for all. */
const isPersonal = ({ kind, reason }: Answer, { choice, password, file }: CachedLink): boolean =>
  (choice !== null || password || file !== null) &&
  kind !== "preview" &&
  reason !== "fallback" &&
  reason !== "over_quota";

const redirect = ({ status, url }: Answer): Redirection =>
  status === 302 ? new Redirection(status, url) : new Redirection(status, url, permanentCaching);
