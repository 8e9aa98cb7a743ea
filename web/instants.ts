/**
 * Times of the API are texts with an offset, and one moment has many: "2026-11-17T04:19+05:45" is "2026-11-16T22:34Z". Even in
 * one answer they do not sort as text, because the hour that a change of clocks repeats comes with two offsets. So times are
 * compared as instants, and `test/web-times.test.ts` finds comparisons of the texts.
 */
export const instantOf = (time: string): number => Date.parse(time);

export const newestFirst = (one: { readonly at: string }, other: { readonly at: string }): number =>
  instantOf(other.at) - instantOf(one.at);
