import type { Mistakes } from "../mistake.ts";

const counters = ["src/server/counters.test.ts"];
const limits = ["src/server/limits.test.ts"];

export const server: Mistakes = {
  "lateness-is-never-forgotten": {
    file: "server/lateness.ts",
    from: "Atomics.exchange(shared, 0, 0)",
    to: "Atomics.load(shared, 0)",
    tests: ["src/server/lateness.test.ts"],
  },
  "no-thread-is-asked-to-move-the-log": {
    file: "server/jobs.ts",
    from: "if (await hasLongLog(sql)) await background.moveLog();",
    to: "await hasLongLog(sql);",
    tests: ["test/conformance/write-ahead-log.test.ts"],
    only: "background thread move the log",
  },
  "guessers-fill-up-the-counters": {
    file: "server/counters.ts",
    from: "guesses: createMemoryCounters({ clock, idsMost: idsKept, keysMost: networksMost, forgets: true }),",
    to: "guesses: createMemoryCounters({ clock, idsMost: idsKept, keysMost: networksMost }),",
    tests: counters,
  },
  "guesses-and-reports-share-their-room": {
    file: "server/counters.ts",
    from: "attempts: createMemoryCounters({ clock, idsMost: attemptsKept, keysMost: passwordsMost, forgets: true }),",
    to: "attempts: createMemoryCounters({ clock, idsMost: attemptsKept, keysMost: passwordsMost }),",
    tests: counters,
  },
  "lookups-connect-with-the-first-crowd": {
    file: "server/cache.ts",
    from: "for (const lookup of lookups) await Promise.all(Array.from({ length: connections }, lookup));",
    to: "for (const lookup of lookups) await lookup();",
    tests: ["test/e2e/budget.test.ts"],
    only: "before the first visitor comes",
  },
  "totals-not-told-to-redis": {
    file: "server/limits.ts",
    from: "fromRedis?.seen(totals);",
    to: "",
    tests: limits,
  },
  "first-visits-counted-for-nobody": {
    file: "server/limits.ts",
    from: "      areAwaited = false;\n",
    to: "",
    tests: limits,
  },
  "first-visits-not-reported": {
    file: "server/limits.ts",
    from: "onRecorded(totals.map(oneHit), totals);",
    to: "",
    tests: limits,
  },
  "first-visits-counted-past-redis": {
    file: "server/limits.ts",
    from: "embedded && fromRedis === undefined ? countFirst : undefined",
    to: "countFirst",
    tests: limits,
  },
  "ended-leases-not-told-to-redis": {
    file: "server/limits.ts",
    from: "fromRedis?.end(batch.flatMap(endedOnRedis));",
    to: "",
    tests: limits,
  },
};
