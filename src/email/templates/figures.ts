import { escapeHtml } from "../../base/escape-html.ts";

/**
 * Figures in an email: numbers side by side, a bar for each day, and lists with numbers.
 *
 * Mail programs load no images from elsewhere, and some show none at all; Outlook draws with the engine of Word. So a bar is a cell
 * of a table with a height and a colour. The numbers are text, and a screen reader gets them as one sentence.
 */
export type FigurePart =
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "numbers"; readonly numbers: readonly BigNumber[] }
  | { readonly kind: "bars"; readonly label: string; readonly bars: readonly Bar[] }
  | { readonly kind: "list"; readonly rows: readonly ListRow[] };

export interface BigNumber {
  readonly label: string;
  readonly value: string;
  /** The comparison, in words: `12 % more than the week before`. */
  readonly note: string;
}

export interface Bar {
  /** `Mon` */
  readonly label: string;
  readonly value: number;
  /** The value above the bar, where there is little room. */
  readonly short: string;
  /** `Monday 1,234` */
  readonly words: string;
}

export interface ListRow {
  readonly label: string;
  readonly url?: string;
  /** Empty: none. */
  readonly value: string;
  /** Below the label, in small letters. */
  readonly note?: string;
}

const barHeightPx = 88;
const steps = "▁▂▃▄▅▆▇█";

export function figureText(part: FigurePart): string {
  switch (part.kind) {
    case "heading":
      return part.text;
    case "numbers":
      return part.numbers.map(({ label, value, note }) => `${label}: ${value} (${note})`).join("\n");
    case "bars":
      return `${part.label}\n${sparkline(part.bars)}\n${part.bars.map(({ words }) => words).join(", ")}`;
    case "list":
      return part.rows.map(rowText).join("\n");
  }
}

/** An address is written in full, so that mail programs make it a link. */
const rowText = ({ label, url, value, note }: ListRow): string =>
  [`- ${url ?? label}${value === "" ? "" : `: ${value}`}`, ...(note === undefined ? [] : [`  ${note}`])].join("\n");

/** From zero, as the bars: a day without clicks has the lowest step, and so has one with very few. */
function sparkline(bars: readonly Bar[]): string {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return bars.map(({ value }) => steps[Math.min(7, Math.floor((value / most) * 8))]).join("");
}

const table = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"';
const small = "font-size:12px;line-height:16px";
const tabular = "font-variant-numeric:tabular-nums";

export function figureHtml(part: FigurePart): string {
  switch (part.kind) {
    case "heading":
      return `<h2 class="ink" style="margin:28px 0 4px;font-size:15px;line-height:20px;font-weight:600;color:#1c2430">${escapeHtml(part.text)}</h2>`;
    case "numbers":
      return `<table ${table} style="margin:16px 0 4px"><tr>${part.numbers.map(bigNumberHtml).join("")}</tr></table>`;
    case "bars":
      return barsHtml(part);
    case "list":
      return `<table ${table}>${part.rows.map((row, place) => rowHtml(row, place === part.rows.length - 1)).join("\n")}</table>`;
  }
}

const bigNumberHtml = ({ label, value, note }: BigNumber): string =>
  `<td valign="top" style="padding:0 12px 0 0"><div class="soft" style="${small};color:#5b6675">${escapeHtml(label)}</div>
<div class="ink" style="font-size:28px;line-height:36px;font-weight:600;${tabular};color:#1c2430">${escapeHtml(value)}</div>
<div class="soft" style="${small};color:#5b6675">${escapeHtml(note)}</div></td>`;

function barsHtml({ label, bars }: Extract<FigurePart, { kind: "bars" }>): string {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const width = `${Math.floor(100 / bars.length)}%`;
  const words = escapeHtml(`${label}: ${bars.map((bar) => bar.words).join(", ")}`);
  const columns = bars.map((bar) => {
    const height = bar.value === 0 ? 1 : Math.max(2, Math.round((bar.value / most) * barHeightPx));
    const colour = bar.value === 0 ? 'class="trough" bgcolor="#dfe4ea"' : 'class="bar" bgcolor="#2456d6"';
    const shade = bar.value === 0 ? "#dfe4ea" : "#2456d6";
    return `<td width="${width}" valign="bottom" style="padding:0 3px;vertical-align:bottom"><div class="soft" style="${small};font-size:11px;${tabular};text-align:center;color:#5b6675">${escapeHtml(bar.short)}</div><table ${table}><tr><td ${colour} height="${height}" style="height:${height}px;background:${shade};border-radius:3px 3px 0 0;font-size:0;line-height:0">&#160;</td></tr></table></td>`;
  });
  const labels = bars.map(
    (bar) =>
      `<td class="soft" align="center" style="padding:6px 0 0;${small};color:#5b6675">${escapeHtml(bar.label)}</td>`,
  );
  return `<p class="soft" style="margin:20px 0 8px;${small};color:#5b6675">${escapeHtml(label)}</p>
<table role="img" aria-label="${words}" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed"><tr height="${barHeightPx + 18}" style="height:${barHeightPx + 18}px">${columns.join("")}</tr>
<tr>${labels.join("")}</tr></table>`;
}

function rowHtml({ label, url, value, note }: ListRow, isLast: boolean): string {
  const name =
    url === undefined
      ? escapeHtml(label)
      : `<a class="link" href="${escapeHtml(url)}" style="color:#2456d6;text-decoration:none">${escapeHtml(label)}</a>`;
  const below =
    note === undefined
      ? ""
      : `<div class="soft" style="${small};color:#5b6675;overflow-wrap:anywhere">${escapeHtml(note)}</div>`;
  const line = isLast ? "" : "border-bottom:1px solid #dfe4ea;";
  const cell = `padding:8px 0;${line}font-size:14px;line-height:20px`;
  return `<tr><td class="ink line" valign="top" style="${cell};overflow-wrap:anywhere;word-break:break-word;color:#1c2430">${name}${below}</td><td class="ink line" valign="top" align="right" width="1%" style="${cell};padding-left:12px;${tabular};white-space:nowrap;color:#1c2430">${escapeHtml(value)}</td></tr>`;
}
