/**
 * A shared clock that we set: libfaketime (Debian's package faketime) adds the offset in a file to the machine's time,
 * in every process started with it, including PostgreSQL and Redis. Timers and deadlines use the monotonic clock, which
 * is not changed.
 */
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../test/ground/process.ts";
import { tempFolder } from "../../test/ground/temp.ts";

export interface SharedClock {
  /** For every process that is to go by it. */
  readonly env: Environment;
  /**
   * For Redis. Its jemalloc asks for the time before libfaketime is ready, which deadlocks: so it uses the C library's
   * allocator instead.
   */
  readonly redisEnv: Environment;
  now(): number;
  /** Forward, for all of them at once. */
  advance(ms: number): void;
  /** Removes what a process that was killed has left of it in shared memory. */
  cleanUpAfter(pid: number): void;
}

export function startClock(): SharedClock {
  const [library] = [...new Bun.Glob("*/faketime/libfaketimeMT.so.1").scanSync("/usr/lib")];
  if (library === undefined) throw new Error("libfaketime is not where Debian puts it");
  const folder = tempFolder("clock");
  chmodSync(folder, 0o755); // PostgreSQL runs as another user
  const file = join(folder, "offset");
  let offsetMs = 0;

  function set(): void {
    // Atomically: a half-written file would be another time.
    writeFileSync(`${file}.next`, `+${offsetMs / 1_000}\n`, { mode: 0o644 });
    renameSync(`${file}.next`, file);
  }

  set();
  const preload = join("/usr/lib", library);
  const env = {
    LD_PRELOAD: preload,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  return {
    env,
    redisEnv: { ...env, LD_PRELOAD: `libc_malloc_debug.so.0 ${preload}` },
    now: () => Date.now() + offsetMs,
    advance(ms) {
      offsetMs += ms;
      set();
    },
    cleanUpAfter(pid) {
      for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
        rmSync(`/dev/shm/${name}`, { force: true });
    },
  };
}
