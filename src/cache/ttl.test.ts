import { expect, test } from "bun:test";
import { ttlMs } from "./ttl.ts";

const minutes = (visits: number, changes: number) => ttlMs(visits, changes) / 60_000;

test.each([
  [1_001, [1_440, 60, 15]],
  [1_000, [360, 60, 30]],
  [101, [360, 60, 30]],
  [100, [60, 30, 15]],
  [0, [60, 30, 15]],
] as const)(
  "at %d visits a minute a link is good for %p minutes, as it changes seldom, at times or often",
  (visits, expected) => {
    expect([minutes(visits, 0), minutes(visits, 1), minutes(visits, 11)]).toEqual([...expected]);
    expect([minutes(visits, 0.99), minutes(visits, 10), minutes(visits, 10.01)]).toEqual([...expected]);
  },
);
