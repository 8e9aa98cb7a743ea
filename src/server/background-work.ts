import { applyBlocklist } from "../abuse/apply-blocklist.ts";
import { findClickNotices } from "../clicks/notices/find-notices.ts";
import { listClicks } from "../clicks/reports/list.ts";
import { reportOn } from "../clicks/reports/report.ts";
import { trendsOf } from "../clicks/reports/trends.ts";
import { purgeClicks } from "../clicks/rollups/purge.ts";
import { forgetVisitors } from "../clicks/rollups/purge-visitors.ts";
import { condense } from "../clicks/rollups/rounds.ts";
import type { Core } from "../core.ts";
import { nearLimits } from "../email/notices/near-limits.ts";
import { recount } from "../files/quota/storage-total.ts";
import type { RedirectWait } from "../import-export/pace.ts";
import { importStep } from "../import-export/runs/step.ts";
import { exportWorkspacePart } from "../import-export/workspace-export.ts";
import { monthName } from "../limits/window.ts";
import { busiestLinks } from "../links/read/busiest.ts";
import { countLinks } from "../links/read/link-counts.ts";
import { usedTags } from "../links/tags/used-tags.ts";
import { databaseTime } from "../sql/sql.ts";
import { moveLog } from "../sql/write-ahead-log.ts";
import type { Background } from "./background.ts";
import { cleanUp } from "./clean.ts";

/** What `background.ts` offers, on the current thread. `redirects`: how long they wait on the serving thread. */
export function onThisThread(core: Core, redirects: RedirectWait): Background {
  return {
    importStep: () => importStep({ ...core, redirects }),
    createMany: (tenant, inputs, by, atomic) => core.links.createMany(tenant, inputs, by, atomic),
    runSteps: (tenant, steps, by) => core.links.runSteps(tenant, steps, by),
    find: (tenant, query) => core.store.find(tenant, query),
    tags: (tenant, prefix) => usedTags(core.sql, tenant, prefix),
    countLinks: (tenant, filter, facts) => countLinks(core.sql, tenant, filter, facts),
    trends: (tenant, query) => trendsOf(core.sql, tenant, query),
    report: (tenant, subject, query) => reportOn(core.sql, core.clock, tenant, subject, query),
    clicks: (tenant, subject, query) => listClicks(core.sql, core.clock, tenant, subject, query),
    exportPart: (tenant, place) => exportWorkspacePart(core, tenant, place),
    busiest: ({ id, limits }) => busiestLinks(core.sql, id, limits.hitsPerLinkPerMonth, monthName(core.clock.now())),
    recount: (tenant, dryRun) => recount(core.sql, tenant, dryRun),
    nearLimits() {
      const now = core.clock.now();
      return nearLimits(core.sql, core.tenants, monthName(now), now);
    },
    findClickNotices: () => findClickNotices({ ...core, baseUrl: core.config.baseUrl }),
    clean: () => cleanUp({ ...core, historyDays: core.config.QL_HISTORY_DAYS }),
    applyBlocklist: () => applyBlocklist(core),
    // By the database's time, as the writers of clicks: a server whose clock is ahead must not condense too early.
    condenseClicks: async () => condense(core.sql, { now: await databaseTime(core.sql) }),
    purgeClicks: async (signal) => purgeClicks(core.sql, await databaseTime(core.sql), signal),
    forgetVisitors: async () => forgetVisitors(core.sql, await databaseTime(core.sql)),
    moveLog: () => moveLog(core.sql),
    stopSoon() {}, // the database does the work, and the socket's deadline is the limit
    async close() {},
  };
}
