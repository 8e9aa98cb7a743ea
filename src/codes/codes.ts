import { createCipheriv, hkdfSync } from "node:crypto";

/**
 * Turns a counter value into a code, and back.
 *
 * A counter never repeats, so a code must not repeat either. The salt selects a permutation of the whole space of 62^7.
 * The permutation is a Feistel network over 2 × 21 bits (2^42 is the next even power of two above 62^7). A result
 * outside the space is permuted again until it falls inside ("cycle walking", 1.25 passes on average). A Feistel
 * network is invertible for any round function, so collisions are impossible by construction, and no lookup is needed
 * to check that a code is free.
 *
 * The round function is AES with a key derived from the salt. After 10 rounds, the codes of neighbouring counter values
 * are unrelated to anyone without the salt. HMAC-SHA-256 instead of AES takes twice the time and gains nothing here.
 * Adding a salted constant to the counter would give consecutive codes.
 */
export interface Codes {
  encode(counter: number): string;
  /** For tests and support: the counter behind a code. */
  decode(code: string): number | undefined;
  /** Identifies a salt without revealing it. */
  readonly fingerprint: string;
}

const rounds = 10;
const halfBits = 21;
const half = 2 ** halfBits;
const halfMask = half - 1;

export function createCodes(salt: string): Codes {
  const round = roundFunction(derive(salt, "quicklink codes: round key", 16));
  const start = Number(derive(salt, "quicklink codes: start", 8).readBigUInt64BE() % BigInt(codeSpace));

  return {
    fingerprint: derive(salt, "quicklink codes: fingerprint", 16).toString("hex"),
    encode(counter) {
      if (!Number.isSafeInteger(counter) || counter < 0 || counter >= codeSpace) {
        throw new RangeError(`counter ${counter} is outside 0..${codeSpace - 1}`);
      }
      let value = (counter + start) % codeSpace;
      do value = permute(value, round);
      while (value >= codeSpace);
      return encode(value);
    },
    decode(code) {
      let value = decode(code);
      if (value === undefined) return undefined;
      do value = invert(value, round);
      while (value >= codeSpace);
      return (value - start + codeSpace) % codeSpace;
    },
  };
}

type Round = (index: number, half: number) => number;

function permute(value: number, round: Round): number {
  let left = Math.floor(value / half);
  let right = value & halfMask;
  for (let i = 0; i < rounds; i++) {
    const next = left ^ round(i, right);
    left = right;
    right = next;
  }
  return left * half + right;
}

function invert(value: number, round: Round): number {
  let left = Math.floor(value / half);
  let right = value & halfMask;
  for (let i = rounds - 1; i >= 0; i--) {
    const previous = right ^ round(i, left);
    right = left;
    left = previous;
  }
  return left * half + right;
}

function roundFunction(key: Buffer): Round {
  // ECB of single blocks is the bare block cipher, which is what a round function needs.
  const cipher = createCipheriv("aes-128-ecb", key, null);
  cipher.setAutoPadding(false);
  const block = Buffer.alloc(16);
  return (index, value) => {
    block.writeUInt32BE(index, 0);
    block.writeUInt32BE(value, 4);
    return cipher.update(block).readUInt32BE(0) & halfMask;
  };
}

function derive(salt: string, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", salt, "", purpose, bytes));
}

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
