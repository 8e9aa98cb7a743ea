import { expect, test } from "bun:test";
import { notInStream } from "./not-in-stream.ts";

const link = { domain: "al.example", code: "winter" };
const click = (at: string, reason: "counted" | "bot" = "counted") => ({ at, reason, link });

test.each([
  ["+05:45", ["2026-11-17T04:19:00+05:45", "2026-11-17T04:18:00+05:45"]],
  ["+01:00", ["2026-11-16T23:34:00+01:00", "2026-11-16T23:33:00+01:00"]],
  ["-05:00", ["2026-11-16T17:34:00-05:00", "2026-11-16T17:33:00-05:00"]],
])("the clicks of a list at %s stay when a new one arrives", (_, times) => {
  const list = times.map((at) => click(at));
  expect(notInStream([click("2026-11-16T22:35:00.000Z")], list)).toEqual(list);
});

test("a click of both is shown once, and one of the same moment that only the list has stays", () => {
  const at = "2026-11-17T04:19:00+05:45";
  const stream = [click("2026-11-16T22:34:00.000Z")];
  expect(notInStream(stream, [click(at), click(at), click(at, "bot")])).toEqual([click(at), click(at, "bot")]);
  expect(notInStream(stream, [{ ...click(at), link: { ...link, code: "other" } }])).toHaveLength(1);
});

test("a click that comes late takes nothing away that is newer", () => {
  const newer = click("2026-11-16T23:34:05+01:00");
  expect(notInStream([click("2026-11-16T22:34:00.000Z")], [newer])).toEqual([newer]);
});
