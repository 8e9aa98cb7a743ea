import { describe, expect, test } from "bun:test";
import type { LinkId } from "../base/ids.ts";
import type { LimitUse, LinkUse } from "../tenants/usage.ts";
import { barLines } from "./limit-bars.ts";

const now = Date.UTC(2026, 10, 16, 12);
const monthEnd = Date.UTC(2026, 11, 1);

const use = (fields: Partial<LimitUse>): LimitUse => ({
  ...{ name: "linksPerMonth", state: "known", used: 0, held: 0, limit: 1_000, resetsAt: monthEnd, spentAt: null },
  ...fields,
});

const contents = { links: 0, files: 0, domains: 0, isPartial: false };

const draw = (limits: readonly LimitUse[], columns = 120, colours = false, links: readonly LinkUse[] = []) =>
  barLines({ limits, links, contents }, { columns, colours, now });

const barOf = (line: string | undefined) => /[█░]+/.exec(line ?? "")?.[0] ?? "";

describe("a bar", () => {
  test("shows the figures, when it resets, and when it will be used up", () => {
    const [line] = draw([use({ used: 412, spentAt: Date.UTC(2026, 10, 26, 3) })]);
    expect(line).toBe(
      `links this month  ${"█".repeat(10)}${"░".repeat(14)}  412 of 1,000  resets in 15 days   at this rate, used up on 26 Nov`,
    );
  });

  test("names the day of UTC, in which months are counted", () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = "America/Los_Angeles";
      expect(draw([use({ used: 412, spentAt: Date.UTC(2026, 10, 26, 3) })])[0]).toEndWith("26 Nov");
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test("is full only when all is used, and empty only when nothing is", () => {
    const bars = draw([use({ used: 0 }), use({ used: 1 }), use({ used: 999 }), use({ used: 1_000, spentAt: now })]);
    const filled = bars.map((line) => barOf(line).replaceAll("░", "").length);
    expect(filled).toEqual([0, 1, 23, 24]);
    expect(bars.at(-1)).toEndWith("spent");
  });

  test("is drawn with what is held", () => {
    const [line] = draw([use({ used: 400, held: 100 })]);
    expect(barOf(line)).toBe("█".repeat(12) + "░".repeat(12));
    expect(line).toContain("100 reserved");
  });

  test("is coloured by how full it is, if colours are wanted", () => {
    const lines = draw([use({ used: 10 }), use({ used: 800 }), use({ used: 1_000 })], 120, true);
    expect(lines.map((line) => line.slice(line.indexOf("\u001b")).slice(0, 5))).toEqual([
      "\u001b[32m",
      "\u001b[33m",
      "\u001b[31m",
    ]);
    expect(draw([use({ used: 10 })]).join()).not.toContain("\u001b");
  });
});

describe("a line", () => {
  test("is as wide as the terminal at most, whatever has to go", () => {
    const link = { link: "lnk_1" as LinkId, domain: "", code: "a-code-that-goes-on-and-on-and-on-and-on" };
    const links = [{ ...use({ name: "hitsPerLinkPerMonth", used: 5, spentAt: now + 1 }), ...link }];
    for (const columns of [60, 80, 100, 200]) {
      for (const line of draw([use({ used: 412 })], columns, false, links)) {
        expect(line.length).toBeLessThanOrEqual(columns);
      }
    }
    expect(draw([use({ used: 412 })], 200, false, links)[1]).toContain("hits this month /a-code-that-…");
  });

  test("names the domain of a link that is not on the server's own, as far as there is room", () => {
    const on = (domain: string, code: string) => ({ ...use({ used: 5 }), link: "lnk_1" as LinkId, domain, code });
    const links = [on("", "spring"), on("go.example.com", "spring"), on("links.of.somebody.example.com", "spring")];
    expect(draw([], 120, false, links).map((line) => line.split("  ")[0])).toEqual([
      "hits this month /spring",
      "hits go.example.com/spring",
      "hits …ebody.example.com/spring",
    ]);
  });

  test("says why there is no figure", () => {
    const none = { used: null, held: null, resetsAt: null };
    const lines = draw([
      use({ ...none, state: "not_counted", name: "apiPerMinute", limit: null }),
      use({ ...none, state: "unavailable", name: "apiPerMinute", limit: 600 }),
      use({ ...none, state: "in_server", name: "apiPerMinute", limit: 600 }),
      use({ used: 5, limit: null }),
    ]);
    expect(lines.map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
      "API calls this minute | no limit | not counted",
      "API calls this minute | limit 600 | Redis is unavailable",
      "API calls this minute | limit 600 | in the server's memory",
      "links this month | 5, no limit | resets in 15 days",
      "",
      "These counters are in the server's memory. To read them: GET /api/usage",
    ]);
  });

  test("counts time in the largest unit that fits", () => {
    const after = (ms: number) => draw([use({ resetsAt: now + ms })])[0]?.split("resets in ")[1];
    expect([1, 1_001, 60_000, 61_000, 3_600_000, 86_400_000].map(after)).toEqual([
      "1 second",
      "2 seconds",
      "1 minute",
      "2 minutes",
      "1 hour",
      "1 day",
    ]);
  });
});
