import { expect, test } from "bun:test";
import { isoOf } from "./local-time.ts";
import { emptyForm, newLinkOf } from "./pages/edit/link-form.ts";

test("a local time becomes a moment", () => {
  expect(isoOf("2027-11-16T23:59")).toBe(new Date(2027, 10, 16, 23, 59).toISOString());
});

test("a year of five digits does not break the form: the API gets it and refuses it", () => {
  const form = { ...emptyForm("https://example.com/", 30), expires: "20266-01-01T10:00" };
  expect(newLinkOf(form).expiresAt).toBe("20266-01-01T10:00");
});
