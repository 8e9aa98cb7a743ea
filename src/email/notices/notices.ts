import { LRUCache } from "lru-cache";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { monthOf } from "../../limits/window.ts";
import { shortUrl } from "../../links/link.ts";
import type { Sql } from "../../sql/sql.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import type { StopLinks } from "../delivery/unsubscribe.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { EmailSettingsStore } from "../settings/settings.ts";
import type { QuotaFacts } from "../templates/quota.ts";
import { writeMail } from "../templates/templates.ts";
import { type NoticeUse, noticeKey, reachedPercent } from "./thresholds.ts";

/**
 * Emails tenants when 80 % and 100 % of a limit are used: one email to their contact address per month.
 *
 * Callers that learn of usage report it here without waiting. The outbox knows by its key whether an email was already
 * written; recent checks are remembered here, because a busy link would ask every second. What is dropped on the way,
 * by a full queue or a crash, is found by the hourly check of all limits (`near-limits.ts`).
 *
 * A tenant with a thousand links near their limit has at most a few notices waiting, and the rest follow as these are
 * sent: notices must not use up the tenant's email limit.
 */
export interface Notices {
  /** Never fails, and is not awaited. */
  noticed(use: NoticeUse): void;
  /** Resolves when everything reported is processed. */
  idle(): Promise<void>;
}

export interface NoticeSettings {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "byId">;
  readonly settings: Pick<EmailSettingsStore, "of">;
  readonly outbox: Outbox;
  readonly stopLinks: StopLinks;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const queueMost = 1_000;
const rememberedMost = 10_000;
const rememberMs = 600_000;
const waitingMost = 20;

export function createNotices(parts: NoticeSettings): Notices {
  const { sql, tenants, settings, outbox, stopLinks, baseUrl, clock, log } = parts;
  /** Key → until when it need not be checked again. */
  const lately = new LRUCache<string, number>({ max: rememberedMost });
  const queue: NoticeUse[] = [];
  let running: Promise<void> | undefined;

  function keyOf(use: NoticeUse): string | undefined {
    const percent = reachedPercent(use.used, use.max);
    return percent && noticeKey(use, monthOf(clock.now()).name, percent);
  }

  async function tell(use: NoticeUse): Promise<void> {
    const [key, percent, month] = [keyOf(use), reachedPercent(use.used, use.max), monthOf(clock.now())];
    if (key === undefined || percent === undefined || use.max === null) return;
    const [{ contact }, tenant] = await Promise.all([settings.of(use.tenant), tenants.byId(use.tenant)]);
    if (contact === null || tenant === undefined || (await waiting(use)) >= waitingMost) return;
    const facts: QuotaFacts = {
      ...{ tenant: tenant.name, percent, used: use.used, max: use.max },
      of: subjectOf(use, baseUrl, month.endsAt),
    };
    const mail = writeMail("quota", facts, stopLinks.urlFor(use.tenant, contact));
    await outbox.enqueue({ tenant: use.tenant, kind: "quota", key, to: contact, ...mail });
  }

  async function waiting({ tenant }: NoticeUse): Promise<number> {
    const rows = await ofTenant(sql.db, tenant)
      .selectFrom("emails")
      .select("id")
      .where("state", "in", ["queued", "sending"])
      .where("kind", "=", "quota")
      .limit(waitingMost)
      .execute();
    return rows.length;
  }

  async function work(): Promise<void> {
    for (let use = queue.shift(); use !== undefined; use = queue.shift()) {
      try {
        await tell(use);
      } catch (error) {
        log.warn({ error, tenant: use.tenant, limit: use.limit }, "limit notice could not be queued; will retry");
      }
    }
    running = undefined;
  }

  return {
    noticed(use) {
      const key = keyOf(use);
      if (key === undefined || queue.length >= queueMost) return;
      const name = `${use.tenant} ${key}`;
      if ((lately.get(name) ?? 0) > clock.elapsed()) return;
      lately.set(name, clock.elapsed() + rememberMs);
      queue.push(use);
      running ??= work();
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}

function subjectOf(use: NoticeUse, baseUrl: string, resetsAt: number): QuotaFacts["of"] {
  switch (use.limit) {
    case "hitsPerLinkPerMonth":
      return { kind: "hits", shortUrl: shortUrl(baseUrl, use.link), fallback: use.link.fallback, resetsAt };
    case "linksPerMonth":
      return { kind: "links", resetsAt };
    case "storageBytes":
      return { kind: "storage" };
  }
}
