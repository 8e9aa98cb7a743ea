import { expect, test } from "bun:test";
import { Problem } from "../base/errors.ts";
import { type OwnOrigin, requireOwnOrigin } from "./auth.ts";

const set: OwnOrigin = { origin: "https://go.example.com", anyHost: false };
const notSet: OwnOrigin = { origin: "http://localhost:3000", anyHost: true };

function accepts(own: OwnOrigin, host: string, origin: string | undefined, method = "POST"): boolean {
  const request = new Request("http://any/api/links", { method, headers: { host, ...(origin && { origin }) } });
  try {
    requireOwnOrigin(request, own);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "wrong_origin") return false;
    throw error;
  }
}

test("with QL_BASE_URL, only its pages may write, whatever host the request names", () => {
  expect(accepts(set, "go.example.com", "https://go.example.com")).toBe(true);
  expect(accepts(set, "127.0.0.1:3000", "https://go.example.com")).toBe(true); // a proxy that changes the host
  for (const origin of [
    "http://go.example.com",
    "https://go.example.com:8443",
    "http://10.0.0.5:3000",
    "null",
    undefined,
  ])
    expect(accepts(set, "10.0.0.5:3000", origin)).toBe(false);
});

test("without it, pages of the host in the address bar may write too", () => {
  expect(accepts(notSet, "localhost:3000", "http://localhost:3000")).toBe(true);
  expect(accepts(notSet, "10.0.0.5:3000", "http://10.0.0.5:3000")).toBe(true);
  expect(accepts(notSet, "Home-Server:3000", "http://home-server:3000")).toBe(true);
  for (const origin of [
    "https://10.0.0.5:3000",
    "http://10.0.0.5",
    "http://evil.example",
    "http://undefined",
    "null",
    undefined,
  ])
    expect(accepts(notSet, "10.0.0.5:3000", origin)).toBe(false);
});

test("reading is never refused", () => {
  expect(accepts(set, "go.example.com", "https://evil.example", "GET")).toBe(true);
});
