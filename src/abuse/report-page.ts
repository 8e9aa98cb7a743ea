import { escapeHtml } from "../base/escape-html.ts";
import { formPage, page } from "../redirect/error-pages.ts";
import type { AbuseReason } from "../sql/schema.ts";
import { abuseReasons } from "./reports.ts";

/** The form for reporting a link, without scripts: the input is kept when something is wrong with it. */
export interface ReportInput {
  readonly code: string;
  readonly reason: string;
  readonly details: string;
  readonly email: string;
}

export type ReportField = keyof ReportInput;
export type ReportErrors = Partial<Record<ReportField, string>>;

export const detailsMost = 2_000;

const reasonTexts: Readonly<Record<AbuseReason, string>> = {
  phishing: "Phishing: it pretends to be someone else to get passwords or money",
  malware: "Malware: it leads to harmful software",
  spam: "Spam: it was sent to me unasked",
  illegal: "Illegal content",
  other: "Something else",
};

export function reportPage(status: number, typed: ReportInput, mistakes: ReportErrors = {}): Response {
  const options = abuseReasons.map(
    (reason) =>
      `<option value="${reason}"${reason === typed.reason ? " selected" : ""}>${escapeHtml(reasonTexts[reason])}</option>`,
  );
  return formPage(
    status,
    "Report a link",
    `<p>Report a link that is harmful or illegal. The operator of this service will review it.</p>
<form method="post" action="/report">
${field("code", "Link, or the part after the last\u00a0/", mistakes, (more) => `<input ${more} value="${escapeHtml(typed.code)}" required maxlength="300" autocomplete="off">`)}
${field("reason", "Reason", mistakes, (more) => `<select ${more} required><option value="">Choose one</option>${options.join("")}</select>`)}
${field("details", "Details (optional)", mistakes, (more) => `<textarea ${more} rows="4" maxlength="${detailsMost}">\n${escapeHtml(typed.details)}</textarea>`)}
${field("email", "Your email address, in case we have questions (optional)", mistakes, (more) => `<input ${more} type="email" value="${escapeHtml(typed.email)}" maxlength="254" autocomplete="email">`)}
<button>Send report</button></form>
`,
  );
}

function field(name: ReportField, label: string, mistakes: ReportErrors, control: (more: string) => string): string {
  const mistake = mistakes[name];
  const told = mistake === undefined ? "" : `\n<p role="alert" id="${name}-wrong">${escapeHtml(mistake)}</p>`;
  const more = mistake === undefined ? "" : ` aria-invalid="true" aria-describedby="${name}-wrong"`;
  return `<label for="${name}">${escapeHtml(label)}</label>${told}\n${control(`id="${name}" name="${name}"${more}`)}`;
}

export const thanksPage = (): Response =>
  page(200, "Thank you", "<p>We received your report. The operator will review the link.</p>");

/** A message that is not about a field, such as to try again later. */
export const laterPage = (status: number, text: string, retryAfterSeconds: number): Response =>
  page(status, "Please try again later", `<p>${escapeHtml(text)}</p>`, { "retry-after": String(retryAfterSeconds) });
