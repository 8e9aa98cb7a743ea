import type { Mount } from "../http/mount.ts";
import { wrongMethod } from "../http/problem.ts";
import { finalPage } from "../redirect/error-pages.ts";
import { logoPrefix } from "./brand.ts";
import type { LogoType } from "./logo.ts";

/** `/brand/{hash}`: logos, on every host, because a page may only load pictures from its own. */
export function mountLogos(
  find: (hash: string) => Promise<{ readonly bytes: Buffer; readonly type: LogoType } | undefined>,
): Mount {
  return {
    prefix: logoPrefix,
    onCustomDomains: true,
    async handle(request, { path }) {
      if (request.method !== "GET" && request.method !== "HEAD") return wrongMethod("GET", "HEAD");
      const hash = path.slice(logoPrefix.length);
      const logo = /^[0-9a-f]{64}$/.test(hash) ? await find(hash) : undefined;
      if (logo === undefined) return finalPage({ kind: "missing" }, request);
      return new Response(request.method === "HEAD" ? null : new Uint8Array(logo.bytes), {
        headers: { ...headers, "content-type": logo.type, "content-length": String(logo.bytes.length) },
      });
    },
  };
}

/** The address names the content, so it can be kept for good. Opened by itself, an SVG runs nothing and loads nothing. */
const headers = {
  "cache-control": "public, max-age=31536000, immutable",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};
