import { type ClickNotices, createClickNotices } from "../clicks/notices/click-notices.ts";
import { type LimitWatch, type LimitWatchSettings, startLimitWatch } from "../email/notices/limit-watch.ts";
import { createNotices } from "../email/notices/notices.ts";
import type { Background } from "./background.ts";
import type { Mail } from "./email.ts";
import type { Wiring } from "./wiring.ts";

/** Notices about nearly used limits. */
export interface NoticeParts extends Pick<LimitWatchSettings, "hitsMaxOf"> {
  readonly mail: Mail;
  readonly background: Pick<Background, "nearLimits">;
}

export function openNotices({ core, log, opened }: Wiring, { mail, background, hitsMaxOf }: NoticeParts): LimitWatch {
  const { config, sql, clock, tenants } = core;
  const { outbox, settings, stopLinks } = mail;
  const notices = createNotices({ sql, tenants, settings, outbox, stopLinks, baseUrl: config.baseUrl, clock, log });
  const watch = startLimitWatch({ notices, sql, nearLimits: background.nearLimits, hitsMaxOf, clock, log });
  opened.defer(() => watch.close());
  return watch;
}

/** Emails about clicks, for the table of jobs. */
export function openClickNotices(
  { core, log }: Wiring,
  { mail, background }: { readonly mail: Mail; readonly background: Pick<Background, "findClickNotices"> },
): ClickNotices {
  const { sql, tenants } = core;
  const { outbox, settings, stopLinks } = mail;
  return createClickNotices({ find: background.findClickNotices, sql, tenants, settings, outbox, stopLinks, log });
}
