import { Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Brand } from "../branding/brand.ts";
import type { Mount } from "../http/mount.ts";
import { problemResponse, wrongMethod } from "../http/problem.ts";
import type { Guesses } from "../limits/guesses.ts";
import { finalPage, wantsJson } from "../redirect/error-pages.ts";
import type { PasswordGate } from "../redirect/password-gate.ts";
import type { FiguresOf } from "./figures.ts";
import { sharePage } from "./page.ts";
import { type StatsShare, type StatsShares, sharePrefix, tokenPattern } from "./shares.ts";

/**
 * `/s/{token}`: public statistics, as a page or (`.json`, or by `Accept`) as JSON. The row is read for every request, so a
 * revoked share is gone at once. An unknown token counts as a guess. The password is that of a link: the same gate, limits
 * and cookie.
 */
export interface SharePageSettings {
  readonly shares: Pick<StatsShares, "byToken">;
  readonly figuresOf: FiguresOf;
  readonly brandOf: (share: StatsShare) => Promise<Brand>;
  readonly gate: PasswordGate;
  readonly guesses: Guesses;
  readonly log: Logger;
}

/** Shares are never changed. */
const version = 1;
const busySeconds = 5;

/** For the gate. */
export const shareKey = (token: string): string => `s/${token}`;

export function mountSharePages(settings: SharePageSettings): Mount {
  const { shares, figuresOf, brandOf, gate, guesses, log } = settings;

  async function answer(request: Request, path: string, address: string | undefined): Promise<Response> {
    const isJson = path.endsWith(".json") || wantsJson(request);
    const token = path.slice(sharePrefix.length).replace(/\.json$/, "");
    const wait = guesses.blockedFor(address);
    if (wait !== undefined) return finalPage({ kind: "guessing", retryAfterSeconds: wait }, asking(request, isJson));
    const share = tokenPattern.test(token) ? await shares.byToken(token) : undefined;
    if (share === undefined) {
      await guesses.missed(address).catch(() => undefined);
      return finalPage({ kind: "missing" }, asking(request, isJson), undefined, "report");
    }
    const locked = share.passwordHash === null ? undefined : await unlock(request, share, isJson);
    if (locked !== undefined) return locked;
    if (request.method === "POST") return wrongMethod("GET", "HEAD");
    return isJson ? Response.json(await figuresOf(share), { headers: jsonHeaders }) : await pageOf(share);
  }

  async function pageOf(share: StatsShare): Promise<Response> {
    const [figures, brand] = await Promise.all([figuresOf(share), brandOf(share)]);
    return sharePage(figures, brand);
  }

  /** `undefined`: the visitor may see it. */
  async function unlock(request: Request, share: StatsShare, isJson: boolean): Promise<Response | undefined> {
    const key = shareKey(share.token);
    if (request.method !== "POST") {
      if (gate.isOpen(request, key, version)) return undefined;
      return finalPage({ kind: "password" }, asking(request, isJson), await brandOf(share), "report");
    }
    const outcome = await gate.tryPassword(request, key);
    if (outcome.kind === "unprotected") return wrongMethod("GET", "HEAD");
    if (outcome.kind !== "open") return finalPage(outcome, asking(request, isJson), await brandOf(share), "report");
    const location = `${sharePrefix}${share.token}`;
    return new Response(null, {
      status: 303,
      headers: { location, "set-cookie": outcome.pass, "cache-control": "no-store" },
    });
  }

  return {
    prefix: sharePrefix,
    onCustomDomains: false,
    async handle(request, { path, address }) {
      if (!["GET", "HEAD", "POST"].includes(request.method)) return wrongMethod("GET", "HEAD", "POST");
      try {
        return await answer(request, path, address);
      } catch (error) {
        // Its link or what its filters name may be gone.
        if (error instanceof Problem && (error.code === "not_found" || error.code === "invalid_input")) {
          return finalPage({ kind: "missing" }, request, undefined, "report");
        }
        if (!(error instanceof Problem)) log.error({ error }, "cannot show public statistics");
        if (error instanceof Problem && wantsJson(request)) return problemResponse(error);
        return finalPage({ kind: "unavailable", retryAfterSeconds: busySeconds }, request, undefined, "report");
      }
    },
  };
}

const jsonHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};

/** Programs that ask for `.json` get problems as JSON too. */
const asking = (request: Request, isJson: boolean): Request =>
  isJson ? new Request(request.url, { headers: { accept: "application/json" } }) : request;
