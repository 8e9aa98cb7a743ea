import { describe, expect, test } from "bun:test";
import { Problem } from "../../base/errors.ts";
import { dimensions } from "../click.ts";
import { filterFields, filtersMost, filterValuesMost, parseFilters } from "./filters.ts";
import { valueFilterOf } from "./value-filter.ts";

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    const [first] = (error as Problem).more.errors ?? [];
    if (error instanceof Problem && first?.field === "filter") return first.code;
    throw error;
  }
  return "accepted";
}

describe("a filter", () => {
  test.each([
    ["country=DE,AT", "country", "is", ["DE", "AT"]],
    ["browser!=Chrome", "browser", "is not", ["Chrome"]],
    ["referrer~news", "referrer", "contains", ["news"]],
    ["country=", "country", "is", [""]],
    ["country=DE,", "country", "is", ["DE", ""]],
    ["city=Munich\\, Bavaria\\, DE", "city", "is", ["Munich, Bavaria, DE"]],
    ["variant=a\\\\,b", "variant", "is", ["a\\", "b"]],
    ["variant=a\\b", "variant", "is", ["a\\b"]],
    ["utm_campaign=a=b", "utm_campaign", "is", ["a=b"]],
    ["utm_source==1+1", "utm_source", "is", ["=1+1"]],
    ["country=DE,DE,DE", "country", "is", ["DE"]],
  ] as const)("%j is understood", (text, field, how, values) => {
    expect(parseFilters([text])).toEqual([{ field, how, values: [...values] }]);
  });

  test.each([
    ["", "bad_filter"],
    ["country", "bad_filter"],
    ["=DE", "bad_filter"],
    ["shoe=42", "bad_filter"],
    ["Country=DE", "bad_filter"],
    ["country==", "accepted"],
    ["country>DE", "bad_filter"],
    ["__proto__=x", "bad_filter"],
    ["constructor=x", "bad_filter"],
    ["tags=spring", "bad_filter"],
    ["referrer~", "blank"],
    ["referrer~a,", "blank"],
    ["link~a", "bad_filter"],
    ["tag~a", "bad_filter"],
    ["domain~a", "bad_filter"],
    ["reason~bot", "bad_filter"],
    ["link=", "blank"],
    ["link=a,", "blank"],
    ["domain!=", "blank"],
    ["tag=", "accepted"],
    ["reason=bored", "unknown_reason"],
    ["reason=", "unknown_reason"],
    ["utm_source=a\nb", "control_characters"],
    ["referrer~\u0000", "control_characters"],
    ["tag=a\u0085", "control_characters"],
    [`country=${"x".repeat(501)}`, "too_long"],
    [`country=${"x".repeat(500)}`, "accepted"],
    [`country=${Array.from({ length: 10_000 }, (_, i) => i).join(",")}`, "too_many"],
    [`country=${Array.from({ length: filterValuesMost }, (_, i) => i).join(",")}`, "accepted"],
    [`country=${",".repeat(1_000_000)}`, "too_many"],
    [`country=${"1,".repeat(filterValuesMost)}2`, "too_many"],
  ])("%.40j is answered with %s", (text, code) => {
    expect(refusal(() => parseFilters([text]))).toBe(code);
  });

  test.each([
    ["utm_campaign=می\u200cخواهم", ["میخواهم"]],
    ["utm_campaign!= spring\u200e ,spring", ["spring"]],
    ["utm_campaign~می\u200cخ", ["میخ"]],
    ["utm_campaign~ sale", [" sale"]],
    [`utm_source=${"x".repeat(150)}`, ["x".repeat(100)]],
    ["utm_source=\ud800", ["\ufffd"]],
    ["utm_source=\u200c", [""]],
    ["utm_source=me@example.com,", ["me@example.com", ""]],
    ["utm_source=(none),(other)", ["(none)", "(other)"]],
    ["utm_source=…", ["…"]],
    ["utm_source~10.1.2.3", ["10.1.2.3"]],
    ["city=a\u200cb", ["a\u200cb"]],
    ["tag=a\u200cb ", ["a\u200cb "]],
    ["link= a", [" a"]],
  ])("%j compares values as they are stored", (text, values) => {
    expect(parseFilters([text])[0]?.values).toEqual(values);
  });

  test("that contains nothing visible is refused", () => {
    expect(refusal(() => parseFilters(["utm_source~a,\u200c"]))).toBe("blank");
  });

  test("comes with others, up to a number of filters and of values", () => {
    const many = (count: number, text: string) =>
      refusal(() => parseFilters(Array.from({ length: count }, () => text)));
    expect(many(filtersMost, "country=DE")).toBe("accepted");
    expect(many(filtersMost + 1, "country=DE")).toBe("too_many");
    const half = `country=${Array.from({ length: filterValuesMost / 2 + 1 }, (_, i) => i).join(",")}`;
    expect(many(1, half)).toBe("accepted");
    expect(many(2, half)).toBe("too_many");
  });

  test("can be on any dimension", () => {
    expect(filterFields).toEqual([...dimensions, "link", "domain", "tag", "reason"]);
    expect(parseFilters(filterFields.map((field) => `${field}!=counted`))).toHaveLength(filterFields.length);
  });
});

describe("a filter on values", () => {
  const matching = (text: string, values: readonly string[]) =>
    values.filter((value) => valueFilterOf(parseFilters([text]))?.matches(value));
  const values = ["", "DE", "de", "AT", "…"];

  test("never matches values that were not kept apart", () => {
    expect(matching("country=DE,", values)).toEqual(["", "DE"]);
    expect(matching("country!=DE,", values)).toEqual(["de", "AT"]);
    expect(matching("country~d", values)).toEqual(["DE", "de"]);
    expect(matching("country~É", ["é", "É"])).toEqual(["É"]);
  });

  test("is one filter, on a dimension, without values that only events have", () => {
    const usable = (...texts: string[]) => valueFilterOf(parseFilters(texts)) !== undefined;
    expect([usable("country=DE"), usable("bot!=")]).toEqual([true, true]);
    expect([
      usable(),
      usable("country=DE", "city=X"),
      usable("link=a"),
      usable("reason=bot"),
      usable("country=…"),
    ]).toEqual([false, false, false, false, false]);
  });
});
