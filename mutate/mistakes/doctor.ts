import type { Mistakes } from "../mistake.ts";

export const doctor: Mistakes = {
  "full-disk-is-a-warning": {
    file: "doctor/disk.ts",
    from: "if (freeBytes < tooFewBytes) return fail(",
    to: "if (freeBytes < tooFewBytes) return warn(",
    tests: ["src/doctor/judge.test.ts"],
  },
  "clock-in-minutes": {
    file: "doctor/finding.ts",
    from: "const skewMostMs = 1_000;",
    to: "const skewMostMs = 60_000;",
    tests: ["src/doctor/redis.test.ts"],
  },
  "evicting-cache-is-fine": {
    file: "doctor/redis.ts",
    from: 'if (policy !== "volatile-lru") return fail',
    to: 'if (policy === "noeviction") return fail',
    tests: ["src/doctor/redis.test.ts"],
  },
  "redis-without-a-bound-is-fine": {
    file: "doctor/redis.ts",
    from: "    maxBytes > 0\n",
    to: "    maxBytes >= 0\n",
    tests: ["src/doctor/redis.test.ts"],
  },
  "old-redis-is-fine": {
    file: "doctor/redis.ts",
    from: "Number.parseInt(version, 10) >= versionLeast",
    to: 'version !== ""',
    tests: ["src/doctor/redis.test.ts"],
  },
  "untrusted-proxy-is-fine": {
    file: "doctor/address.ts",
    from: '} else if (!proxied && protocol === "https:") {',
    to: "} else if (false) {",
    tests: ["src/doctor/judge.test.ts"],
  },
};
