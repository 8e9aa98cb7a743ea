import type { Mount } from "../../http/mount.ts";
import { wrongMethod } from "../../http/problem.ts";
import { buttonPage, finalPage } from "../../redirect/error-pages.ts";

/**
 * `/clicks/exclude`: people exclude their own visits to links of this host. A cookie says so, which only their browser
 * keeps: nothing is stored about them here. Such a visit redirects and spends quota as usual, but no report has it; only
 * its number is kept. The cookie says the same about everyone who has it, so it needs no signature.
 */
export const excludePath = "/clicks/exclude";
const cookie = "ql_exclude";
const yearSeconds = 31_536_000;

export const isExcluded = (cookies: string | null): boolean => cookies !== null && pattern.test(cookies);

const pattern = /(?:^|; ?)ql_exclude=1(?:;|$)/;

/** `secure`: visitors reach this server by HTTPS. */
export function mountExclude(secure: boolean): Mount {
  const cookieOf = (value: string, seconds: number): string =>
    `${cookie}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;

  return {
    prefix: "/clicks/",
    onCustomDomains: true,
    handle(request, { path }) {
      if (path !== excludePath) return finalPage({ kind: "missing" }, request);
      const excluded = isExcluded(request.headers.get("cookie"));
      switch (request.method) {
        case "GET":
        case "HEAD":
          return excluded
            ? buttonPage(
                "Your visits are excluded",
                "<p>Visits from this browser to links of this host do not appear in click reports.</p>",
                "Include my visits again",
              )
            : buttonPage(
                "Exclude your visits?",
                "<p>Visits from this browser to links of this host will not appear in click reports. This sets one cookie in this browser, for a year.</p>",
                "Exclude my visits",
              );
        case "POST": {
          if (isForeign(request)) return finalPage({ kind: "not_ours" }, request);
          const next = excluded ? cookieOf("0", 0) : cookieOf("1", yearSeconds);
          const headers = { location: excludePath, "set-cookie": next, "cache-control": "no-store" };
          return new Response(null, { status: 303, headers });
        }
        default:
          return wrongMethod("GET", "HEAD", "POST");
      }
    },
  };
}

/** Another site must not decide for a visitor. Browsers send this header with every form. */
const isForeign = (request: Request): boolean => {
  const site = request.headers.get("sec-fetch-site");
  return site !== null && site !== "same-origin" && site !== "none";
};
