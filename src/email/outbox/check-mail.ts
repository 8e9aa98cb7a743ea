import { invalid } from "../../base/errors.ts";
import { parseAddress } from "../address.ts";
import type { NewMail } from "./outbox.ts";

/**
 * Validates emails before the outbox. Everything that becomes a header is checked here, where every email passes: a
 * line break in a subject or an address would inject a header.
 */
export interface CheckedMail extends Omit<NewMail, "key" | "replyTo"> {
  readonly key: string | null;
  readonly replyTo: string | null;
}

const subjectMaxChars = 200;
const keyMaxChars = 200;
const bodyMaxChars = 200_000;

/** Throws a `Problem` that names the field. */
export function checkMail({ key, to, replyTo, subject, text, html, ...mail }: NewMail): CheckedMail {
  refuseHeader("subject", subject, subjectMaxChars);
  if (key !== undefined) refuseHeader("key", key, keyMaxChars);
  refuseBody("text", text);
  refuseBody("html", html);
  return {
    ...mail,
    key: key ?? null,
    to: addressOf("to", to),
    replyTo: replyTo === undefined || replyTo === null ? null : addressOf("replyTo", replyTo),
    subject,
    text,
    html,
  };
}

function addressOf(field: string, text: string): string {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused.
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw invalid(field, "control_characters", "Must not contain line breaks or other control characters.");
  }
  throw invalid(field, "bad_address", "Must be an email address, such as ann@example.com.");
}

function refuseHeader(field: string, text: string, maxChars: number): void {
  if (text.trim() === "") throw invalid(field, "blank", "Must not be empty.");
  if (text.length > maxChars) throw invalid(field, "too_long", `Must have at most ${maxChars} characters.`);
  if (!text.isWellFormed()) throw invalid(field, "bad_unicode", "Must be valid Unicode.");
  // Control characters, and the two that some programs treat as line breaks.
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) {
    throw invalid(field, "control_characters", "Must not contain line breaks or other control characters.");
  }
}

function refuseBody(field: string, text: string): void {
  if (text.length > bodyMaxChars) throw invalid(field, "too_long", `Must have at most ${bodyMaxChars} characters.`);
  if (!text.isWellFormed()) throw invalid(field, "bad_unicode", "Must be valid Unicode.");
  if (text.includes("\u0000")) throw invalid(field, "control_characters", "Must not contain NUL characters.");
}
