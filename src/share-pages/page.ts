import { createHash } from "node:crypto";
import { escapeHtml } from "../base/escape-html.ts";
import type { Brand } from "../branding/brand.ts";
import type { BreakdownName } from "../clicks/click.ts";
import { pointName, tickNames } from "../clicks/reports/point-names.ts";
import { namedValue } from "../clicks/value-names.ts";
import { bar, chartSizes, lineChart } from "./chart.ts";
import type { SharedBreakdown, SharedFigures } from "./figures.ts";

/** Public statistics as a page: everything is readable without script, and there is none. */
const style = `
:root { color-scheme: light dark; --bg: #fbfbfc; --surface: #fff; --line: #e9eaed; --text: #17181c; --text-2: #52555f; --text-3: #676a75;
  --accent: #2d5bd8; --grid: #eeeff2; --bar: #e6edfd }
@media (prefers-color-scheme: dark) { :root { --bg: #0e0f12; --surface: #15161a; --line: #23252a; --text: #ededf0; --text-2: #a8abb4;
  --text-3: #8b8e99; --accent: #7da3ff; --grid: #212328; --bar: #1c2742 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--bg); color: var(--text); overflow-wrap: anywhere;
  font: 14px/20px -apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Noto Sans", Arial, sans-serif }
main { max-width: 880px; margin: 0 auto; padding: 24px 16px 48px; display: grid; gap: 16px }
header { display: grid; gap: 4px }
.brand { display: flex; align-items: center; gap: 12px; margin-bottom: 12px; font-weight: 600 }
.brand img { display: block; height: 32px; max-width: 160px; object-fit: contain }
h1 { margin: 0; font-size: 18px; line-height: 24px; font-weight: 600; letter-spacing: -.012em }
h2 { margin: 0 0 8px; font-size: 14px; line-height: 20px; font-weight: 600 }
p { margin: 0; color: var(--text-2); text-wrap: pretty }
a { color: var(--accent) }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 16px; min-width: 0 }
dl { display: flex; flex-wrap: wrap; gap: 8px 40px; margin: 0 }
dt { color: var(--text-3); font-size: 12px; line-height: 16px }
dd { margin: 0; font-size: 24px; line-height: 30px; font-weight: 600; font-variant-numeric: tabular-nums }
.columns { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)) }
table { width: 100%; border-collapse: collapse }
th { font-weight: 400; text-align: left; color: var(--text-3); font-size: 12px; padding: 0 0 4px }
td { padding: 4px 0; border-top: 1px solid var(--line) }
th:nth-child(n+2), td:nth-child(n+2) { text-align: right; padding-left: 12px; white-space: nowrap; font-variant-numeric: tabular-nums }
td:first-child { width: 100% }
.chart { display: block; width: 100%; height: auto; margin-top: 16px }
.narrow { display: none }
@media (max-width: 560px) { .wide { display: none } .narrow { display: block } }
.grid { stroke: var(--grid) } .axis { fill: var(--text-3); font-size: 11px } .area { fill: var(--accent); opacity: .08 }
.line { fill: none; stroke: var(--accent); stroke-width: 2 } .open { stroke-dasharray: 1 4; stroke-linecap: round }
.point { fill: var(--surface); stroke: var(--accent); stroke-width: 2 }
.bar { display: block; width: 100%; height: 4px; margin-top: 2px; fill: var(--accent); opacity: .55 }
summary { cursor: pointer; margin-top: 12px; color: var(--text-2) }
details table { margin-top: 8px }
footer { color: var(--text-3); font-size: 12px; line-height: 16px }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`;

const styleHash = `'sha256-${createHash("sha256").update(style).digest("base64")}'`;

export function sharePage(figures: SharedFigures, brand: Brand): Response {
  const { title, totals, series, breakdowns } = figures;
  const count = (value: number) => value.toLocaleString("en");
  const starts = series.map(({ start }) => Date.parse(start));
  const ticks = tickNames(starts, figures);
  const points = series.map(({ clicks }, place) => ({ label: ticks[place] ?? "", value: clicks }));
  const rows = series.map((one, place) => ({
    ...one,
    name: capitalised(pointName(starts[place] ?? 0, figures, "long")),
  }));
  const chartName = `Clicks, ${periodOf(figures)}`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Statistics</title><style>${style}</style>${brand.style === "" ? "" : `<style>${brand.style}</style>`}</head>
<body><main><header>${brandOf(brand)}<h1>${escapeHtml(title)}</h1>${subjectOf(figures)}</header>
<section aria-label="Clicks"><dl><div><dt>Clicks</dt><dd>${count(totals.clicks)}</dd></div>
<div><dt>Daily visitors, added up</dt><dd>${count(totals.visitors)}</dd></div></dl>
${totals.clicks === 0 ? "<p>No clicks in this period.</p>" : ""}${chartSizes.map((size) => lineChart(points, chartName, size)).join("")}
<details><summary>As a table</summary><table><thead><tr><th>Time</th><th>Clicks</th><th>Visitors</th></tr></thead><tbody>
${rows.map((one) => `<tr><td>${escapeHtml(one.name)}</td><td>${count(one.clicks)}</td><td>${count(one.visitors)}</td></tr>`).join("\n")}
</tbody></table></details></section>
<div class="columns">${breakdowns.map((one) => breakdownOf(one, totals.clicks)).join("\n")}</div>
<footer>${notesOf(figures)}</footer></main></body></html>
`;
  return new Response(html, { headers: { ...headers, "content-security-policy": policyOf(brand) } });
}

const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};

const policyOf = ({ style: own, styleHash: ownHash, logo }: Brand): string =>
  [
    `default-src 'none'; style-src ${styleHash}${own === "" ? "" : ` ${ownHash}`}`,
    ...(logo === null ? [] : ["img-src 'self'"]),
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join("; ");

function brandOf({ name, logo }: Brand): string {
  if (name === null && logo === null) return "";
  const picture = logo === null ? "" : `<img src="${escapeHtml(logo)}" alt="">`;
  return `<div class="brand">${picture}${name === null ? "" : `<span>${escapeHtml(name)}</span>`}</div>`;
}

function subjectOf(figures: SharedFigures): string {
  const { shortUrl, tag, zone, filters } = figures;
  const subject =
    shortUrl === null
      ? `Links with the tag ${escapeHtml(tag ?? "")}`
      : `<a rel="noreferrer nofollow" href="${escapeHtml(shortUrl)}">${escapeHtml(shortUrl.replace(/^https?:\/\//, ""))}</a>`;
  const only = filters.length === 0 ? "" : `<p>Only: ${escapeHtml(filters.join(" · "))}</p>`;
  return `<p>${subject}</p><p>${periodOf(figures)}, ${escapeHtml(zone)}</p>${only}`;
}

function periodOf({ from, asOf }: SharedFigures): string {
  const [first, last] = [day(from), day(asOf)];
  return first === last ? first : `${first} to ${last}`;
}

const headings: Readonly<Record<BreakdownName, string>> = {
  ...{ link: "Links", country: "Countries", region: "Regions", city: "Cities", device: "Devices" },
  ...{ browser: "Browsers", os: "Systems", referrer: "Referrers", language: "Languages", source: "Opened by" },
  ...{ utm_source: "UTM source", utm_medium: "UTM medium", utm_campaign: "UTM campaign" },
  ...{ variant: "Rules and variants", bot: "Kinds of bots" },
};

function breakdownOf({ name, values, none, other }: SharedBreakdown, total: number): string {
  const most = Math.max(1, ...values.map(({ clicks }) => clicks), none, other);
  // Visitors choose values, which may read like the names of the rows that stand for none.
  const row = (label: string, clicks: number, isValue: boolean) => {
    const shown = isValue ? escapeHtml(label) : `<i>${escapeHtml(label)}</i>`;
    const share = total === 0 ? 0 : (clicks / total) * 100;
    return `<tr><td>${shown}${bar((clicks / most) * 100)}</td><td>${clicks.toLocaleString("en")}</td><td>${share.toFixed(0)}%</td></tr>`;
  };
  const rows = [
    ...[
      ...values.map(({ value, clicks }) => ({ label: namedValue(name, value), clicks, isValue: true })),
      ...(none > 0 ? [{ label: namedValue(name, ""), clicks: none, isValue: false }] : []),
    ]
      .toSorted((one, two) => two.clicks - one.clicks)
      .map(({ label, clicks, isValue }) => row(label, clicks, isValue)),
    ...(other > 0 ? [row("Other", other, false)] : []),
  ];
  const body = rows.length === 0 ? "<p>No clicks in this period.</p>" : "";
  return `<section><h2>${escapeHtml(headings[name])}</h2>${body || `<table><thead><tr><th>Name</th><th>Clicks</th><th>Share</th></tr></thead><tbody>${rows.join("")}</tbody></table>`}</section>`;
}

function notesOf({ asOf, zone, sampledError, notItemised }: SharedFigures): string {
  return [
    `As of ${day(asOf)}, ${escapeHtml(asOf.slice(11, 16))} (${escapeHtml(zone)}). Bots and previews are not counted.`,
    ...(sampledError === null ? [] : [`Sampled, ±${(sampledError * 100).toFixed(1)}%.`]),
    ...(notItemised === 0 ? [] : [`Of ${notItemised.toLocaleString("en")} clicks it is not known whether they match.`]),
  ].join(" ");
}

/** Of a local time: the date of the zone. */
const day = (local: string): string =>
  new Date(`${local.slice(0, 10)}T00:00:00Z`).toLocaleDateString("en-GB", {
    ...{ day: "numeric", month: "long", year: "numeric" },
    timeZone: "UTC",
  });

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
