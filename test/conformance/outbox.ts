/** An outbox on a database, with a provider that answers what a test says. Time passes when a test says so. */

import { sql as raw } from "kysely";
import { type ManualClock, manualClock, systemClock } from "../../src/base/clock.ts";
import { type EmailId, newId, type TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { createSuppressions } from "../../src/email/delivery/suppressions.ts";
import { createSendAttempts, type Outcome } from "../../src/email/outbox/attempt.ts";
import { type ChargeSettings, createCharges } from "../../src/email/outbox/charges.ts";
import { createEmailSeeds } from "../../src/email/outbox/counter-seeds.ts";
import type { NewMail } from "../../src/email/outbox/outbox.ts";
import { createOutbox } from "../../src/email/outbox/outbox.ts";
import { createSendCheck } from "../../src/email/outbox/send-check.ts";
import { createEmailSender } from "../../src/email/outbox/sender.ts";
import { createEmailStore, type NewEmail } from "../../src/email/outbox/store.ts";
import type { HandOver, Message, Provider, ProviderName } from "../../src/email/providers/provider.ts";
import { createSenders, type OwnKey } from "../../src/email/providers/senders.ts";
import { createEmailStats } from "../../src/email/stats.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import type { Counters } from "../../src/limits/counters.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { notOfTwin } from "./two-tenants.ts";

export const silent = createLog("silent", { write() {} }, false, systemClock.now);

let lastSlug = 0;

export async function newTenant(sql: Sql, overrides: { smtp?: number; sendgrid?: number } = {}): Promise<TenantId> {
  const tenants = createTenants(sql, systemClock);
  const { id, slug } = await tenants.create(`tenant-${++lastSlug}`, "A tenant", byCommand);
  const { smtp = 50, sendgrid = 200 } = overrides;
  await tenants.change(slug, { overrides: { emailsPerHourSmtp: smtp, emailsPerHourSendgrid: sendgrid } }, byCommand);
  return id;
}

export function newRow(tenant: TenantId, more: Partial<NewEmail> = {}): NewEmail {
  return {
    ...{ id: newId("email", systemClock), tenant, kind: "quota", key: null, to: "ann@example.com", replyTo: null },
    ...{ subject: "Your links", text: "text", html: "<p>html</p>" },
    ...more,
  };
}

export const newMail = (tenant: TenantId, more: Partial<NewMail> = {}): NewMail => ({
  ...{ tenant, kind: "quota", to: "ann@example.com", subject: "Your links", text: "text", html: "<p>html</p>" },
  ...more,
});

export async function rowOf(sql: Sql, id: EmailId) {
  return await acrossTenants(sql.db).selectFrom("emails").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

/** Everything in the outbox is so much older now. */
export async function pass(sql: Sql, ms: number, clock?: ManualClock): Promise<void> {
  const earlier = (column: string) => raw<number>`${raw.ref(column)} - ${ms}`;
  await acrossTenants(sql.db)
    .updateTable("emails")
    .set({
      due_at: earlier("due_at"),
      claimed_until: earlier("claimed_until"),
      handed_at: earlier("handed_at"),
      created_at: earlier("created_at"),
      finished_at: earlier("finished_at"),
    })
    .where(notOfTwin)
    .execute();
  clock?.advance(ms);
}

export interface OutboxOptions {
  readonly counters?: Counters;
  readonly platformMax?: number | null;
  readonly ownKey?: OwnKey;
  readonly tenants?: ChargeSettings["tenants"];
  readonly store?: (store: ReturnType<typeof createEmailStore>) => ReturnType<typeof createEmailStore>;
}

const accepted: HandOver = { kind: "accepted", providerId: null };

export function openOutbox(sql: Sql, options: OutboxOptions = {}) {
  const clock = manualClock(systemClock.now());
  const handed: { readonly message: Message; readonly provider: ProviderName; readonly key?: string }[] = [];
  const counted: [ProviderName, Outcome][] = [];
  const answers: { next: (message: Message, turn: () => Promise<void>) => HandOver | Promise<HandOver> } = {
    next: () => accepted,
  };
  const counters = options.counters ?? createMemoryCounters({ clock });
  const plain = createEmailStore(sql);
  const store = options.store?.(plain) ?? plain;
  const suppressions = createSuppressions(sql, clock);
  const seeds = createEmailSeeds(sql);
  const charges = createCharges({
    ...{ counters, seeds, tenants: options.tenants ?? createTenants(sql, systemClock) },
    platformMax: options.platformMax === undefined ? 2_000 : options.platformMax,
  });
  const provider = (name: ProviderName, key?: string): Provider => ({
    name,
    async send(message, _, turn = async () => {}) {
      handed.push({ message, provider: name, ...(key === undefined ? {} : { key }) });
      return await answers.next(message, turn);
    },
    async close() {},
  });
  const senders = createSenders({
    ...{ platform: provider("smtp"), from: { name: "Links", address: "links@example.com" } },
    ...{ ownKey: options.ownKey ?? (async () => undefined), withKey: (key) => provider("sendgrid", key) },
  });
  const attempts = createSendAttempts({
    ...{ store, senders, charges, suppressions, clock: systemClock, log: silent, chance: () => 0 },
    sendCheck: createSendCheck(sql),
    count: (by, outcome) => void counted.push([by, outcome]),
    pause: (ms) => Bun.sleep(Math.min(ms, 1)),
    messageOf: (email, from) => ({
      ...{ id: email.id, messageId: `<${email.id}@test>`, from, to: email.to, replyTo: email.replyTo },
      ...{ subject: email.subject, text: email.text, html: email.html, unsubscribeUrl: null },
    }),
  });
  const unknown: (string | null)[] = [];
  const sender = createEmailSender({
    ...{ store, attempts, name: newId("key", systemClock), clock: systemClock, log: silent, chance: () => 0 },
    onUnknown: (by) => void unknown.push(by),
  });
  return {
    ...{ clock, counters, store, suppressions, seeds, charges, senders, attempts, sender, handed, counted, unknown },
    answers,
    outbox: createOutbox({ store, suppressions, attempts, sender, clock: systemClock }),
    stats: createEmailStats(sql, systemClock.now, charges, senders),
    /** Until nothing that is due is left. */
    async work(): Promise<void> {
      for (;;) {
        const more = await sender.step();
        await sender.idle();
        if (!more && !(await store.look()).due) return;
      }
    },
  };
}
