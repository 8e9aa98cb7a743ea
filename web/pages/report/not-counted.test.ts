import { expect, test } from "bun:test";
import { hitReasons } from "../../../src/redirect/decide.ts";
import { reportTexts } from "../../texts/report.ts";
import { notCountedOf } from "./not-counted.ts";

const none = Object.fromEntries(hitReasons.map((reason) => [reason, 0]));

test("visitors of an expired link with a fallback are not shown as bots", () => {
  expect(notCountedOf({ reasons: { ...none, counted: 7, fallback: 1_200, bot: 3 } })).toEqual({
    bots: 3,
    others: ["1,200 visits sent to the fallback address"],
  });
});

test("bots are the bots, previews, HEAD requests and prefetches, and every other reason is named", () => {
  const reasons = { counted: 1, bot: 2, head: 4, prefetch: 8, preview: 16, fallback: 32, over_quota: 1, unknown: 64 };
  expect(notCountedOf({ reasons })).toEqual({
    bots: 2 + 4 + 8 + 16,
    others: [
      "32 visits sent to the fallback address",
      "1 visit after the monthly limit was reached",
      "64 visits for a reason that is not known",
    ],
  });
});

test("no reason is missing, and a new one is not taken for a bot", () => {
  for (const reason of hitReasons) {
    const { bots, others } = notCountedOf({ reasons: { [reason]: 5 } });
    expect(bots + 5 * others.length).toBe(reason === "counted" ? 0 : 5);
  }
  expect(notCountedOf({ reasons: { new_one: 5 } })).toEqual({
    bots: 0,
    others: [expect.stringContaining("not known")],
  });
});

test("the name of traffic that is not counted does not call people bots", () => {
  expect(reportTexts.traffics.bots).toBe("not counted");
  expect(reportTexts.traffics.all).toBe("all visits");
});
