/** Images as a camera sees them: our PNGs and SVGs decoded to pixels, and the QR codes in them to text. */
import { crc32, inflateSync } from "node:zlib";
import jsQR from "jsqr";

export type Pixels = {
  width: number;
  height: number /** Red, green, blue and alpha of each. */;
  data: Uint8ClampedArray;
};

/** Reads PNGs of one bit and a palette, and is strict about what every reader depends on. */
export function readPng(bytes: Buffer): Pixels {
  if (bytes.subarray(0, 8).toString("hex") !== "89504e470d0a1a0a") throw new Error("not a PNG");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const named = bytes.subarray(at + 4, at + 8 + length);
    if (crc32(named) !== bytes.readUInt32BE(at + 8 + length)) throw new Error("a chunk has the wrong sum");
    chunks.set(named.subarray(0, 4).toString(), Buffer.from(named.subarray(4)));
    at += length + 12;
  }
  const [header, palette, packed] = ["IHDR", "PLTE", "IDAT"].map((name) => chunks.get(name));
  if (!header || !palette || !packed || !chunks.has("IEND")) throw new Error("a chunk is missing");
  if (header.subarray(8).toString("hex") !== "0103000000") throw new Error("not one bit with a palette");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const rows = inflateSync(packed);
  const rowBytes = 1 + Math.ceil(width / 8);
  if (rows.length !== rowBytes * height) throw new Error("more or fewer pixels than it says");
  const solid = chunks.get("tRNS");
  const colours = [0, 1].map((index) => [...palette.subarray(index * 3, index * 3 + 3), solid?.[index] ?? 255]);
  const pixels = new Uint32Array(width * height);
  const [light = 0, dark = 0] = colours.map(packed32);
  let above = Buffer.alloc(rowBytes - 1);
  for (let row = 0; row < height; row++) {
    const line = Buffer.from(rows.subarray(row * rowBytes + 1, (row + 1) * rowBytes));
    const filter = rows[row * rowBytes];
    if (filter !== 0 && filter !== 2) throw new Error(`rows of kind ${filter}`);
    if (filter === 2) for (const [i, byte] of line.entries()) line[i] = (byte + (above[i] ?? 0)) & 255;
    above = line;
    for (let column = 0; column < width; column++) {
      const index = ((line[column >> 3] ?? 0) >> (7 - (column & 7))) & 1;
      pixels[row * width + column] = index === 0 ? light : dark;
    }
  }
  return { width, height, data: new Uint8ClampedArray(pixels.buffer) };
}

/** The four bytes of a pixel as one number, in the order of this machine. */
const packed32 = (parts: readonly number[]): number => new Uint32Array(Uint8Array.from(parts).buffer)[0] ?? 0;

/** Paints the paths of an SVG that has only rectangles in them, as `M x y h n v 1 h -n z`. */
export function readSvg(text: string): Pixels {
  const [, size = "", view = ""] = /width="(\d+)" height="\1" viewBox="0 0 (\d+) \2"/.exec(text) ?? [];
  const [width, scale] = [Number(size), Number(size) / Number(view)];
  const pixels = new Uint32Array(width * width);
  for (const [, colour = "", opacity, path = ""] of text.matchAll(
    /<path fill="#(\w{6})"(?: fill-opacity="([\d.]+)")? d="([^"]+)"\/>/g,
  )) {
    const part = (place: number) => Number.parseInt(colour.slice(place, place + 2), 16);
    const pixel = packed32([part(0), part(2), part(4), Math.round(Number(opacity ?? 1) * 255)]);
    for (const [, x, y, across, down] of path.matchAll(/M(\d+) (\d+)h(\d+)v(\d+)h-\3z/g)) {
      const [left, top] = [Number(x) * scale, Number(y) * scale];
      for (let row = Math.round(top); row < Math.round(top + Number(down) * scale); row++) {
        const start = row * width;
        pixels.fill(pixel, start + Math.round(left), start + Math.round(left + Number(across) * scale));
      }
    }
  }
  return { width, height: width, data: new Uint8ClampedArray(pixels.buffer) };
}

/** Of a larger picture a scanner sees every second, third … pixel: reading all of them takes seconds. */
const seenPixels = 600;

/** What a scanner reads on a white background. */
export function scan({ width, height, data }: Pixels): string | undefined {
  const step = Math.ceil(width / seenPixels);
  const [across, down] = [Math.floor(width / step), Math.floor(height / step)];
  const seen = new Uint8ClampedArray(across * down * 4);
  for (let at = 0; at < across * down; at++) {
    const from = (Math.floor(at / across) * step * width + (at % across) * step) * 4;
    const alpha = (data[from + 3] ?? 0) / 255;
    for (let part = 0; part < 3; part++) seen[at * 4 + part] = (data[from + part] ?? 0) * alpha + 255 * (1 - alpha);
    seen[at * 4 + 3] = 255;
  }
  return jsQR(seen, across, down)?.data;
}
