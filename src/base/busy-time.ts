import { openSync, readFileSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/**
 * For how many milliseconds this thread has run, or has waited for a core: it had something to do, and read no answer that
 * may have come.
 *
 * CPU time alone says less than that. A crowd keeps the stores busy too, and on few cores its server waits for one as long as it
 * runs. Linux counts both. Elsewhere it is CPU time.
 */
export function threadBusyMs(): number {
  try {
    const busyMs = busyMsOf(isMainThread ? readAgain() : readFileSync(path, "latin1"));
    if (busyMs > 0) return busyMs;
  } catch {
    // Not Linux, or without /proc.
  }
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const path = "/proc/thread-self/schedstat";
/** Three numbers of at most 20 digits. */
const text = Buffer.alloc(64);
let file: number | undefined;

/**
 * The file stays open: one system call instead of four, up to 400 times a second. Only in the thread that serves, which lives as
 * long as the process: another one would leave its file open when it ends.
 */
function readAgain(): string {
  file ??= openSync(path, "r");
  return text.toString("latin1", 0, readSync(file, text, 0, text.length, 0));
}

/** Of the kernel's figures of a thread: nanoseconds that it ran, nanoseconds that it waited for a core, and how often it ran. */
export function busyMsOf(schedstat: string): number {
  const [ran = 0, waited = 0] = schedstat.split(" ", 2).map(Number);
  return (ran + waited) / 1e6;
}
