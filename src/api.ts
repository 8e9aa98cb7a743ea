import { version } from "../package.json";
import { Late } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import type { Core } from "./core.ts";
import type { OpenCounters } from "./counters.ts";
import { domainRoutes } from "./domains/api.ts";
import { emailRoutes } from "./email/api.ts";
import { createKeyCheck } from "./email/key-check.ts";
import { emailSettingsRoutes } from "./email/settings-api.ts";
import { shareRoutes } from "./email/share-api.ts";
import { fileRoutes } from "./files/api.ts";
import { StorageUnavailable } from "./files/storage.ts";
import type { Filing } from "./filing.ts";
import { createHttpApi, type HttpApi } from "./http/api.ts";
import { createRunOnce, idempotencyOutcomes } from "./http/idempotency.ts";
import { createPages } from "./http/pages.ts";
import type { Answers } from "./idempotency/answers.ts";
import { callOutcomes, createCallLimiter } from "./limits/call-limiter.ts";
import type { Guesses } from "./limits/guesses.ts";
import { type LinkApiSettings, linkRoutes } from "./links/api.ts";
import { statesOf } from "./links/states.ts";
import type { Mail } from "./mail.ts";
import { qrRoutes } from "./qr/api.ts";
import { isUnavailable } from "./sql/sql.ts";
import { tenantRoutes } from "./tenants/api.ts";
import { createUsage, type UsageSources } from "./tenants/usage.ts";
import { usageRoutes } from "./tenants/usage-api.ts";

export interface ApiParts {
  readonly core: Core;
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly filing: Filing;
  readonly answers: Answers;
  readonly createMany: LinkApiSettings["createMany"];
  readonly find: LinkApiSettings["find"];
  readonly made: LinkApiSettings["made"];
  readonly mail: Mail;
  readonly busiest: UsageSources["busiest"];
  /** After titles were asked for. */
  readonly titlesWanted: () => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * The API's part of the composition root, a file of its own because it is loaded after the server listens: the
 * framework and the schemas take longer than everything else together, and a redirect needs none of them.
 */
export function composeApi(parts: ApiParts): HttpApi {
  const { core, counters, guesses, filing, answers, createMany, find, made, mail } = parts;
  const { busiest, titlesWanted, log, metrics } = parts;
  const { config, sql, keys, tenants, links, clock } = core;
  const { outgoing } = core.resources;
  const { baseUrl } = config;
  const { outbox, stopLinks, settings } = mail;
  const limiter = createCallLimiter({
    counters: counters.calls,
    own: counters.ownCalls,
    policy: config.QL_API_OUTAGE,
    clock,
    count: metrics.tally("quicklink_api_limit_total", "How limits on API calls were answered.", "answer", callOutcomes),
    changed: (state) =>
      state === "away"
        ? log.warn({ policy: config.QL_API_OUTAGE }, "limits on API calls cannot be asked; the policy decides")
        : log.info("limits on API calls are answered again"),
  });
  const checkKey = createKeyCheck(config.QL_SENDGRID_URL);
  const pages = createPages(core.signing.signerFor("cursors of lists"));
  const runOnce = createRunOnce({
    answers,
    count: metrics.tally(
      "quicklink_idempotency_total",
      "What became of requests with an Idempotency-Key.",
      "outcome",
      idempotencyOutcomes,
    ),
    failed: (error) => log.warn({ error }, "the answer to a request with an Idempotency-Key could not be kept"),
  });
  return createHttpApi({
    keys,
    tenants,
    guesses,
    limiter,
    runOnce,
    baseUrl,
    version,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
    metrics,
    isUnavailable: (error) => isUnavailable(error) || error instanceof Late || error instanceof StorageUnavailable,
    routes: [
      (api) =>
        linkRoutes(api, {
          links,
          baseUrl,
          large: core.resources.work,
          createMany,
          find,
          pages,
          made,
          statesOf: (some) => statesOf(core, some),
          async wantTitles(some) {
            for (const { id } of some) await core.targets.want(id, clock.now());
            if (some.length > 0) titlesWanted();
          },
        }),
      (api) => qrRoutes(api, links, core.resources.work, baseUrl),
      (api) => tenantRoutes(api, keys, pages, clock),
      (api) => domainRoutes(api, core.domains, pages),
      (api) => usageRoutes(api, createUsage({ sql, clock, counters, storage: filing.room.freshFigures, busiest })),
      (api) => fileRoutes(api, filing.files, pages),
      (api) => emailRoutes(api, mail.stats, mail.suppressions, pages),
      (api) => emailSettingsRoutes(api, { settings, checkKey, outgoing, canSeal: core.ring !== undefined, baseUrl }),
      (api) => shareRoutes(api, { links, outbox, stopLinks, baseUrl, clock }),
    ],
  });
}
