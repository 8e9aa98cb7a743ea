import { setPriority } from "node:os";
import { terminal } from "./terminal.ts";

const behind = 10;

/** Lowers the priority of a long command, so that servers on the same machine come first. */
export function lowerPriority(): void {
  if (!terminal().ownsProcess) return;
  try {
    setPriority(behind);
  } catch {
    // Not permitted everywhere; then it runs at normal priority.
  }
}
