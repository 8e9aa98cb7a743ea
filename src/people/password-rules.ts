import { invalid } from "../base/errors.ts";
import { coreOf, isCommonPassword } from "./first-guesses.ts";

/**
 * What a new password must be: long enough, and not one that is tried first. No rules about kinds of characters, which make
 * passwords harder to remember and no harder to guess (NIST SP 800-63B).
 */
export const passwordLeast = 10;
/** Checked before anything is computed from it. */
export const passwordMostBytes = 1_024;

/** In the form that is hashed: the same text typed on two keyboards may differ in its code points. */
export const normalPassword = (password: string): string => password.normalize("NFKC");

/** Whether it can be the password of an account at all: if not, no hash is computed. */
export const isPossiblePassword = (password: string): boolean =>
  password.length <= passwordMostBytes && Buffer.byteLength(password) <= passwordMostBytes && password.isWellFormed();

/** Throws a `Problem` that names the field. `about`: what belongs to the account, such as its address and name. */
export function requireGoodPassword(password: string, about: readonly string[], field = "password"): void {
  if (!isPossiblePassword(password)) {
    throw password.isWellFormed()
      ? invalid(field, "too_long", `Must have at most ${passwordMostBytes} bytes.`)
      : invalid(field, "bad_unicode", "Must be valid Unicode.");
  }
  const normal = normalPassword(password);
  if ([...normal].length < passwordLeast) {
    throw invalid(field, "too_short", `Must have at least ${passwordLeast} characters.`);
  }
  if (isCommonPassword(normal)) {
    throw invalid(field, "common_password", "This password is among the first that are tried. Choose another one.");
  }
  if (about.some((text) => resembles(normal, text))) {
    throw invalid(field, "own_data", "Must not be your email address or name. Choose another one.");
  }
}

const plain = (text: string): string => text.normalize("NFKC").toLowerCase();

/** The text itself, or the part of an address before the @, with at most some digits and signs around it. */
function resembles(password: string, text: string): boolean {
  const [given, whole] = [plain(password), plain(text).trim()];
  if (whole === "") return false;
  const local = whole.split("@", 1)[0] ?? whole;
  const bare = coreOf(given, /\p{L}/u);
  return [whole, local, whole.replaceAll(/\s+/g, "")].some(
    (own) => given === own || (own.length >= 4 && bare === coreOf(own, /\p{L}/u)),
  );
}
