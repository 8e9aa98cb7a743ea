import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { NewMail } from "./outbox.ts";
import { checkMail } from "./outbox.ts";

const mail: NewMail = {
  ...{ tenant: newId("tenant", systemClock), kind: "share", to: "ann@example.com", subject: "A link for you" },
  ...{ text: "line one\r\nline two", html: "<p>\n</p>" },
};

function problemOf(more: Partial<NewMail>): unknown {
  try {
    checkMail({ ...mail, ...more });
    return undefined;
  } catch (error) {
    return error instanceof Problem ? error.more.errors?.map(({ field, code }) => `${field} ${code}`) : error;
  }
}

test("a valid email is accepted, with its addresses normalized", () => {
  expect(checkMail({ ...mail, to: "Ann@EXAMPLE.com", replyTo: "bob@bücher.example", key: "k" })).toMatchObject({
    ...{ to: "Ann@example.com", replyTo: "bob@xn--bcher-kva.example", key: "k" },
  });
  expect(checkMail(mail)).toMatchObject({ key: null, replyTo: null });
  expect(problemOf({ subject: "ü".repeat(200) })).toBeUndefined();
});

test.each([
  [{ subject: "Hello\r\nBcc: all@example.com" }, "subject control_characters"],
  [{ subject: "Hello\nBcc: all@example.com" }, "subject control_characters"],
  [{ subject: "Hello\u0000" }, "subject control_characters"],
  [{ subject: "Hello\u0085there" }, "subject control_characters"],
  [{ subject: "Hello\u2028there" }, "subject control_characters"],
  [{ subject: "x".repeat(10_000) }, "subject too_long"],
  [{ subject: "  " }, "subject blank"],
  [{ subject: "half \ud83d" }, "subject bad_unicode"],
  [{ to: "ann@example.com\r\nBcc: all@example.com" }, "to control_characters"],
  [{ to: "ann@example.com, bob@example.com" }, "to bad_address"],
  [{ to: "Ann <ann@example.com>" }, "to bad_address"],
  [{ to: "" }, "to bad_address"],
  [{ replyTo: "bob@example.com\nX-Header: 1" }, "replyTo control_characters"],
  [{ replyTo: "bob" }, "replyTo bad_address"],
  [{ key: "a\nb" }, "key control_characters"],
  [{ key: "k".repeat(201) }, "key too_long"],
  [{ text: "nul \u0000" }, "text control_characters"],
  [{ html: "x".repeat(200_001) }, "html too_long"],
  [{ html: "half \ud83d" }, "html bad_unicode"],
])("%o is refused, and the field is named", (more, code) => {
  expect(problemOf(more)).toEqual([code]);
});
