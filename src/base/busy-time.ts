import { readFileSync } from "node:fs";

/**
 * For how many milliseconds this thread has run, or has waited for a core: it had something to do, and read no answer that
 * may have come.
 *
 * CPU time alone says less than that. A crowd keeps the stores busy too, and on few cores its server waits for one as long as it
 * runs. Linux counts both. Elsewhere it is CPU time.
 */
export function threadBusyMs(): number {
  try {
    const busyMs = busyMsOf(readFileSync("/proc/thread-self/schedstat", "latin1"));
    if (busyMs > 0) return busyMs;
  } catch {
    // Not Linux, or without /proc.
  }
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Of the kernel's figures of a thread: nanoseconds that it ran, nanoseconds that it waited for a core, and how often it ran. */
export function busyMsOf(schedstat: string): number {
  const [ran = 0, waited = 0] = schedstat.split(" ", 2).map(Number);
  return (ran + waited) / 1e6;
}
