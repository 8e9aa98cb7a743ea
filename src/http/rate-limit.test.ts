import { expect, test } from "bun:test";
import { callLimits } from "../limits/call-limiter.ts";
import { policyHeader, statusHeader } from "./rate-limit.ts";

const now = Date.UTC(2026, 10, 16);
const limits = callLimits({ tenant: { id: "ten_1", max: 600 }, key: { id: "key_1", max: 100 } });

test("a policy is how much may be used in how many seconds", () => {
  expect(policyHeader(limits)).toBe('"tenant";q=600;w=60, "key";q=100;w=60');
});

test("a state is what is left, and in how many seconds the whole limit is available again", () => {
  const used = [1, 100];
  const statuses = limits.map((limit, i) => ({
    limit,
    used: used[i] ?? 0,
    held: 0,
    max: limit.max,
    resetsAt: i === 0 ? now + 59_001 : now + 100,
  }));
  expect(statusHeader(statuses, now)).toBe('"tenant";r=599;t=60, "key";r=0;t=1');
});

test("a limit that was lowered below what is used leaves nothing, and never less", () => {
  const [limit] = callLimits({ tenant: { id: "ten_1", max: 5 }, key: { id: "key_1", max: null } });
  if (limit === undefined) throw new Error("no limit");
  expect(statusHeader([{ limit, used: 9, held: 0, max: 5, resetsAt: null }], now)).toBe('"tenant";r=0;t=1');
});
