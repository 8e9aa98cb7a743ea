/** Numbers and times for readers. */
export const formatCount = (count: number): string => count.toLocaleString("en-GB");

/** `1 click`, `1,234 clicks`: whatever is counted is written by this, so that no email says "1 clicks". */
export const formatCounted = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** `1 December 2026 (UTC)` */
export const formatDay = (at: number): string =>
  `${new Date(at).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" })} (UTC)`;

/** `1 December 2026, 14:05 (UTC)` */
export const formatTime = (at: number): string => {
  const time = new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
  return formatDay(at).replace(" (UTC)", `, ${time} (UTC)`);
};

const units = ["bytes", "kB", "MB", "GB", "TB", "PB"] as const;

/** `812.5 MB`: in thousands, as plans are written. Rounded down, so that a limit never looks reached early. */
export function formatBytes(count: number): string {
  let [rest, place] = [count, 0];
  while (rest >= 1_000 && place < units.length - 1) [rest, place] = [rest / 1_000, place + 1];
  if (place === 0) return formatCounted(rest, "byte");
  const shown = Math.floor(rest * 10) / 10;
  return `${shown.toLocaleString("en-GB", { maximumFractionDigits: 1 })} ${units[place]}`;
}
