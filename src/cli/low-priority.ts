import { setPriority } from "node:os";

const behind = 10;

/** Long work of a command, beside servers on the same machine: whoever serves comes first. */
export function lowerPriority(): void {
  try {
    setPriority(behind);
  } catch {
    // Not everywhere; then it is one among equals.
  }
}
