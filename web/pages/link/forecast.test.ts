import { expect, test } from "bun:test";
import { forecastOf } from "./forecast.ts";

const old = "2025-01-01T00:00:00Z";
const now = Date.parse("2026-11-16T00:00:00Z");

test("a link is full when its pace says so", () => {
  const forecast = forecastOf({ hitsUsed: 7_500, hitsLimit: 10_000, createdAt: old }, now);
  expect(forecast.perDay).toBe(500);
  expect(forecast.expected).toBe(15_000);
  expect(new Date(forecast.fullAt ?? 0).toISOString()).toBe("2026-11-21T00:00:00.000Z");
});

test("a link that stays below its limit, has none, or is full has no day", () => {
  const day = (hitsUsed: number, hitsLimit: number | null) =>
    forecastOf({ hitsUsed, hitsLimit, createdAt: old }, now).fullAt;
  expect([day(100, 10_000), day(9_000, null), day(10_000, 10_000), day(0, 5)]).toEqual(
    Array.from({ length: 4 }, () => undefined),
  );
});

test("the pace of a new link is that of its own days", () => {
  const createdAt = "2026-11-14T00:00:00Z";
  expect(forecastOf({ hitsUsed: 200, hitsLimit: null, createdAt }, now).perDay).toBe(100);
});

test("the first hits of a new link are not taken for a pace", () => {
  const createdAt = new Date(now - 60_000).toISOString();
  expect(forecastOf({ hitsUsed: 3, hitsLimit: 100, createdAt }, now).perDay).toBe(12);
});
