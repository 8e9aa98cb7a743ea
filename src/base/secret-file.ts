import { randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "./errors.ts";

/**
 * A secret in a private file. The file is written completely under another name and synced first, so it always contains
 * a whole secret.
 */

/** Returns the secret that is stored: this one, or the one another process stored first. */
export function keepSecret(path: string, secret: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
    syncFolderOf(path);
    return secret;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    const theirs = readFileSync(path, "utf8").trim();
    if (theirs !== "") return theirs;
    throw new OperatorError(
      `${path} is empty. If this server has no data yet, delete the file; otherwise restore it from a backup.`,
      2,
    );
  } finally {
    unlinkSync(draft);
  }
}

/** Only for callers that exclude concurrent writers. */
export function replaceSecret(path: string, secret: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
  syncFolderOf(path);
}

/** After a power cut, a new name is only certain to exist if its folder was synced. */
function syncFolderOf(path: string): void {
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function newSecret(): string {
  return randomBytes(32).toString("hex");
}
