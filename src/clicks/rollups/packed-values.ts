import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { BreakdownName } from "../click.ts";
import type { FactCounts, Tally, ValueCount } from "./tally.ts";
import { valueKey } from "./value-key.ts";
import { keyBytes, ValueSums } from "./value-sums.ts";

/**
 * The values of a roll-up in two columns. `packed` has numbers only: the key of each value (`value-key.ts`), its clicks and visitors.
 * `names` has their texts, in the same order, compressed. A report adds up `packed`, and reads `names` for the few values that
 * it shows: adding a value takes 10 ns, and took 200 when it was parsed from JSON with its name (ADR 0055).
 *
 *     packed   form, then for each class and breakdown: its code, how many values, how many bytes, the values
 *     value    key (7 bytes), clicks, visitors
 *     names    form, then for each value: how many bytes, UTF-8
 *
 * Numbers have seven bits in each byte, the lowest first; the last byte is below 128. The most frequent value comes first.
 */
export interface PackedValues {
  readonly packed: Uint8Array;
  readonly names: Uint8Array;
}

/** With the length of what `packed` has of people. They come first, so that this much of it can be read alone. */
export interface NewPackedValues extends PackedValues {
  readonly people_bytes: number;
}

const packedForm = 1;
const namesForms = { plain: 1, compressed: 2 } as const;
/** Less is not worth the time. */
const compressedLeast = 400;
const fastest = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** What the numbers in stored rows mean: they never change. People have 2 × code, the rest one more. */
const codes: Readonly<Record<BreakdownName, number>> = {
  ...{ link: 0, country: 1, region: 2, city: 3, device: 4, browser: 5, os: 6, referrer: 7, language: 8 },
  ...{ utm_source: 9, utm_medium: 10, utm_campaign: 11, source: 12, variant: 13, bot: 14 },
};
const breakdownOf = new Map(Object.entries(codes).map(([name, code]) => [code, name as BreakdownName]));

/** All values, if nothing else is said. */
export interface NeededValues {
  readonly dimensions?: readonly BreakdownName[];
  readonly people?: boolean;
  readonly rest?: boolean;
}

export function packValues(people: FactCounts, rest: FactCounts): NewPackedValues {
  const [packed, names] = [new Writer(), new Writer()];
  packed.byte(packedForm);
  let people_bytes = 0;
  for (const [values, one] of [
    [people, 0],
    [rest, 1],
  ] as const) {
    for (const [name, ofBreakdown] of values) {
      const sorted = [...ofBreakdown].sort(([, a], [, b]) => b.clicks - a.clicks);
      const body = new Writer();
      for (const [value, { clicks, visitors }] of sorted) {
        body.key(valueKey(value));
        body.number(clicks);
        body.number(visitors);
        names.text(value);
      }
      packed.byte(2 * codes[name] + one);
      packed.number(sorted.length);
      packed.number(body.length);
      packed.bytes(body.taken());
    }
    if (one === 0) people_bytes = packed.length;
  }
  return { packed: packed.taken(), names: withForm(names.taken()), people_bytes };
}

function withForm(texts: Uint8Array): Uint8Array {
  const isLarge = texts.length >= compressedLeast;
  const bytes = isLarge ? zstdCompressSync(texts, fastest) : texts;
  const result = new Uint8Array(bytes.length + 1);
  result[0] = isLarge ? namesForms.compressed : namesForms.plain;
  result.set(bytes, 1);
  return result;
}

function textsOf(names: Uint8Array): Uint8Array {
  if (names[0] === namesForms.plain) return names.subarray(1);
  if (names[0] !== namesForms.compressed) throw unknownForm(names[0]);
  return zstdDecompressSync(names.subarray(1));
}

const unknownForm = (form: number | undefined) => new RangeError(`a roll-up of an unknown form: ${form}`);

/** Sums by breakdown. */
export type SumsByName = Map<BreakdownName, ValueSums>;

export function sumsOf(sums: SumsByName, name: BreakdownName): ValueSums {
  let found = sums.get(name);
  if (found === undefined) {
    found = new ValueSums();
    sums.set(name, found);
  }
  return found;
}

/** Adds the needed values of a row. Its classes are added up, if both are needed. */
export function addPacked(sums: SumsByName, packed: Uint8Array, needed: NeededValues): void {
  const reader = new Reader(packed, packedForm);
  while (!reader.isEnd) {
    const { name, isOfPeople, count, bytes } = section(reader);
    if (name !== undefined && isNeeded(name, isOfPeople, needed)) {
      sumsOf(sums, name).addPacked(packed, reader.at, reader.at + bytes, count);
    }
    reader.skip(bytes);
  }
}

/** All values of a row with their names. */
export function unpackValues(
  { packed, names }: PackedValues,
  { people, rest }: Pick<Tally, "people" | "rest">,
  needed: NeededValues = {},
): void {
  const reader = new Reader(packed, packedForm);
  const texts = new Reader(textsOf(names));
  while (!reader.isEnd) {
    const { name, isOfPeople, count } = section(reader);
    const isWanted = name !== undefined && isNeeded(name, isOfPeople, needed);
    const values = isWanted ? valuesOf(isOfPeople ? people : rest, name) : undefined;
    for (let n = 0; n < count; n++) {
      reader.skip(keyBytes);
      const [clicks, visitors] = [reader.number(), reader.number()];
      if (values === undefined) texts.skipText();
      else addTo(values, texts.text(), clicks, visitors);
    }
  }
}

/** Calls `take` with the names of the values whose keys are wanted. */
export function findNames(
  { packed, names }: PackedValues,
  wanted: ReadonlySet<number>,
  take: (key: number, text: string) => void,
): void {
  const reader = new Reader(packed, packedForm);
  const texts = new Reader(textsOf(names));
  while (!reader.isEnd) {
    const { count } = section(reader);
    for (let n = 0; n < count; n++) {
      const key = reader.key();
      reader.number();
      reader.number();
      if (wanted.has(key)) take(key, texts.text());
      else texts.skipText();
    }
  }
}

function section(reader: Reader) {
  const code = reader.byte();
  const [count, bytes] = [reader.number(), reader.number()];
  return { name: breakdownOf.get(code >> 1), isOfPeople: (code & 1) === 0, count, bytes };
}

const isNeeded = (name: BreakdownName, isOfPeople: boolean, { dimensions, people, rest }: NeededValues): boolean =>
  (isOfPeople ? people : rest) !== false && dimensions?.includes(name) !== false;

function valuesOf(all: FactCounts, name: BreakdownName): Map<string, ValueCount> {
  let values = all.get(name);
  if (values === undefined) {
    values = new Map();
    all.set(name, values);
  }
  return values;
}

function addTo(values: Map<string, ValueCount>, value: string, clicks: number, visitors: number): void {
  const count = values.get(value);
  if (count === undefined) values.set(value, { clicks, visitors });
  else {
    count.clicks += clicks;
    count.visitors += visitors;
  }
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class Writer {
  #bytes = new Uint8Array(256);
  length = 0;

  #room(more: number): void {
    if (this.length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(2 * (this.length + more));
    larger.set(this.#bytes.subarray(0, this.length));
    this.#bytes = larger;
  }

  byte(byte: number): void {
    this.#room(1);
    this.#bytes[this.length++] = byte;
  }

  /** A whole number below 2^53. */
  number(number: number): void {
    this.#room(8);
    let left = number;
    for (; left > 127; left = Math.floor(left / 128)) this.#bytes[this.length++] = (left % 128) + 128;
    this.#bytes[this.length++] = left;
  }

  key(key: number): void {
    this.#room(keyBytes);
    let left = key;
    for (let n = 0; n < keyBytes; n++) {
      this.#bytes[this.length++] = left % 256;
      left = Math.floor(left / 256);
    }
  }

  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  text(text: string): void {
    const bytes = encoder.encode(text);
    this.number(bytes.length);
    this.bytes(bytes);
  }

  taken(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array, form?: number) {
    this.#bytes = bytes;
    if (form !== undefined && this.byte() !== form) throw unknownForm(bytes[0]);
  }

  get isEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  skip(bytes: number): void {
    this.at += bytes;
  }

  number(): number {
    let [sum, unit] = [0, 1];
    for (;;) {
      const byte = this.byte();
      sum += (byte & 127) * unit;
      if (byte < 128) return sum;
      unit *= 128;
    }
  }

  key(): number {
    let [sum, unit] = [0, 1];
    for (let n = 0; n < keyBytes; n++) {
      sum += this.byte() * unit;
      unit *= 256;
    }
    return sum;
  }

  text(): string {
    const length = this.number();
    this.at += length;
    return decoder.decode(this.#bytes.subarray(this.at - length, this.at));
  }

  skipText(): void {
    const length = this.number();
    this.at += length;
  }
}
