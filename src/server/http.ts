import { version } from "../../package.json";
import { Late } from "../base/deadline.ts";
import type { TenantId } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { liveRoutes } from "../clicks/live/api.ts";
import type { Live } from "../clicks/live/live.ts";
import { clickRoutes } from "../clicks/reports/api.ts";
import { clickSettings } from "../clicks/reports/scope.ts";
import { createClickSettings } from "../clicks/settings.ts";
import { clickSettingsRoutes } from "../clicks/settings-api.ts";
import type { Core } from "../core.ts";
import { domainRoutes } from "../domains/api.ts";
import { emailRoutes } from "../email/api.ts";
import type { LimitWatch } from "../email/notices/limit-watch.ts";
import { createKeyCheck } from "../email/providers/sendgrid-key.ts";
import { emailSettingsRoutes } from "../email/settings/api.ts";
import { shareRoutes } from "../email/share-api.ts";
import { fileRoutes } from "../files/api.ts";
import { StorageUnavailable } from "../files/storage/storage.ts";
import { createHttpApi, type HttpApi } from "../http/api.ts";
import { createRunOnce, idempotencyOutcomes, type RunOnce } from "../http/idempotency.ts";
import { createPages } from "../http/pagination.ts";
import type { Answers } from "../idempotency/answers.ts";
import { type CallLimiter, callOutcomes, createCallLimiter } from "../limits/call-limiter.ts";
import type { Guesses } from "../limits/guesses.ts";
import { type LinkApiSettings, linkRoutes } from "../links/api.ts";
import { changeOf } from "../links/link.ts";
import { isPlain } from "../links/read/find.ts";
import { statesOf } from "../links/read/states.ts";
import { qrRoutes } from "../qr/api.ts";
import { isUnavailable } from "../sql/sql.ts";
import { tenantRoutes } from "../tenants/api.ts";
import { tenantNumberOf } from "../tenants/tenant-number.ts";
import { createUsage } from "../tenants/usage.ts";
import { usageRoutes } from "../tenants/usage-api.ts";
import type { Background } from "./background.ts";
import type { LinkCache } from "./cache.ts";
import type { OpenCounters } from "./counters.ts";
import type { Mail } from "./email.ts";
import type { OpenFiles } from "./files.ts";
import type { Jobs } from "./jobs.ts";
import type { Wiring } from "./wiring.ts";

/** What the API is wired from, besides the core. */
export interface ApiParts {
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly answers: Answers;
  readonly files: OpenFiles;
  readonly cache: Pick<LinkCache, "publish">;
  readonly background: Background;
  readonly notices: Pick<LimitWatch, "made">;
  readonly mail: Mail;
  readonly jobs: Pick<Jobs, "soon">;
  readonly live: Pick<Live, "open">;
}

/** The API, which `server.ts` loads once the socket listens. */
export function openApi({ core, log, metrics }: Wiring, parts: ApiParts): HttpApi {
  const { counters, guesses, files, background, mail } = parts;
  const { config, sql, keys, tenants, links, clock } = core;
  const { outgoing, work } = core.resources;
  const { baseUrl } = config;
  const { outbox, stopLinks, settings } = mail;
  const checkKey = createKeyCheck(config.QL_SENDGRID_URL);
  const pages = createPages(core.signing.signerFor("cursors of lists"));
  const storage = files.quota.freshFigures;
  return createHttpApi({
    keys,
    tenants,
    guesses,
    limiter: openCallLimiter(core, counters, log, metrics),
    runOnce: openRunOnce(parts.answers, log, metrics),
    baseUrl,
    version,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
    metrics,
    isUnavailable: (error) => isUnavailable(error) || error instanceof Late || error instanceof StorageUnavailable,
    routes: [
      (api) => linkRoutes(api, { ...linkWriting(core, parts), links, baseUrl, pages, large: work }),
      (api) => clickRoutes(api, { ...clickReading(core, background), links, pages, baseUrl, clock }),
      (api) => qrRoutes(api, links, work, baseUrl),
      (api) => tenantRoutes(api, keys, pages, clock),
      (api) => domainRoutes(api, core.domains, pages),
      (api) => usageRoutes(api, createUsage({ sql, clock, counters, storage, busiest: background.busiest })),
      (api) => clickSettingsRoutes(api, createClickSettings(sql), () => parts.jobs.soon("tenant-changes")),
      (api) => fileRoutes(api, files.files, pages),
      (api) => emailRoutes(api, mail.stats, mail.suppressions, pages),
      (api) => emailSettingsRoutes(api, { settings, checkKey, outgoing, canSeal: core.ring !== undefined, baseUrl }),
      (api) => liveRoutes(api, parts.live, (tenant) => tenantNumberOf(sql.db, tenant)),
      (api) => shareRoutes(api, { links, outbox, stopLinks, baseUrl, clock }),
    ],
  });
}

/** What the routes of links need from other rooms. */
function linkWriting(
  core: Core,
  { cache, background, notices, jobs }: ApiParts,
): Pick<LinkApiSettings, "createMany" | "find" | "made" | "statesOf" | "wantTitles"> {
  return {
    made: notices.made,
    async createMany({ tenant }, inputs, atomic) {
      const results = await background.createMany(tenant, inputs, "tenant", atomic);
      for (const result of results) if ("link" in result) cache.publish(changeOf(result.link));
      return results;
    },
    find: (tenant, query) => (isPlain(query) ? core.store.find(tenant, query) : background.find(tenant, query)),
    statesOf: (some) => statesOf(core, some),
    async wantTitles(some) {
      for (const { id } of some) await core.targets.want(id, core.clock.now());
      if (some.length > 0) jobs.soon("targets");
    },
  };
}

function clickReading({ sql }: Core, { report, clicks }: Background) {
  return { report, clicks, zoneOf: async (tenant: TenantId) => (await clickSettings(sql, tenant)).zone };
}

function openCallLimiter(
  { config, clock }: Core,
  { calls, ownCalls }: OpenCounters,
  log: Logger,
  metrics: Metrics,
): CallLimiter {
  const { QL_API_OUTAGE: policy } = config;
  return createCallLimiter({
    counters: calls,
    own: ownCalls,
    policy,
    clock,
    count: metrics.tally("quicklink_api_limit_total", "Decisions of the API rate limit.", "answer", callOutcomes),
    changed: (state) =>
      state === "away"
        ? log.warn({ policy }, "cannot check API rate limits; applying QL_API_OUTAGE")
        : log.info("checking API rate limits works again"),
  });
}

function openRunOnce(answers: Answers, log: Logger, metrics: Metrics): RunOnce {
  return createRunOnce({
    answers,
    count: metrics.tally(
      "quicklink_idempotency_total",
      "Requests with an Idempotency-Key, by outcome.",
      "outcome",
      idempotencyOutcomes,
    ),
    failed: (error) => log.warn({ error }, "could not store the response to a request with an Idempotency-Key"),
  });
}
