import { expect, test } from "bun:test";
import { formatChange, formatRelative } from "./format.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

test("what was set to expire in 7 days does so a minute later, and what is past is not older than it is", () => {
  const now = Date.UTC(2026, 10, 17);
  expect(formatRelative(now + 7 * dayMs - minuteMs, now)).toContain("7");
  expect(formatRelative(now + minuteMs - 300, now)).toMatch(/\b1 ?m/);
  expect(formatRelative(now - 2 * minuteMs + 300, now)).toMatch(/\b1 ?m/);
});

test("a change has a minus that is as wide as its plus", () => {
  expect(formatChange(-0.002)).toStartWith("−");
  expect(formatChange(0.376)).toStartWith("+");
});
