import { randomBytes } from "node:crypto";
import { alphabet } from "./codes.ts";
import { isReserved } from "./slugs.ts";

/**
 * Codes that cannot be found by guessing: 12 random characters, 62^12 possibilities, 71 bits. They do not come from the
 * counter and are longer than the codes that do. A collision is not to be expected, and the database would reject it.
 */
const length = 12;
const even = 248; // the largest multiple of 62 below 256: using bytes above it would make some characters likelier

export function privateCode(): string {
  for (;;) {
    let code = "";
    for (const byte of randomBytes(2 * length)) {
      if (byte < even && code.length < length) code += alphabet.charAt(byte % 62);
    }
    if (code.length === length && !isReserved(code)) return code;
  }
}
