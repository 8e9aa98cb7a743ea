/**
 * Ends what we started when we no longer can.
 *
 * `bun test` does not run `process.on("exit")`, and nothing runs on kill -9. So a shell in its own session holds the
 * other end of a pipe: when the pipe closes, for whatever reason, it ends the processes and removes the folders in the
 * notes. Where one process runs many files, `clearAway` does the same after each of them: see `after-file.ts`.
 */
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** QUIT is for a process that has something to clean up itself; it gets five seconds before KILL. */
export type LastSignal = "KILL" | "QUIT";

export type Kept = { pid: number; signal: LastSignal } | { folder: string };

const notesPath = join(tmpdir(), `ql-keeper-${crypto.randomUUID()}`);
const notes = new Map<string, { readonly kept: Kept; readonly lasts: boolean }>();
const endMs = 5_000;
const endPollMs = 5;
let hired = false;

/**
 * Returns a function that removes the note, once the thing is gone: a PID is soon reused. What `lasts` is left when a test
 * file ends, for the next ones of this process.
 */
export function keep(kept: Kept, { lasts = false } = {}): () => void {
  const note = "pid" in kept ? `process ${kept.signal} ${kept.pid}` : `folder ${kept.folder}`;
  notes.set(note, { kept, lasts });
  writeNotes();
  if (!hired) hire();
  return () => {
    notes.delete(note);
    writeNotes();
  };
}

/** Ends and removes what a test file left, so that it takes no time and no memory from the next. */
export async function clearAway(): Promise<void> {
  const left = [...notes].filter(([, { lasts }]) => !lasts);
  if (left.length === 0) return;
  const all = left.map(([, { kept }]) => kept);
  // Processes first, so that nothing writes into a folder that is being removed.
  await Promise.all(all.map(async (kept) => ("pid" in kept ? await end(kept.pid, kept.signal) : undefined)));
  for (const kept of all) {
    if ("folder" in kept) rmSync(kept.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
  for (const [note] of left) notes.delete(note);
  writeNotes();
}

async function end(pid: number, signal: LastSignal): Promise<void> {
  const deadline = performance.now() + endMs;
  for (let one: NodeJS.Signals | 0 = `SIG${signal}`; ; one = performance.now() < deadline ? 0 : "SIGKILL") {
    try {
      process.kill(pid, one);
    } catch {
      return; // it is gone
    }
    await Bun.sleep(endPollMs);
  }
}

function writeNotes(): void {
  writeFileSync(notesPath, [...notes.keys()].map((note) => `${note}\n`).join(""));
}

// Processes first, so that nothing writes into a folder that is being removed. A zombie counts as gone: a container may
// have no init that reaps it.
const script = `
  trap '' INT TERM HUP
  cat >/dev/null
  alive() { kill -0 "$1" && ! grep -qs ') Z ' "/proc/$1/stat"; }
  grep '^process ' "$0" | while read -r _ signal pid; do
    kill -s "$signal" "$pid"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
      alive "$pid" || break
      sleep 0.2
    done
    alive "$pid" && kill -s KILL "$pid"
  done
  grep '^folder ' "$0" | while read -r _ folder; do rm -rf "$folder"; done
  rm -f "$0"
`;

function hire(): void {
  hired = true;
  const shell = Bun.spawn(["sh", "-c", script, notesPath], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
    cwd: "/",
    detached: true,
  });
  shell.unref();
}
