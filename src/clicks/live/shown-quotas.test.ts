import { describe, expect, test } from "bun:test";
import { quotaEvent } from "./live-event.ts";
import { createShownQuotas, quotasKeptMost } from "./shown-quotas.ts";

interface Told {
  readonly used: number;
  readonly code?: string;
  readonly month?: string;
  readonly limit?: number | null;
}

/** Shows what may be shown of each, and returns `used` and `limit`; undefined: not shown. */
function start() {
  const shown = createShownQuotas();
  return ({ used, code = "a", month = "2026-11", limit = 1_000 }: Told) => {
    const event = quotaEvent({ tenant: -1 as never, domain: "", code, month, used, limit }, () => "go.example.com");
    const quota = event && shown.next(event);
    if (quota === undefined) return undefined;
    shown.keep(quota);
    const data = JSON.parse(quota.json);
    expect([data.link, data.month]).toEqual([{ domain: "go.example.com", code }, month]);
    return [data.used, data.limit];
  };
}

describe("hits of a link, as several servers tell them", () => {
  test("never go back", () => {
    const show = start();
    expect([844, 712, 844, 843, 900].map((used) => show({ used })?.[0])).toEqual([844, undefined, 844, undefined, 900]);
  });

  test("of one link do not hide those of another", () => {
    const show = start();
    show({ used: 844 });
    expect(show({ used: 3, code: "b" })).toEqual([3, 1_000]);
  });

  test("begin again with a month, in which late ones of the last month are told apart", () => {
    const show = start();
    show({ used: 844 });
    expect(show({ used: 1, month: "2026-12" })).toEqual([1, 1_000]);
    expect(show({ used: 712 })).toBeUndefined();
    expect(show({ used: 850 })).toEqual([850, 1_000]);
    expect(show({ used: 2, month: "2026-12" })).toEqual([2, 1_000]);
  });

  test.each([2_000, 500, null])("a new limit of %p is shown, with the hits that were shown", (limit) => {
    const show = start();
    show({ used: 844 });
    expect(show({ used: 712, limit })).toEqual([844, limit]);
    expect(show({ used: 713, limit })).toBeUndefined();
    expect(show({ used: 843 })).toEqual([844, 1_000]);
  });

  test("are remembered of the 500 links that were shown last", () => {
    const show = start();
    for (let i = 0; i < quotasKeptMost; i++) show({ used: 10, code: `c${i}` });
    show({ used: 11, code: "c0" });
    show({ used: 10, code: "new" });
    expect(show({ used: 5, code: "c0" })).toBeUndefined();
    expect(show({ used: 5, code: "c2" })).toBeUndefined();
    expect(show({ used: 5, code: "c1" })).toEqual([5, 1_000]);
  });

  test("are not shown if no server of ours would tell them", () => {
    const { next } = createShownQuotas();
    const bad = [
      "",
      "x",
      "5",
      "null",
      "[]",
      "{}",
      '{"month":1,"used":1,"limit":1}',
      '{"month":"m","used":"1","limit":1}',
    ];
    for (const json of [...bad, '{"month":"m","used":1}', '{"month":"m","used":1,"limit":"1"}'])
      expect(next({ kind: "quota", link: "/a", json })).toBeUndefined();
  });
});
