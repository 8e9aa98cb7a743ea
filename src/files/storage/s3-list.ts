import { fromIso } from "../../base/clock.ts";
import { keyPattern, StorageUnavailable, type StoredObject } from "./storage.ts";

/**
 * The response to ListObjectsV2, of which we need three fields. Our keys contain nothing that XML must escape, so any
 * other key is not ours and is left out.
 */
export interface Listed {
  readonly objects: readonly StoredObject[];
  /** Where to continue: the last key of all, ours or not. `undefined` at the end. */
  readonly after: string | undefined;
}

export function parseObjectList(xml: string): Listed {
  if (!/<ListBucketResult[\s>]/.test(xml) || !xml.trimEnd().endsWith("</ListBucketResult>")) {
    throw new StorageUnavailable("file storage returned an invalid list");
  }
  const [, ...contents] = xml.split("<Contents>");
  const entries = contents.map((inner) => ({
    key: field(inner, "Key"),
    sizeBytes: Number(field(inner, "Size")),
    modifiedAt: fromIso(field(inner, "LastModified")),
  }));
  const last = entries.at(-1)?.key;
  return {
    objects: entries.filter(({ key }) => keyPattern.test(key)),
    after: field(xml, "IsTruncated") === "true" && last !== undefined ? unescapeXml(last) : undefined,
  };
}

function field(xml: string, name: string): string {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const start = xml.indexOf(open);
  const end = xml.indexOf("<", start + open.length);
  if (start === -1 || !xml.startsWith(close, end)) {
    throw new StorageUnavailable(`file storage returned a list without ${name}`);
  }
  return xml.slice(start + open.length, end);
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const unescapeXml = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const point = Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
