import { expect, test } from "bun:test";
import { manualClock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { type NoticeUse, noticeKey, reachedPercent } from "./thresholds.ts";

test.each([
  [7_999, 10_000, undefined],
  [8_000, 10_000, 80],
  [9_999, 10_000, 80],
  [10_000, 10_000, 100],
  [10_050, 10_000, 100],
  [0, 10_000, undefined],
  [3, 4, undefined],
  [4, 5, 80],
  [1, 1, 100],
  [0, 0, undefined],
  [5, 0, undefined],
  [1e15, null, undefined],
  [7_205_759_403_792_793, 9_007_199_254_740_991, 80],
] as const)("%p of %p tells of %p", (used, max, percent) => {
  expect(reachedPercent(used, max)).toBe(percent);
});

test("a notice is known by its limit, its month and its share", () => {
  const tenant = newId("tenant", manualClock(0));
  const link = { id: newId("link", manualClock(0)), domain: "", code: "abc", fallback: false };
  const hits: NoticeUse = { tenant, limit: "hitsPerLinkPerMonth", used: 0, max: 1, link };
  const links: NoticeUse = { tenant, limit: "linksPerMonth", used: 0, max: 1 };
  expect(noticeKey(hits, "2026-11", 80)).toBe(`quota:hits:${link.id}:2026-11:80`);
  expect(noticeKey(links, "2026-11", 100)).toBe("quota:links:2026-11:100");
  expect(noticeKey({ ...links, limit: "storageBytes" }, "2026-11", 80)).toBe("quota:storage:2026-11:80");
});
