import type { Mount } from "../http/mount.ts";
import { wrongMethod } from "../http/problem.ts";
import type { PersonPage } from "../people/person-pages.ts";
import { finalPage, page } from "../redirect/error-pages.ts";
import { type Bundle, type BundleEntry, openBundle } from "./bundle.ts";

/**
 * `/app`: the dashboard. Every address below it is the same page, whose script shows what the address names; only
 * `/app/assets/` are files. Nothing is loaded from elsewhere, and no inline script or style runs.
 */
export interface DashboardSettings {
  readonly baseUrl: string;
  /** Of the bucket that uploads go to. */
  readonly uploadOrigin: string | undefined;
  /** Where the bundle is looked for; by default where it is built to. */
  readonly folders?: readonly string[];
}

export function mountDashboard(settings: DashboardSettings): Mount {
  let bundle: Bundle | undefined;
  const policy = contentPolicy(settings.uploadOrigin);
  const isSecure = settings.baseUrl.startsWith("https:");

  return {
    prefix: "/app",
    onCustomDomains: false,
    handle(request, { path, file }) {
      if (request.method !== "GET" && request.method !== "HEAD") return wrongMethod("GET", "HEAD");
      if (path !== "/app" && !path.startsWith("/app/")) return finalPage({ kind: "missing" }, request);
      bundle ??= openBundle(settings.folders);
      if (bundle === undefined) return notBundled();
      if (!path.startsWith(assetsPath)) {
        const headers = {
          ...common,
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": policy,
          "cache-control": "no-cache",
          ...(isSecure && secured),
        };
        const entry = visitorPages.has(path.slice("/app/".length)) ? "visitor" : "main";
        return new Response(html(bundle.style, bundle.entries[entry], themeOf(request)), { headers });
      }
      const asset = bundle.find(path.slice(assetsPath.length), request.headers.get("accept-encoding") ?? "");
      if (asset === undefined) return new Response(null, { status: 404, headers: common });
      const headers = {
        ...common,
        "content-type": asset.type,
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(asset.encoding && { "content-encoding": asset.encoding }),
      };
      return new Response(file(asset.path), { headers });
    },
  };
}

/** For people who are not signed in; most mails lead to one of them. */
const visitorPages: ReadonlySet<string> = new Set<PersonPage>([
  ...(["setup", "sign-in", "sign-up", "verify", "reset", "email", "invitation"] as const),
]);

const assetsPath = "/app/assets/";

const common = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex",
};

/** Over plain http browsers ignore both, and report it in the console. */
const secured = {
  "strict-transport-security": "max-age=31536000",
  "cross-origin-opener-policy": "same-origin",
};

/** Uploads go directly to the bucket, if there is one. Pictures are QR codes, logos, and previews made in the browser.
 * In frames are previews of emails, which have a policy of their own. */
function contentPolicy(uploadOrigin: string | undefined): string {
  const upload = uploadOrigin === undefined ? "" : ` ${uploadOrigin}`;
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; frame-src 'self'; " +
    `connect-src 'self'${upload}; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`
  );
}

/** Set by the dashboard, so that the first picture already has the chosen colours. */
function themeOf(request: Request): "light" | "dark" | undefined {
  const found = /(?:^|;\s*)quicklink-theme=(light|dark)(?:;|$)/.exec(request.headers.get("cookie") ?? "")?.[1];
  return found === "light" || found === "dark" ? found : undefined;
}

function html(style: string, { script, preload }: BundleEntry, theme: string | undefined): string {
  const ahead = preload.map((name) => `<link rel="modulepreload" href="${assetsPath}${name}">`).join("");
  return `<!doctype html>
<html lang="en"${theme === undefined ? "" : ` data-theme="${theme}"`}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark"><title>QuickLink</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<link rel="stylesheet" href="${assetsPath}${style}">${ahead}
<script type="module" src="${assetsPath}${script}"></script></head>
<body><div id="app"></div><noscript><p class="boot">The dashboard needs JavaScript. The API and the command line work without it.</p></noscript></body></html>
`;
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#17181c"/><path d="M10.5 8.5H9a3.5 3.5 0 0 0 0 7h1.5M13.5 8.5H15a3.5 3.5 0 0 1 0 7h-1.5" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>';

const notBundled = (): Response =>
  page(
    503,
    "The dashboard is not built",
    "<p>Redirects and the API work. To build the dashboard, run <strong>npm run build:web</strong> and reload this page.</p>",
  );
