import { expect, test } from "bun:test";
import { Problem } from "../base/errors.ts";
import { problemResponse, wrongMethod } from "./problem.ts";

test("a problem says when to retry, what is allowed, and how to log in", () => {
  const busy = problemResponse(new Problem("busy", "Too many.", { retryAfterSeconds: 7 }), "req_1");
  expect([busy.status, busy.headers.get("retry-after"), busy.headers.get("www-authenticate")]).toEqual([
    503,
    "7",
    null,
  ]);
  const method = wrongMethod("GET", "HEAD");
  expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  const unauthorized = problemResponse(new Problem("unauthorized", "Send a key."));
  expect([unauthorized.status, unauthorized.headers.get("www-authenticate")]).toEqual([
    401,
    'Bearer realm="quicklink"',
  ]);
});

test("a problem is never cached or sniffed, and names its code and request", async () => {
  const response = problemResponse(new Problem("not_found", "No such link."), "req_1");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await response.json()).toMatchObject({ status: 404, code: "not_found", requestId: "req_1" });
});
