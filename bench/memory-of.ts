/** Memory of a process, as the kernel accounts it, in MB. */
import { readFileSync } from "node:fs";

export interface Memory {
  readonly rssMb: number;
  readonly pssMb: number;
  readonly privateMb: number;
  readonly peakMb: number;
}

export function memoryOf(pid: number): Memory {
  const text = ["smaps_rollup", "status"].map((file) => readFileSync(`/proc/${pid}/${file}`, "utf8")).join("");
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) / 1_024;
  return {
    rssMb: mb("Rss"),
    pssMb: mb("Pss"),
    privateMb: mb("Private_Clean") + mb("Private_Dirty"),
    peakMb: mb("VmHWM"),
  };
}
