import { OperatorError } from "../base/errors.ts";

/**
 * The text of a file, piece by piece. UTF-8, with a byte order mark or without; UTF-16 is told apart by its mark or its
 * zero bytes and refused, for half of what is exported by spreadsheets and none of what is exported by programs is in it.
 * A byte that is no UTF-8 becomes U+FFFD, and the row that has one is refused when it is read.
 */
export async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let first = true;
  for await (const chunk of bytes) {
    if (first && chunk.length > 0) {
      first = false;
      if (isUtf16(chunk)) {
        throw new OperatorError(
          "The file is UTF-16 or not text. Convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE > NEW",
        );
      }
    }
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

const damaged = "\ufffd";

/** A sentence about text that is not what its writer wrote, if it has any. */
export const damageIn = (text: string): string | undefined =>
  text.includes(damaged) ? "has bytes that are not UTF-8" : undefined;

const headBytes = 1_000;

function isUtf16(head: Uint8Array): boolean {
  const [one, two] = head;
  return (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff) || head.subarray(0, headBytes).includes(0);
}
