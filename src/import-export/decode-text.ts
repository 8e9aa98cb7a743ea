import { OperatorError } from "../base/errors.ts";

/**
 * The text of a file, in chunks. UTF-8, with or without a byte order mark. UTF-16 is detected by its mark or its zero
 * bytes and refused: half of what spreadsheets export is UTF-16, and nothing that programs export is. A byte that is
 * not UTF-8 becomes U+FFFD, and the row that contains it is refused when it is read.
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

const replacement = "\ufffd";

/** Whether text was damaged on the way. */
export const isDamaged = (text: string): boolean => text.includes(replacement);
export const damaged = "has bytes that are not UTF-8";

const headBytes = 1_000;

function isUtf16(head: Uint8Array): boolean {
  const [one, two] = head;
  return (one === 0xff && two === 0xfe) || (one === 0xfe && two === 0xff) || head.subarray(0, headBytes).includes(0);
}
