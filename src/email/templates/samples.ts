import { dayMs } from "../../base/clock.ts";
import { mailKinds } from "../outbox/outbox.ts";
import type { DigestFacts } from "./digest.ts";
import type { Rendered } from "./letter.ts";
import type { LinkNoticeFacts } from "./link-notices.ts";
import type { AccountFacts, RoleFacts, VerificationFacts } from "./people.ts";
import type { QuotaFacts } from "./quota.ts";
import { type MailFacts, type TemplateName, writeMail } from "./templates.ts";

/**
 * Every email with sample values, for people who want to see what is sent in their name: the workspace, its time zone and the
 * server are real, the links, people and numbers are not.
 */
export interface SampleSetting {
  /** The name of the workspace. */
  readonly tenant: string;
  readonly zone: string;
  readonly baseUrl: string;
  readonly now: number;
}

/** Who gets it: the workspace's contact address, somebody a link is shared with, or the owner of an account. */
export type SampleRecipient = "contact" | "recipient" | "person";

interface Sample {
  readonly kind: TemplateName;
  readonly to: SampleRecipient;
  readonly write: (setting: SampleSetting, changed?: ChangedFacts) => Rendered;
}

/** Other facts than those of the sample. */
export type ChangedFacts = <Facts extends object>(facts: Facts) => Facts;

function sample<Kind extends TemplateName>(
  kind: Kind,
  to: SampleRecipient,
  facts: (setting: SampleSetting) => MailFacts[Kind],
): Sample {
  return {
    ...{ kind, to },
    write(setting, changed = (same) => same) {
      const stopUrl = mailKinds[kind].stoppable ? `${setting.baseUrl}/email/unsubscribe/sample` : null;
      return writeMail(kind, changed(facts(setting)), stopUrl);
    },
  };
}

const hourMs = 3_600_000;
const page = ({ baseUrl }: SampleSetting, path: string) => ({
  url: `${baseUrl}/app/${path}`,
  host: new URL(baseUrl).host,
});

const notice = (setting: SampleSetting, of: Partial<LinkNoticeFacts["links"][number]>): LinkNoticeFacts => ({
  ...{ tenant: setting.tenant, zone: setting.zone },
  links: [
    {
      ...{ url: `${setting.baseUrl}/winter-sale`, title: "Winter sale", at: setting.now - hourMs },
      ...{ clicks: 1_240, usual: 32, answer: null, ...of },
    },
  ],
});

const quota = (of: (setting: SampleSetting) => QuotaFacts["of"], percent: 80 | 100, max: number) =>
  sample("quota", "contact", (setting) => ({
    ...{ tenant: setting.tenant, percent, used: (max * percent) / 100, max, of: of(setting) },
  }));
const nextMonth = (now: number): number => Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() + 1, 1);
const hits = ({ baseUrl, now }: SampleSetting): QuotaFacts["of"] => ({
  ...{ kind: "hits", shortUrl: `${baseUrl}/winter-sale`, fallback: false, resetsAt: nextMonth(now) },
});
const links = ({ now }: SampleSetting): QuotaFacts["of"] => ({ kind: "links", resetsAt: nextMonth(now) });
const storage = (): QuotaFacts["of"] => ({ kind: "storage" });

const verification = (purpose: VerificationFacts["purpose"]) =>
  sample("verification", "person", (setting) => ({ purpose, ...page(setting, "verify#sample"), hours: 24 }));
const role = (given: RoleFacts["role"]) =>
  sample("role", "person", (setting) => ({ workspace: setting.tenant, role: given, ...page(setting, "") }));
const account = (what: AccountFacts["what"]) =>
  sample("account", "person", (setting) => ({ what, at: setting.now - hourMs, ...page(setting, "account") }));

export const samples = {
  digest: sample("digest", "contact", week),
  firstClick: sample("firstClick", "contact", (setting) => notice(setting, {})),
  spike: sample("spike", "contact", (setting) => notice(setting, {})),
  drop: sample("drop", "contact", (setting) => notice(setting, { clicks: 3, usual: 210 })),
  deadTarget: sample("deadTarget", "contact", (setting) => notice(setting, { answer: "answers 404" })),
  quotaHits80: quota(hits, 80, 10_000),
  quotaHits100: quota(hits, 100, 10_000),
  quotaLinks80: quota(links, 80, 500),
  quotaLinks100: quota(links, 100, 500),
  quotaStorage80: quota(storage, 80, 10_000_000_000),
  quotaStorage100: quota(storage, 100, 10_000_000_000),
  share: sample("share", "recipient", ({ tenant, baseUrl }) => ({
    ...{ from: tenant, shortUrl: `${baseUrl}/winter-sale`, title: "Winter sale", host: "shop.example.com" },
    message: "Have a look,\nit starts on Monday.",
  })),
  invitation: sample("invitation", "person", (setting) => ({
    ...{ workspace: setting.tenant, inviter: "Ann Example", role: "member", days: 7 },
    ...page(setting, "invitation#sample"),
  })),
  roleChanged: role("admin"),
  roleRemoved: role(null),
  verifyAccount: verification("account"),
  verifyChange: verification("change"),
  verifySignUp: verification("sign-up"),
  verifyExisting: verification("existing"),
  reset: sample("reset", "person", (setting) => ({ ...page(setting, "reset#sample"), hours: 1 })),
  signIn: sample("signIn", "person", (setting) => ({
    ...{ device: "Firefox on Windows", at: setting.now - hourMs, ...page(setting, "account") },
  })),
  accountPassword: account("password"),
  accountEmail: account("email"),
  accountSecondFactorRemoved: account("second-factor-removed"),
  accountSecondFactorReset: account("second-factor-reset"),
  accountPasskeyAdded: account("passkey-added"),
  accountPasskeyRemoved: account("passkey-removed"),
} as const satisfies Record<string, Sample>;

export type SampleName = keyof typeof samples;
export const sampleNames = Object.keys(samples) as [SampleName, ...SampleName[]];

/** From Monday on. */
const clicksOfDays = [310, 402, 388, 455, 290, 120, 98];

function week({ tenant, zone, baseUrl, now }: SampleSetting): DigestFacts {
  const sinceMonday = (new Date(now).getUTCDay() + 6) % 7;
  const first = now - (sinceMonday + clicksOfDays.length) * dayMs;
  return {
    ...{ tenant, zone, clicks: 2_063, visitors: 1_377, before: { clicks: 1_842, visitors: 1_290 } },
    days: clicksOfDays.map((clicks, place) => ({ start: first + place * dayMs, clicks })),
    links: [
      { url: `${baseUrl}/winter-sale`, title: "Winter sale", clicks: 1_240 },
      { url: `${baseUrl}/menu`, title: "Menu of the week", clicks: 823 },
    ],
    countries: [
      { value: "DE", clicks: 1_204 },
      { value: "FR", clicks: 602 },
      { value: "", clicks: 257 },
    ],
    referrers: [
      { value: "newsletter.example", clicks: 1_130 },
      { value: "", clicks: 933 },
    ],
    dead: [{ url: `${baseUrl}/autumn`, title: "Autumn catalogue" }],
    nearLimit: [{ url: `${baseUrl}/winter-sale`, used: 9_000, max: 10_000 }],
  };
}
