import { purposeNames } from "../../redirect/bots.ts";
import type { VisitRequest } from "../../redirect/visit-request.ts";

/**
 * A plain request for one link, read from what arrived on a connection: `GET /code`, with or without a query, complete, without a
 * body, with headers that every server reads alike. Others may follow it: `bytes` are its own. `readPlainRequest` returns undefined for everything else, however valid; Bun's server
 * answers that. So nothing has to be guessed here, and there is no request that a proxy and this parser could understand
 * differently.
 *
 * It is one pass over the bytes. As a text that is searched, and matched with a regular expression, it took twice as long.
 */
export class PlainRequest implements VisitRequest {
  readonly method = "GET";
  readonly code: string;
  readonly query: string;
  /** Whether the client may send another request on this connection. */
  readonly keepsOpen: boolean;
  readonly peer: PeerOf;
  /** The whole request. */
  readonly bytes: Buffer;
  readonly #values: Values;

  constructor(code: string, query: string, keepsOpen: boolean, peer: PeerOf, values: Values, bytes: Buffer) {
    this.code = code;
    this.query = query;
    this.keepsOpen = keepsOpen;
    this.peer = peer;
    this.#values = values;
    this.bytes = bytes;
  }

  /** From the path on. */
  get url(): string {
    return this.query === "" ? `/${this.code}` : `/${this.code}?${this.query}`;
  }

  get headers(): this {
    return this;
  }

  get(name: string): string | null {
    const place = placeOf.get(name);
    return (place === undefined ? this.#search(name) : this.#values[place]) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  /** One that redirects seldom read. */
  #search(asked: string): string | undefined {
    const name = asked.toLowerCase();
    const lines = this.bytes.toString("latin1").split("\r\n").slice(1);
    const values = lines.flatMap((line) => {
      const colon = line.indexOf(":");
      return line.slice(0, colon).toLowerCase() === name ? [line.slice(colon + 1).trim()] : [];
    });
    return values.length === 0 ? undefined : values.join(", ");
  }
}

/** Who is at the other end of a connection. */
export interface PeerOf {
  readonly address: string;
}

/** Of the names that redirects read, in their order. */
type Values = readonly (string | undefined)[];

/** Longer ones are left to Bun, which answers those above 16 KB with 431. */
const bytesMost = 8_192;
const codeMost = 64;

/** What redirects read, and what decides whether a request is plain. */
const names = [
  ...["host", "user-agent", "accept-language", "referer", "cookie", "dnt", "sec-gpc", ...purposeNames],
  ...["x-forwarded-for", "forwarded", "via", "x-real-ip", "connection"],
];
/** A body may follow, or something else than an answer is asked for. */
const refusedNames = ["content-length", "transfer-encoding", "expect", "upgrade", "trailer"];

const refused = names.length;
const placeOf = new Map(names.map((name, place) => [name, place]));
const [hostPlace, connectionPlace] = [names.indexOf("host"), names.indexOf("connection")];

interface KnownName {
  readonly letters: Uint8Array;
  readonly place: number;
}

const lengthMost = 17;
/** How far from the end of a name the letter is that tells it from the others of its length. */
const tellingEnd = 3;
/**
 * Each name by its length and its last letter but two, which no two of them share: most headers of a browser need only one look. By
 * the first letter, `x-real-ip` and `x-purpose` would be one.
 */
const known = new Array<KnownName | undefined>(cellOf(lengthMost + 1, 0)).fill(undefined);
for (const [place, name] of [...names, ...refusedNames].entries()) {
  const letters = Buffer.from(name);
  const cell = cellOf(letters.length, letters[letters.length - tellingEnd] ?? 0);
  if (known[cell] !== undefined) throw new Error(`${name} has the length and the telling letter of another name`);
  known[cell] = { letters, place: Math.min(place, refused) };
}

function cellOf(length: number, letter: number): number {
  return length * 32 + (letter & 31);
}

/** What a byte may be part of. */
const [inCode, inQuery, inName, inValue] = [1, 2, 4, 8];
const kinds = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  const character = String.fromCharCode(byte);
  kinds[byte] =
    (/[\w-]/.test(character) ? inCode : 0) |
    (/[!-~]/.test(character) ? inQuery : 0) |
    (/[!#$%&'*+\-.^`|~\w]/.test(character) ? inName : 0) |
    (/[\t -~]/.test(character) ? inValue : 0);
}

const [carriageReturn, lineFeed, tab, space, question, colon, digit0, digit1] = [13, 10, 9, 32, 63, 58, 48, 49];
const start = Buffer.from("GET /");
const version = Buffer.from(" HTTP/1.");

export function readPlainRequest(bytes: Buffer, peer: PeerOf): PlainRequest | undefined {
  if (!isAt(bytes, 0, start)) return undefined;

  // The path and the query; reading beyond the end is undefined, of no kind.
  const codeEnd = skip(bytes, start.length, inCode);
  if (codeEnd === start.length || codeEnd - start.length > codeMost) return undefined;
  const urlEnd = bytes[codeEnd] === question ? skip(bytes, codeEnd + 1, inQuery) : codeEnd;
  if (!isAt(bytes, urlEnd, version)) return undefined;
  const minor = bytes[urlEnd + version.length];
  if (minor !== digit1 && minor !== digit0) return undefined;
  let at = urlEnd + version.length + 1;
  if (!isLineEnd(bytes, at)) return undefined;
  at += 2;

  const values = new Array<string | undefined>(names.length);
  while (bytes[at] !== carriageReturn) {
    const nameEnd = skip(bytes, at, inName);
    if (at > bytesMost || nameEnd === at || bytes[nameEnd] !== colon) return undefined;
    const end = skip(bytes, nameEnd + 1, inValue);
    if (!isLineEnd(bytes, end)) return undefined;
    const place = placeAt(bytes, at, nameEnd - at);
    if (place !== undefined) {
      // Sent twice, it may mean the first, the last or both.
      if (place === refused || values[place] !== undefined) return undefined;
      values[place] = valueIn(bytes, nameEnd + 1, end);
    }
    at = end + 2;
  }
  const end = at + 2;
  if (bytes[at + 1] !== lineFeed || end > bytesMost || values[hostPlace] === undefined) return undefined;

  const connection = values[connectionPlace];
  const keepsOpen = connection === undefined || connection === "keep-alive" || /^keep-alive$/i.test(connection);
  if (!keepsOpen && !/^close$/i.test(connection)) return undefined;
  const code = bytes.toString("latin1", start.length, codeEnd);
  const query = codeEnd === urlEnd ? "" : bytes.toString("latin1", codeEnd + 1, urlEnd);
  const own = end === bytes.length ? bytes : bytes.subarray(0, end);
  return new PlainRequest(code, query, keepsOpen && minor === digit1, peer, values, own);
}

/** Where bytes of another kind begin. */
function skip(bytes: Buffer, from: number, kind: number): number {
  let at = from;
  while (at < bytes.length && ((kinds[bytes[at] ?? 0] ?? 0) & kind) !== 0) at++;
  return at;
}

const isLineEnd = (bytes: Buffer, at: number): boolean => bytes[at] === carriageReturn && bytes[at + 1] === lineFeed;

function isAt(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** Of the name from there on, if redirects read it. */
function placeAt(bytes: Buffer, at: number, length: number): number | undefined {
  if (length > lengthMost) return undefined;
  const name = known[cellOf(length, bytes[at + length - tellingEnd] ?? 0)];
  if (name === undefined) return undefined;
  const { letters, place } = name;
  // A capital letter has another bit. No other byte of a name becomes a letter or a hyphen with it.
  for (let i = 0; i < length; i++) if (((bytes[at + i] ?? 0) | space) !== letters[i]) return undefined;
  return place;
}

/** Without the white space around it, which is one space nearly always. */
function valueIn(bytes: Buffer, from: number, end: number): string {
  let [first, last] = [from, end];
  while (first < last && isBlank(bytes[first])) first++;
  while (last > first && isBlank(bytes[last - 1])) last--;
  return bytes.toString("latin1", first, last);
}

const isBlank = (byte: number | undefined): boolean => byte === space || byte === tab;
