import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { withDeadline } from "../base/deadline.ts";
import type { Logger } from "../base/log.ts";
import type { MetricReading, Metrics } from "../base/metrics.ts";
import type { Core } from "../core.ts";
import { createDeliveries } from "../email/delivery/deliveries.ts";
import { createSuppressions, type Suppressions } from "../email/delivery/suppressions.ts";
import { createStopLinks, type StopLinks } from "../email/delivery/unsubscribe.ts";
import { createWebhook } from "../email/delivery/webhook.ts";
import { mountEmail } from "../email/mount.ts";
import { createSendAttempts, outcomes, type SendAttemptSettings } from "../email/outbox/attempt.ts";
import { createCharges } from "../email/outbox/charges.ts";
import { createEmailSeeds } from "../email/outbox/counter-seeds.ts";
import { createOutbox, mailKinds, type Outbox } from "../email/outbox/outbox.ts";
import { createSendCheck } from "../email/outbox/send-check.ts";
import { createEmailSender, handOversMost } from "../email/outbox/sender.ts";
import { type ClaimedEmail, createEmailStore, type EmailStore } from "../email/outbox/store.ts";
import { createPlatformEmails, type PlatformEmails, type PlatformStanding } from "../email/platform-usage.ts";
import { createLogProvider } from "../email/providers/log.ts";
import type { Message, ProviderName } from "../email/providers/provider.ts";
import { createSenders, type Senders } from "../email/providers/senders.ts";
import { createSendgrid } from "../email/providers/sendgrid.ts";
import { createSmtp } from "../email/providers/smtp.ts";
import { isNoticeKind } from "../email/settings/notice-kinds.ts";
import { createEmailSettings, type EmailSettingsStore } from "../email/settings/settings.ts";
import { createEmailStats, type EmailStats } from "../email/stats.ts";
import type { Mount } from "../http/mount.ts";
import type { Counters } from "../limits/counters.ts";
import type { Guesses } from "../limits/guesses.ts";
import type { Wiring } from "./wiring.ts";

/** Wires email: the outbox and what it needs, the sender of this process, and their metrics. */
export interface Mail {
  readonly outbox: Outbox;
  readonly stats: EmailStats;
  readonly senders: Senders;
  readonly suppressions: Suppressions;
  readonly settings: EmailSettingsStore;
  readonly stopLinks: StopLinks;
  /** Reads the figures of the outbox, and of the platform's limit. */
  sampleWaiting(): Promise<void>;
  samplePlatform(): Promise<void>;
  /** Waits briefly for running hand-overs: their claims expire, and another process continues. */
  close(): Promise<void>;
}

const closeMs = 8_000;

export function openMail({ core, metrics, log, opened }: Wiring, counters: Counters): Mail {
  const { config, sql, clock, tenants } = core;
  const { QL_EMAILS_PER_HOUR: platformMax } = config;
  const store = createEmailStore(sql);
  const suppressions = createSuppressions(sql, core.clock);
  const settings = createEmailSettings(sql, core.ring, clock);
  const stopLinks = createStopLinks(core.signing.signerFor("unsubscribe"), config.baseUrl);
  const charges = createCharges({ counters, tenants, seeds: createEmailSeeds(sql), platformMax });
  const platform: ProviderName = config.SMTP_URL === undefined ? "log" : "smtp";
  const senders = openSenders(core, settings, log);
  const count = countOutcomes(metrics, [platform, "sendgrid"]);
  const host = new URL(config.baseUrl).hostname;

  const messageOf = (email: ClaimedEmail, sender: Message["from"]): Message => ({
    ...{ id: email.id, messageId: `<${email.id}@${host}>`, from: sender, to: email.to, replyTo: email.replyTo },
    ...{ subject: email.subject, text: email.text, html: email.html },
    unsubscribeUrl: mailKinds[email.kind].stoppable
      ? stopLinks.urlFor(email.tenant, email.to, isNoticeKind(email.kind) ? email.kind : undefined)
      : null,
  });
  const chance = Math.random;
  const attempts = createSendAttempts({
    ...{ store, senders, charges, suppressions, messageOf, count, clock, log, chance },
    sendCheck: createSendCheck(sql),
    pause: (ms) => pause(ms),
  });
  const sender = createEmailSender({
    ...{ store, attempts, clock, log, chance },
    name: randomBytes(9).toString("base64url"),
    onUnknown: (provider) => count(provider === "sendgrid" ? provider : platform, "unsure"),
  });
  sender.start();
  const platformEmails = createPlatformEmails({ sql, tenants, counters, max: platformMax });

  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await withDeadline(sender.stop(), closeMs, "a hand-over").catch(() => {
      log.warn("stopped while emails were being sent; another process determines their outcome");
    });
    await senders.close();
  }

  const closeOnce = () => (closing ??= close());
  opened.defer(closeOnce);
  return {
    outbox: createOutbox({ store, suppressions, attempts, sender, clock }),
    stats: createEmailStats(sql, clock.now, charges, senders),
    senders,
    suppressions,
    settings,
    stopLinks,
    sampleWaiting: sampleWaiting(store, metrics),
    samplePlatform: samplePlatform(platformEmails, metrics),
    close: closeOnce,
  };
}

/** Which provider sends whose email, for the server and for the test command. */
export function openSenders({ config, clock }: Core, settings: EmailSettingsStore, log: Logger): Senders {
  const { SMTP_URL, QL_MAIL_FROM: from, QL_SENDGRID_URL } = config;
  return createSenders({
    platform:
      SMTP_URL === undefined ? createLogProvider(log) : createSmtp({ url: SMTP_URL, connections: handOversMost, log }),
    from,
    ownKey: settings.ownKey,
    withKey: (key) => createSendgrid({ url: QL_SENDGRID_URL, key, now: clock.now }),
  });
}

/** Routes outside the API. */
export function mountMail({ sql, clock, tenants }: Core, mail: Mail, guesses: Guesses, log: Logger): Mount {
  const { suppressions, settings, stopLinks } = mail;
  const deliveries = createDeliveries(sql, suppressions, clock);
  const webhook = createWebhook({ deliveries, settings, guesses, clock });
  return mountEmail({ stopLinks, suppressions, settings, tenants, guesses, webhook, log });
}

function countOutcomes(metrics: Metrics, providers: readonly ProviderName[]): SendAttemptSettings["count"] {
  const counts = new Map(
    providers.flatMap((provider) =>
      outcomes.map((outcome) => [`${provider} ${outcome}`, { labels: { provider, outcome }, count: 0 }]),
    ),
  );
  const about = {
    name: "quicklink_emails_total",
    help: "Attempts to send an email, by provider and outcome.",
    labels: ["provider", "outcome"],
  };
  metrics.series("counter", about, () =>
    [...counts.values()].map(({ labels, count }): MetricReading => [labels, count]),
  );
  return (provider, outcome) => {
    const entry = counts.get(`${provider} ${outcome}`);
    if (entry !== undefined) entry.count++;
  };
}

/** Sampled periodically, not on a scrape, which must not wait for SQL. */
function sampleWaiting(store: EmailStore, metrics: Metrics): () => Promise<void> {
  let last = { count: 0, oldestDueMs: 0 };
  // Every process sees the same table.
  metrics.gauge("quicklink_emails_waiting", "Emails in the outbox, up to 10,000.", () => last.count, "max");
  metrics.gauge(
    "quicklink_email_late_seconds",
    "Delay of the most overdue email; 0 when none is due.",
    () => last.oldestDueMs / 1_000,
    "max",
  );
  return async () => {
    last = await store.waiting();
  };
}

/** An unknown value is left out, rather than an old one reported. */
function samplePlatform(platform: PlatformEmails, metrics: Metrics): () => Promise<void> {
  let last: PlatformStanding | undefined;
  const shown = (value: number | null | undefined, labels: MetricReading[0] = {}): MetricReading[] =>
    value === null || value === undefined ? [] : [[labels, value]];
  const used = {
    name: "quicklink_platform_emails_used",
    help: "Emails of all workspaces through SMTP_URL in the last hour, as counted by the limit.",
  };
  metrics.series("gauge", { ...used, labels: [], merged: "max" }, () => shown(last?.used));
  const limit = {
    name: "quicklink_platform_emails_limit",
    help: "Hourly limit of emails through SMTP_URL: for ordinary emails, and for verification and password reset emails.",
  };
  metrics.series("gauge", { ...limit, labels: ["mail"], merged: "max" }, () => [
    ...shown(last?.ordinaryLimit, { mail: "ordinary" }),
    ...shown(last?.limit, { mail: "essential" }),
  ]);
  return async () => {
    last = await platform.standing().catch((error: unknown) => {
      last = undefined;
      throw error;
    });
  };
}
