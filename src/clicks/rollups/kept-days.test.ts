import { expect, test } from "bun:test";
import { eventsKeptDays } from "./kept-days.ts";

test("events are kept as the plan or the tenant says, whichever is shorter, and for four days at least", () => {
  const cases = [
    { plan: null, own: null, kept: null },
    { plan: 90, own: null, kept: 90 },
    { plan: null, own: 7, kept: 7 },
    { plan: 90, own: 7, kept: 7 },
    { plan: 5, own: 7, kept: 5 },
    { plan: 90, own: 1, kept: 4 },
    { plan: 0, own: null, kept: 4 },
  ];
  expect(cases.map(({ plan, own }) => eventsKeptDays(plan, own))).toEqual(cases.map(({ kept }) => kept));
});
