import { randomUUID } from "node:crypto";
import { createAnnotations } from "../../annotations/annotations.ts";
import { dayMs } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { idFrom } from "../../base/ids.ts";
import { createBranding } from "../../branding/branding.ts";
import { utcDay } from "../../clicks/click.ts";
import { createClickWriter } from "../../clicks/events/writer.ts";
import { forgetVisitors } from "../../clicks/rollups/purge-visitors.ts";
import { condense } from "../../clicks/rollups/rounds.ts";
import { type Core, openUnforced } from "../../core.ts";
import { createDomainStore } from "../../domains/store.ts";
import { type Actor, byCommand } from "../../history/history.ts";
import { monthName } from "../../limits/window.ts";
import type { NewLink } from "../../links/create/new-links.ts";
import { createUtmTemplates } from "../../links/utm-templates/utm-templates.ts";
import { createPartitions, daysOfPartition } from "../../sql/partitions.ts";
import type { LinkNumber, TenantNumber } from "../../sql/schema.ts";
import { ofTenant } from "../../sql/tenant-db.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { batchOfClicks, clicksOfDay, type DemoTarget } from "./clicks.ts";
import { createDice, type Dice } from "./random.ts";
import { type DemoLink, demoDomain, demoLinks, inputOf } from "./world.ts";

/**
 * Fills the demo workspace as a year of use would have: links through their rules, clicks through the writer of the
 * server, one day after the other at the time of that day, and then everything is condensed.
 */
export interface DemoSize {
  readonly seed: number;
  /** Of clicks. */
  readonly days: number;
}

export interface DemoCounts {
  readonly links: number;
  readonly clicks: number;
}

const checkedLaterMs = 3_650 * dayMs;
const codeTries = 50;

export async function fillDemo(
  core: Core,
  tenant: Tenant,
  { seed, days }: DemoSize,
  show: (share: number, text: string) => void,
): Promise<DemoCounts> {
  const now = core.clock.now();
  const dice = createDice(seed);
  await addDomain(core, tenant, now - 364 * dayMs);
  const targets: DemoTarget[] = [];
  for (const about of demoLinks) targets.push(await addLink(core, tenant, about, now, dice));
  const counted = new Map<DemoTarget, number>();
  const clicks = await addClicks(core, targets, { now, days }, dice, counted, show);
  await settle(core, tenant, targets, counted, now);
  await decorate(core, tenant, targets, now);
  return { links: targets.length, clicks };
}

/** It leads nowhere outside: names below .example belong to nobody. */
async function addDomain({ sql }: Core, tenant: Tenant, at: number): Promise<void> {
  const store = createDomainStore(sql);
  const domain = {
    ...{ tenantId: tenant.id, host: demoDomain, state: "pending" as const, token: randomUUID(), isDefault: false },
    ...{ rootUrl: null, missingUrl: null, rootBlocked: false, missingBlocked: false, createdAt: at, verifiedAt: null },
  };
  await store.add(domain, 1, byCommand);
  const verified = await store.verify(tenant.id, demoDomain, byCommand, at);
  if (verified === "taken" || verified === undefined) {
    throw new Problem("domain_taken", `The demo needs the domain ${demoDomain}, which another workspace has.`);
  }
}

async function addLink(core: Core, tenant: Tenant, about: DemoLink, now: number, dice: Dice): Promise<DemoTarget> {
  const { links, store, sql } = core;
  const createdAt = now - about.age * dayMs + dice.below(dayMs / 2);
  const bytes = Uint8Array.from({ length: 16 }, () => dice.below(256));
  const input = inputOf(about, now);
  for (let tries = 1; tries <= codeTries; tries++) {
    const code = tries === 1 ? about.code : `${about.code}-${tries}`;
    const draft = await links.draft(tenant, { ...input, code }, byCommand);
    const made = { ...draft, id: idFrom("link", createdAt, bytes), createdAt };
    const [created] = await store.createWith(tenant.id, [made], async () => {});
    if (created?.kind === "created") {
      const own = ofTenant(sql.db, tenant.id);
      const row = own.selectFrom("links").select("number").where("id", "=", made.id);
      const { number } = await row.executeTakeFirstOrThrow();
      return { about, clicked: clickedOf(made, number ?? (0 as LinkNumber), await numberOf(core, tenant)) };
    }
    // Somebody has the code, or had it before the demo was reset.
    if (created?.kind !== "taken") throw new Error(`the demo link ${code} was not created`);
  }
  throw new Error(`no free code like ${about.code}`);
}

const clickedOf = ({ domain, code, tags }: NewLink, link: LinkNumber, tenant: TenantNumber) => ({
  ...{ link, tenant, domain, code, tags },
});

async function numberOf({ sql }: Core, { id }: Tenant): Promise<TenantNumber> {
  return (await sql.db.selectFrom("tenants").select("number").where("id", "=", id).executeTakeFirstOrThrow()).number;
}

async function addClicks(
  core: Core,
  targets: readonly DemoTarget[],
  { now, days }: { readonly now: number; readonly days: number },
  dice: Dice,
  counted: Map<DemoTarget, number>,
  show: (share: number, text: string) => void,
): Promise<number> {
  const sql = await openUnforced(core);
  try {
    const today = utcDay(now) * dayMs;
    for (let day = utcDay(now) - days; day < utcDay(now); day += daysOfPartition) await createPartitions(sql, day);
    let time = now;
    const secret = core.secretFor("visitors of clicks");
    const writer = createClickWriter({ sql, secret, writerId: `demo-${randomUUID()}`, databaseTime: () => time });
    const byLink = new Map(targets.map((target) => [target.clicked, target]));
    let written = 0;
    for (let n = 0; n <= days; n++) {
      const start = today - (days - n) * dayMs;
      const until = Math.min(start + dayMs, now);
      const clicks = clicksOfDay(targets, start, until, today, dice);
      time = until - 1;
      if (clicks.length > 0) await writer.write(n + 1, batchOfClicks(clicks));
      written += clicks.length;
      for (const { link, reason, at } of clicks) {
        const target = byLink.get(link);
        const isOfMonth = reason === 0 && monthName(at) === monthName(now);
        if (target !== undefined && isOfMonth) counted.set(target, (counted.get(target) ?? 0) + 1);
      }
      show((n / days) * 0.7, `day ${n} of ${days}, ${written.toLocaleString("en")} clicks`);
    }
    show(0.75, "condensing");
    await condense(sql, { now });
    await forgetVisitors(sql, now);
    return written;
  } finally {
    if (sql !== core.sql) await sql.close();
  }
}

/** What servers would have noticed meanwhile: used hits, checked destinations, expired and deleted links. */
async function settle(
  { sql, links, targets: health, store }: Core,
  tenant: Tenant,
  targets: readonly DemoTarget[],
  counted: ReadonlyMap<DemoTarget, number>,
  now: number,
): Promise<void> {
  for (const target of targets) {
    const { about, clicked } = target;
    const link = await store.byCode(tenant.id, clicked.domain, clicked.code);
    if (link === undefined) continue;
    const hits = counted.get(target) ?? 0;
    if (hits > 0) {
      const row = { domain: link.domain, code: link.code, month: monthName(now), draws: "hits" as const };
      const used = { counted: hits, reserved: 0 };
      // On the custom domain a code comes back when the demo is created again.
      await sql.db
        .insertInto("quotas")
        .values({ ...row, ...used })
        .onConflict((conflict) => conflict.columns(["domain", "code", "month", "draws"]).doUpdateSet(used))
        .execute();
    }
    if (about.usedShare !== undefined && hits > 0) {
      const hitsPerMonth = Math.max(1, Math.round(hits / about.usedShare));
      await links.patch(tenant, link.id, { hitsPerMonth }, byCommand);
    }
    // Not asked again: nothing is behind these addresses.
    await health.want(link.id, now);
    const dead = { state: "dead" as const, httpStatus: 404, reason: "http_404", failures: 9 };
    const fine = { state: "ok" as const, httpStatus: 200, reason: null, failures: 0 };
    await health.record(link, about.isDead ? dead : fine, now - 3_600_000, now + checkedLaterMs);
    if (about.code === "summer-raffle") {
      await ofTenant(sql.db, tenant.id)
        .updateTable("links")
        .set({ expires_at: now - 40 * dayMs })
        .where("id", "=", link.id)
        .execute();
      await store.touch(link.domain, link.code, now);
    }
    if (about.isDeleted) await links.remove(tenant.id, link.id, byCommand);
  }
}

async function decorate(core: Core, tenant: Tenant, targets: readonly DemoTarget[], now: number): Promise<void> {
  const { sql, clock, links, store } = core;
  const by: Actor = byCommand;
  const annotations = createAnnotations(sql, clock);
  const newsletter = targets.find(({ about }) => about.code === "newsletter");
  const link = newsletter && (await store.byCode(tenant.id, newsletter.clicked.domain, newsletter.clicked.code));
  for (const [text, ago, isOfLink] of [
    ["Newsletter sent", 23, true],
    ["Newsletter sent", 53, true],
    ["Trade fair in Friedrichshafen", 120, false],
    ["New shop online", 200, false],
    ["Price change", 14, false],
  ] as const) {
    const about = isOfLink ? (link?.id ?? null) : null;
    await annotations.create(tenant.id, { id: undefined, link: about, at: now - ago * dayMs, text }, by);
  }
  const templates = createUtmTemplates(sql, clock);
  const newsletterUtm = { source: "newsletter", medium: "email" };
  await templates.create(tenant.id, { id: undefined, name: "Newsletter", utm: newsletterUtm }, by);
  await templates.create(tenant.id, { id: undefined, name: "Poster", utm: { source: "poster", medium: "print" } }, by);
  await createBranding(sql, clock).change(tenant.id, { name: "Alder Outdoor", colour: "#2f6b3c" }, by);
  // A history to look at.
  if (link !== undefined) {
    await links.patch(tenant, link.id, { notes: "Goes out on the first Tuesday of the month." }, by);
    await links.patch(tenant, link.id, { title: "Newsletter" }, by);
  }
}
