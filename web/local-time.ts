/**
 * What a date field says ("2027-11-16T23:59") as the API takes it. What is no date goes as it is, and the API says so at the
 * field: a browser lets people type the year 20266, which `Date` refuses.
 */
export function isoOf(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? local : new Date(time).toISOString();
}

/** What a date field says for this moment, on a clock of the zone. */
export const localTimeIn = (zone: string, at: number): string =>
  new Intl.DateTimeFormat("sv", {
    ...{ timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit" },
  })
    .format(at)
    .replace(" ", "T");

/** As `isoOf`, for a date field that shows a clock of the zone. */
export function isoIn(zone: string, local: string): string {
  const wanted = Date.parse(`${local}Z`);
  if (Number.isNaN(wanted)) return local;
  const missing = (at: number) => wanted - Date.parse(`${localTimeIn(zone, at)}Z`);
  const near = wanted + missing(wanted);
  // The clock may have been changed in between.
  return new Date(near + missing(near)).toISOString();
}
