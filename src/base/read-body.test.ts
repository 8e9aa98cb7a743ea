import { describe, expect, test } from "bun:test";
import { announcedBytes, readAnnounced, readBody, readForm } from "./read-body.ts";

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

describe("a body whose length was announced", () => {
  const announced = (body: string | ReadableStream, headers: Record<string, string> = {}, method = "POST") =>
    new Request("http://host/", { method, body, headers: { "content-length": "4", ...headers } });

  test("is read at once, or given up at its deadline", async () => {
    expect(await readAnnounced(announced("some"), 1_000)).toMatchObject({ kind: "whole", bytes: { length: 4 } });
    expect(await readAnnounced(announced(endless()), 20)).toEqual({ kind: "late" });
    expect(await readAnnounced({ bytes: () => Promise.reject(new Error("reset")) }, 20)).toEqual({
      kind: "broken_off",
    });
  });

  test("is not one that is sent in chunks, or whose length is no number", () => {
    expect(announcedBytes(announced("some"))).toBe(4);
    expect(announcedBytes(announced("some", { "transfer-encoding": "chunked" }))).toBeUndefined();
    for (const length of ["0", "-1", "4, 4", "0x4", ""]) {
      expect(announcedBytes(announced("some", { "content-length": length }))).toBeUndefined();
    }
  });
});

test("a form is a form only if it says so, and is complete", async () => {
  const form = (type: string, body = "a=1") =>
    readForm(new Request("http://host/", { method: "POST", headers: { "content-type": type }, body }), 10, 1_000);
  expect((await form("application/x-www-form-urlencoded; charset=utf-8"))?.get("a")).toBe("1");
  expect(await form("text/plain")).toBeUndefined();
  expect(await form("application/x-www-form-urlencoded", "a=1234567890")).toBeUndefined();
});
