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
import { type StopLinks, stopPath } from "./delivery/unsubscribe.ts";
import { eventsPath } from "./delivery/webhook.ts";

/** Email routes outside the API: the unsubscribe page, and SendGrid's events. */
export interface EmailMount {
  readonly stopLinks: StopLinks;
  readonly suppressions: Suppressions;
  readonly tenants: Pick<Tenants, "byId">;
  readonly guesses: Guesses;
  readonly webhook: (request: Request, place: string, address: string | undefined) => Promise<Response>;
  readonly log: Logger;
}

export function mountEmail(settings: EmailMount): Mount {
  const { stopLinks, suppressions, tenants, guesses, webhook, log } = settings;

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
    if (request.method !== "POST") {
      const ask = `<p>${from} sends emails to ${to}: shared links and notifications.</p>`;
      return buttonPage("Unsubscribe?", ask, "Unsubscribe");
    }
    await suppressions.add(recipient.tenant, recipient.address, "unsubscribed");
    const done = `<p>${to} gets no more of these emails from ${from}. If this was a mistake, ask ${from} to add you again.</p>`;
    return page(200, "You are unsubscribed", done);
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
