import { toBrand } from "../branding/brand.ts";
import { createBranding } from "../branding/branding.ts";
import { storedFilters } from "../clicks/reports/link-filter.ts";
import { clickSettings } from "../clicks/reports/scope.ts";
import type { Mount } from "../http/mount.ts";
import type { Guesses } from "../limits/guesses.ts";
import { createPasswordAttempts } from "../limits/password-attempts.ts";
import { splitKey } from "../links/link.ts";
import { createPasses } from "../redirect/pass-cookie.ts";
import { createPasswordGate } from "../redirect/password-gate.ts";
import { createFigures } from "../share-pages/figures.ts";
import { mountSharePages } from "../share-pages/mount.ts";
import { createStatsShares } from "../share-pages/shares.ts";
import type { Background } from "./background.ts";
import type { OpenCounters } from "./counters.ts";
import type { VisitorSources } from "./redirect.ts";
import type { Wiring } from "./wiring.ts";

/** What public statistics are wired from. */
export interface SharePageParts {
  readonly background: Pick<Background, "report">;
  readonly counters: OpenCounters;
  readonly sources: VisitorSources;
  readonly guesses: Guesses;
}

export function openSharePages(wiring: Wiring, { background, counters, sources, guesses }: SharePageParts): Mount {
  const { core, log } = wiring;
  const { sql, clock, config, links, store, passwords, secretFor, signing } = core;
  const shares = createStatsShares(sql, clock);
  const branding = createBranding(sql, clock);
  const passes = createPasses(signing.signerFor("passes of shares"), config.baseUrl.startsWith("https:"));
  return mountSharePages({
    shares,
    guesses,
    log,
    brandOf: async ({ tenantId }) => toBrand(await branding.of(tenantId)),
    figuresOf: createFigures({
      report: background.report,
      zoneOf: async (tenant) => (await clickSettings(sql, tenant)).zone,
      storedFilters: (filters) => storedFilters(filters, links.domainOf),
      titleOf: async ({ tenantId, subject }) =>
        subject.kind === "link" ? ((await store.get(tenantId, subject.id))?.title ?? null) : null,
      clock,
      baseUrl: config.baseUrl,
    }),
    gate: createPasswordGate({
      async passwordOf(key) {
        const share = await shares.byToken(splitKey(key).code);
        return share && { version: 1, hash: share.passwordHash };
      },
      passwords,
      attempts: createPasswordAttempts({ counters: counters.attempts, clock, secretFor }),
      // For the page of this share only.
      passes: { ...passes, issue: (key, code, version, now) => passes.issue(key, `s/${code}`, version, now) },
      addressOf: sources.addressOf,
      baseUrl: config.baseUrl,
      clock,
    }),
  });
}
