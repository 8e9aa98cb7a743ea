import { withDeadline } from "../base/deadline.ts";
import type { Logger } from "../base/log.ts";
import { brandOfDomain, brandOfTenant } from "../branding/branding.ts";
import { createBrands } from "../branding/brands.ts";
import type { Core } from "../core.ts";
import type { Server } from "../http/server.ts";
import { createPasswordAttempts } from "../limits/password-attempts.ts";
import { splitKey } from "../links/link.ts";
import { detailsOf, passwordOf } from "../links/read/details.ts";
import { createBots, type IsBot } from "../redirect/bots.ts";
import { type Countries, createCountries } from "../redirect/countries.ts";
import { createPasses } from "../redirect/pass-cookie.ts";
import { createPasswordGate } from "../redirect/password-gate.ts";
import { createRouting } from "../redirect/routing.ts";
import type { RedirectSettings } from "../redirect/serve.ts";
import { type AgentOf, createAgents } from "../redirect/user-agents.ts";
import type { VisitRequest } from "../redirect/visit-request.ts";
import { createVisitors } from "../redirect/visitors.ts";
import type { LinkCache } from "./cache.ts";
import type { OpenCounters } from "./counters.ts";

/** What a redirect needs when its answer depends on the visitor: who they are, and whether they may pass. */
export interface RedirectParts {
  readonly core: Core;
  readonly cache: LinkCache;
  readonly counters: OpenCounters;
  readonly sources: VisitorSources;
}

/** What tells who a visitor is; each remembers its last answers, so that rules and reports share them. */
export interface VisitorSources {
  readonly addressOf: (request: VisitRequest) => string | undefined;
  readonly countries: Countries;
  readonly agentOf: AgentOf;
  readonly isBot: IsBot;
}

/** `server`: it listens only after this is wired. */
export function openVisitorSources({ config }: Core, server: () => Server, log: Logger): VisitorSources {
  const addressOf = (request: VisitRequest) => server().addressOf(request);
  const isFromProxy = (request: VisitRequest) => server().isFromProxy(request);
  const header = config.QL_COUNTRY_HEADER;
  const countries = createCountries({ addressOf, isFromProxy, header, log });
  return { addressOf, countries, agentOf: createAgents(), isBot: createBots() };
}

type Visits = Pick<RedirectSettings, "gate" | "routeVisitor" | "detailsOf" | "brands" | "addressOf" | "isBot">;

const sqlMs = 1_000;
const brandMs = 250; // without it, a page is only plainer

export function openRedirect({ core, cache, counters, sources }: RedirectParts): Visits {
  const { config, clock, passwords, secretFor, signing } = core;
  // Where links are looked up, so that the password is not of a version that the redirect cannot have yet.
  const sql = cache.replica ?? core.sql;
  const { addressOf, countries, agentOf, isBot } = sources;
  const visitors = createVisitors({ countries, agentOf, addressOf, secret: core.hashKey });
  return {
    addressOf,
    isBot,
    routeVisitor: createRouting(visitors, clock),
    detailsOf(key) {
      const { domain, code } = splitKey(key);
      return withDeadline(detailsOf(sql, domain, code), sqlMs, "SQL");
    },
    brands: createBrands({
      read: (asked) =>
        withDeadline(
          "tenant" in asked ? brandOfTenant(sql.db, asked.tenant) : brandOfDomain(sql.db, asked.domain),
          brandMs,
          "SQL",
        ),
    }),
    gate: createPasswordGate({
      passwordOf(key) {
        const { domain, code } = splitKey(key);
        return withDeadline(passwordOf(sql, domain, code), sqlMs, "SQL");
      },
      passwords,
      attempts: createPasswordAttempts({ counters: counters.attempts, clock, secretFor }),
      passes: createPasses(signing.signerFor("passes"), config.baseUrl.startsWith("https:")),
      addressOf,
      baseUrl: config.baseUrl,
      clock,
    }),
  };
}
