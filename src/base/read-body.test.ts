import { expect, test } from "bun:test";
import { readBody, readForm } from "./read-body.ts";

const bodyOf = (...pieces: string[]) => new Blob(pieces).stream();
/** Sends one piece, and then nothing more. */
const endless = () =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode("some")) });

test("a body is read to its last byte, and not one byte beyond the limit", async () => {
  expect(await readBody(bodyOf("12345", "67890"), 10, 1_000)).toMatchObject({ kind: "whole" });
  expect(await readBody(bodyOf("12345", "678901"), 10, 1_000)).toEqual({ kind: "too_large" });
});

test("a body that does not end is given up at its deadline", async () => {
  expect(await readBody(endless(), 10, 20)).toEqual({ kind: "late" });
});

test("a body whose client left is said to be incomplete", async () => {
  const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("reset")) });
  expect(await readBody(broken, 10, 1_000)).toEqual({ kind: "broken_off" });
});

test("a form is a form only if it says so, and is complete", async () => {
  const form = (type: string, body = "a=1") =>
    readForm(new Request("http://host/", { method: "POST", headers: { "content-type": type }, body }), 10, 1_000);
  expect((await form("application/x-www-form-urlencoded; charset=utf-8"))?.get("a")).toBe("1");
  expect(await form("text/plain")).toBeUndefined();
  expect(await form("application/x-www-form-urlencoded", "a=1234567890")).toBeUndefined();
});
