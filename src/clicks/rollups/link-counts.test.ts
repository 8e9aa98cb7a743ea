import { describe, expect, test } from "bun:test";
import { addId, newIdCounts, toTally } from "./id-counts.ts";
import { trimLinks } from "./link-counts.ts";
import { trimmed } from "./tally.ts";

describe("counts of a group by link", () => {
  test("have the links with the most clicks, and hold few at a time, in whatever pages links come", () => {
    for (const [most, pages, ofPage] of [
      [3, 40, 1],
      [10, 30, 7],
      [300, 12, 500],
    ] as const) {
      const [held, all] = [newIdCounts(), newIdCounts()];
      let link = 0;
      for (let page = 0; page < pages; page++) {
        for (let i = 0; i < ofPage; i++) {
          link++;
          const clicks = 1 + ((link * 7919) % 13);
          for (const { links } of [held, all]) addId(links.people, link, clicks, clicks % 3);
        }
        trimLinks(held, most);
        expect(held.links.people.size).toBeLessThanOrEqual(2 * most + 1);
      }
      const sorted = (counts: typeof held) =>
        [...(trimmed(toTally(counts, String).people, most).get("link") ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted(held)).toEqual(sorted(all));
      expect(sorted(held)).toHaveLength(most + 1);
    }
  });
});
