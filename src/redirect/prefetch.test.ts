import { describe, expect, test } from "bun:test";
import { readPlainRequest } from "../http/socket/plain-request.ts";
import { isPrefetch, purposeNames } from "./bots.ts";

const peer = { address: "203.0.113.7" };
const plainWith = (...headers: string[]) =>
  readPlainRequest(Buffer.from(["GET /abc HTTP/1.1", "Host: a.example", ...headers, "", ""].join("\r\n")), peer);

/** By Bun's server and by our own socket. */
function bothWays(...headers: [string, string][]): (boolean | undefined)[] {
  const plain = plainWith(...headers.map(([name, value]) => `${name}: ${value}`));
  return [isPrefetch(new Headers(headers)), plain && isPrefetch(plain.headers)];
}

const names = ["Sec-Purpose", "Purpose", "X-Moz", "X-Purpose"];
const yes = [true, true];
const no = [false, false];

describe("a prefetch", () => {
  test("is named by every header that browsers have used", () => {
    expect([...purposeNames].sort()).toEqual(names.map((name) => name.toLowerCase()).sort() as never);
  });

  test.each(names)("is recognized by %s, on both ways of a request", (name) => {
    for (const value of ["prefetch", "Prefetch", "prefetch;prerender", "prefetch;anonymous-client-ip", "preview"])
      expect([value, ...bothWays([name, value])]).toEqual([value, ...yes]);
    for (const value of ["", "x", "document"]) expect([value, ...bothWays([name, value])]).toEqual([value, ...no]);
  });

  test.each(names)("is recognized by %s beside another header that says something else", (name) => {
    for (const other of names.filter((one) => one !== name))
      expect([other, ...bothWays([other, "x"], [name, "prefetch"])]).toEqual([other, ...yes]);
  });

  test("is no visit without such a header", () => {
    expect(bothWays(["Accept", "prefetch"], ["X-Purposes", "preview"], ["X-Mos", "prefetch"])).toEqual(no);
  });

  // A header that the parser does not read with the others is searched for in the text of every request.
  test.each(names)("has %s read with the other headers of a plain request", (name) => {
    expect(plainWith(`${name}: x`)?.get(name.toLowerCase())).toBe("x");
    expect(plainWith(`${name}: x`, `${name}: prefetch`)).toBeUndefined();
  });
});
