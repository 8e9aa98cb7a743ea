import { expect, test } from "bun:test";
import { createAttention } from "./attention.ts";
import { manualClock } from "./clock.ts";

/** A clock whose thread has no core for some time, or works: no timer is called meanwhile. */
function busyClock() {
  const clock = manualClock(0);
  let [behind, worked] = [0, 0];
  return {
    advance: clock.advance,
    stall(ms: number) {
      behind += ms;
    },
    work(ms: number) {
      behind += ms;
      worked += ms;
    },
    elapsed: () => clock.elapsed() + behind,
    worked: () => worked,
    after: clock.after,
  };
}

function waitOn(clock: ReturnType<typeof busyClock>, ms: number) {
  const attention = createAttention(clock);
  let isOver = false;
  const stop = attention.after(ms, () => {
    isOver = true;
  });
  return { passed: attention.passed, stop, isOver: () => isOver };
}

test("a wait is over when its time has passed", () => {
  const clock = busyClock();
  const wait = waitOn(clock, 100);
  clock.advance(99);
  expect(wait.isOver()).toBe(false);
  clock.advance(1);
  expect(wait.isOver()).toBe(true);
});

test("a wait that begins between two looks has all of its time", () => {
  const clock = busyClock();
  const attention = createAttention(clock);
  const over: number[] = [];
  attention.after(200, () => {});
  for (const start of [4, 9, 12]) {
    clock.advance(start - clock.elapsed());
    attention.after(50, () => over.push(clock.elapsed() - start));
  }
  clock.advance(100);
  expect(over.map((waited) => waited >= 50 && waited < 60)).toEqual([true, true, true]);
  clock.stall(500); // the next look is late, and counts as 10 ms of which this wait had none
  const begun = clock.elapsed();
  attention.after(50, () => over.push(clock.elapsed() - begun));
  clock.advance(49);
  expect(over).toHaveLength(3);
  clock.advance(10);
  expect(over).toHaveLength(4);
});

test("a wait that is called off ends without a word, and nothing is looked at any more", () => {
  const clock = busyClock();
  const looked: number[] = [];
  const after = (ms: number, work: () => void) => clock.after(ms, () => [looked.push(clock.elapsed()), work()]);
  createAttention({ ...clock, after }).after(100, () => expect.unreachable())();
  clock.advance(1_000);
  expect(looked).toEqual([]);
});

test("a wait that was answered costs no second reading of what the thread worked", () => {
  const clock = busyClock();
  let readings = 0;
  const worked = () => readings++;
  createAttention({ ...clock, worked }).after(100, () => expect.unreachable())();
  clock.advance(1_000);
  expect(readings).toBe(1);
});

test("a wait that is answered leaves the others their time", () => {
  const clock = busyClock();
  const attention = createAttention(clock);
  const over: number[] = [];
  const stop = attention.after(50, () => expect.unreachable());
  attention.after(50, () => over.push(clock.elapsed()));
  stop();
  clock.advance(1_000);
  expect(over).toEqual([50]);
});

test("waits that begin and are answered one after the other are looked at as one would be", () => {
  const clock = busyClock();
  let readings = 0;
  const worked = () => {
    readings++;
    return clock.worked();
  };
  const attention = createAttention({ ...clock, worked });
  for (let turn = 0; turn < 50; turn++) {
    const stop = attention.after(50, () => expect.unreachable());
    clock.advance(2);
    stop();
  }
  expect(attention.passed()).toBe(100);
  expect(readings).toBe(21);
  clock.advance(1_000);
  expect(attention.passed()).toBe(100);
});

test("a look that comes late counts as two: what arrived meanwhile is read first", () => {
  const clock = busyClock();
  const wait = waitOn(clock, 100);
  for (let turn = 0; turn < 5; turn++) {
    clock.stall(50);
    clock.advance(5);
  }
  expect(wait.passed()).toBe(50);
  expect(wait.isOver()).toBe(false);
});

test("time that the thread worked does not count, however often it looks", () => {
  const clock = busyClock();
  const wait = waitOn(clock, 50);
  for (let turn = 0; turn < 9; turn++) {
    clock.work(15);
    clock.advance(5);
  }
  expect(wait.passed()).toBe(45);
  expect(wait.isOver()).toBe(false);
  clock.advance(5);
  expect(wait.isOver()).toBe(true);
});

test("a wait ends after ten times its length, however busy the thread is", () => {
  const clock = busyClock();
  const wait = waitOn(clock, 100);
  clock.work(994);
  clock.advance(5);
  expect(wait.isOver()).toBe(false);
  clock.advance(5);
  expect(wait.isOver()).toBe(true);
});
