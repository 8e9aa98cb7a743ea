import { randomBytes } from "node:crypto";
import { alphabet } from "./alphabet.ts";
import { isReserved } from "./slugs.ts";

/**
 * Codes that nobody finds by trying: 12 characters of chance, 62^12 of them, which is 71 bits. Not from the counter, and
 * longer than what comes from it. Two alike are not to be expected, and the database would notice.
 */
const length = 12;
const even = 248; // the most below 256 that 62 divides: bytes above would make some characters likelier

export function privateCode(): string {
  for (;;) {
    let code = "";
    for (const byte of randomBytes(2 * length)) {
      if (byte < even && code.length < length) code += alphabet.charAt(byte % 62);
    }
    if (code.length === length && !isReserved(code)) return code;
  }
}
