/** What a year of clicks takes on disk, and what that is for a billion. */
import { round, table } from "../show.ts";
import { type Filled, rollupsOfEvery } from "./fill.ts";
import { daysOfYear, eventDays, linksOfTenant } from "./world.ts";

const billion = 1_000_000_000;
const gigabyte = 1_000_000_000;

export function showSizes(filled: readonly Filled[]): void {
  const rows = filled.map((one) => ({ ...one, event: one.bytes.events / one.events, link: ofLink(one) }));
  table([
    ["on disk", "clicks of the year", "bytes per event", "roll-ups per link and year", "per click"],
    ...rows.map(({ database, clicks, event, link }) => [
      database,
      clicks.toLocaleString("en-US"),
      round(event),
      `${round(link / 1_000)} kB`,
      round((link * linksOfTenant) / clicks),
    ]),
  ]);
  const share = eventDays / daysOfYear;
  for (const { database, clicks, event, link } of [...Map.groupBy(rows, (one) => one.database).values()].flatMap(
    (ofOne) => ofOne.at(-1) ?? [],
  )) {
    const events = (billion * share * event) / gigabyte;
    const rollups = (linksOfTenant * link) / gigabyte;
    console.log(
      `  ${database}, a billion clicks a year over ${linksOfTenant.toLocaleString("en-US")} links: ${round(billion * share)} events of ${eventDays} days × ${round(event)} bytes = ${round(events)} GB; roll-ups of ${linksOfTenant.toLocaleString("en-US")} links × ${round(link / 1_000)} kB = ${round(rollups)} GB; ${round(events + rollups)} GB in all, ${round(((events + rollups) * gigabyte) / billion)} bytes per click. Roll-ups are as large as at ${clicks.toLocaleString("en-US")} clicks: they have at most 300 values a dimension, and grow more slowly than clicks.`,
    );
  }
}

/** A row of every so many links was written. Those of the tenant and its domain are as large, and are counted with them. */
const ofLink = ({ bytes }: Filled): number => bytes.rollups / (linksOfTenant / rollupsOfEvery);
