import { Command, InvalidArgumentError } from "commander";
import { toIso } from "../base/clock.ts";
import { OperatorError, Problem } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { printable } from "../base/printable.ts";
import type { Core } from "../core.ts";
import { parseAddress } from "../email/address.ts";
import { webhookUrl } from "../email/delivery/webhook.ts";
import { createPlatformEmails } from "../email/platform-usage.ts";
import type { HandOver, Mailbox, RejectReason } from "../email/providers/provider.ts";
import type { Sender } from "../email/providers/senders.ts";
import { isNoticeKind, type NoticeKind, noticeNames } from "../email/settings/notice-kinds.ts";
import { createEmailSettings } from "../email/settings/settings.ts";
import { render } from "../email/templates/letter.ts";
import { byCommand } from "../history/history.ts";
import { connectCounters } from "../server/counters.ts";
import { openSenders } from "../server/email.ts";
import { quietLog, requireTenant, withCore } from "./core.ts";
import { type OutputFormat, printFields, printJson, printRows, say } from "./print.ts";
import { terminal } from "./terminal.ts";

const deadlineMs = 30_000;

export function emailCommand(): Command {
  const command = new Command("email");
  command
    .command("test")
    .argument("<address>", "recipient")
    .option("--tenant <slug>", "workspace whose email settings to use", "default")
    .description("send a test email now and print the provider's response; it does not count towards limits")
    .addHelpText(
      "after",
      "\nExample:\n  $ quicklink email test you@example.com\n\nExits with 1 if the provider rejects the email.",
    )
    .action((text: string, { tenant: slug }: { tenant: string }) =>
      withCore(async (core) => {
        const to = parseAddress(text);
        if (to === undefined)
          throw new Problem("invalid_input", `"${text}" is not an email address, such as ann@example.com.`);
        const tenant = await requireTenant(core, slug);
        const settings = createEmailSettings(core.sql, core.ring, core.clock);
        const senders = openSenders(core, settings, quietLog());
        try {
          const sender = await senders.resolve(tenant.id);
          say(`Provider: ${nameOf(sender, core.config.SMTP_URL, core.config.QL_SENDGRID_URL)}`);
          say(`From: ${written(sender.from)}`);
          say(`To: ${to}`);
          if (sender.provider.name === "log") return nowhere();
          const id = newId("email", core.clock);
          const messageId = `<${id}@${new URL(core.config.baseUrl).hostname}>`;
          const letter = render(testLetter(core.config.baseUrl), null);
          const { provider, from } = sender;
          const headers = { id, messageId, from, to, replyTo: null, unsubscribeUrl: null };
          report(await provider.send({ ...headers, ...letter }, deadlineMs));
        } finally {
          await senders.close();
        }
      }),
    );
  command
    .command("webhook")
    .option("--tenant <slug>", "whose", "default")
    .option("--rotate", "replace the address; the previous one stops working at once")
    .description("print the URL for SendGrid's Event Webhook, creating it if needed")
    .addHelpText("after", "\nExample:\n  $ quicklink email webhook --tenant acme --rotate")
    .action(({ tenant: slug, rotate }: { tenant: string; rotate?: true }) =>
      withCore(async (core) => {
        const { id } = await requireTenant(core, slug);
        const settings = createEmailSettings(core.sql, core.ring, core.clock);
        const saved = await (rotate === true
          ? settings.rotateWebhook(id, byCommand)
          : settings.change(id, {}, byCommand));
        say(webhookUrl(core.config.baseUrl, id, saved) ?? "-");
      }),
    );
  command
    .command("notices")
    .option("--tenant <slug>", "whose", "default")
    .option("--on <kinds>", `kinds to switch on, comma separated: ${noticeNames.join(", ")}`, noticeList)
    .option("--off <kinds>", "kinds to switch off", noticeList)
    .option("--json", "print as JSON")
    .description("show or change which emails about clicks a workspace's contact address gets")
    .addHelpText("after", "\nExample:\n  $ quicklink email notices --tenant acme --on firstClick,drop --off digest")
    .action((options: NoticeOptions) => withCore((core) => notices(core, options)));
  command
    .command("stats")
    .option("--top <n>", "maximum number of workspaces to list", positive, 10)
    .option("--json", "print as JSON")
    .description("show what all workspaces sent through the platform's mail server in the last hour")
    .addHelpText("after", "\nThe last fifth of the limit is reserved for verification and password reset emails.")
    .action((options: OutputFormat & { top: number }) => withCore((core) => stats(core, options)));
  return command;
}

interface NoticeOptions extends OutputFormat {
  readonly tenant: string;
  readonly on?: readonly NoticeKind[];
  readonly off?: readonly NoticeKind[];
}

async function notices(core: Core, { tenant: slug, on = [], off = [], ...format }: NoticeOptions): Promise<void> {
  const { id } = await requireTenant(core, slug);
  const both = on.find((kind) => off.includes(kind));
  if (both !== undefined) throw new Problem("invalid_input", `"${both}" is in --on and in --off. Choose one.`);
  const settings = createEmailSettings(core.sql, core.ring, core.clock);
  const wanted = (kinds: readonly NoticeKind[], isOn: boolean) => kinds.map((kind) => [kind, isOn] as const);
  const change = Object.fromEntries([...wanted(on, true), ...wanted(off, false)]);
  const saved = await (on.length + off.length === 0
    ? settings.of(id)
    : settings.change(id, { notices: change }, byCommand));
  if (format.json) return printJson({ contact: saved.contact, notices: saved.notices });
  const shown = Object.entries(saved.notices).map(([kind, isOn]) => [kind, isOn ? "on" : "off"]);
  printFields({ contact: saved.contact ?? "none: no notices are sent", ...Object.fromEntries(shown) }, format);
}

function noticeList(text: string): readonly NoticeKind[] {
  return text.split(",").map((name) => {
    if (isNoticeKind(name)) return name;
    throw new InvalidArgumentError(`"${name}" is not one of ${noticeNames.join(", ")}.`);
  });
}

async function stats({ config, clock, sql, tenants }: Core, { top, ...format }: OutputFormat & { top: number }) {
  const { limitsRedisUrl: url, QL_EMAILS_PER_HOUR: max } = config;
  // Without Redis the counters are in the server's memory; the table is what they start from.
  const shared = url === undefined ? undefined : await connectCounters(url, clock);
  try {
    const platform = createPlatformEmails({ sql, tenants, counters: shared?.ledger, max });
    const { used, limit, ordinaryLimit, resetsAt } = await platform.standing();
    const left = (most: number | null) => (most === null || used === null ? null : Math.max(0, most - used));
    const standing = {
      ...{ used, limit, left: left(limit), ordinaryLimit, ordinaryLeft: left(ordinaryLimit) },
      reserved: limit === null || ordinaryLimit === null ? null : limit - ordinaryLimit,
      resetsAt: resetsAt === null ? null : toIso(resetsAt),
    };
    const kinds = Object.fromEntries((await platform.kinds()).map((one) => [one.kind, one.used]));
    const most = await platform.tenants(top);
    if (format.json) return printJson({ platform: { ...standing, kinds }, tenants: most });
    printFields({ ...standing, ...prefixed(kinds) }, format);
    printRows(
      most.map((one) => ({ ...one })),
      ["tenant", "used", "limit"],
      format,
      "No emails were sent in the last hour.",
    );
    if (used === null)
      throw new OperatorError("Redis is unavailable, so current usage is unknown. To find out why: quicklink doctor");
  } finally {
    await shared?.close();
  }
}

const prefixed = (kinds: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(kinds).map(([kind, count]) => [`kind ${kind}`, count]));

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > 1_000)
    throw new InvalidArgumentError("Must be a whole number from 1 to 1000.");
  return value;
}

function nowhere(): void {
  say("Nothing was sent. Set SMTP_URL and QL_MAIL_FROM. See docs/config.md.");
  terminal().exitCode = 1;
}

const testLetter = (baseUrl: string) => ({
  subject: "QuickLink test email",
  title: "Email works",
  parts: [{ kind: "text", text: `The server at ${baseUrl} sent this test email. No action is needed.` } as const],
  why: "Someone ran `quicklink email test` with your address.",
});

const written = ({ name, address }: Mailbox): string => (name === null ? address : `${name} <${address}>`);

/** Never shows credentials. */
function nameOf({ provider }: Sender, smtpUrl: string | undefined, sendgridUrl: string): string {
  if (provider.name === "sendgrid") return `the workspace's own SendGrid key, at ${sendgridUrl}`;
  if (provider.name === "log") return "none: SMTP_URL is not set, so emails are only written to the server log";
  return `the platform's mail server, ${smtpUrl === undefined ? "" : new URL(smtpUrl).host}`;
}

const advice: Readonly<Record<RejectReason, string>> = {
  address: "The recipient does not exist. Try another address.",
  message: "Check that the provider accepts this sender, and that the domain has SPF and DKIM records.",
  credentials: "Check the API key, and that the sender is verified at SendGrid.",
};

function report(outcome: HandOver): void {
  if (outcome.kind === "accepted") {
    const id = outcome.providerId === null ? "" : ` Message ID: ${outcome.providerId}.`;
    say(`Accepted.${id} If it does not arrive, check the spam folder.`);
    return;
  }
  say(`Rejected: ${printable(outcome.detail)}`);
  say(
    outcome.kind === "rejected"
      ? advice[outcome.reason]
      : "Check SMTP_URL (or QL_SENDGRID_URL), and that this machine can connect to it: quicklink doctor",
  );
  terminal().exitCode = 1;
}
