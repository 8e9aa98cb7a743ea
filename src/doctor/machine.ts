import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Check, type Finding, ok, warn } from "./finding.ts";

/** Limits of the machine: open files, cores. */
export const checkMachine: Check = async ({ QL_WORKERS: workers }) => [
  ...openFiles(openFilesMost()),
  judgeWorkers(workers, availableParallelism()),
];

// A connection is an open file, and three if it is used for anything but redirects.
const openFilesLeast = 12_288;

function openFilesMost(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // other systems keep it elsewhere
  }
}

function openFiles(most: number | undefined): Finding[] {
  if (most === undefined) return [];
  const found = `at most ${most}`;
  if (most >= openFilesLeast) return [ok("open files", found)];
  return [
    warn(
      "open files",
      `${found}: further visitors cannot connect`,
      "Allow 65536: LimitNOFILE in systemd, ulimit -n in a shell, ulimits in Compose.",
    ),
  ];
}

export function judgeWorkers(workers: number, cores: number): Finding {
  const found = `${workers} on ${cores} ${cores === 1 ? "core" : "cores"}`;
  return workers <= cores
    ? ok("workers", found)
    : warn(
        "workers",
        `${found}: workers compete for cores, and each uses memory`,
        `Set QL_WORKERS to at most ${cores}.`,
      );
}
