/** Base62, fixed length. The order is part of every issued code: never change it. */
export const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export const codeLength = 7;
export const codeSpace = 62 ** codeLength; // 3,521,614,606,208: below 2^53, so plain numbers are exact

const digits = new Map([...alphabet].map((character, value) => [character, value]));

export function encode(value: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < codeLength; i++) {
    text = alphabet.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

export function decode(code: string): number | undefined {
  if (code.length !== codeLength) return undefined;
  let value = 0;
  for (const character of code) {
    const digit = digits.get(character);
    if (digit === undefined) return undefined;
    value = value * 62 + digit;
  }
  return value;
}
