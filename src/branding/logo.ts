import { invalid, type Problem } from "../base/errors.ts";

/**
 * Logos are shown to visitors from our own hosts, so only pictures that cannot do anything are accepted: PNG and WebP of a
 * reasonable size, and SVG that refers to nothing outside of itself and runs nothing. They are only ever shown as `<img>`, and
 * served with a policy under which nothing runs either.
 */
export const logoMostBytes = 65_536;
const sideMost = 4_096;

export type LogoType = "image/png" | "image/webp" | "image/svg+xml";

/** The type by its content; throws what is wrong with it. */
export async function checkLogo(bytes: Buffer): Promise<LogoType> {
  if (bytes.length === 0) throw refuse("empty", "Must not be empty.");
  if (bytes.length > logoMostBytes) throw refuse("too_long", "Must have at most 64 KB.");
  const { fileTypeFromBuffer } = await import("file-type"); // 2 MB, for the first logo
  const found = await fileTypeFromBuffer(bytes);
  if (found?.mime === "image/png" || found?.mime === "image/webp") {
    const size = found.mime === "image/png" ? pngSize(bytes) : webpSize(bytes);
    if (size === undefined) throw refuse("wrong_content", "The picture is damaged.");
    if (Math.max(...size) > sideMost) throw refuse("too_big", `Must have at most ${sideMost} pixels on each side.`);
    return found.mime;
  }
  if (found !== undefined && found.mime !== "application/xml") throw wrongType();
  checkSvg(bytes);
  return "image/svg+xml";
}

const refuse = (code: string, message: string): Problem => invalid("logo", code, message);
const wrongType = (): Problem => refuse("wrong_content", "Must be a PNG, WebP or SVG picture.");

/** What draws. Everything else, such as scripts, links, styles, animations and foreign content, is refused by its name. */
const drawing: ReadonlySet<string> = new Set([
  ...["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textpath"],
  ...["defs", "symbol", "use", "title", "desc", "metadata", "clippath", "mask", "pattern", "marker", "filter"],
  ...["lineargradient", "radialgradient", "stop", "fegaussianblur", "feoffset", "feblend", "fecolormatrix", "femerge"],
  ...["femergenode", "feflood", "fecomposite"],
]);

const elements = /<\/?([a-z][a-z0-9_:.-]*)/gi;
/** Declarations and instructions, other than that it is XML. */
const declaration = /<!(?!--)|<\?(?!xml\s)/i;
/** Bounded, so that it takes no longer than its text: no event has a longer name. */
const handler = /[\s"'/]on[a-z]{1,40}(?:\s{0,9}=|\s{10})/i;
const address = /javascript:|data:|@import/i;
/** References: only to parts of the same picture. */
const outside = /url\((?!['"]?#)|url\s|href=(?!['"]#)|href\s/i;

function checkSvg(bytes: Buffer): void {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw wrongType();
  }
  if (!/<svg[\s>]/i.test(text)) throw wrongType();
  const names = [...text.matchAll(elements)].map(([, name = ""]) => name.toLowerCase());
  if (declaration.test(text) || handler.test(text) || address.test(text) || !names.every((name) => drawing.has(name))) {
    throw refuse("wrong_content", "The SVG must not contain scripts, styles, links, animations or embedded content.");
  }
  if (outside.test(text)) throw refuse("wrong_content", "The SVG must not refer to anything outside of itself.");
}

function pngSize(bytes: Buffer): [number, number] | undefined {
  return bytes.length < 24 ? undefined : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

function webpSize(bytes: Buffer): [number, number] | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    default:
      return undefined;
  }
}
