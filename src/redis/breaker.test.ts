import { expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createBreaker } from "./breaker.ts";

const start = Date.UTC(2026, 10, 16);
const fails = () => Promise.reject(new Error("no answer"));
const answers = () => Promise.resolve("here");

async function opened(clock = manualClock(start)) {
  const states: boolean[] = [];
  const breaker = createBreaker(clock, (open) => states.push(open));
  for (let i = 0; i < 6; i++) await breaker.run(fails).catch(() => {});
  return { breaker, states, clock };
}

test("after too many failures calls fail without being made, until one may try and succeeds", async () => {
  const { breaker, states, clock } = await opened();
  let made = 0;
  const counted = async () => {
    made++;
    return "here";
  };
  await expect(breaker.run(counted)).rejects.toThrow();
  expect(made).toBe(0);
  clock.advance(1_200);
  expect(await breaker.run(counted)).toBe("here");
  expect(states).toEqual([true, false]);
});

test("a try that fails doubles the pause", async () => {
  const { breaker, clock } = await opened();
  clock.advance(1_200);
  await expect(breaker.run(fails)).rejects.toThrow("no answer");
  clock.advance(1_500);
  await expect(breaker.run(answers)).rejects.toThrow();
  clock.advance(900);
  expect(await breaker.run(answers)).toBe("here");
});

test("a wall clock that is set back does not keep it open", async () => {
  const realNow = Date.now;
  try {
    const { breaker, clock } = await opened();
    Date.now = () => realNow() - 3_600_000;
    clock.advance(1_200);
    expect(await breaker.run(answers)).toBe("here");
  } finally {
    Date.now = realNow;
  }
});
