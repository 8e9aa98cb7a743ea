import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** We ask for uncompressed responses, but not every server complies. */
const unpackers = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** The first part of a compressed body. The rest may be missing, or a thousand times as large. */
export async function unpack(packed: Buffer, encoding: string | undefined, mostBytes: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? "identity";
  if (name === "identity" || packed.length === 0) return packed;
  const create = unpackers[name as keyof typeof unpackers];
  if (create === undefined) return Buffer.alloc(0);
  const stream = create();
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const end = () => {
      stream.destroy();
      resolve(Buffer.concat(chunks).subarray(0, mostBytes));
    };
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= mostBytes) end();
    });
    stream.on("end", end);
    stream.on("error", end); // truncated input is expected: we cut it ourselves
    stream.end(packed);
  });
}
