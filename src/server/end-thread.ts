import { withDeadline } from "../base/deadline.ts";

/**
 * A thread without work for this long ends, and the next work starts another one. That gives back about 20 MB; a start takes
 * about 0.1 s of CPU.
 */
export const idleThreadMs = 60_000;
const closeMs = 1_000;

/** Ends a thread that has nothing to do: it closes its connections when it gets `close`, and answers `closed`. */
export async function endThread(thread: Worker): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    thread.addEventListener("message", (event: MessageEvent<{ readonly kind: string }>) => {
      if (event.data.kind === "closed") resolve();
    });
    thread.postMessage({ kind: "close" });
  });
  await withDeadline(closed, closeMs, "ending a thread").catch(() => {});
  thread.terminate();
}
