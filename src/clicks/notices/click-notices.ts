import type { Logger } from "../../base/log.ts";
import type { StopLinks } from "../../email/delivery/unsubscribe.ts";
import type { Outbox } from "../../email/outbox/outbox.ts";
import type { EmailSettingsStore } from "../../email/settings/settings.ts";
import type { Rendered } from "../../email/templates/letter.ts";
import type { LinkNoticeFacts, NoticeLink } from "../../email/templates/link-notices.ts";
import { writeMail } from "../../email/templates/templates.ts";
import type { Sql } from "../../sql/sql.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import type { ClickNotice, FoundNotices } from "./find-notices.ts";
import { type NoticeRow, tell } from "./notice-rows.ts";

/**
 * Emails about clicks. `find-notices.ts` finds what to tell, in the background; here it is written as emails and put into the
 * outbox, which sends each once, within the tenant's limits.
 */
export interface ClickNotices {
  /** One look at all tenants. Fails in the end if some of them could not be looked at or told; the others are. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ClickNoticeSettings {
  readonly find: () => Promise<FoundNotices>;
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "byId">;
  readonly settings: Pick<EmailSettingsStore, "of">;
  readonly outbox: Pick<Outbox, "enqueue">;
  readonly stopLinks: StopLinks;
  readonly log: Logger;
}

/** Of 20 seconds each. What is left waits for the next run. */
const callsMost = 20;

export function createClickNotices(parts: ClickNoticeSettings): ClickNotices {
  const { find, sql, tenants, settings, outbox, stopLinks, log } = parts;

  async function send(notice: ClickNotice): Promise<void> {
    const { tenant: id, kind, key } = notice;
    const [{ contact, notices }, tenant] = await Promise.all([settings.of(id), tenants.byId(id)]);
    // Switched off meanwhile: the next look drops it.
    if (contact === null || tenant === undefined || !notices[kind]) return;
    const mail = write(notice, tenant.name, stopLinks.urlFor(id, contact, kind));
    await outbox.enqueue({ tenant: id, kind, key, to: contact, ...mail });
    await tell(sql, id, key);
  }

  return {
    async run(signal) {
      let failures = 0;
      for (let calls = 0; calls < callsMost && !signal.aborted; calls++) {
        const { notices, failed, isEnd } = await find();
        for (const one of failed) log.warn(one, "clicks of a workspace could not be looked at for notices; will retry");
        failures += failed.length;
        for (const notice of notices) {
          try {
            await send(notice);
          } catch (error) {
            failures++;
            log.warn({ error, tenant: notice.tenant, key: notice.key }, "click notice could not be queued; will retry");
          }
        }
        if (isEnd) break;
      }
      if (failures > 0) throw new Error(`failed for ${failures} tenants or emails, which are in the log`);
    },
  };
}

function write(notice: ClickNotice, tenant: string, stopUrl: string): Rendered {
  if (notice.kind === "digest") return writeMail("digest", { ...notice.facts, tenant }, stopUrl);
  const facts: LinkNoticeFacts = { tenant, zone: notice.zone, links: notice.rows.map(linkOf) };
  return writeMail(notice.kind, facts, stopUrl);
}

/** What a kind has no use for is missing in its row. */
function linkOf({ since, facts }: NoticeRow): NoticeLink {
  const saved = JSON.parse(facts) as Partial<NoticeLink>;
  return {
    ...{ url: saved.url ?? "", title: saved.title ?? null, at: saved.at ?? since },
    ...{ clicks: saved.clicks ?? 0, usual: saved.usual ?? 0, answer: saved.answer ?? null },
  };
}
