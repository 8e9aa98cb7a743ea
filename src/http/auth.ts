import type { MiddlewareHandler } from "hono";
import { Problem } from "../base/errors.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Keys } from "../tenants/keys.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { RouteEnv } from "./route.ts";

/**
 * Authenticates the caller by `Authorization: Bearer ql_…`. Each route checks what the caller may do.
 *
 * An invalid key counts as a guess. After too many, the address must wait. A valid key still works from there: 256 bits
 * cannot be guessed, and a neighbour behind the same address must not lock a tenant out.
 */
export function authenticate(keys: Keys, tenants: Tenants, guesses: Guesses): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const header = c.req.header("authorization");
    if (header === undefined) {
      throw new Problem("unauthorized", "Send your API key in the header Authorization: Bearer ql_…");
    }
    const secret = /^Bearer +(\S+)$/i.exec(header)?.[1];
    const key = secret === undefined ? undefined : await keys.authenticate(secret);
    const tenant = key && (await tenants.byId(key.tenantId));
    if (!key || !tenant) {
      const retryAfterSeconds = await guesses.missed(c.env.address);
      if (retryAfterSeconds !== undefined) {
        const detail = `Too many invalid API keys from your IP address. Check your key and try again in ${retryAfterSeconds} s.`;
        throw new Problem("too_many_guesses", detail, { retryAfterSeconds });
      }
      throw new Problem(
        "unauthorized",
        "The API key is unknown, expired or revoked. Create a new one, or ask your administrator.",
      );
    }
    if (tenant.suspended !== null) {
      throw new Problem("suspended", "The operator of this server has suspended your tenant. Contact the operator.");
    }
    c.set("caller", { key, tenant });
    await next();
  };
}
