import { shareOf } from "../limits/forecast.ts";
import { ownDomain } from "../links/link.ts";
import type { LimitUse, LinkUse, Usage } from "../tenants/usage.ts";

/** Limits as lines with bars, for a terminal: how full, the figures, when it resets, and whether it will last. */
export interface BarLayout {
  readonly columns: number;
  readonly colours: boolean;
  readonly now: number;
}

const labels: Readonly<Record<string, string>> = {
  apiPerMinute: "API calls this minute",
  linksPerMonth: "links this month",
  storageBytes: "stored files (bytes)",
  emailsPerHourSmtp: "emails this hour (SMTP)",
  emailsPerHourSendgrid: "emails this hour (SendGrid)",
};

const labelMost = 30;
const barLeast = 8;
const barMost = 24;
const gap = "  ";

export function barLines(usage: Usage, layout: BarLayout): string[] {
  const uses: readonly (LimitUse | LinkUse)[] = [...usage.limits, ...usage.links];
  const rows = uses.map((use) => ({
    use,
    label: labelOf(use),
    figures: figures(use),
    notes: notes(use, layout.now),
  }));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const labelWidth = widest(rows.map(({ label }) => label));
  const figuresWidth = widest(rows.map(({ figures }) => figures));
  const notesWidth = widest(rows.map(({ notes }) => notes));
  const free = layout.columns - labelWidth - figuresWidth - notesWidth - 3 * gap.length;
  const barWidth = Math.min(barMost, Math.max(barLeast, free));
  // If even the shortest bar leaves too little room, the last columns are dropped rather than wrapped.
  const room = layout.columns - labelWidth - barWidth - figuresWidth - 3 * gap.length;
  const lines = rows.map(({ use, label, figures, notes }) =>
    [
      label.padEnd(labelWidth),
      bar(use, barWidth, layout.colours),
      figures.padEnd(figuresWidth),
      notes.length <= room ? notes : "",
    ]
      .join(gap)
      .trimEnd(),
  );
  const elsewhere = uses.some(({ state }) => state === "in_server");
  return elsewhere ? [...lines, "", "These counters are in the server's memory. To read them: GET /api/usage"] : lines;
}

function labelOf(use: LimitUse | LinkUse): string {
  const label = "code" in use ? labelOfLink(use) : (labels[use.name] ?? use.name);
  return label.length > labelMost ? `${label.slice(0, labelMost - 1)}…` : label;
}

/** On a custom domain, the domain gives way: the code is what people look for. */
function labelOfLink({ domain, code }: LinkUse): string {
  if (domain === ownDomain) return `hits this month /${code}`;
  const room = labelMost - `hits /${code}`.length;
  const host = domain.length <= room ? domain : `…${domain.slice(domain.length - Math.max(0, room - 1))}`;
  return `hits ${host}/${code}`;
}

function bar({ used, held, limit }: LimitUse, width: number, colours: boolean): string {
  if (used === null || limit === null) return " ".repeat(width);
  const share = shareOf({ used, held: held ?? 0, max: limit });
  // Any usage is visible, however little; only a fully used limit has a full bar.
  const filled = share === 1 ? width : Math.min(width - 1, Math.ceil(share * width));
  const drawn = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
  return colours ? `\u001b[${colourOf(share)}m${drawn}\u001b[0m` : drawn;
}

const [green, yellow, red] = [32, 33, 31];
const colourOf = (share: number): number => (share === 1 ? red : share >= 0.8 ? yellow : green);

function figures({ used, limit }: LimitUse): string {
  if (used === null) return limit === null ? "no limit" : `limit ${grouped(limit)}`;
  return limit === null ? `${grouped(used)}, no limit` : `${grouped(used)} of ${grouped(limit)}`;
}

const grouped = (count: number): string => count.toLocaleString("en");

function notes({ state, held, resetsAt, spentAt }: LimitUse, now: number): string {
  if (state === "not_counted") return "not counted";
  if (state === "unavailable") return "Redis is unavailable";
  if (state === "in_server") return "in the server's memory";
  const parts = [
    held ? `${grouped(held)} reserved` : "",
    resetsAt === null ? "" : `resets in ${duration(resetsAt - now)}`,
    spentAt === null ? "" : spentAt <= now ? "spent" : `at this rate, used up on ${dayOf(spentAt)}`,
  ];
  return parts.filter(Boolean).join("   ");
}

const units = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1_000 },
] as const;

/** In the largest unit that fits, rounded up, so that it is never too early. */
function duration(ms: number): string {
  const unit = units.find((one) => ms >= one.ms) ?? units[3];
  const count = Math.max(1, Math.ceil(ms / unit.ms));
  return `${count} ${unit.name}${count === 1 ? "" : "s"}`;
}

const dayOf = (at: number): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
