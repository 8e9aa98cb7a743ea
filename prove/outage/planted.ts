/**
 * Mistakes that every row without Redis must find, or it would show nothing. Each is put into a copy of the source, by
 * replacing text that must be there exactly once.
 */
import type { Edit } from "../../test/ground/mutant.ts";

const tiered = "cache/tiered.ts";
const ask = "inTime: inTime.catch(";
const untrusted = 'missed("untrusted");';

const inBothWays = (failed: string, instead: string): Edit[] => [
  { file: tiered, from: `${ask}() => undefined)`, to: `${ask}${failed})` },
  { file: tiered, from: untrusted, to: `${untrusted} ${instead}` },
];

export const planted: Readonly<Record<string, readonly Edit[]>> = {
  /** One lookup in three is refused while Redis is unavailable. */
  refuses_a_third: inBothWays(
    "(error) => { if (Math.random() < 1 / 3) throw error; return undefined; }",
    'if (Math.random() < 1 / 3) throw new Error("refused");',
  ),
  /** Lookups are right, and a tenth of a second late. */
  dawdles: inBothWays("() => Bun.sleep(100).then(() => undefined)", "await Bun.sleep(100);"),
};
