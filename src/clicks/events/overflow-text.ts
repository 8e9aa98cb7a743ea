import { createMemo } from "../../base/memo.ts";
import { quarterMs } from "../click.ts";
import type { FactCounts, Tally } from "../rollups/tally.ts";

/**
 * A tally as an overflow row has it: the text that `readTallyText` reads. With 1,000 busy links, 2,000 of them are written a
 * second, so the text is put together from pieces that are remembered: `JSON.stringify` for each list and then for all of it took
 * three times as long. The tally has no more values than may be stored.
 */
export function overflowText({ reasons, visitors, itemised, series, people, rest }: Tally, start: number): string {
  const quarters = [...series].sort(([a], [b]) => a - b);
  const counts = quarters.map(
    ([at, counts]) => `[${(at - start) / quarterMs},${counts.people},${counts.visitors},${counts.rest}]`,
  );
  const facts = linesOf("p", people) + linesOf("r", rest);
  return (
    `{"reasons":"[${reasons.join(",")}]","visitors":${visitors},"itemised":${itemised},` +
    `"series":"[${counts.join(",")}]","facts":"${facts}"}`
  );
}

/** Each with its end, as it is inside of a JSON string. */
function linesOf(mark: "p" | "r", values: FactCounts): string {
  let lines = "";
  for (const [dimension, ofDimension] of values) {
    let list = "";
    for (const [value, { clicks, visitors }] of ofDimension) {
      list += `${list === "" ? "" : ","}${quoted.get(value)},${clicks},${visitors}`;
    }
    lines += `${mark} ${dimension} [${list}]\\n`;
  }
  return lines;
}

/** Enough for the values of a busy second; a value has at most 500 characters. */
const quotedMost = 5_000;

/** A value as JSON inside of JSON. */
const quoted = createMemo({
  most: quotedMost,
  find: (value) => JSON.stringify(JSON.stringify(value)).slice(1, -1),
});
