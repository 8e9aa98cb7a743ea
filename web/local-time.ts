/**
 * What a date field says ("2027-11-16T23:59") as the API takes it. What is no date goes as it is, and the API says so at the
 * field: a browser lets people type the year 20266, which `Date` refuses.
 */
export function isoOf(local: string): string {
  const time = Date.parse(local);
  return Number.isNaN(time) ? local : new Date(time).toISOString();
}
