import { version } from "../package.json";
import { Late } from "./base/deadline.ts";
import type { Logger } from "./base/log.ts";
import type { Metrics } from "./base/metrics.ts";
import type { Core } from "./core.ts";
import { createHttpApi, type HttpApi } from "./http/api.ts";
import { type LinkApiSettings, linkRoutes } from "./links/api.ts";
import { isUnavailable } from "./sql/sql.ts";
import { tenantRoutes } from "./tenants/api.ts";

/**
 * The API's part of the composition root, a file of its own because it is loaded after the server listens: the
 * framework and the schemas take longer than everything else together, and a redirect needs none of them.
 */
export function composeApi(
  { config, keys, tenants, links, clock }: Core,
  log: Logger,
  metrics: Metrics,
  createMany: LinkApiSettings["createMany"],
): HttpApi {
  return createHttpApi({
    keys,
    tenants,
    baseUrl: config.baseUrl,
    version,
    bodyLimitBytes: config.QL_BODY_LIMIT,
    clock,
    log,
    metrics,
    isUnavailable: (error) => isUnavailable(error) || error instanceof Late,
    routes: [
      (api) => linkRoutes(api, { links, baseUrl: config.baseUrl, createMany }),
      (api) => tenantRoutes(api, keys, clock),
    ],
  });
}
