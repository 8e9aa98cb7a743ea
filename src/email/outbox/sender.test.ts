import { expect, test } from "bun:test";
import { lookPauseMs } from "./sender.ts";

test("an outbox with emails is looked at every second, and one without any every five seconds", () => {
  expect([0, 1, 4, 5, 6, 100].map((idleLooks) => lookPauseMs(0, idleLooks))).toEqual([
    1_000, 1_000, 1_000, 2_000, 3_000, 5_000,
  ]);
});

test("a database that cannot be read is asked less and less often, down to twice a minute", () => {
  expect([1, 2, 4, 5, 50].map((failures) => lookPauseMs(failures, 0))).toEqual([2_000, 4_000, 16_000, 30_000, 30_000]);
});
