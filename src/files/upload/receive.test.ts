import { expect, jest, test } from "bun:test";
import { receive, type UploadRate } from "./receive.ts";

const pace: UploadRate = { leastBytesPerSecond: 1_000, windowMs: 20, deadlineMs: 60_000 };
const windows = (n: number) => new Promise((resolve) => setTimeout(resolve, n * pace.windowMs));

/** Lets everything run that waits for nothing but its turn. */
async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

function bodyOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const next = chunks.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
  });
}

test("a disk that takes its time is not the client's fault", async () => {
  const written: number[] = [];
  await receive(bodyOf(new Uint8Array(10), new Uint8Array(10)), 20, pace, async (piece) => {
    await windows(5.5);
    written.push(piece.length);
  });
  expect(written).toEqual([10, 10]);
});

test("a client that continues in the window after a slow write is not blamed for the one before", async () => {
  jest.useFakeTimers();
  try {
    const [written, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const chunks = [new Uint8Array(10), new Uint8Array(10)];
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (chunks.length === 1) await sent.promise;
        const next = chunks.shift();
        if (next) controller.enqueue(next);
        else controller.close();
      },
    });
    let writes = 0;
    const receiving = receive(body, 20, pace, () => (++writes === 1 ? written.promise : Promise.resolve()));
    await turns();
    jest.advanceTimersByTime(2.5 * pace.windowMs);
    written.resolve();
    await turns();
    jest.advanceTimersByTime(pace.windowMs);
    sent.resolve();
    await receiving;
    expect(writes).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});

test("a client that stops after a slow write is ended all the same", async () => {
  const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(10)) });
  const receiving = receive(silent, 20, pace, () => windows(2.5).then(() => {}));
  await expect(receiving).rejects.toThrow("body_timeout");
});

test("a chunk is written in pieces, and the next one is asked for when all are", async () => {
  let writing = 0;
  const pieces: number[] = [];
  await receive(bodyOf(new Uint8Array(600_000), new Uint8Array(5)), 600_005, pace, async (piece) => {
    expect(++writing).toBe(1);
    await Promise.resolve();
    pieces.push(piece.length);
    writing--;
  });
  expect(pieces).toEqual([262_144, 262_144, 75_712, 5]);
});

test("what cannot be written ends it, and nothing more is read", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(10)),
    cancel() {
      cancelled = true;
    },
  });
  const full = () => Promise.reject(new Error("no room"));
  await expect(receive(body, 1_000, pace, full)).rejects.toThrow("no room");
  expect(cancelled).toBe(true);
});

test("a body has exactly the announced size: one byte more or less is refused", async () => {
  const send = (bytes: number) =>
    receive(bodyOf(new Uint8Array(10), new Uint8Array(bytes - 10)), 20, pace, async () => {});
  await send(20);
  await expect(send(21)).rejects.toThrow("upload_too_large");
  await expect(send(19)).rejects.toThrow("upload_mismatch");
});

test("no body at all is right for nothing only", async () => {
  await receive(null, 0, pace, async () => {});
  await expect(receive(null, 1, pace, async () => {})).rejects.toThrow("upload_mismatch");
});
