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
    const [ran, waited] = readFileSync("/proc/thread-self/schedstat", "latin1").split(" ", 2).map(Number);
    if (ran !== undefined && waited !== undefined && ran + waited > 0) return (ran + waited) / 1e6;
  } catch {
    // Not Linux, or without /proc.
  }
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
