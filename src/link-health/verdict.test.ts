import { describe, expect, test } from "bun:test";
import type { Fetched } from "../safe-fetch/outcome.ts";
import { deadAfter, type HealthVerdict, judgeHealth, nextCheckAt } from "./verdict.ts";

const answered = (status: number): Fetched => ({
  kind: "answered",
  status,
  url: "https://example.com/",
  contentType: "",
  body: Buffer.alloc(0),
});
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("a target", () => {
  test.each([200, 204, 304, 401, 403, 405, 429, 451])("that answers %d is there", (status) => {
    expect(judgeHealth(6, answered(status))).toEqual({ state: "ok", httpStatus: status, reason: null, failures: 0 });
  });

  test.each([404, 410, 500, 502, 503, 599])("that answers %d fails", (status) => {
    expect(judgeHealth(0, answered(status))).toEqual({
      state: "failing",
      httpStatus: status,
      reason: `http_${status}`,
      failures: 1,
    });
  });

  test("is dead after failing so many times in a row, and no sooner", () => {
    const states: string[] = [];
    let verdict: HealthVerdict | undefined;
    for (let i = 0; i < deadAfter + 1; i++) {
      verdict = judgeHealth(verdict?.failures ?? 0, { kind: "failed", reason: "no_connection" });
      states.push(verdict.state);
    }
    expect(states.indexOf("dead")).toBe(deadAfter - 1);
    expect(judgeHealth(verdict?.failures ?? 0, answered(200)).state).toBe("ok");
  });

  test("that must not be requested is neither ok nor failing", () => {
    const verdict = judgeHealth(3, { kind: "refused", reason: "private_address" });
    expect(verdict).toEqual({ state: "unchecked", httpStatus: null, reason: "private_address", failures: 0 });
  });
});

describe("the next check", () => {
  const after = (verdict: HealthVerdict, chance = 0.5) => nextCheckAt(verdict, 0, dayMs, chance) / hourMs;
  const failing = (failures: number): HealthVerdict => ({
    state: "failing",
    httpStatus: null,
    reason: "timeout",
    failures,
  });

  test("is as far away as the setting says while the target works, give or take a tenth", () => {
    const verdict = judgeHealth(0, answered(200));
    expect([after(verdict, 0), after(verdict), after(verdict, 1)].map(Math.round)).toEqual([22, 24, 26]);
  });

  test("backs off from an hour to a week", () => {
    expect([1, 2, 3, 6, 8, 9, 50].map((failures) => after(failing(failures)))).toEqual([1, 2, 4, 32, 128, 168, 168]);
  });
});
