import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keep } from "./keeper.ts";

/** A new empty private folder, removed at the latest when the test file ends, or if it lasts, this process. */
export function tempFolder(label = "test", options: { lasts?: boolean } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), `ql-${label}-`));
  keep({ folder }, options);
  return folder;
}

/** Retries, because a server that was just killed may still be closing its files. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
