/**
 * Days, weeks and months of time zones: where reports let them begin, against a slow exact reckoning that reads the clock of the
 * zone minute by minute (`test/ground/slow-calendar.ts`).
 *
 * 1. `offsets`: zones at +05:30, +05:45, -03:30 and +14:00, over a year.
 * 2. `changes`: zones that change their clocks, by an hour and by half an hour, at night and at midnight, 40 days around both
 *    changes; and the day that Samoa left out.
 */
import { progress } from "../bench/show.ts";
import { type CalendarInterval, reckonStarts } from "../test/ground/slow-calendar.ts";
import type { Attempt, Control, Proof } from "./proof.ts";
import { load } from "./source.ts";

const file = "clicks/reports/zones.ts";
const withMistake = (name: string, breaks: readonly string[], from: string, to: string): Control => ({
  ...{ name, edits: [{ file, from, to }], plays: [...new Set(breaks.map((id) => id.split(".")[0] ?? ""))], breaks },
});

export const zones: Proof = {
  name: "zones",
  shows:
    "days, weeks and months begin where a clock that is read minute by minute says, in zones at odd offsets and across changes of daylight saving",
  needs: [],
  controls: [
    withMistake(
      "offsets of whole hours",
      ["offsets.differences"],
      "+ Number(minutes) * 60_000;",
      "+ Number(minutes) * 0;",
    ),
    withMistake(
      "a day of 24 hours",
      ["changes.differences"],
      "        const start = startOfDay(zone, day);\n        if (start > at) return start;",
      '        const start = interval === "day" ? Math.max(at, startOfDay(zone, day - 1)) + dayMs : startOfDay(zone, day);\n        if (start > at) return start;',
    ),
    withMistake("weeks that begin on Sunday", ["offsets.differences"], "((day + 3) % 7)", "((day + 4) % 7)"),
  ],
  run,
};

const dayMs = 86_400_000;
const intervals = ["day", "week", "month"] as const satisfies readonly CalendarInterval[];

interface Stretch {
  readonly zone: string;
  readonly from: number;
  readonly days: number;
}

const offsetZones = ["Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"];
/** The middle of each is a change of the clock. */
const changes: readonly (readonly [zone: string, date: string])[] = [
  ...(["2026-03-29", "2026-10-25"] as const).map((date) => ["Europe/Berlin", date] as const),
  ...(["2026-03-08", "2026-11-01"] as const).map((date) => ["America/St_Johns", date] as const),
  ...(["2026-03-08", "2026-11-01"] as const).map((date) => ["America/New_York", date] as const),
  ...(["2026-04-05", "2026-10-04"] as const).map((date) => ["Australia/Lord_Howe", date] as const),
  ...(["2026-04-05", "2026-09-27"] as const).map((date) => ["Pacific/Chatham", date] as const),
  ...(["2018-02-18", "2018-11-04"] as const).map((date) => ["America/Sao_Paulo", date] as const),
  ...(["2026-04-24", "2026-10-30"] as const).map((date) => ["Africa/Cairo", date] as const),
  ["Pacific/Apia", "2011-12-30"],
];

async function run(attempt: Attempt): Promise<void> {
  const { startsWithin } = await load<typeof import("../src/clicks/reports/zones.ts")>(file);
  const yearDays = attempt.short ? 70 : 366;
  const aroundDays = attempt.short ? 6 : 40;
  const scenarios: Readonly<Record<string, readonly Stretch[]>> = {
    offsets: offsetZones.map((zone) => ({ zone, from: Date.UTC(2026, 0, 15), days: yearDays })),
    changes: changes.map(([zone, date]) => ({
      zone,
      from: Date.parse(date) - (aroundDays / 2) * dayMs,
      days: aroundDays,
    })),
  };
  for (const [scenario, stretches] of Object.entries(scenarios)) {
    if (!attempt.plays(scenario)) continue;
    const shown = progress();
    let [differences, boundaries] = [0, 0];
    for (const { zone, from, days } of stretches) {
      shown.now(`${scenario}: ${zone}`);
      const to = from + days * dayMs;
      for (const interval of intervals) {
        const expected = new Set(reckonStarts(zone, interval, from + 60_000, to));
        const found = new Set(startsWithin(zone, interval, from, to, 10_000).slice(1));
        differences += [...expected].filter((at) => !found.has(at)).length;
        differences += [...found].filter((at) => !expected.has(at)).length;
        boundaries += expected.size;
      }
    }
    shown.end();
    console.log(`${scenario}: zones=${stretches.length} boundaries=${boundaries} differences=${differences}`);
    attempt.claim({
      promise: "days, weeks and months begin where the clock of the zone says",
      ...{ scenario, measure: "differences", figure: differences, unit: "boundaries", bound: { exactly: 0 } },
      done: `boundaries compared in ${stretches.length} stretches of ${scenario === "offsets" ? yearDays : aroundDays} days`,
      times: boundaries,
    });
  }
}
