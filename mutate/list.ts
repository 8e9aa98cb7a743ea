import type { Mistake, Mistakes } from "./mistake.ts";
import { abuse } from "./mistakes/abuse.ts";
import { base } from "./mistakes/base.ts";
import { cache } from "./mistakes/cache.ts";
import { cli } from "./mistakes/cli.ts";
import { clicks } from "./mistakes/clicks.ts";
import { clicksLive } from "./mistakes/clicks-live.ts";
import { codes } from "./mistakes/codes.ts";
import { configMistakes } from "./mistakes/config.ts";
import { dashboardMistakes } from "./mistakes/dashboard.ts";
import { doctor } from "./mistakes/doctor.ts";
import { domains } from "./mistakes/domains.ts";
import { email } from "./mistakes/email.ts";
import { fileMistakes } from "./mistakes/files.ts";
import { history } from "./mistakes/history.ts";
import { http } from "./mistakes/http.ts";
import { idempotency } from "./mistakes/idempotency.ts";
import { importExport } from "./mistakes/import-export.ts";
import { inMemory } from "./mistakes/in-memory.ts";
import { limits } from "./mistakes/limits.ts";
import { linkHealth } from "./mistakes/link-health.ts";
import { links } from "./mistakes/links.ts";
import { annotationMistakes, brandingMistakes, linksBulk, sharePageMistakes } from "./mistakes/links-bulk.ts";
import { linksPast } from "./mistakes/links-past.ts";
import { factorMistakes } from "./mistakes/people-factors.ts";
import { peopleSignIn } from "./mistakes/people-sign-in.ts";
import { workspaceMistakes } from "./mistakes/people-workspaces.ts";
import { qrMistakes } from "./mistakes/qr.ts";
import { redirect } from "./mistakes/redirect.ts";
import { redis } from "./mistakes/redis.ts";
import { safeFetch } from "./mistakes/safe-fetch.ts";
import { server } from "./mistakes/server.ts";
import { sql } from "./mistakes/sql.ts";
import { tenantMistakes } from "./mistakes/tenants.ts";
import { webMistakes } from "./mistakes/web.ts";
import { workers } from "./mistakes/workers.ts";

/** By room of `src/`; `web` is the dashboard. */
const rooms: Readonly<Record<string, Mistakes>> = {
  ...{
    abuse,
    base,
    cache,
    cli,
    clicks: { ...clicks, ...clicksLive },
    codes,
    config: configMistakes,
    dashboard: dashboardMistakes,
    doctor,
    domains,
    email,
    files: fileMistakes,
  },
  ...{ http, idempotency, "import-export": importExport, "in-memory": inMemory, limits, "link-health": linkHealth },
  ...{
    history,
    links: { ...links, ...linksPast, ...linksBulk },
    qr: qrMistakes,
    redirect,
    redis,
    "safe-fetch": safeFetch,
    server,
    sql,
    tenants: tenantMistakes,
    workers,
  },
  people: { ...factorMistakes, ...peopleSignIn, ...workspaceMistakes },
  ...{ annotations: annotationMistakes, branding: brandingMistakes, "share-pages": sharePageMistakes },
  web: webMistakes,
};

export interface NamedMistake {
  /** `limits/lease-when-nothing-remains` */
  readonly id: string;
  readonly room: string;
  readonly mistake: Mistake;
}

export const allMistakes = (): NamedMistake[] =>
  Object.entries(rooms).flatMap(([room, mistakes]) =>
    Object.entries(mistakes).map(([name, mistake]) => ({ id: `${room}/${name}`, room, mistake })),
  );
