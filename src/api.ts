import { version } from "../package.json";
import { Late } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import type { Core } from "./core.ts";
import type { OpenCounters } from "./counters.ts";
import { createHttpApi, type HttpApi } from "./http/api.ts";
import { createRunOnce, idempotencyOutcomes } from "./http/idempotency.ts";
import type { Answers } from "./idempotency/answers.ts";
import { callOutcomes, createCallLimiter } from "./limits/call-limiter.ts";
import type { Guesses } from "./limits/guesses.ts";
import { type LinkApiSettings, linkRoutes } from "./links/api.ts";
import { createCursors } from "./links/cursor.ts";
import { isUnavailable } from "./sql/sql.ts";
import { tenantRoutes } from "./tenants/api.ts";
import { createUsage, type UsageSources } from "./tenants/usage.ts";
import { usageRoutes } from "./tenants/usage-api.ts";

export interface ApiParts {
  readonly core: Core;
  readonly counters: OpenCounters;
  readonly guesses: Guesses;
  readonly answers: Answers;
  readonly createMany: LinkApiSettings["createMany"];
  readonly find: LinkApiSettings["find"];
  readonly busiest: UsageSources["busiest"];
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * The API's part of the composition root, a file of its own because it is loaded after the server listens: the
 * framework and the schemas take longer than everything else together, and a redirect needs none of them.
 */
export function composeApi(parts: ApiParts): HttpApi {
  const { core, counters, guesses, answers, createMany, find, busiest, log, metrics } = parts;
  const { config, sql, keys, tenants, links, clock } = core;
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
  const cursors = createCursors(core.secretFor("cursors of lists"));
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
    baseUrl: config.baseUrl,
    version,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
    metrics,
    isUnavailable: (error) => isUnavailable(error) || error instanceof Late,
    routes: [
      (api) => linkRoutes(api, { links, baseUrl: config.baseUrl, createMany, find, cursors }),
      (api) => tenantRoutes(api, keys, clock),
      (api) => usageRoutes(api, createUsage({ sql, clock, counters, busiest })),
    ],
  });
}
