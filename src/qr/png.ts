import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import type { Colour } from "./colour.ts";

/**
 * A two-colour image as PNG: one bit per pixel, and a palette. A QR code needs no more, so this is shorter than any
 * library. 2,048 × 2,048 pixels take half a megabyte before compression, which runs outside the event loop.
 */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The colours of pixels that are not set and of those that are. */
  readonly colours: readonly [Colour, Colour];
  /** From top to bottom. Their heights add up to the height of the image. */
  readonly bands: readonly Band[];
}

/** Identical rows: only the first is drawn, and each of the others takes one byte. */
export interface Band {
  readonly rows: number;
  /** The pixels that are set. */
  readonly runs: readonly ColumnRange[];
}

/** A half-open range of columns. */
export type ColumnRange = readonly [start: number, end: number];

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const pack = promisify(deflate);

export async function encodePng(picture: Picture): Promise<Buffer> {
  const { width, height, colours } = picture;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(1, 8); // bits per pixel
  header.writeUInt8(3, 9); // palette colours; the rest is 0: standard compression and filters, not interlaced
  const opaque = colours.every(({ alpha }) => alpha === 255);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(colours.flatMap(({ red, green, blue }) => [red, green, blue]))),
    ...(opaque ? [] : [chunk("tRNS", Buffer.from(colours.map(({ alpha }) => alpha)))]),
    chunk("IDAT", await pack(pixels(picture))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const differenceToAbove = 2;

/** Each row is a filter byte followed by its bits, or by their difference from the row above. */
function pixels({ width, height, bands }: Picture): Buffer {
  const rowBytes = 1 + Math.ceil(width / 8);
  const bytes = Buffer.alloc(rowBytes * height);
  let row = 0;
  for (const { rows, runs } of bands) {
    if (rows === 0) continue;
    for (const [start, end] of runs) {
      for (let column = start; column < end; column++) {
        const place = row * rowBytes + 1 + (column >> 3);
        bytes[place] = (bytes[place] ?? 0) | (0x80 >> (column & 7));
      }
    }
    for (let below = row + 1; below < row + rows; below++) bytes[below * rowBytes] = differenceToAbove;
    row += rows;
  }
  return bytes;
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
