import type { Mistakes } from "../mistake.ts";

const counters = ["test/conformance/counters.test.ts"];
const model = ["test/model/counters.test.ts"];

export const inMemory: Mistakes = {
  "refund-below-zero": {
    file: "in-memory/counters.ts",
    from: "Math.max(0, there - amount)",
    to: "there - amount",
    tests: counters,
    only: "in process.*below what was taken",
  },
  "refund-twice": {
    file: "in-memory/counters.ts",
    from: 'if (entry.state === "released") return { kind: "already", how: "released" };',
    to: "",
    tests: counters,
    only: "in process a release",
  },
  "grant-one-too-many": {
    file: "in-memory/counters.ts",
    from: "if (sum(all) + amount <= maxOf(limit)) return undefined;",
    to: "if (sum(all) + amount <= maxOf(limit) + 1) return undefined;",
    tests: counters,
    only: "in process a take",
  },
  "future-forgotten": {
    file: "in-memory/counters.ts",
    from: "if (found !== undefined) foldFuture(found, now);",
    to: "",
    tests: counters,
    only: "in process a clock that is set back",
  },
  "denials-without-bound": {
    file: "in-memory/counters.ts",
    from: "new BoundedMap<string, Denial>(denialsMost)",
    to: "new BoundedMap<string, Denial>(denialsMost + Number.MAX_SAFE_INTEGER)",
    tests: counters,
    only: "in process memory is bounded",
  },
  "holds-without-bound": {
    file: "in-memory/counters.ts",
    from: 'if (kind === "hold" && held.length >= openHoldsMost) {',
    to: "if (false) {",
    tests: counters,
    only: "in process a hold is refused when too many",
  },
  "held-counters-without-bound": {
    file: "in-memory/counters.ts",
    from: "return holds.size + charges.filter(({ limit }) => !holds.has(limit.key)).length <= keysMost;",
    to: "return true;",
    tests: counters,
    only: "in process memory is bounded",
  },
  "same-version-synced-again": {
    file: "in-memory/counters.ts",
    from: "found.version >= version",
    to: "found.version > version",
    tests: counters,
    only: "in process a sync",
  },
  "lost-holds-not-noticed": {
    file: "in-memory/counters.ts",
    from: 'if (sum([...openHolds(charged.limit.key, now).values()]) < truth.held) return { kind: "lost" };',
    to: "",
    tests: counters,
    only: "in process a hold in sync",
  },
  "expired-hold-settled": {
    file: "in-memory/counters.ts",
    from: 'if (isExpired(entry, now)) return { kind: "already", how: "expired" };\n    dropHolds',
    to: "dropHolds",
    tests: model,
    only: "in process",
  },
  "sweep-skipped": {
    file: "in-memory/counters.ts",
    from: "for (const step of sweepers) step(now);",
    to: "for (const step of sweepers.filter((_, i) => i !== 1)) step(now);",
    tests: counters,
    only: "in process expired counters are dropped",
  },
};
