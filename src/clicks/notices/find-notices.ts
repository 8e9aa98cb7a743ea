import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import { defaultSwitches, type NoticeSwitches, readSwitches, switchesOf } from "../../email/settings/notice-kinds.ts";
import type { HealthStore } from "../../link-health/store.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import type { Sql } from "../../sql/sql.ts";
import { acrossTenants } from "../../sql/tenant-db.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import { quarterOf } from "../click.ts";
import { defaultZone } from "../events/days.ts";
import { isZone } from "../reports/zones.ts";
import { endRecovered, noteDeadTargets } from "./dead-targets.ts";
import { type DigestNotice, digestOf } from "./digest.ts";
import { noteFirstClicks } from "./first-clicks.ts";
import {
  dropOutdated,
  dropWaiting,
  type LinkNotice,
  mailPeriodMs,
  type PlannedMail,
  plan,
  planned,
} from "./notice-rows.ts";
import { type LinkMail, stillNews } from "./still-news.ts";
import { noteUnusual } from "./unusual-links.ts";

/**
 * Finds what tenants are to be told about their clicks. One run looks at tenants with a contact address, in the order of
 * their ids, for a limited time; the next one continues where it stopped, so that every tenant gets its turn. Every step
 * may be done twice (`notice-rows.ts`). Reads much: not for the serving thread.
 */
export interface NoticeSources {
  readonly sql: Sql;
  readonly tenants: Pick<Tenants, "byId">;
  readonly targets: Pick<HealthStore, "of">;
  readonly baseUrl: string;
  readonly clock: Clock;
}

export interface NoticeTenant {
  readonly id: TenantId;
  readonly number: TenantNumber;
  readonly zone: string;
  readonly daysUntil: number;
  readonly switches: NoticeSwitches;
  /** Since when it wants to know about first clicks. */
  readonly firstClicksSince: number;
}

export type ClickNotice = { readonly tenant: TenantId; readonly zone: string } & (LinkMail | DigestNotice);

/** A tenant that could not be looked at, and why. */
export interface FailedTenant {
  readonly tenant: TenantId;
  readonly error: string;
}

export interface FoundNotices {
  readonly notices: readonly ClickNotice[];
  readonly failed: readonly FailedTenant[];
  /** Whether this run reached the last tenant. */
  readonly isEnd: boolean;
}

const walkName = "click-notices";
const pageTenants = 50;
const runMs = 20_000;
const noticesMost = 200;
/** A click is in the database two seconds after it happened; a server that is busy takes some more. */
const writtenMs = 60_000;

export async function findClickNotices(sources: NoticeSources): Promise<FoundNotices> {
  const { sql, clock } = sources;
  const started = clock.elapsed();
  const notices: ClickNotice[] = [];
  let last = await readPosition(sql);
  const failed = last === "" ? await noteDeadTargets(sources) : [];
  for (;;) {
    const page = await tenantsAfter(sql, last as TenantId);
    for (const tenant of page) {
      try {
        notices.push(...(await lookAt(sources, tenant)));
      } catch (error) {
        failed.push({ tenant: tenant.id, error: messageOf(error) });
      }
      last = tenant.id;
      if (clock.elapsed() - started > runMs || notices.length >= noticesMost) {
        await savePosition(sql, last);
        return { notices, failed, isEnd: false };
      }
    }
    if (page.length < pageTenants) break;
  }
  await savePosition(sql, "");
  return { notices, failed, isEnd: true };
}

const linkNotices = Object.keys(mailPeriodMs) as LinkNotice[];

async function lookAt(sources: NoticeSources, tenant: NoticeTenant): Promise<ClickNotice[]> {
  const { sql, clock } = sources;
  const now = clock.now();
  const { id, zone, switches } = tenant;
  if (switches.firstClick) await noteFirstClicks(sources, tenant, now);
  if (switches.spike || switches.drop) await noteUnusual(sources, tenant, quarterOf(now - writtenMs));
  await endRecovered(sources, tenant, now);
  for (const kind of linkNotices) {
    if (!switches[kind]) {
      await dropWaiting(sql, id, kind);
      continue;
    }
    await dropOutdated(sql, id, kind, now);
    await plan(sql, id, kind, now);
  }
  const digest = switches.digest ? await digestOf(sources, tenant, now) : undefined;
  const mails = await stillNews(sources, tenant, (await planned(sql, id)).filter(isAboutLinks), now);
  return [...mails, ...(digest === undefined ? [] : [digest])].map((mail) => ({ ...mail, tenant: id, zone }));
}

const isAboutLinks = (mail: PlannedMail): mail is LinkMail => mail.kind !== "digest";

async function tenantsAfter({ db }: Sql, last: TenantId): Promise<NoticeTenant[]> {
  const rows = await acrossTenants(db)
    .selectFrom("email_settings as e")
    .innerJoin("tenants as t", "t.id", "e.tenant_id")
    .leftJoin("click_tenants as c", "c.tenant_id", "e.tenant_id")
    // Its links answer nobody: fewer clicks are no news, and its contact may be whom the suspension is about.
    .leftJoin("suspended_tenants as s", "s.tenant_id", "e.tenant_id")
    .select(["t.id", "t.number", "e.notices", "c.zone", "c.days_until"])
    .where("e.contact", "is not", null)
    .where("s.tenant_id", "is", null)
    .where("t.delete_at", "is", null)
    .where("e.tenant_id", ">", last)
    .orderBy("e.tenant_id")
    .limit(pageTenants)
    .execute();
  return rows.map(({ id, number, notices, zone, days_until }) => ({
    id: id as TenantId,
    number,
    zone: zone !== null && isZone(zone) ? zone : defaultZone,
    daysUntil: days_until ?? 0,
    switches: notices === null ? defaultSwitches : switchesOf(notices),
    firstClicksSince: readSwitches(notices).firstClick ?? 0,
  }));
}

async function readPosition({ db }: Sql): Promise<string> {
  const row = await db.selectFrom("walks").select("position").where("name", "=", walkName).executeTakeFirst();
  return row?.position ?? "";
}

async function savePosition({ db }: Sql, position: string): Promise<void> {
  await db
    .insertInto("walks")
    .values({ name: walkName, position })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ position }))
    .execute();
}
