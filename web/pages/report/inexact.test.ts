import { expect, test } from "bun:test";
import { reportTexts } from "../../texts/report.ts";
import { inexactOf } from "./inexact.ts";

const exact = { sampled: null, itemised: null, visitorsCapped: null, imported: null, previous: null };

test("an exact report has nothing to say", () => {
  expect(inexactOf({ ...exact, itemised: { clicks: 10, of: 10, notInSeries: 0 } })).toEqual([]);
});

test("clicks of yesterday beyond the cap are not said to be too old", () => {
  const [sentence, ...more] = inexactOf({ ...exact, itemised: { clicks: 500, of: 1_500, notInSeries: 0 } });
  expect(sentence).toContain("For 1,000 of 1,500 clicks it is not known whether they match.");
  expect(sentence).toContain("limited time");
  expect(sentence).toContain("at busy times only some of them");
  expect(sentence).toContain("rare values");
  expect(more).toEqual([]);
  expect(reportTexts.cards.notItemisedAbout).toBe("Details of these clicks were not recorded, or are no longer kept.");
});

test("one click is it, and not they", () => {
  expect(inexactOf({ ...exact, itemised: { clicks: 9, of: 10, notInSeries: 1 } })).toEqual([
    expect.stringContaining("For 1 of 10 clicks it is not known whether it matches."),
    "1 matching click is in the total but not in the chart: its day is not known.",
  ]);
});
