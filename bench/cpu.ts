/** CPU time as the kernel accounts it, and which cores a process may use. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { readFileSync } from "node:fs";
import { keep } from "../test/ground/keeper.ts";
import { type Environment, runProcess } from "../test/ground/process.ts";

const { symbols: libc } = dlopen("libc.so.6", {
  clock_gettime: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
});

/**
 * CPU time of a process in microseconds, including all its threads. The kernel's clock of the process is exact to the
 * nanosecond and includes threads that have ended. /proc/PID/stat counts in steps of 10 ms, and a sum over
 * /proc/PID/task loses threads that end in between, such as those of the garbage collector.
 */
export function cpuMicros(pid: number): number {
  const time = new BigInt64Array(2);
  // As clock_getcpuclockid(3) computes it.
  if (libc.clock_gettime((~pid << 3) | 2, ptr(time)) !== 0) throw new Error(`there is no process ${pid}`);
  return Number(time[0]) * 1e6 + Number(time[1]) / 1e3;
}

/** The same for a process and the processes it started that still run. */
export function cpuMicrosOfTree(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, one) => sum + cpuIfRunning(one), 0);
}

function cpuIfRunning(pid: number): number {
  try {
    return cpuMicros(pid);
  } catch {
    return 0;
  }
}

/** The same with processes that have ended, in steps of 10 ms each: for work that takes seconds. */
export function cpuMicrosOfAll(pid: number): number {
  return (ticksOf(pid) * 1e6) / ticksPerSecond + children(pid).reduce((sum, child) => sum + cpuMicrosOfAll(child), 0);
}

const ticksPerSecond = 100;

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // From the state on: the name before it may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  } catch {
    return 0;
  }
}

/** Runs a command to its end; its CPU time includes all its threads. */
export async function runMeasured(command: readonly string[], cwd: string, env: Environment, timeoutMs: number) {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
  });
  const forget = keep({ pid: child.pid, signal: "KILL" });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  forget();
  return { code, stdout, stderr, cpuMicros: Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) };
}

export function children(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

const descendants = (pid: number): number[] => children(pid).flatMap((child) => [child, ...descendants(child)]);

/** One core for the server, and another for its clients. */
export function twoCores(): { server: number; client: number } {
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
  const cores = list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  const [server, client] = cores;
  if (server === undefined || client === undefined) throw new Error("this measurement needs two cores");
  return { server, client };
}

/** Applies to all its threads, including later ones. */
export async function pin(pid: number, core: number): Promise<void> {
  const { code, stderr } = await runProcess([
    "taskset",
    "--all-tasks",
    "--cpu-list",
    "--pid",
    String(core),
    String(pid),
  ]);
  if (code !== 0) throw new Error(`taskset could not pin ${pid} to core ${core}: ${stderr}`);
}
