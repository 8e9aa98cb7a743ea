import { mountReports } from "./abuse/mount.ts";
import { createBackground } from "./background.ts";
import { Problem } from "./base/errors.ts";
import type { Logger } from "./base/log.ts";
import { createMetrics } from "./base/metrics.ts";
import { countProcess } from "./base/process.ts";
import { countShares } from "./base/shares.ts";
import { type Config, prepareDataFolder } from "./config.ts";
import { type Core, openCore, openUnforced } from "./core.ts";
import { openCounters } from "./counters.ts";
import { forVisitors, type Recorded } from "./counting.ts";
import { createFolder } from "./files/folder.ts";
import { mountFiles } from "./files/mount.ts";
import { uploadMostMs } from "./files/storage.ts";
import { createTokens } from "./files/tokens.ts";
import { openFiling } from "./filing.ts";
import { openHits } from "./hits.ts";
import { openHot } from "./hot.ts";
import type { HttpApi } from "./http/api.ts";
import { readiness, watchReadiness } from "./http/health.ts";
import { startServer } from "./http/server.ts";
import { createAnswers } from "./idempotency/answers.ts";
import { createGuesses } from "./limits/guesses.ts";
import { createReportLimit } from "./limits/report-limit.ts";
import type { LinkApiSettings } from "./links/api.ts";
import { isPlain } from "./links/find.ts";
import { cacheKey } from "./links/link.ts";
import { openLookup } from "./lookup.ts";
import { mountMail, openMail } from "./mail.ts";
import { openNotices } from "./notices.ts";
import { openRedis } from "./open-redis.ts";
import { createBots } from "./redirect/bots.ts";
import { createRedirect } from "./redirect/serve.ts";
import { startRounds } from "./rounds.ts";
import { lockFolder } from "./sql/folder-lock.ts";
import type { Heartbeat } from "./sql/heartbeat.ts";
import { scopes } from "./tenants/keys.ts";
import { openVisits } from "./visits.ts";
import type { Peers } from "./workers/channel.ts";

/**
 * The composition root of the server: settings → adapters → subjects → socket. The only file that knows every part;
 * `core.ts` holds what it shares with the command line.
 */
export interface Running {
  readonly port: number;
  /** On the very first start the key of the tenant `default`, which is nowhere else; it is made when all else is there. */
  readonly firstKey: Promise<string | undefined>;
  stop(): Promise<void>;
}

const stopMs = 8_000; // of the ten seconds that a stop may take, the part for requests that are still running
const flushMs = 5_000;
const cleanMs = 3_600_000;

/** `peers`: the other workers, if this is one of several on the same port. */
export async function startApp(config: Config, log: Logger, peers?: Peers): Promise<Running> {
  if (config.embedded) prepareDataFolder(config);
  // What was opened, to be closed in the opposite order: at the end, or when a later step fails.
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
  const changed = (domain: string, code: string, version: number) => lookup.changed({ domain, code, version });
  const core = await openCore(config, { log, changed, serves: true, lockHeld: true });
  opened.defer(() => core.close());
  const { sql, clock, tenants, keys } = core;
  const { uploads, downloads } = core.resources;
  const metrics = createMetrics(peers?.gather);
  peers?.tell(metrics.figures);
  metrics.gauge("quicklink_workers", "Processes on this port whose figures are in this answer.", () => 1);
  countProcess(metrics);
  countShares(metrics, Object.values(core.resources));

  const heartbeat = await joinOthers(core, log);
  opened.defer(() => heartbeat.stop());
  metrics.gauge("quicklink_instances", "Servers that use this database.", heartbeat.count, "max");

  const redis = await openRedis({ config, clock, metrics, log, opened });
  const hot = openHot(core, metrics, log);
  opened.defer(() => hot.stop());
  const recorded: Recorded = (batch, totals) => {
    hot.recorded(batch);
    notices.recorded(totals);
  };
  const hits = await openHits({ core, redis: redis.limits, holders: heartbeat.count, recorded, metrics, log });
  opened.defer(() => hits.close());
  metrics.gauge("quicklink_meters", "Links whose hits are being counted.", () => hits.meters.size);

  const lookup = await openLookup({ core, redis: redis.cache, hot, metrics, log });
  opened.defer(() => lookup.stop());
  const counters = await openCounters(redis.limits, clock);
  const guesses = createGuesses({
    counters: counters.guesses,
    perMinute: config.QL_GUESSES_PER_MINUTE,
    clock,
    secretFor: core.secretFor,
    ...(redis.limits && { inTime: forVisitors(redis.limits, config.wait.redis) }),
  });
  metrics.gauge("quicklink_guessers", "Addresses that must wait before they guess again.", () => guesses.blocked);
  const mail = openMail({ core, counters: counters.ledger, metrics, log });
  opened.defer(() => mail.close());
  const background = createBackground(core);
  opened.defer(() => background.close());

  const filing = openFiling({
    core,
    counters: counters.ledger,
    recount: background.recount,
    changed: lookup.changed,
    filled: ({ id: tenant, limits }, used) =>
      notices.noticed({ tenant, limit: "storageBytes", used, max: limits.storageBytes }),
    metrics,
    log,
  });
  opened.defer(() => filing.close());
  const rounds = startRounds({ core, background, metrics, log });
  opened.defer(() => rounds.stop());

  const createMany: LinkApiSettings["createMany"] = async ({ tenant }, inputs, atomic) => {
    const results = await background.createMany(tenant, inputs, "tenant", atomic);
    for (const result of results) if ("link" in result) lookup.changed(result.link);
    return results;
  };
  const find: LinkApiSettings["find"] = (tenant, query) =>
    isPlain(query) ? core.store.find(tenant, query) : background.find(tenant, query);
  const unforced = await openUnforced(core);
  opened.defer(() => (unforced === sql ? undefined : unforced.close()));
  const serverSecrets = core.signing.secretsFor("requests that happen once");
  const answers = createAnswers({ sql: unforced, serverSecrets, alone: config.embedded });
  const notices = openNotices({ core, mail, background, hitsMaxOf: (key) => lookup.cache.recall(key)?.hitsMax, log });
  opened.defer(() => notices.close());
  const { made } = notices;
  let loading: Promise<HttpApi> | undefined;
  const api = () => {
    loading ??= import("./api.ts").then(({ composeApi }) =>
      composeApi({
        core,
        counters,
        guesses,
        filing,
        answers,
        createMany,
        find,
        made,
        mail,
        busiest: background.busiest,
        titlesWanted: rounds.soon,
        log,
        metrics,
      }),
    );
    return loading;
  };

  const dependencies = [
    { name: "sql", ping: sql.ping },
    ...(lookup.replica ? [{ name: "sql-replica", ping: lookup.replica.ping }] : []),
    ...redis.dependencies,
  ];
  const ready = () => readiness(dependencies, () => lookup.cache.found > 0, clock);
  const watching = watchReadiness(ready, metrics);
  opened.defer(() => watching.stop());

  const disk = config.S3_URL === undefined ? createFolder(config.filesFolder) : undefined;
  const tokens = createTokens(core.signing.signerFor("files"), clock);
  const server = startServer({
    hostname: config.HOST,
    port: config.PORT,
    sharesPort: peers !== undefined,
    baseUrl: config.baseUrl,
    redirect: createRedirect({
      cache: lookup.cache,
      hosts: lookup.hosts,
      isBot: createBots(),
      meters: hits.meters,
      guesses,
      ...openVisits({ core, lookup, counters, server: () => server, log }),
      signDownload: filing.files.offer,
      wait: config.wait,
      clock,
      metrics,
      log,
    }),
    api,
    hosts: lookup.hosts,
    readiness: ready,
    metrics,
    metricsToken: config.QL_METRICS_TOKEN,
    trustedProxies: config.QL_TRUSTED_PROXIES,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    uploadLimitBytes: disk ? config.QL_FILE_LIMIT : 0,
    mounts: [
      mountMail(core, mail, guesses, log),
      ...(disk ? [mountFiles({ folder: disk, tokens, log, metrics, fileOf: filing.fileOf, uploads, downloads })] : []),
      mountReports({
        reports: core.reports,
        limit: createReportLimit({ counters: counters.reports, clock, secretFor: core.secretFor }),
        guesses,
        find: async (domain, code) => (await lookup.cache.lookup(cacheKey(domain, code))).value,
        log,
      }),
    ],
    log,
  });

  opened.defer(() => server.stop(stopMs));
  setImmediate(() => void api());

  // Only now that nothing can fail any more: a key that nobody got to see would be lost.
  const firstKey = tenants.isEmpty().then((empty) => (empty ? createFirstTenant(core) : undefined));
  firstKey.catch(() => {}); // whoever waits for it hears of it

  const attempt = async (what: string, work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      log.warn({ error }, `${what} failed; it will be tried again`);
    }
  };
  void attempt("having the hottest links at hand", async () => lookup.warm(await hot.lastKeys()));
  // Twice what an upload may take: a clock that was set is no reason to take one away that is running.
  const clearDrafts = async () => disk?.clearDrafts(clock.now() - 2 * uploadMostMs);
  const flushKeys = () => attempt("recording when keys were used", keys.flush);
  const timers = [
    setInterval(flushKeys, flushMs),
    setInterval(() => attempt("clearing away what is long past", background.clean), cleanMs),
    setInterval(() => attempt("removing what broken uploads left", clearDrafts), cleanMs),
  ];

  return {
    port: server.port,
    firstKey,
    async stop() {
      await firstKey.catch(() => {});
      for (const timer of timers) clearInterval(timer);
      await Promise.all([server.stop(stopMs), mail.close()]);
      await flushKeys();
      await opened.disposeAsync();
    },
  };
}

/** An embedded server is alone: it holds the lock of its folder. */
async function joinOthers({ config, sql, clock }: Core, log: Logger): Promise<Heartbeat> {
  if (config.embedded) return { count: () => 1, async stop() {} };
  const { startHeartbeat } = await import("./sql/heartbeat.ts");
  return startHeartbeat(sql, config.limitsRedisUrl !== undefined, clock, log);
}

/** Nothing if another server was first. */
async function createFirstTenant({ tenants, keys }: Core): Promise<string | undefined> {
  try {
    const tenant = await tenants.create("default", "Default");
    return (await keys.create(tenant.id, { name: "first key", scopes })).secret;
  } catch (error) {
    if (error instanceof Problem && error.code === "name_taken") return undefined;
    throw error;
  }
}
