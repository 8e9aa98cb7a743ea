import type { Metrics } from "./metrics.ts";

/** Memory and CPU of this process. */
export function countProcess(metrics: Metrics): void {
  metrics.gauge("process_resident_memory_bytes", "Memory in use.", () => process.memoryUsage.rss());
  metrics.series("counter", { name: "process_cpu_seconds_total", help: "CPU time used.", labels: [] }, () => {
    const { user, system } = process.cpuUsage();
    return [[{}, (user + system) / 1_000_000]];
  });
}
