import { expect, test } from "bun:test";
import { type Filter, parseFilter, toggleValue, writeFilter } from "./filters.ts";

test.each([
  ["country=DE,AT", { field: "country", kind: "is", values: ["DE", "AT"] }],
  ["browser!=Chrome", { field: "browser", kind: "isNot", values: ["Chrome"] }],
  ["referrer~news", { field: "referrer", kind: "contains", values: ["news"] }],
  ["referrer=", { field: "referrer", kind: "is", values: [""] }],
  ["utm_campaign=a\\,b,c\\\\d", { field: "utm_campaign", kind: "is", values: ["a,b", "c\\d"] }],
  ["utm_source=x=y~z", { field: "utm_source", kind: "is", values: ["x=y~z"] }],
] satisfies [string, Filter][])("%s is read, and written the same way", (text, filter) => {
  expect(parseFilter(text)).toEqual(filter);
  expect(writeFilter(filter)).toBe(text);
});

test.each(["", "country", "colour=red", "=DE", "COUNTRY=DE"])("%j is no filter", (text) => {
  expect(parseFilter(text)).toBeUndefined();
});

test("a value that is clicked is added to its filter, and taken out by the next click", () => {
  const one = toggleValue([], "country", "DE", "is");
  const two = toggleValue(one, "country", "AT", "is");
  expect(two.map(writeFilter)).toEqual(["country=DE,AT"]);
  expect(toggleValue(two, "country", "DE", "is").map(writeFilter)).toEqual(["country=AT"]);
  expect(toggleValue(one, "country", "DE", "is")).toEqual([]);
});

test("excluding is a filter of its own", () => {
  const filters = toggleValue(toggleValue([], "country", "DE", "is"), "country", "AT", "isNot");
  expect(filters.map(writeFilter)).toEqual(["country=DE", "country!=AT"]);
});
