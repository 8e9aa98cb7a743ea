import { createHash } from "node:crypto";
import { Problem, type ProblemCode } from "../base/errors.ts";
import { escapeHtml } from "../base/escape-html.ts";
import type { Brand } from "../branding/brand.ts";
import { problemResponse } from "../http/problem.ts";
import type { FinalRefusal } from "./decide.ts";
import type { VisitRequest } from "./visit-request.ts";

/**
 * Pages shown when a link does not redirect: small, without scripts, light and dark, saying what happened and what to
 * do. Programs that ask for JSON get the same as a problem.
 */
const style = `
:root { color-scheme: light dark; --bg: #fbfbfc; --surface: #fff; --line: #e9eaed; --control: #8d909b; --text: #17181c; --text-2: #52555f;
  --accent: #2d5bd8; --on-accent: #fff; --bad: #c4342b }
@media (prefers-color-scheme: dark) { :root { --bg: #0e0f12; --surface: #15161a; --line: #23252a; --control: #686b76; --text: #ededf0;
  --text-2: #a8abb4; --accent: #7da3ff; --on-accent: #15161a; --bad: #ff8f85 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--bg); color: var(--text);
  font: 16px/24px -apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Noto Sans", Arial, sans-serif }
main { width: 100%; max-width: 480px; padding: 32px; background: var(--surface); border: 1px solid var(--line); border-radius: 8px;
  overflow-wrap: anywhere }
@media (max-width: 480px) { body { padding: 16px } main { padding: 24px } }
header { display: flex; align-items: center; gap: 12px; margin-bottom: 24px; padding-bottom: 16px; border-bottom: 2px solid var(--accent);
  font-weight: 600; min-width: 0 }
header img { display: block; height: 32px; max-width: 160px; object-fit: contain }
h1 { margin: 0 0 8px; font-size: 18px; line-height: 24px; font-weight: 600; letter-spacing: -.012em }
p { margin: 8px 0 0; color: var(--text-2); text-wrap: pretty }
strong { color: var(--text) }
a { color: var(--accent) }
time { white-space: nowrap }
ul { margin: 8px 0 0; padding-left: 20px; color: var(--text-2) }
form { margin-top: 20px; display: grid; gap: 8px }
input, select, textarea, button { font: inherit; min-height: 44px; padding: 8px 12px; border-radius: 6px; border: 1px solid var(--control) }
input, select, textarea { width: 100%; background: var(--surface); color: var(--text) }
textarea { resize: vertical }
label { margin-top: 8px }
label + [role=alert] { margin: 0 }
button { margin-top: 12px; background: var(--accent); color: var(--on-accent); border-color: transparent; font-weight: 600; cursor: pointer }
[role=alert] { color: var(--bad); font-weight: 600 }
[aria-invalid] { border-color: var(--bad) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
small { display: block; margin-top: 24px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--text-2) }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

const policy = (formAction: string, brand?: Brand): string =>
  [
    `default-src 'none'; style-src 'sha256-${styleHash}'${brand?.style ? ` ${brand.styleHash}` : ""}`,
    ...(brand?.logo ? ["img-src 'self'"] : []),
    `base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
  ].join("; ");

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};

/** `body` is HTML: anything from outside must have gone through `escapeHtml`. */
export function page(
  status: number,
  title: string,
  body: string,
  more: Record<string, string> = {},
  brand?: Brand,
): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${style}</style>${brand?.style ? `<style>${brand.style}</style>` : ""}</head>
<body><main>${headerOf(brand)}<h1>${escapeHtml(title)}</h1>
${body}</main></body></html>
`;
  return new Response(html, {
    status,
    headers: { ...headers, "content-security-policy": policy("'none'", brand), ...more },
  });
}

/** The logo is decoration beside the name. */
function headerOf(brand: Brand | undefined): string {
  if (brand === undefined || (brand.logo === null && brand.name === null)) return "";
  const logo = brand.logo === null ? "" : `<img src="${escapeHtml(brand.logo)}" alt="">`;
  return `<header>${logo}${brand.name === null ? "" : `<span>${escapeHtml(brand.name)}</span>`}</header>`;
}

/** A page with a form that posts to ourselves. */
export const formPage = (status: number, title: string, body: string): Response =>
  page(status, title, body, { "content-security-policy": policy("'self'"), "referrer-policy": "same-origin" });

/** A page with one button that posts an empty form to the same URL. */
export const buttonPage = (title: string, body: string, button: string): Response =>
  formPage(200, title, `${body}\n<form method="post"><button>${escapeHtml(button)}</button></form>\n`);

export function wantsJson(request: VisitRequest): boolean {
  const accept = request.headers.get("accept") ?? "";
  return accept.includes("json") && !accept.includes("text/html");
}

interface Told {
  readonly code: ProblemCode;
  readonly title: string;
  readonly text: string;
}

/** What a visitor can be told instead of being redirected; `guessing` before anything is known about the link. */
export type VisitRefusal =
  | FinalRefusal
  | { readonly kind: "wrong_password" | "not_ours" }
  | { readonly kind: "guessing" | "attempts" | "busy"; readonly retryAfterSeconds: number };

const told: Readonly<Record<VisitRefusal["kind"], Told>> = {
  missing: {
    code: "not_found",
    title: "This link does not exist",
    text: "Check the address for typing mistakes; links are case-sensitive. If someone sent you this link, ask them for a new one.",
  },
  suspended: {
    code: "link_suspended",
    title: "This link is suspended",
    text: "The operator of this service has suspended it because of its destination or how it was used.",
  },
  expired: {
    code: "link_expired",
    title: "This link has expired",
    text: "Its expiry date has passed. Ask the sender for a new link.",
  },
  password: {
    code: "password_required",
    title: "This link is password protected",
    text: "Enter the password. If you do not have it, ask the person who sent you the link.",
  },
  wrong_password: {
    code: "wrong_password",
    title: "This link is password protected",
    text: "The password is wrong. Passwords are case-sensitive.",
  },
  attempts: {
    code: "too_many_attempts",
    title: "Too many wrong passwords",
    text: "Too many wrong passwords were tried on this link. Browsers that opened it in the last 24 hours can still open it.",
  },
  not_ours: {
    code: "forbidden",
    title: "This form cannot be used",
    text: "The password was sent from another page or in an unknown format. Open the link and enter the password there.",
  },
  busy: {
    code: "busy",
    title: "Please try again in a moment",
    text: "Many passwords are being checked right now. Yours was not checked.",
  },
  spent: {
    code: "quota_spent",
    title: "This link is over its limit",
    text: "It has used its visits for now and will work again later. The owner can raise the limit.",
  },
  guessing: {
    code: "too_many_guesses",
    title: "Too many unknown links",
    text: "Many unknown links were opened from your IP address, which looks like guessing. Please try again in a minute. Popular links keep working.",
  },
  unavailable: {
    code: "unavailable",
    title: "Please try again in a moment",
    text: "This link cannot be looked up right now. The link itself is fine.",
  },
};

/** What the visitor wanted to open. */
type Wanted = "link" | "report";

/** `told` speaks of links. */
const tell = (text: string, wanted: Wanted): string => text.replaceAll(/\blink\b/g, wanted);

export function finalPage(
  refusal: VisitRefusal,
  request: VisitRequest,
  brand?: Brand,
  wanted: Wanted = "link",
): Response {
  const { code } = told[refusal.kind];
  const title = tell(told[refusal.kind].title, wanted);
  const reason = tell(told[refusal.kind].text, wanted);
  const wait = "retryAfterSeconds" in refusal ? refusal.retryAfterSeconds : undefined;
  const text = refusal.kind === "attempts" ? `${reason} Try again ${inTime(refusal.retryAfterSeconds)}.` : reason;
  const problem = new Problem(code, `${title}. ${text}`, wait === undefined ? {} : { retryAfterSeconds: wait });
  const response = wantsJson(request)
    ? problemResponse(problem)
    : asksForPassword(refusal)
      ? passwordPage(problem.status, refusal.kind === "wrong_password", brand, wanted)
      : page(
          problem.status,
          title,
          `<p>${escapeHtml(text)}</p>`,
          wait === undefined ? {} : { "retry-after": String(wait) },
          brand,
        );
  response.headers.set("vary", "accept");
  return response;
}

/** Rounded up, never too early. */
function inTime(seconds: number): string {
  if (seconds < 120) return `in ${seconds} second${seconds === 1 ? "" : "s"}`;
  return `in ${Math.ceil(seconds / 60)} minutes`;
}

const asksForPassword = ({ kind }: VisitRefusal): boolean => kind === "password" || kind === "wrong_password";

/**
 * The form posts to its own URL, with the query that may be forwarded. Browsers apply `form-action` also to where the
 * response redirects, which may be anywhere; and send the form's origin only if the page allows it for its own server.
 */
function passwordPage(status: number, again: boolean, brand: Brand | undefined, wanted: Wanted): Response {
  const { title, text } = told[again ? "wrong_password" : "password"];
  return page(
    status,
    tell(title, wanted),
    `<p id="told"${again ? ' role="alert"' : ""}>${escapeHtml(tell(text, wanted))}</p>
<form method="post"><label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="200" autocomplete="off" autofocus aria-describedby="told"${again ? ' aria-invalid="true"' : ""}>
<button>Open the ${wanted}</button></form>
`,
    { "content-security-policy": policy("'self' https: http:", brand), "referrer-policy": "same-origin" },
    brand,
  );
}
