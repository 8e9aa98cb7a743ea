import { escapeHtml, formPage, page } from "../redirect/pages.ts";
import type { AbuseReason } from "../sql/schema.ts";
import { reasons } from "./reports.ts";

/** The form for reporting a link, without script: what was typed is still there when something is wrong with it. */
export interface Typed {
  readonly code: string;
  readonly reason: string;
  readonly details: string;
  readonly email: string;
}

export type TypedName = keyof Typed;
export type Mistakes = Partial<Record<TypedName, string>>;

export const detailsMost = 2_000;

const reasonTexts: Readonly<Record<AbuseReason, string>> = {
  phishing: "It asks for passwords or money under a false name",
  malware: "It leads to harmful software",
  spam: "It was sent to me as spam",
  illegal: "What it leads to is against the law",
  other: "Something else",
};

export function reportPage(status: number, typed: Typed, mistakes: Mistakes = {}): Response {
  const options = reasons.map(
    (reason) =>
      `<option value="${reason}"${reason === typed.reason ? " selected" : ""}>${escapeHtml(reasonTexts[reason])}</option>`,
  );
  return formPage(
    status,
    "Report a link",
    `<p>Tell the operator of this service about a link that should not be here. They will look at where it leads.</p>
<form method="post" action="/report">
${field("code", "The link, or what stands after the last\u00a0/", mistakes, (more) => `<input ${more} value="${escapeHtml(typed.code)}" required maxlength="300" autocomplete="off">`)}
${field("reason", "What is wrong with it", mistakes, (more) => `<select ${more} required><option value="">Choose one</option>${options.join("")}</select>`)}
${field("details", "What we should know (optional)", mistakes, (more) => `<textarea ${more} rows="4" maxlength="${detailsMost}">\n${escapeHtml(typed.details)}</textarea>`)}
${field("email", "Your email address, if we may ask you something (optional)", mistakes, (more) => `<input ${more} type="email" value="${escapeHtml(typed.email)}" maxlength="254" autocomplete="email">`)}
<button>Send the report</button></form>
`,
  );
}

function field(name: TypedName, label: string, mistakes: Mistakes, control: (more: string) => string): string {
  const mistake = mistakes[name];
  const told = mistake === undefined ? "" : `\n<p role="alert" id="${name}-wrong">${escapeHtml(mistake)}</p>`;
  const more = mistake === undefined ? "" : ` aria-invalid="true" aria-describedby="${name}-wrong"`;
  return `<label for="${name}">${escapeHtml(label)}</label>${told}\n${control(`id="${name}" name="${name}"${more}`)}`;
}

export const thanksPage = (): Response =>
  page(200, "Thank you", "<p>Your report was received. The operator will look at the link.</p>");

/** Something that is not about a field: wait, or come back later. */
export const laterPage = (status: number, text: string, retryAfterSeconds: number): Response =>
  page(status, "Please try again later", `<p>${escapeHtml(text)}</p>`, { "retry-after": String(retryAfterSeconds) });
