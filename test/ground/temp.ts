import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keep } from "./keeper.ts";

/** A new empty private folder, removed at the latest when this process ends. */
export function tempFolder(label = "test"): string {
  const folder = mkdtempSync(join(tmpdir(), `ql-${label}-`));
  keep({ folder });
  return folder;
}

/** Retries, because a server that was just killed may still be closing its files. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
