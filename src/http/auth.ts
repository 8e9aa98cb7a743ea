import type { MiddlewareHandler } from "hono";
import { Problem } from "../base/errors.ts";
import type { Keys } from "../tenants/keys.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { RouteEnv } from "./route.ts";

/** Finds out who calls, from `Authorization: Bearer ql_…`. What the caller may do is each route's business. */
export function authenticate(keys: Keys, tenants: Tenants): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const header = c.req.header("authorization");
    if (header === undefined) {
      throw new Problem("unauthorized", "Send your API key in the header Authorization: Bearer ql_…");
    }
    const secret = /^Bearer +(\S+)$/i.exec(header)?.[1];
    const key = secret === undefined ? undefined : await keys.authenticate(secret);
    const tenant = key && (await tenants.byId(key.tenantId));
    if (!key || !tenant) {
      throw new Problem("unauthorized", "This API key is not known here, or it has expired or was revoked.");
    }
    c.set("caller", { key, tenant });
    await next();
  };
}
