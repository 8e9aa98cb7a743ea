import { expect, test } from "bun:test";
import { none, other, quarterMs } from "../click.ts";
import { readTallyText } from "../rollups/packed.ts";
import { addCounts, addValue, newTally } from "../rollups/tally.ts";
import { overflowText } from "./overflow-text.ts";

test("the text of an overflow row is read as the tally that it was made from", () => {
  const quarter = 1_000_000 * quarterMs;
  const tally = newTally();
  expect(readTallyText(overflowText(tally, quarter), quarter)).toEqual(tally);
  addCounts(tally, quarter, 0, 5, 2);
  addCounts(tally, quarter, 1, 3, 0);
  for (const value of [none, other, 'a"b\\c', "ü\u2028x", "two\nlines", "😀", "p country [1]"]) {
    addValue(tally.people, "referrer", value, 3, 1);
    addValue(tally.rest, "utm_source", value, 1, 0);
  }
  addValue(tally.people, "country", "DE", 5, 2);
  expect(readTallyText(overflowText(tally, quarter), quarter)).toEqual(tally);
});
