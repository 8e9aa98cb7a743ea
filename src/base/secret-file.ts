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
 * A secret in a file of its own, for us alone to read. Whatever happens while it is written, the file holds a whole
 * secret: it is complete, and on disk, under another name first.
 */

/** Answers the secret that counts: this one, or that of another process of ours that was faster. */
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

/** For whoever knows that nobody else does the same right now. */
export function replaceSecret(path: string, secret: string): void {
  const draft = `${path}.new`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
  syncFolderOf(path);
}

/** A new name is only sure to be there after a power cut once its folder is on disk. */
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
