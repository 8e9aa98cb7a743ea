import { Problem } from "../../base/errors.ts";

/**
 * A body, piece by piece to whoever writes it down, the next one only when that is done: what the client sends meanwhile
 * waits in its own machine. It must have exactly the size that was announced, arrive at a least rate and be done by a
 * deadline. Time that the writing takes is not the client's.
 */
export interface UploadRate {
  readonly leastBytesPerSecond: number;
  /** Over which the rate is measured. */
  readonly windowMs: number;
  readonly deadlineMs: number;
}

/** Small enough that hashing a piece holds nobody up. */
const pieceBytes = 262_144;

export async function receive(
  body: ReadableStream<Uint8Array> | null,
  sizeBytes: number,
  pace: UploadRate,
  write: (piece: Uint8Array) => Promise<void>,
  /** Ends it with its reason: nobody waits for these bytes any more. */
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
    // Whatever else is on its way is not read.
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
    // A window that the writing has a part in says nothing about the client, and neither does the one in which it ended.
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
