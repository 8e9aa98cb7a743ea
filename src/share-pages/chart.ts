import { escapeHtml } from "../base/escape-html.ts";

/** A chart as SVG, drawn by the server: colours are classes of the page's style, because no attribute may have a style. */
export interface ChartPoint {
  readonly label: string;
  readonly value: number;
}

export interface ChartSize {
  /** Also its class. */
  readonly name: "wide" | "narrow";
  readonly width: number;
  readonly labelsMost: number;
}

/** Text in an SVG shrinks with it, so small screens get a smaller one instead of the same. */
export const chartSizes: readonly ChartSize[] = [
  { name: "wide", width: 720, labelsMost: 6 },
  { name: "narrow", width: 340, labelsMost: 3 },
];

const height = 220;
const margin = { left: 44, right: 12, top: 12, bottom: 28 };

export function lineChart(points: readonly ChartPoint[], name: string, size: ChartSize): string {
  const { width, labelsMost } = size;
  const top = niceTop(Math.max(1, ...points.map(({ value }) => value)));
  const [inner, tall] = [width - margin.left - margin.right, height - margin.top - margin.bottom];
  const x = (place: number) => margin.left + (points.length < 2 ? inner / 2 : (place / (points.length - 1)) * inner);
  const y = (value: number) => margin.top + tall * (1 - value / top);
  const at = (place: number, value: number) => `${round(x(place))},${round(y(value))}`;
  const line = points.map(({ value }, place) => at(place, value));
  // The last interval is not over: its part of the line is dotted, and its point hollow.
  const [whole, open] = [line.slice(0, -1), line.slice(-2)];
  const last = points.length - 1;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * top).filter((tick) => Number.isInteger(tick));
  const every = Math.max(1, Math.ceil(points.length / labelsMost));
  return [
    `<svg class="chart ${size.name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(name)}">`,
    ...ticks.map(
      (tick) =>
        `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${round(y(tick))}" y2="${round(y(tick))}"/>` +
        `<text class="axis" x="${margin.left - 8}" y="${round(y(tick)) + 4}" text-anchor="end">${shortNumber(tick)}</text>`,
    ),
    ...points.flatMap(({ label }, place) =>
      place % every === 0
        ? [
            `<text class="axis" x="${round(x(place))}" y="${height - 8}" text-anchor="${anchorOf(place, points.length)}">${escapeHtml(label)}</text>`,
          ]
        : [],
    ),
    points.length > 1
      ? `<polygon class="area" points="${at(0, 0)} ${line.join(" ")} ${at(last, 0)}"/><polyline class="line" points="${whole.join(" ")}"/><polyline class="line open" points="${open.join(" ")}"/>`
      : "",
    ...points
      .slice(-1)
      .map(({ value }) => `<circle class="point" cx="${round(x(last))}" cy="${round(y(value))}" r="3.5"/>`),
    "</svg>",
  ].join("");
}

/** The labels at both ends stay inside the picture. */
const anchorOf = (place: number, count: number): string =>
  place === 0 ? "start" : place === count - 1 ? "end" : "middle";

/** From 0 to 100. */
export const bar = (share: number): string =>
  `<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${round(Math.max(0.5, share))}" height="8" rx="1"/></svg>`;

const round = (value: number): number => Math.round(value * 10) / 10;

/** The next round number that can be divided by four. */
export function niceTop(most: number): number {
  if (most <= 4) return 4;
  const step = 10 ** Math.floor(Math.log10(most));
  const fits = [1, 2, 4, 8, 10].map((factor) => factor * step).find((top) => top >= most && top % 4 === 0);
  return fits ?? Math.ceil(most / 4) * 4;
}

const shortNumber = (value: number): string =>
  new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value);
