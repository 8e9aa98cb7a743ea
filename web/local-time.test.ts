import { expect, test } from "bun:test";
import { isoIn, isoOf, localTimeIn } from "./local-time.ts";
import { emptyForm, newLinkOf } from "./pages/edit/link-form.ts";

test("a local time becomes a moment", () => {
  expect(isoOf("2027-11-16T23:59")).toBe(new Date(2027, 10, 16, 23, 59).toISOString());
});

test.each([
  ["UTC", "2026-11-17T14:02", "2026-11-17T14:02:00.000Z"],
  ["Asia/Kathmandu", "2026-11-17T04:19", "2026-11-16T22:34:00.000Z"],
  ["America/New_York", "2026-11-01T00:30", "2026-11-01T04:30:00.000Z"],
  ["America/New_York", "2026-11-01T03:30", "2026-11-01T08:30:00.000Z"],
  ["Pacific/Kiritimati", "2026-03-29T00:00", "2026-03-28T10:00:00.000Z"],
])("in %s, %s is %s, whatever the zone of the browser", (zone, local, iso) => {
  expect(isoIn(zone, local)).toBe(iso);
  expect(localTimeIn(zone, Date.parse(iso))).toBe(local);
});

test("a year of five digits does not break the form: the API gets it and refuses it", () => {
  const form = { ...emptyForm("https://example.com/", 30), expires: "20266-01-01T10:00" };
  expect(newLinkOf(form).expiresAt).toBe("20266-01-01T10:00");
  expect(isoIn("UTC", "20266-01-01T10:00")).toBe("20266-01-01T10:00");
});
