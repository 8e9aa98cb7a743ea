import { expect, test } from "bun:test";
import { ownPath } from "./own-path.ts";

const origin = "https://go.example.com";
const path = (wanted: string | null) => ownPath(wanted, origin);

test("people return to the page of the dashboard that they came from", () => {
  expect(path("/app/w/acme/links?tag=a&tag=b#top")).toBe("/app/w/acme/links?tag=a&tag=b#top");
  expect(path("/app")).toBe("/app");
  expect(path("/app?x=1")).toBe("/app?x=1");
});

test("people are sent nowhere else", () => {
  const elsewhere = [
    ...["//evil.example", "/\\evil.example", "https://evil.example/app/", "javascript:alert(1)", "evil.example", ""],
    ...["/app/../api/account", "/app/..//evil.example", "/app/%2e%2e/api/docs", "/../docs", "\t//evil.example", null],
    ...["/app/sign-in", "/app/sign-in?returnTo=/app/sign-in", "/\t/evil.example", "/app\\..\\..\\docs"],
    ...["/application", "/app.example", "/app/..", "/app@evil.example"],
  ];
  for (const wanted of elsewhere) expect([wanted, path(wanted)]).toEqual([wanted, undefined]);
});
