import type { Mistakes } from "../mistake.ts";

export const workers: Mistakes = {
  "pause-without-bound": {
    file: "workers/supervisor.ts",
    from: "return Math.min(pauseMostMs, lastMs * 2);",
    to: "return lastMs * 2;",
    tests: ["src/workers/supervisor.test.ts"],
  },
  "steady-worker-pays-for-others": {
    file: "workers/supervisor.ts",
    from: "if (lastMs === 0 || livedMs >= steadyMs) return pauseFirstMs;",
    to: "if (lastMs === 0) return pauseFirstMs;",
    tests: ["src/workers/supervisor.test.ts"],
  },
  "figures-counted-twice": {
    file: "workers/metrics-exchange.ts",
    from: "if (!round?.silent.delete(by)) return;",
    to: "if (round === undefined) return;\n      round.silent.delete(by);",
    tests: ["src/workers/metrics-exchange.test.ts"],
  },
  "silent-worker-waited-for": {
    file: "workers/metrics-exchange.ts",
    from: 'await withDeadline(round.complete.promise, deadlineMs, "a worker").catch(() => {});',
    to: "await round.complete.promise;",
    tests: ["src/workers/metrics-exchange.test.ts"],
  },
};
