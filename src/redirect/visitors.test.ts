import { describe, expect, test } from "bun:test";
import type { Rule } from "../links/routing/rules.ts";
import { matchRule } from "./match-rules.ts";
import { createAgents } from "./user-agents.ts";
import { createVisitors } from "./visitors.ts";

const secret = Buffer.from("a secret for tests");
const visitorsOf = (key = secret) =>
  createVisitors({
    countries: { of: () => "DE" },
    agentOf: createAgents(),
    addressOf: (request) => request.headers.get("x-from") ?? undefined,
    secret: key,
  });
const visit = (from: string, agent = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0") =>
  new Request("http://localhost/abc?a=1&a=2&b=", {
    headers: { "x-from": from, "user-agent": agent, "accept-language": "en;q=0.5, de-AT" },
  });
const address = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

test("a visitor is what the request says", () => {
  const visitor = visitorsOf().of(visit("192.0.2.1"));
  const { country, device, os, language } = visitor;
  expect({ country, device, os, language, asked: ["a", "b", "c"].map((name) => visitor.asked(name)) }).toEqual({
    country: "DE",
    device: "desktop",
    os: "linux",
    language: "de-at",
    asked: [["1", "2"], [""], []],
  });
});

test("a fact is read once, however many rules ask for it", () => {
  const read: string[] = [];
  const visitor = createVisitors({
    countries: { of: () => void read.push("country") as undefined },
    agentOf: () => ({ device: read.push("agent") > 0 ? "mobile" : undefined, os: undefined, browser: undefined }),
    addressOf: () => undefined,
    secret,
  }).of(visit("192.0.2.1"));
  const rules: Rule[] = ["a", "b", "c"].flatMap((url) => [
    { when: { country: ["DE"] }, url },
    { when: { device: ["desktop"] }, url },
    { when: { os: ["ios"] }, url },
  ]);
  expect(matchRule(rules, visitor, 0)).toBe(-1);
  expect(read).toEqual(["country", "agent"]);
});

describe("the position of a visitor", () => {
  const visitors = visitorsOf();

  test("is the same every time, and on every server with the same secret", () => {
    const point = visitors.pointOf(visit("192.0.2.1"), "abc");
    expect(visitors.pointOf(visit("192.0.2.1"), "abc")).toBe(point);
    expect(visitorsOf().pointOf(visit("192.0.2.1"), "abc")).toBe(point);
  });

  test("is another for another link, browser, address or secret", () => {
    const points = [
      visitors.pointOf(visit("192.0.2.1"), "abc"),
      visitors.pointOf(visit("192.0.2.1"), "abd"),
      visitors.pointOf(visit("192.0.2.1", "another"), "abc"),
      visitors.pointOf(visit("192.0.2.2"), "abc"),
      visitorsOf(Buffer.from("another secret")).pointOf(visit("192.0.2.1"), "abc"),
    ];
    expect(new Set(points).size).toBe(points.length);
  });

  test("stays when IPv6 changes behind the same line", () => {
    const point = (from: string) => visitors.pointOf(visit(from), "abc");
    expect(point("2001:db8:1:2::1")).toBe(point("2001:db8:1:2:ffff::9"));
    expect(point("2001:db8:1:2::1")).not.toBe(point("2001:db8:1:3::1"));
  });

  test("is evenly distributed from 0 to 1", () => {
    const tenths = new Array<number>(10).fill(0);
    const visits = 20_000;
    for (let i = 0; i < visits; i++) {
      const point = visitors.pointOf(visit(address(i)), "abc");
      expect(point >= 0 && point < 1).toBe(true);
      const place = Math.floor(point * 10);
      tenths[place] = (tenths[place] ?? 0) + 1;
    }
    // The secret is fixed, so this is one outcome and not a new one every time: six deviations wide all the same.
    const deviation = Math.sqrt(visits * 0.1 * 0.9);
    for (const share of tenths) expect(Math.abs(share - visits / 10)).toBeLessThan(6 * deviation);
  });
});
