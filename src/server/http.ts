import { version } from "../../package.json";
import { createAnnotations } from "../annotations/annotations.ts";
import { annotationRoutes } from "../annotations/api.ts";
import { Late } from "../base/deadline.ts";
import { Problem } from "../base/errors.ts";
import type { PersonId, TenantId } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import { brandingRoutes } from "../branding/api.ts";
import { createBranding, logoOf } from "../branding/branding.ts";
import { liveRoutes } from "../clicks/live/api.ts";
import type { Live } from "../clicks/live/live.ts";
import { clickRoutes } from "../clicks/reports/api.ts";
import { clickSettings } from "../clicks/reports/scope.ts";
import { trendRoutes } from "../clicks/reports/trends-api.ts";
import { createClickSettings } from "../clicks/settings.ts";
import { clickSettingsRoutes } from "../clicks/settings-api.ts";
import type { Core } from "../core.ts";
import { domainRoutes } from "../domains/api.ts";
import { emailRoutes } from "../email/api.ts";
import type { LimitWatch } from "../email/notices/limit-watch.ts";
import { createKeyCheck } from "../email/providers/sendgrid-key.ts";
import { emailSettingsRoutes } from "../email/settings/api.ts";
import { shareRoutes } from "../email/share-api.ts";
import { emailTemplateRoutes } from "../email/templates/api.ts";
import { fileRoutes } from "../files/api.ts";
import { StorageUnavailable } from "../files/storage/storage.ts";
import { historyRoutes } from "../history/api.ts";
import { createHttpApi, type HttpApi } from "../http/api.ts";
import type { Readiness } from "../http/health.ts";
import { createRunOnce, type RunOnce } from "../http/idempotency.ts";
import { createPages } from "../http/pagination.ts";
import { actorOf } from "../http/route.ts";
import type { Answers } from "../idempotency/answers.ts";
import { importRoutes } from "../import-export/runs/api.ts";
import { createImportRuns } from "../import-export/runs/import-runs.ts";
import { type CallLimiter, createCallLimiter } from "../limits/call-limiter.ts";
import type { Guesses } from "../limits/guesses.ts";
import { destinationRoutes } from "../link-health/api.ts";
import { createDestinationChecks } from "../link-health/destination-check.ts";
import { createPreviewImages } from "../link-health/preview-image.ts";
import { type LinkApiSettings, linkRoutes } from "../links/api.ts";
import { bulkEditRoutes, type RunSteps } from "../links/bulk/api.ts";
import { replaceRoutes } from "../links/bulk/replace-api.ts";
import { notReached } from "../links/bulk/run-steps.ts";
import type { StepOutcome } from "../links/bulk/step.ts";
import { checkRoutes } from "../links/check/api.ts";
import { cacheKey, changeOf, type Link } from "../links/link.ts";
import { linkPastRoutes } from "../links/past/api.ts";
import { linkCountRoutes } from "../links/read/counts-api.ts";
import { linkExportRoutes } from "../links/read/export-api.ts";
import { isPlain } from "../links/read/find.ts";
import { statesOf } from "../links/read/states.ts";
import { showLink } from "../links/schemas.ts";
import { tagRoutes } from "../links/tags/api.ts";
import { trashRoutes } from "../links/trash/api.ts";
import { utmTemplateRoutes } from "../links/utm-templates/api.ts";
import { createUtmTemplates } from "../links/utm-templates/utm-templates.ts";
import { freshness } from "../people/freshness.ts";
import { namesOfPeople } from "../people/names.ts";
import { qrRoutes } from "../qr/api.ts";
import { statsShareRoutes } from "../share-pages/api.ts";
import { createStatsShares } from "../share-pages/shares.ts";
import { hasUnstorableText, isConflict, isUnavailable } from "../sql/sql.ts";
import { tenantRoutes } from "../tenants/api.ts";
import { tenantNumberOf } from "../tenants/tenant-number.ts";
import { createUsage } from "../tenants/usage.ts";
import { usageRoutes } from "../tenants/usage-api.ts";
import type { ApiMetrics } from "./api-metrics.ts";
import type { Background } from "./background.ts";
import type { LinkCache } from "./cache.ts";
import type { OpenCounters } from "./counters.ts";
import type { Mail } from "./email.ts";
import type { OpenFiles } from "./files.ts";
import type { Jobs } from "./jobs.ts";
import type { Hits } from "./limits.ts";
import { openOperatorRoutes } from "./operator.ts";
import { openPeople } from "./people.ts";
import type { Wiring } from "./wiring.ts";
import { openWorkspaceRoutes } from "./workspaces.ts";

/** What the API is wired from, besides the core. */
export interface ApiParts {
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly answers: Answers;
  readonly files: OpenFiles;
  readonly cache: Pick<LinkCache, "publish" | "tenants">;
  readonly background: Background;
  readonly hits: Pick<Hits, "moved">;
  readonly notices: Pick<LimitWatch, "made">;
  readonly mail: Mail;
  readonly jobs: Pick<Jobs, "soon">;
  readonly live: Pick<Live, "open">;
  readonly readiness: () => Promise<Readiness>;
  readonly counts: ApiMetrics;
}

/** The API, which `server.ts` loads with its first request. */
export function openApi(wiring: Wiring, parts: ApiParts): HttpApi {
  const { core, log } = wiring;
  const { counters, guesses, files, background, mail } = parts;
  const { config, sql, keys, links, clock } = core;
  const { outgoing, work } = core.resources;
  const { baseUrl } = config;
  const { outbox, stopLinks, settings } = mail;
  const checkKey = createKeyCheck(config.QL_SENDGRID_URL);
  const pages = createPages(core.signing.signerFor("cursors of lists"));
  const storage = files.quota.freshFigures;
  const show = async (link: Link) => showLink(link, baseUrl, (await statesOf(core, [link])).get(link.id));
  const people = openPeople(wiring, parts);
  const usage = createUsage({ sql, clock, counters, storage, busiest: background.busiest });
  const requireFresh = freshness(clock);
  const namesOf = (ids: readonly (PersonId | null)[]) => namesOfPeople(sql.db, ids);
  const wake = () => parts.jobs.soon("imports");
  const writing = linkWriting(core, parts);
  const { find, runSteps } = writing;
  const fetches = config.QL_CHECK_TARGETS !== null;
  const branding = createBranding(sql, clock);
  return createHttpApi({
    keys,
    sessions: core.sessions,
    cookie: people.cookie,
    tenants: parts.cache.tenants,
    guesses,
    limiter: openCallLimiter(core, counters, log, parts.counts.calls),
    runOnce: openRunOnce(parts.answers, log, parts.counts.repeats),
    baseUrl,
    anyHost: !config.ownNames.onlyThese,
    version,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
    observeSeconds: parts.counts.observeSeconds,
    hasUnstorableText,
    isUnavailable: (error) =>
      isUnavailable(error) || isConflict(error) || error instanceof Late || error instanceof StorageUnavailable,
    routes: [
      // Before the routes of single links, whose IDs would match these names.
      (api) => checkRoutes(api, { ...core, links, baseUrl, now: clock.now }),
      (api) => {
        const checks = createDestinationChecks({ ...core, links, outgoing, fetches });
        destinationRoutes(api, checks, createPreviewImages(checks, core.safeFetch, outgoing));
      },
      (api) => linkCountRoutes(api, { links, count: background.countLinks, now: clock.now }),
      (api) => linkExportRoutes(api, { ...writing, links, baseUrl, clock }),
      (api) => trendRoutes(api, { ...clickReading(core, background), clock }),
      (api) => bulkEditRoutes(api, { links, baseUrl, pages, find, runSteps, now: clock.now }),
      (api) =>
        replaceRoutes(api, {
          ...writing,
          links,
          baseUrl,
          now: clock.now,
          signer: core.signing.signerFor("replacements"),
        }),
      (api) => tagRoutes(api, { tags: background.tags, find, runSteps, pages, baseUrl }),
      (api) => annotationRoutes(api, { annotations: createAnnotations(sql, clock), pages, now: clock.now, namesOf }),
      (api) => utmTemplateRoutes(api, createUtmTemplates(sql, clock), pages),
      (api) => brandingRoutes(api, branding, baseUrl),
      (api) => {
        const { report } = background;
        statsShareRoutes(api, { ...core, links, report, shares: createStatsShares(sql, clock), pages, baseUrl });
      },
      (api) => importRoutes(api, { runs: createImportRuns(sql, clock), fileOf: files.files.get, pages, wake }),
      (api) => linkRoutes(api, { ...writing, links, baseUrl, pages, now: clock.now, large: work }),
      (api) => linkPastRoutes(api, { sql, links, past: core.past, pages, show }),
      (api) => trashRoutes(api, { links, trash: core.trash, pages, clock, baseUrl, show }),
      (api) => historyRoutes(api, sql, pages, clock),
      (api) => clickRoutes(api, { ...clickReading(core, background), links, pages, baseUrl, clock }),
      (api) => qrRoutes(api, links, work, baseUrl, (tenant) => logoOf(sql.db, branding, tenant)),
      (api) => tenantRoutes(api, { keys, pages, clock, linkDays: config.QL_LINK_DAYS, namesOf }),
      (api) => domainRoutes(api, core.domains, pages),
      (api) => usageRoutes(api, usage, baseUrl),
      (api) => clickSettingsRoutes(api, createClickSettings(sql, clock, parts.cache.publish)),
      (api) => fileRoutes(api, files.files, pages),
      (api) => emailRoutes(api, mail.stats, mail.suppressions, pages),
      (api) => emailTemplateRoutes(api, { ...clickReading(core, background), baseUrl, clock }),
      (api) => emailSettingsRoutes(api, { settings, checkKey, outgoing, canSeal: core.ring !== undefined, baseUrl }),
      (api) => liveRoutes(api, parts.live, (tenant) => tenantNumberOf(sql.db, tenant)),
      ...people.routes,
      (api) => shareRoutes(api, { links, outbox, stopLinks, baseUrl, clock }),
      ...openWorkspaceRoutes(wiring, { ...parts, pages, people, requireFresh }),
      ...openOperatorRoutes(wiring, { ...parts, pages, usage, requireFresh }),
    ],
  });
}

const stepsATurn = 500;

/** What the routes of links need from other rooms. */
function linkWriting(
  core: Core,
  { cache, background, hits, notices, jobs }: ApiParts,
): Pick<LinkApiSettings, "createMany" | "find" | "made" | "statesOf" | "wantTitles"> & { readonly runSteps: RunSteps } {
  return {
    async runSteps(caller, steps, signal) {
      const outcomes: StepOutcome[] = [];
      // Several turns, so that others wait for a part of them only.
      for (let at = 0; at < steps.length; at += stepsATurn) {
        const some = steps.slice(at, at + stepsATurn);
        const run = () => background.runSteps(caller.tenant, some, actorOf(caller));
        const done = await core.resources.work.run(caller.tenant.id, run, { signal }).catch((error: unknown) => {
          // What was done before is told, so that it can be undone.
          if (outcomes.length > 0 && error instanceof Problem) {
            return some.map((): StepOutcome => ({ kind: "failed", problem: error }));
          }
          if (outcomes.length > 0 && isUnavailable(error)) return some.map(notReached);
          throw error;
        });
        for (const one of done) {
          if (one.kind !== "changed") continue;
          for (const change of one.changes) cache.publish(change);
          // A Redis that does not answer lends nothing either, or its breaker is open.
          if (one.changes.length > 1) await hits.moved(cacheKey(one.link.domain, one.link.code)).catch(() => {});
        }
        outcomes.push(...done);
      }
      return outcomes;
    },
    made: notices.made,
    async createMany(caller, inputs, atomic) {
      const results = await background.createMany(caller.tenant, inputs, actorOf(caller), atomic);
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

function clickReading({ sql }: Core, { report, clicks, trends }: Background) {
  return { report, clicks, trends, zoneOf: async (tenant: TenantId) => (await clickSettings(sql, tenant)).zone };
}

function openCallLimiter(
  { config, clock }: Core,
  { calls, ownCalls }: OpenCounters,
  log: Logger,
  count: ApiMetrics["calls"],
): CallLimiter {
  const { QL_API_OUTAGE: policy } = config;
  return createCallLimiter({
    counters: calls,
    own: ownCalls,
    policy,
    clock,
    count,
    changed: (state) =>
      state === "away"
        ? log.warn({ policy }, "cannot check API rate limits; applying QL_API_OUTAGE")
        : log.info("checking API rate limits works again"),
  });
}

function openRunOnce(answers: Answers, log: Logger, count: ApiMetrics["repeats"]): RunOnce {
  return createRunOnce({
    answers,
    count,
    failed: (error) => log.warn({ error }, "could not store the response to a request with an Idempotency-Key"),
  });
}
