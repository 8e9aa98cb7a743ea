import { expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { createMemoryCounters } from "../../in-memory/counters.ts";
import { tryAcquire } from "./charges.ts";

test("an email counts for an hour and a minute, because a slow provider may count it later than we do", async () => {
  const clock = manualClock(Date.UTC(2026, 10, 16, 12, 0, 59, 999));
  const counters = createMemoryCounters({ clock });
  const send = async (id: string) =>
    (await tryAcquire(counters, id, "ten_1", "smtp", { tenant: 1, platform: null })).kind;
  expect(await send("1")).toBe("granted");
  clock.advance(61 * 60_000);
  expect(await send("2")).toBe("denied");
  clock.advance(1);
  expect(await send("3")).toBe("granted");
});
