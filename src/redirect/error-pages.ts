import { createHash } from "node:crypto";
import { Problem, type ProblemCode } from "../base/errors.ts";
import { escapeHtml } from "../base/escape-html.ts";
import { problemResponse } from "../http/problem.ts";
import type { FinalRefusal } from "./decide.ts";

/**
 * Pages shown when a link does not redirect: small, without scripts, light and dark, saying what happened and what to
 * do. Programs that ask for JSON get the same as a problem.
 */
const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #dfe4ea; --edge: #7d8794; --back: #f6f7f9; --card: #fff;
  --accent: #2456d6; --wrong: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --soft: #9aa6b5; --line: #2b3441; --edge: #6c7888; --back: #10151c;
  --card: #171e27; --accent: #86a8ff; --wrong: #ff9d94 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--back); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 14px;
  overflow-wrap: anywhere }
@media (max-width: 30rem) { body { padding: 1rem } main { padding: 1.5rem } }
h1 { margin: 0 0 .5rem; font-size: 1.35rem; line-height: 1.3 }
p { margin: .5rem 0 0; color: var(--soft) }
strong { color: var(--ink) }
a { color: var(--accent) }
time { white-space: nowrap }
ul { margin: .5rem 0 0; padding-left: 1.2rem; color: var(--soft) }
form { margin-top: 1.25rem; display: grid; gap: .5rem }
input, select, textarea, button { font: inherit; padding: .6rem .75rem; border-radius: 8px; border: 1px solid var(--edge) }
input, select, textarea { width: 100%; background: var(--back); color: var(--ink) }
textarea { resize: vertical }
label { margin-top: .5rem }
label + [role=alert] { margin: 0 }
button { margin-top: .75rem; background: var(--accent); color: var(--card); border-color: transparent; font-weight: 600; cursor: pointer }
[role=alert] { color: var(--wrong); font-weight: 600 }
[aria-invalid] { border-color: var(--wrong) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
small { display: block; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft) }
`;

const styleHash = createHash("sha256").update(style).digest("base64");

const policy = (formAction: string): string =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`;

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policy("'none'"),
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};

/** `body` is HTML: anything from outside must have gone through `escapeHtml`. */
export function page(status: number, title: string, body: string, more: Record<string, string> = {}): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}</main></body></html>
`;
  return new Response(html, { status, headers: { ...headers, ...more } });
}

/** A page with a form that posts to ourselves. */
export const formPage = (status: number, title: string, body: string): Response =>
  page(status, title, body, { "content-security-policy": policy("'self'"), "referrer-policy": "same-origin" });

/** A page with one button that posts an empty form to the same URL. */
export const buttonPage = (title: string, body: string, button: string): Response =>
  formPage(200, title, `${body}\n<form method="post"><button>${escapeHtml(button)}</button></form>\n`);

export function wantsJson(request: Request): boolean {
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

export function finalPage(refusal: VisitRefusal, request: Request): Response {
  const { code, title, text: reason } = told[refusal.kind];
  const wait = "retryAfterSeconds" in refusal ? refusal.retryAfterSeconds : undefined;
  const text = refusal.kind === "attempts" ? `${reason} Try again ${inTime(refusal.retryAfterSeconds)}.` : reason;
  const problem = new Problem(code, `${title}. ${text}`, wait === undefined ? {} : { retryAfterSeconds: wait });
  const response = wantsJson(request)
    ? problemResponse(problem)
    : asksForPassword(refusal)
      ? passwordPage(problem.status, refusal.kind === "wrong_password")
      : page(
          problem.status,
          title,
          `<p>${escapeHtml(text)}</p>`,
          wait === undefined ? {} : { "retry-after": String(wait) },
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
function passwordPage(status: number, again: boolean): Response {
  const { title, text } = told[again ? "wrong_password" : "password"];
  return page(
    status,
    title,
    `<p id="told"${again ? ' role="alert"' : ""}>${escapeHtml(text)}</p>
<form method="post"><label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="200" autocomplete="off" autofocus aria-describedby="told"${again ? ' aria-invalid="true"' : ""}>
<button>Open the link</button></form>
`,
    { "content-security-policy": policy("'self' https: http:"), "referrer-policy": "same-origin" },
  );
}
