import { expect, test } from "bun:test";
import { slugOf } from "./slug-of.ts";

test("the address of a workspace follows its name, in the letters that the API allows", () => {
  expect(slugOf("Alder Coffee GmbH & Co.")).toBe("alder-coffee-gmbh-co");
  expect(slugOf("  Café Größe  ")).toBe("cafe-grosse");
  expect(slugOf("日本")).toBe("");
  expect(slugOf("—a—")).toBe("a");
  expect(slugOf(`${"x".repeat(62)} yz`)).toBe("x".repeat(62));
});
