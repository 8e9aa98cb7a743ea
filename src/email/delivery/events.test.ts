import { describe, expect, test } from "bun:test";
import { outweighs, readEvent } from "./events.ts";

const id = "14c5d75ce93.filter0001.16648.5515E0B88.0";
const read = (fields: Record<string, unknown>) => readEvent({ sg_message_id: id, timestamp: 1_763_287_200, ...fields });

describe("an event", () => {
  test.each([
    [{ event: "delivered", response: "250 OK" }, "delivered", null],
    [{ event: "bounce", type: "bounce", reason: "550 no such user" }, "bounced", "bounced"],
    [{ event: "bounce", type: "blocked", reason: "421 try later" }, "bounced", null],
    [{ event: "dropped", reason: "Bounced Address" }, "bounced", "bounced"],
    [{ event: "dropped", reason: "Invalid" }, "bounced", "bounced"],
    [{ event: "dropped", reason: "Spam Reporting Address" }, "bounced", "complaint"],
    [{ event: "dropped", reason: "Unsubscribed Address" }, "bounced", "unsubscribed"],
    [{ event: "dropped" }, "bounced", null],
    [{ event: "spamreport" }, "complaint", "complaint"],
    [{ event: "unsubscribe" }, null, "unsubscribed"],
    [{ event: "group_unsubscribe" }, null, "unsubscribed"],
  ] as const)("%j says what became of it", (fields, delivery, suppress) => {
    expect(read(fields)).toMatchObject({ delivery, suppress, at: 1_763_287_200_000, providerIds: ["14c5d75ce93"] });
  });

  test.each(["processed", "deferred", "open", "click", "", undefined, 7, {}])(
    "%p says nothing about delivery",
    (event) => {
      expect(read({ event })).toBeUndefined();
    },
  );

  test.each([
    [undefined],
    [null],
    ["delivered"],
    [7],
    [[]],
    [{}],
    [{ event: "delivered" }],
    [{ event: "delivered", sg_message_id: 7 }],
    [{ event: "delivered", sg_message_id: "14c5d75ce93\u0000.filter0001" }],
    [{ event: "delivered", sg_message_id: "14c5d75ce93\n" }],
  ])("%j is none", (event) => {
    expect(readEvent(event)).toBeUndefined();
  });

  test("may name its email in any of the known forms", () => {
    const idsOf = (text: string) => readEvent({ event: "delivered", sg_message_id: text })?.providerIds;
    expect(idsOf("14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0")).toEqual([
      "14c5d75ce93",
      "14c5d75ce93.dfd.64b469",
    ]);
    expect(idsOf("abc-_1.recvd-6bf-1-64.0")).toEqual(["abc-_1"]);
    expect(idsOf("abc")).toEqual(["abc"]);
    expect(idsOf("")).toEqual([]);
    expect(idsOf("x".repeat(301))).toBeUndefined();
  });

  test("has a reason without control characters", () => {
    expect(read({ event: "bounce", reason: "550\u0000no\r\nsuch\u0085user" })?.detail).toBe("550 no such user");
  });

  test("has a reason of bounded length and a time that can be one, or none", () => {
    expect(read({ event: "bounce", reason: "x".repeat(10_000) })?.detail).toHaveLength(500);
    for (const timestamp of ["soon", 1.5, Number.NaN, null])
      expect(read({ event: "bounce", timestamp })?.at).toBeNull();
  });
});

test("the more severe event wins, in whatever order they arrive", () => {
  expect(outweighs("delivered", null)).toBe(true);
  expect(outweighs("bounced", "delivered")).toBe(true);
  expect(outweighs("complaint", "bounced")).toBe(true);
  expect(outweighs("delivered", "bounced")).toBe(false);
  expect(outweighs("bounced", "complaint")).toBe(false);
  expect(outweighs("bounced", "bounced")).toBe(false);
});
