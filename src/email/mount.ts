import { Problem } from "../base/errors.ts";
import { escapeHtml } from "../base/escape-html.ts";
import type { Logger } from "../base/log.ts";
import type { Mount } from "../http/mount.ts";
import { problemResponse, wrongMethod } from "../http/problem.ts";
import type { Guesses } from "../limits/guesses.ts";
import { buttonPage, finalPage, page } from "../redirect/error-pages.ts";
import { isUnavailable } from "../sql/sql.ts";
import type { Tenants } from "../tenants/tenants.ts";
import type { Suppressions } from "./delivery/suppressions.ts";
import { type Recipient, type StopLinks, stopPath } from "./delivery/unsubscribe.ts";
import { eventsPath } from "./delivery/webhook.ts";
import { type NoticeKind, noticeKinds } from "./settings/notice-kinds.ts";
import type { EmailSettingsStore } from "./settings/settings.ts";

/** Email routes outside the API: the unsubscribe page, and SendGrid's events. */
export interface EmailMount {
  readonly stopLinks: StopLinks;
  readonly suppressions: Suppressions;
  readonly settings: Pick<EmailSettingsStore, "of" | "change">;
  readonly tenants: Pick<Tenants, "byId">;
  readonly guesses: Guesses;
  readonly webhook: (request: Request, place: string, address: string | undefined) => Promise<Response>;
  readonly log: Logger;
}

export function mountEmail(parts: EmailMount): Mount {
  const { stopLinks, suppressions, settings, tenants, guesses, webhook, log } = parts;

  /**
   * A GET only asks, because scanners follow every link in an email. The button, and the mail program's own (RFC 8058),
   * unsubscribe; repeating it is harmless.
   */
  async function stop(request: Request, token: string, address: string | undefined): Promise<Response> {
    const recipient = stopLinks.read(token);
    const tenant = recipient && (await tenants.byId(recipient.tenant));
    if (recipient === undefined || tenant === undefined) {
      const retryAfterSeconds = await guesses.missed(address);
      return finalPage(
        retryAfterSeconds === undefined ? { kind: "missing" } : { kind: "guessing", retryAfterSeconds },
        request,
      );
    }
    const [to, from] = [`<strong>${escapeHtml(recipient.address)}</strong>`, escapeHtml(tenant.name)];
    if (recipient.notice !== undefined) {
      const emails = `emails about ${noticeKinds[recipient.notice].about}`;
      if (request.method !== "POST") {
        return buttonPage(
          `Stop these emails?`,
          `<p>${from} sends ${emails} to ${to}. Others are not affected.</p>`,
          "Stop",
        );
      }
      await switchOff({ ...recipient, notice: recipient.notice });
      const done = `<p>${to} gets no more ${emails} from ${from}. To switch them on again, use the email settings of ${from}.</p>`;
      return page(200, "These emails are switched off", done);
    }
    if (request.method !== "POST") {
      const ask = `<p>${from} sends emails to ${to}: shared links and notifications.</p>`;
      return buttonPage("Unsubscribe?", ask, "Unsubscribe");
    }
    await suppressions.add(recipient.tenant, recipient.address, "unsubscribed");
    const done = `<p>${to} gets no more of these emails from ${from}. If this was a mistake, ask ${from} to add you again.</p>`;
    return page(200, "You are unsubscribed", done);
  }

  /** Only the current contact decides; a former one gets these emails no more anyway. */
  async function switchOff({ tenant, address, notice }: Recipient & { notice: NoticeKind }): Promise<void> {
    const { contact, notices } = await settings.of(tenant);
    if (contact !== address || !notices[notice]) return;
    await settings.change(tenant, { notices: { [notice]: false } }, { kind: "nobody" });
  }

  async function answer(request: Request, path: string, address: string | undefined): Promise<Response> {
    if (path.startsWith(stopPath)) {
      if (!["GET", "HEAD", "POST"].includes(request.method)) return wrongMethod("GET", "HEAD", "POST");
      return stop(request, path.slice(stopPath.length), address);
    }
    if (path.startsWith(eventsPath)) {
      if (request.method !== "POST") return wrongMethod("POST");
      return webhook(request, path.slice(eventsPath.length), address);
    }
    return finalPage({ kind: "missing" }, request);
  }

  return {
    prefix: "/email/",
    onCustomDomains: false,
    async handle(request, { path, address }) {
      try {
        return await answer(request, path, address);
      } catch (error) {
        if (error instanceof Problem) return problemResponse(error);
        if (!isUnavailable(error)) throw error;
        log.warn({ error }, "email request failed: the database is unavailable");
        return finalPage({ kind: "unavailable", retryAfterSeconds: retrySeconds }, request);
      }
    },
  };
}

const retrySeconds = 30;
