import { setPriority } from "node:os";
import { terminal } from "./terminal.ts";

const behind = 10;

/** Long work of a command, beside servers on the same machine: whoever serves comes first. */
export function stepBack(): void {
  if (!terminal().ownsProcess) return;
  try {
    setPriority(behind);
  } catch {
    // Not everywhere; then it is one among equals.
  }
}
