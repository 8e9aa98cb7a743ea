import type { ListRow } from "./figures.ts";
import { formatCount, formatCounted } from "./format.ts";
import type { Letter, LetterPart } from "./letter.ts";
import { withoutScheme } from "./link-notices.ts";

/** A tenant's week. */
export interface DigestFacts {
  readonly tenant: string;
  readonly zone: string;
  /** The starts of its days, in order, with their clicks. */
  readonly days: readonly { readonly start: number; readonly clicks: number }[];
  readonly clicks: number;
  readonly visitors: number;
  /** The same of the week before. */
  readonly before: { readonly clicks: number; readonly visitors: number };
  readonly links: readonly DigestLink[];
  /** ISO codes; empty: unknown. */
  readonly countries: readonly DigestValue[];
  /** Hosts; empty: none. */
  readonly referrers: readonly DigestValue[];
  readonly dead: readonly { readonly url: string; readonly title: string | null }[];
  readonly nearLimit: readonly { readonly url: string; readonly used: number; readonly max: number }[];
}

export interface DigestLink {
  readonly url: string;
  readonly title: string | null;
  readonly clicks: number;
}

export interface DigestValue {
  readonly value: string;
  readonly clicks: number;
}

/** As in `clicks/click.ts`. */
const otherValue = "…";

export function digestLetter(facts: DigestFacts): Letter {
  const { tenant, zone, days, clicks, visitors, before } = facts;
  const title = `Your week: ${formatCounted(clicks, "click")}`;
  const perDay = { timeZone: zone } as const;
  return {
    subject: `${title}: ${tenant}`,
    title,
    parts: [
      { kind: "text", text: `${tenant}, ${periodOf(days, zone)}.` },
      {
        kind: "numbers",
        numbers: [
          { label: "Clicks", value: formatCount(clicks), note: changeOf(clicks, before.clicks) },
          { label: "Daily visitors", value: formatCount(visitors), note: changeOf(visitors, before.visitors) },
        ],
      },
      {
        kind: "bars",
        label: "Clicks a day",
        bars: days.map(({ start, clicks: value }) => ({
          label: new Date(start).toLocaleDateString("en-GB", { ...perDay, weekday: "short" }),
          value,
          short: value < 10_000 ? formatCount(value) : compact(value),
          words: `${new Date(start).toLocaleDateString("en-GB", { ...perDay, weekday: "long" })} ${formatCount(value)}`,
        })),
      },
      ...section("Most clicked links", facts.links.map(linkRow)),
      ...section(
        "Countries",
        facts.countries.map((one) => valueRow(one, clicks, countryName)),
      ),
      ...section(
        "Came from",
        facts.referrers.map((one) => valueRow(one, clicks, (host) => host || "Direct or unknown")),
      ),
      ...section(
        "Destinations that no longer work",
        facts.dead.map(({ url, title }) => ({ ...linkOf(url, title), value: "" })),
      ),
      ...section("Links near their limit this month", facts.nearLimit.map(limitRow)),
    ],
    why: `Bots and previews are not counted. Visitors are counted once a day. You get this email because your address is the contact address of ${tenant}.`,
    stop: "Switch off the weekly summary",
  };
}

const section = (heading: string, rows: readonly ListRow[]): LetterPart[] =>
  rows.length === 0
    ? []
    : [
        { kind: "heading", text: heading },
        { kind: "list", rows },
      ];

const linkOf = (url: string, title: string | null): Omit<ListRow, "value"> => ({
  ...{ label: withoutScheme(url), url },
  ...(title === null ? {} : { note: title }),
});

const linkRow = ({ url, title, clicks }: DigestLink): ListRow => ({
  ...linkOf(url, title),
  value: formatCount(clicks),
});

const limitRow = ({ url, used, max }: DigestFacts["nearLimit"][number]): ListRow => ({
  ...linkOf(url, `${formatCount(used)} of ${formatCounted(max, "visit")}`),
  value: `${Math.floor((used / max) * 100)} %`,
});

const valueRow = ({ value, clicks }: DigestValue, total: number, nameOf: (value: string) => string): ListRow => ({
  label: value === otherValue ? "Other" : nameOf(value),
  value: `${formatCount(clicks)} (${Math.round((clicks / Math.max(1, total)) * 100)} %)`,
});

function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code || "Unknown";
  return new Intl.DisplayNames("en", { type: "region" }).of(code) ?? code;
}

/** `12 % more than the week before` */
function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? "none the week before either" : "none the week before";
  const percent = Math.round((now / before - 1) * 100);
  if (percent === 0) return "as many as the week before";
  return `${formatCount(Math.abs(percent))} % ${percent > 0 ? "more" : "fewer"} than the week before`;
}

/** `9 to 15 November 2026` */
function periodOf(days: DigestFacts["days"], timeZone: string): string {
  const [first, last] = [days[0]?.start ?? 0, days.at(-1)?.start ?? 0];
  const parts = (at: number) => ({
    day: new Date(at).toLocaleDateString("en-GB", { timeZone, day: "numeric" }),
    month: new Date(at).toLocaleDateString("en-GB", { timeZone, month: "long" }),
    year: new Date(at).toLocaleDateString("en-GB", { timeZone, year: "numeric" }),
  });
  const [from, to] = [parts(first), parts(last)];
  const month = from.month === to.month ? "" : ` ${from.month}`;
  const year = from.year === to.year ? "" : ` ${from.year}`;
  return `${from.day}${month}${year} to ${to.day} ${to.month} ${to.year}`;
}

const compact = (count: number): string =>
  count.toLocaleString("en-GB", { notation: "compact", maximumFractionDigits: 1 }).toLowerCase();
