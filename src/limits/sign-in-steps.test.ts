import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import { createSignInSteps, stepsPerHour } from "./sign-in-steps.ts";

test("an address begins so many sign-ins an hour, and another one is not concerned", async () => {
  const clock = manualClock(Date.UTC(2026, 10, 17));
  const secretFor = (purpose: string) => Buffer.from(purpose);
  const steps = createSignInSteps({ counters: createMemoryCounters({ clock }), clock, secretFor });
  const kinds = async (address: string | undefined, count: number) => {
    const taken = new Set<string>();
    for (let i = 0; i < count; i++) taken.add((await steps.take(address)).kind);
    return [...taken];
  };
  expect(await kinds("203.0.113.1", stepsPerHour)).toEqual(["granted"]);
  expect(await kinds("203.0.113.1", 1)).toEqual(["denied"]);
  expect(await kinds("203.0.113.2", 1)).toEqual(["granted"]);
  expect(await kinds(undefined, stepsPerHour)).toEqual(["granted"]);
  expect(await kinds("not an address", 1)).toEqual(["denied"]);
  clock.advance(62 * 60_000);
  expect(await kinds("203.0.113.1", 1)).toEqual(["granted"]);
});
