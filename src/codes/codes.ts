import { createCipheriv, hkdfSync } from "node:crypto";
import { codeSpace, decode, encode } from "./alphabet.ts";

/**
 * Counter → code, and back.
 *
 * A counter never repeats, so neither may a code: between the two stands a permutation of the whole space of 62^7,
 * chosen by the salt. It is a Feistel network over 2 × 21 bits (2^42 is the next even power of two above 62^7), and a
 * result outside the space is permuted again until it falls inside ("cycle walking", 1.25 passes on average). What a
 * Feistel network computes can be undone whatever its round function is, so a collision is impossible by construction,
 * and nobody has to look whether a code is free.
 *
 * The round function is AES under a key derived from the salt; with 10 rounds neighbours in the counter are unrelated
 * in the code to anyone without the salt. HMAC-SHA-256 in its place costs twice the time and gives nothing more here.
 * Adding a salted constant alone, as the first sketch of this had it, would give consecutive codes.
 */
export interface Codes {
  encode(counter: number): string;
  /** For tests and support: the counter behind a code. */
  decode(code: string): number | undefined;
  /** Tells one salt from another without giving it away. */
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
  // ECB of single blocks is the bare block cipher, which is what a round function wants.
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
