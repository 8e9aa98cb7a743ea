import { escapeHtml } from "../../base/escape-html.ts";
import { type FigurePart, figureHtml, figureText } from "./figures.ts";

/**
 * An email as its author sees it: a title and parts, in reading order. Text and HTML are both generated from it, so
 * that they say the same and all emails look alike.
 *
 * The HTML must work in limited mail programs: inline styles, no external resources, and dark mode in the one way that
 * supporting programs understand. All text goes through `escapeHtml`; an author cannot insert HTML.
 */
export interface Letter {
  readonly subject: string;
  readonly title: string;
  readonly parts: readonly LetterPart[];
  /** Why the recipient gets it, in a sentence. */
  readonly why: string;
  /** What the unsubscribe link does, if not to unsubscribe from everything. */
  readonly stop?: string;
}

export type LetterPart =
  | { readonly kind: "text"; readonly text: string }
  /** Quoted text, with its line breaks. */
  | { readonly kind: "quote"; readonly text: string }
  /** A button; its URL is also spelled out, for mail programs that show no links. */
  | { readonly kind: "action"; readonly label: string; readonly url: string }
  /** How much of a limit is used. */
  | { readonly kind: "meter"; readonly label: string; readonly used: number; readonly max: number }
  | FigurePart;

export interface Rendered {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** `stopUrl`: the unsubscribe link, if offered. */
export function render(letter: Letter, stopUrl: string | null): Rendered {
  return { subject: oneLine(letter.subject), text: toText(letter, stopUrl), html: toHtml(letter, stopUrl) };
}

const subjectMost = 200;

/** A subject is a header: names in it may come from anywhere. */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return line.length <= subjectMost ? line : `${line.slice(0, subjectMost - 1).toWellFormed()}…`;
}

const unsubscribe = "Unsubscribe";

function toText({ title, parts, why, stop: label = unsubscribe }: Letter, stopUrl: string | null): string {
  const stop = stopUrl === null ? [] : [`${label}: ${stopUrl}`];
  return `${[title, ...parts.map(partText), "-- ", why, ...stop].join("\n\n")}\n`;
}

function partText(part: LetterPart): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "quote":
      return part.text.trim().replaceAll(/^/gm, "> ");
    case "action":
      return `${part.label}: ${part.url}`;
    case "meter":
      return `${part.label} (${percentOf(part)} %)`;
    default:
      return figureText(part);
  }
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const whenDark = "@media (prefers-color-scheme: dark)";
const dark = `
  .back { background: #10151c !important }
  .card { background: #171e27 !important; border-color: #2b3441 !important }
  .ink { color: #e8ecf2 !important }
  .soft { color: #9aa6b5 !important }
  .line { border-color: #2b3441 !important }
  .trough { background: #2b3441 !important }
  .link { color: #86a8ff !important }
  .bar { background: #7da3ff !important }
`;

function toHtml({ title, parts, why, stop: label = unsubscribe }: Letter, stopUrl: string | null): string {
  const stop =
    stopUrl === null
      ? ""
      : ` <a class="link" href="${escapeHtml(stopUrl)}" style="color:#2456d6">${escapeHtml(label)}</a>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title><style>:root { color-scheme: light dark }
${whenDark} {${dark}}</style></head>
<body class="back" style="margin:0;padding:24px 12px;background:#f6f7f9;${font}">
<div class="card" role="article" style="max-width:520px;margin:0 auto;padding:28px;background:#ffffff;border:1px solid #dfe4ea;border-radius:14px">
<h1 class="ink" style="margin:0 0 12px;font-size:21px;line-height:1.3;color:#1c2430">${escapeHtml(title)}</h1>
${parts.map(partHtml).join("\n")}
<p class="soft line" style="margin:28px 0 0;padding:16px 0 0;border-top:1px solid #dfe4ea;font-size:13px;line-height:1.5;color:#5b6675">${escapeHtml(why)}${stop}</p>
</div></body></html>
`;
}

/** As a reader with this theme sees it, whatever the system says. */
export const inTheme = (html: string, theme: "light" | "dark"): string =>
  html
    .replace(":root { color-scheme: light dark }", `:root { color-scheme: ${theme} }`)
    .replace(whenDark, theme === "dark" ? "@media all" : "@media not all");

const paragraph = "margin:12px 0;font-size:16px;line-height:1.6;overflow-wrap:anywhere";

function partHtml(part: LetterPart): string {
  switch (part.kind) {
    case "text":
      return `<p class="ink" style="${paragraph};color:#1c2430">${escapeHtml(part.text)}</p>`;
    case "quote": {
      const lines = part.text.trim().split("\n").map(escapeHtml).join("<br>");
      return `<blockquote class="soft line" style="${paragraph};margin-left:0;margin-right:0;padding-left:14px;border-left:3px solid #dfe4ea;color:#5b6675">${lines}</blockquote>`;
    }
    case "action": {
      const url = escapeHtml(part.url);
      return `<p style="margin:20px 0 8px"><a href="${url}" style="display:inline-block;padding:11px 20px;border-radius:8px;background:#2456d6;color:#ffffff;font-size:16px;font-weight:600;text-decoration:none">${escapeHtml(part.label)}</a></p>
<p style="margin:0 0 12px;font-size:13px;line-height:1.5;overflow-wrap:anywhere"><a class="link" href="${url}" style="color:#2456d6">${url}</a></p>`;
    }
    case "meter":
      return meterHtml(part);
    default:
      return figureHtml(part);
  }
}

/** The bar illustrates the words above it, and carries no information itself. */
function meterHtml(part: Extract<LetterPart, { kind: "meter" }>): string {
  const percent = percentOf(part);
  const colour = percent >= 100 ? "#c62f2f" : "#d98a00";
  return `<p class="ink" style="margin:16px 0 6px;font-size:15px;line-height:1.5;color:#1c2430"><strong>${escapeHtml(part.label)}</strong> (${percent} %)</p>
<div class="trough" aria-hidden="true" style="height:10px;border-radius:5px;background:#dfe4ea;overflow:hidden;margin:0 0 16px"><div style="height:10px;width:${Math.min(percent, 100)}%;background:${colour};font-size:0">&#160;</div></div>`;
}

/** Rounded down: 100 % is shown only when reached. */
const percentOf = ({ used, max }: { used: number; max: number }): number =>
  max === 0 ? 100 : Math.floor((used / max) * 100);
