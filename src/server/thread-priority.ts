import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** Enough to come after redirects on a busy machine, and not to stand still there: about a quarter of a core beside them. */
const behind = 5;

/** Lowers the priority of the calling thread, and of no other. Linux has one for each thread; elsewhere nothing happens. */
export function lowerThreadPriority(): void {
  try {
    setPriority(threadId(), behind);
  } catch {
    // Not permitted, or not Linux: it runs at normal priority.
  }
}

/** `12/task/34` is thread 34 of process 12. */
function threadId(): number {
  const id = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  if (!Number.isInteger(id) || id <= 0) throw new Error("no thread ID");
  return id;
}
