import { setTimeout } from "node:timers/promises";
import { mountReports } from "../abuse/mount.ts";
import { Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { createMetrics, type Metrics } from "../base/metrics.ts";
import { countProcess } from "../base/process.ts";
import { countShares } from "../base/shares.ts";
import { logoBytes } from "../branding/branding.ts";
import { mountLogos } from "../branding/mount.ts";
import type { Publish } from "../cache/feed.ts";
import type { Capture } from "../clicks/facts/capture.ts";
import { mountExclude } from "../clicks/facts/exclude.ts";
import { openHotLinks } from "../clicks/hot-links.ts";
import type { Config } from "../config/config.ts";
import { prepareDataFolder } from "../config/data-folder.ts";
import { type Core, openCore, openUnforced, openVisits } from "../core.ts";
import { mountDashboard } from "../dashboard/mount.ts";
import type { Actor } from "../history/history.ts";
import type { HttpApi } from "../http/api.ts";
import { type Dependency, type Readiness, readiness, watchReadiness } from "../http/health.ts";
import type { Mount } from "../http/mount.ts";
import { type Server, startServer } from "../http/server.ts";
import { type Answers, createAnswers } from "../idempotency/answers.ts";
import { createGuesses, type Guesses } from "../limits/guesses.ts";
import { createReportLimit } from "../limits/report-limit.ts";
import { cacheKey } from "../links/link.ts";
import type { SetUp } from "../people/sign-in/setup.ts";
import { knownHitsMax } from "../redirect/link-source.ts";
import { createRedirect } from "../redirect/serve.ts";
import { lockFolder } from "../sql/folder-lock.ts";
import type { Heartbeat } from "../sql/heartbeat.ts";
import type { Sql } from "../sql/sql.ts";
import { scopes } from "../tenants/keys.ts";
import type { Peers } from "../workers/channel.ts";
import { countApi } from "./api-metrics.ts";
import { type Background, createBackground } from "./background.ts";
import { type LinkCache, openCache } from "./cache.ts";
import { openCapture } from "./click-capture.ts";
import { openClicks } from "./clicks.ts";
import { type OpenCounters, openCounters } from "./counters.ts";
import { type Mail, mountMail, openMail } from "./email.ts";
import { mountFileTransfers, type OpenFiles, openFiles } from "./files.ts";
import type { ApiParts } from "./http.ts";
import { openJobs } from "./jobs.ts";
import { forVisitors, type Hits, type HitsRecorded, type LimitsRedis, openHits } from "./limits.ts";
import { openLive } from "./live.ts";
import { openClickNotices, openNotices } from "./notices.ts";
import { openRedirect, openVisitorSources, type VisitorSources } from "./redirect.ts";
import { openRedis } from "./redis.ts";
import { openSharePages } from "./share-pages.ts";
import type { Wiring } from "./wiring.ts";

/**
 * The composition root of the server: settings → adapters → subjects → socket. Each part is wired by the file of this
 * folder named after its room; `core.ts` has what the server shares with the command line.
 */
export interface Running {
  readonly port: number;
  /** The API key of the tenant `default`, on the very first start only. It is created last and stored nowhere else. */
  readonly firstKey: Promise<string | undefined>;
  /** For the first person. */
  readonly setUp: Pick<SetUp, "isOpen" | "issue">;
  stop(): Promise<void>;
}

/** Whoever waited for the socket is answered before the rest of the start, which blocks the thread. From shortly before it opens. */
const answeredFirstMs = 25;
const stopMs = 8_000; // running requests get this much of the ten seconds that a stop may take

/** `peers`: the other workers, if this is one of several on the same port. */
export async function startApp(config: Config, log: Logger, peers?: Peers): Promise<Running> {
  if (config.embedded) prepareDataFolder(config);
  const opened = new AsyncDisposableStack();
  try {
    return await serve(config, log, opened, peers);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

async function serve(
  config: Config,
  log: Logger,
  opened: AsyncDisposableStack,
  peers: Peers | undefined,
): Promise<Running> {
  const lock = config.embedded ? lockFolder(config.QL_DATA) : undefined;
  opened.defer(() => lock?.release());
  const publish: Publish = (change) => cache.publish(change);
  const core = await openCore(config, { log, publish, serves: true, lockHeld: true });
  opened.defer(() => core.close());
  const metrics = openMetrics(core, peers);
  const wiring: Wiring = { core, metrics, log, opened };

  const heartbeat = await joinOthers(wiring);
  const redis = await openRedis(wiring);
  const saveSoon = () => jobs.soon("hot-links");
  const hot = openHotLinks({ sql: core.sql, clock: core.clock, metrics, saveSoon });
  opened.defer(() => hot.stop());
  const onRecorded: HitsRecorded = (batch, totals) => {
    hot.count(batch);
    notices.check(totals);
    live.recorded(totals);
  };
  const unforced = await openUnforced(core);
  opened.defer(() => (unforced === core.sql ? undefined : unforced.close()));
  const visits = await openVisits(core);
  opened.defer(() => (visits === core.sql ? undefined : visits.close()));
  const hits = await openHits(wiring, { visits, redis: redis.limits, holders: heartbeat.count, onRecorded });
  const cache = await openCache(wiring, { redis: redis.cache, visits, hot });
  const counters = await openCounters(redis.limits, core.clock);
  const guesses = openGuesses(wiring, counters, redis.limits);
  const mail = openMail(wiring, counters.ledger);
  const background = createBackground(core);
  opened.defer(() => background.close());
  const files = openFiles(wiring, {
    unforced,
    counters: counters.ledger,
    recount: background.recount,
    publish,
    filled: ({ id: tenant, limits }, used) =>
      notices.noticed({ tenant, limit: "storageBytes", used, max: limits.storageBytes }),
  });
  const answers = openAnswers(wiring, unforced);
  const notices = openNotices(wiring, { mail, background, hitsMaxOf: recalledMax(cache) });
  const live = openLive(wiring, { redis: redis.limits, recall: cache.links.recall });
  const readiness = openReadiness(wiring, cache, redis.dependencies);
  const sampleReadiness = watchReadiness(readiness, metrics);
  const clickNotices = openClickNotices(wiring, { mail, background });
  const jobs = openJobs(wiring, {
    background,
    cache,
    clickNotices,
    files,
    heartbeat,
    hot,
    mail,
    notices,
    redis,
    sampleReadiness,
  });

  const api = loadedOnce(wiring, {
    counters,
    guesses,
    answers,
    files,
    cache,
    background,
    hits,
    notices,
    mail,
    jobs,
    live,
    readiness,
    counts: countApi(metrics),
  });
  const sources = openVisitorSources(core, () => server, log);
  const answered = setTimeout(answeredFirstMs);
  const capture = await openCapture(wiring, sources, answered);
  openClicks(wiring, { capture, live });
  const parts = { peers, readiness, hits, cache, counters, guesses, mail, files, api, sources, capture, background };
  const server: Server = listen(wiring, parts);
  opened.defer(() => server.stop(stopMs));

  // Only now that nothing can fail any more: a key that was not shown would be lost.
  const firstKey = answered
    .then(() => core.tenants.isEmpty())
    .then((empty) => (empty ? createFirstTenant(core) : undefined));
  firstKey.catch(() => {}); // callers that await it get the error
  void attempt(log, "loading the hottest links", async () => {
    await answered;
    cache.warm(await hot.lastKeys());
  });
  const flushKeys = () =>
    attempt(log, "recording when keys and sessions were last used", async () => {
      await core.keys.flush();
      await core.sessions.flush();
    });

  return {
    port: server.port,
    firstKey,
    setUp: core.setUp,
    async stop() {
      await firstKey.catch(() => {});
      background.stopSoon();
      await live.close();
      await Promise.all([server.stop(stopMs), mail.close(), jobs.stop()]);
      await flushKeys();
      await opened.disposeAsync();
    },
  };
}

/** As memory last knew it. */
const recalledMax =
  ({ links }: LinkCache) =>
  (key: string): number | null | undefined => {
    const link = links.recall(key);
    return link && knownHitsMax(link);
  };

interface SocketParts {
  readonly peers: Peers | undefined;
  readonly readiness: () => Promise<Readiness>;
  readonly hits: Hits;
  readonly cache: LinkCache;
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly mail: Mail;
  readonly files: OpenFiles;
  readonly api: () => Promise<HttpApi>;
  readonly sources: VisitorSources;
  readonly capture: Capture;
  readonly background: Background;
}

function listen(
  wiring: Wiring,
  { peers, readiness, hits, cache, counters, guesses, mail, files, api, sources, capture, background }: SocketParts,
): Server {
  const { core, metrics, log } = wiring;
  const { config, clock } = core;
  const server = startServer({
    hostname: config.HOST,
    port: config.PORT,
    sharesPort: peers !== undefined,
    baseUrl: config.baseUrl,
    redirect: createRedirect({
      cache: cache.links,
      tenants: cache.tenants,
      hosts: cache.hosts,
      meters: hits.meters,
      guesses,
      ...openRedirect({ core, cache, counters, sources }),
      capture,
      signDownload: files.files.offer,
      wait: config.wait,
      clock,
      metrics,
      log,
    }),
    api,
    hosts: cache.hosts,
    readiness,
    metrics,
    metricsToken: config.QL_METRICS_TOKEN,
    trustedProxies: config.QL_TRUSTED_PROXIES,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    uploadLimitBytes: files.folder ? config.QL_FILE_LIMIT : 0,
    mounts: [
      mountMail(core, mail, guesses, log),
      ...mountFileTransfers(wiring, files),
      mountReportForm(wiring, cache, counters, guesses),
      mountExclude(config.baseUrl.startsWith("https:")),
      mountDashboard({
        baseUrl: config.baseUrl,
        uploadOrigin: config.S3_URL && new URL(config.S3_URL.endpoint).origin,
      }),
      mountLogos((hash) => logoBytes(core.sql.db, hash)),
      openSharePages(wiring, { background, counters, sources, guesses }),
    ],
    clock,
    log,
  });
  return server;
}

function openMetrics(core: Core, peers: Peers | undefined): Metrics {
  const metrics = createMetrics(peers?.gather);
  peers?.tell(metrics.figures);
  metrics.gauge("quicklink_workers", "Processes on this port included in this answer.", () => 1);
  countProcess(metrics);
  countShares(metrics, Object.values(core.resources));
  return metrics;
}

/**
 * An embedded server is alone: it holds the lock of its folder. Claims on jobs that are there when it starts are its own, left
 * behind when it was killed.
 */
async function joinOthers({ core: { config, sql, clock }, metrics, log, opened }: Wiring): Promise<Heartbeat> {
  const start = async (): Promise<Heartbeat> => {
    const never = new AbortController().signal;
    if (config.embedded) return { id: "embedded", count: () => 1, lapse: () => never, async stop() {} };
    const { startHeartbeat } = await import("../sql/heartbeat.ts");
    return startHeartbeat(sql, config.limitsRedisUrl !== undefined, clock, log);
  };
  const heartbeat = await start();
  opened.defer(() => heartbeat.stop());
  metrics.gauge("quicklink_instances", "Servers that use this database.", heartbeat.count, "max");
  return heartbeat;
}

function openGuesses({ core, metrics }: Wiring, counters: OpenCounters, redis: LimitsRedis | undefined): Guesses {
  const guesses = createGuesses({
    counters: counters.guesses,
    perMinute: core.config.QL_GUESSES_PER_MINUTE,
    clock: core.clock,
    secretFor: core.secretFor,
    ...(redis && { inTime: forVisitors(redis, core.config.wait.redis) }),
  });
  metrics.gauge("quicklink_guessers", "Addresses that are blocked for guessing codes or keys.", () => guesses.blocked);
  return guesses;
}

/**
 * Responses to requests with an Idempotency-Key. A power cut may lose the last ones: a repeated request then runs
 * again.
 */
function openAnswers({ core }: Wiring, unforced: Sql): Answers {
  const serverSecrets = core.signing.secretsFor("requests that happen once");
  return createAnswers({ sql: unforced, serverSecrets, alone: core.config.embedded });
}

/**
 * With the first request that needs it: the framework and its schemas take as long to load as everything else together, and
 * 23 MB, and a redirect needs none of it.
 */
function loadedOnce(wiring: Wiring, parts: ApiParts): () => Promise<HttpApi> {
  let loading: Promise<HttpApi> | undefined;
  return () => {
    loading ??= import("./http.ts").then(({ openApi }) => openApi(wiring, parts));
    return loading;
  };
}

function openReadiness(
  { core: { sql, clock } }: Wiring,
  cache: LinkCache,
  redis: readonly Dependency[],
): () => Promise<Readiness> {
  const dependencies = [
    { name: "sql", ping: sql.ping },
    ...(cache.replica ? [{ name: "sql-replica", ping: cache.replica.ping }] : []),
    ...redis,
  ];
  return () => readiness(dependencies, () => cache.links.found > 0, clock);
}

function mountReportForm({ core, log }: Wiring, cache: LinkCache, counters: OpenCounters, guesses: Guesses): Mount {
  return mountReports({
    reports: core.reports,
    limit: createReportLimit({ counters: counters.reports, clock: core.clock, secretFor: core.secretFor }),
    guesses,
    find: async (domain, code) => (await cache.links.lookup(cacheKey(domain, code))).value,
    log,
  });
}

async function attempt(log: Logger, what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ error }, `${what} failed; will retry`);
  }
}

const byStart: Actor = { kind: "job", name: "first start" };

/** `undefined` if another server was first. */
async function createFirstTenant({ tenants, keys }: Core): Promise<string | undefined> {
  try {
    const tenant = await tenants.create("default", "Default", byStart);
    return (await keys.create(tenant.id, { name: "first key", scopes }, byStart)).secret;
  } catch (error) {
    if (error instanceof Problem && error.code === "name_taken") return undefined;
    throw error;
  }
}
