/**
 * Time to live of a link in the shared cache, by its visits and how often it changes. A link with few visits and rare
 * changes, which is nearly every link, lives for `QL_CACHE_TTL_SECONDS`, an hour by default; the others in proportion.
 */
export type ChangeFrequency = "rare" | "moderate" | "frequent";

const minute = 60_000;
const hour = 60 * minute;

const lives: readonly { readonly above: number; readonly ms: Readonly<Record<ChangeFrequency, number>> }[] = [
  { above: 1_000, ms: { rare: 24 * hour, moderate: hour, frequent: 15 * minute } },
  { above: 100, ms: { rare: 6 * hour, moderate: hour, frequent: 30 * minute } },
  { above: Number.NEGATIVE_INFINITY, ms: { rare: hour, moderate: 30 * minute, frequent: 15 * minute } },
];

export function ttlMs(visitsPerMinute: number, changesPerDay: number, usualMs: number = hour): number {
  const row = lives.find(({ above }) => visitsPerMinute > above);
  return ((row?.ms[changesOf(changesPerDay)] ?? hour) / hour) * usualMs;
}

const changesOf = (perDay: number): ChangeFrequency => (perDay < 1 ? "rare" : perDay <= 10 ? "moderate" : "frequent");
