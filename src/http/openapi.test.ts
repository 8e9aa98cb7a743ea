import { expect, test } from "bun:test";
import { type Document, fieldsOf, typeText } from "./openapi.ts";

test("a type reads as people would say it", () => {
  for (const [schema, words] of [
    [{ type: "string" }, "text"],
    [{ type: ["string", "null"], maxLength: 2_000 }, "text, at most 2,000 characters or null"],
    [{ type: "string", maxLength: 3_048, description: "At most 2,048." }, "text"],
    [{ type: ["string", "null"], format: "date-time" }, "time or null"],
    [{ type: "array", items: { type: "integer" } }, "list of whole number"],
    [{ type: "array", items: { $ref: "#/components/schemas/Link" } }, "list of Link"],
    [{ type: "string", enum: ["all", "any"] }, '"all" · "any"'],
    [{ anyOf: [{ type: "boolean" }, { type: "null" }] }, "true or false or null"],
    [{}, "anything"],
  ] as const) {
    expect(typeText(schema)).toBe(words);
  }
});

test("an object that is made of several has the fields of all", () => {
  const document: Document = {
    info: { title: "", version: "" },
    paths: {},
    components: { schemas: { One: { properties: { a: { type: "string" } }, required: ["a"] } } },
  };
  const two = { allOf: [{ $ref: "#/components/schemas/One" }, { properties: { b: { type: "null" } } }] };
  expect(fieldsOf(document, two).map(({ name, required }) => [name, required])).toEqual([
    ["a", true],
    ["b", false],
  ]);
});
