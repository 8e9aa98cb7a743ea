import { Problem } from "../../base/errors.ts";

/**
 * Passes a body piece by piece to a writer, the next piece only when the last is written: meanwhile the client's data
 * waits on its machine. The body must have exactly the announced size, arrive at a minimum rate and finish before a
 * deadline. Time spent writing is not counted against the client.
 */
export interface UploadRate {
  readonly leastBytesPerSecond: number;
  /** Window in which the rate is measured. */
  readonly windowMs: number;
  readonly deadlineMs: number;
}

/** Small enough that hashing a piece delays no other request. */
const pieceBytes = 262_144;

export async function receive(
  body: ReadableStream<Uint8Array> | null,
  sizeBytes: number,
  pace: UploadRate,
  write: (piece: Uint8Array) => Promise<void>,
  /** Aborts with its reason: the bytes are no longer needed. */
  signal?: AbortSignal,
): Promise<void> {
  if (body === null) {
    if (sizeBytes > 0) throw tooShort(0, sizeBytes);
    return;
  }
  const reader = body.getReader();
  const stopReading = () => void reader.cancel().catch(() => {});
  const watch = watchPace(pace, stopReading);
  signal?.addEventListener("abort", stopReading);
  let received = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        signal?.throwIfAborted();
        throw new Problem("body_timeout", "The connection closed before the file was complete. Send it again.");
      });
      signal?.throwIfAborted();
      if (watch.late !== undefined) throw new Problem("body_timeout", watch.late);
      if (done) break;
      received += value.length;
      if (received > sizeBytes) throw tooLarge(sizeBytes);
      watch.came(value.length);
      for (let at = 0; at < value.length; at += pieceBytes) await write(value.subarray(at, at + pieceBytes));
      watch.wrote();
    }
    if (received < sizeBytes) throw tooShort(received, sizeBytes);
  } finally {
    watch.stop();
    signal?.removeEventListener("abort", stopReading);
    // The rest of the body is not read.
    void reader.cancel().catch(() => {});
  }
}

function watchPace({ leastBytesPerSecond, windowMs, deadlineMs }: UploadRate, stopReading: () => void) {
  let cameBytes = 0;
  let writing = false;
  let heldUp = false;
  let late: string | undefined;
  const end = (why: string) => {
    late ??= why;
    stopReading();
  };
  const window = setInterval(() => {
    // A window that includes writing says nothing about the client, nor does the one in which the writing ended.
    const counts = !writing && !heldUp;
    heldUp = writing;
    if (counts && cameBytes < (leastBytesPerSecond * windowMs) / 1_000) {
      end(
        `The file arrived slower than ${leastBytesPerSecond} bytes per second. Send it again over a faster connection.`,
      );
    }
    cameBytes = 0;
  }, windowMs);
  const deadline = setTimeout(() => {
    end(`The file did not arrive within ${deadlineMs / 1_000} s. Send it again over a faster connection.`);
  }, deadlineMs);
  return {
    get late() {
      return late;
    },
    came(bytes: number) {
      cameBytes += bytes;
      writing = true;
    },
    wrote() {
      writing = false;
    },
    stop() {
      clearInterval(window);
      clearTimeout(deadline);
    },
  };
}

export const tooLarge = (sizeBytes: number): Problem =>
  new Problem("upload_too_large", `Announced ${sizeBytes} bytes, but more were sent. Nothing was stored.`);

export const tooShort = (received: number, sizeBytes: number): Problem =>
  new Problem("upload_mismatch", `Announced ${sizeBytes} bytes, but ${received} were sent. Nothing was stored.`);
