/**
 * Ends what we started when we no longer can.
 *
 * `bun test` does not run `process.on("exit")`, and nothing runs on kill -9. So a shell in its own session holds the
 * other end of a pipe: when the pipe closes, for whatever reason, it ends the processes and removes the folders in the
 * notes. `bun test --isolate` closes the pipe after every file, so each file is cleaned up.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** QUIT is for a process that has something to clean up itself; it gets five seconds before KILL. */
export type LastSignal = "KILL" | "QUIT";

export type Kept = { pid: number; signal: LastSignal } | { folder: string };

const notesPath = join(tmpdir(), `ql-keeper-${crypto.randomUUID()}`);
const notes = new Set<string>();
let hired = false;

/** Returns a function that removes the note, once the thing is gone: a PID is soon reused. */
export function keep(kept: Kept): () => void {
  const note = "pid" in kept ? `process ${kept.signal} ${kept.pid}` : `folder ${kept.folder}`;
  notes.add(note);
  writeNotes();
  if (!hired) hire();
  return () => {
    notes.delete(note);
    writeNotes();
  };
}

function writeNotes(): void {
  writeFileSync(notesPath, [...notes].map((note) => `${note}\n`).join(""));
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
