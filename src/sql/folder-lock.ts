import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../base/errors.ts";

/**
 * One server per data folder. The lock is an exclusive transaction on a small separate SQLite file, because the kernel
 * releases it when the process dies in any way; a file with a process ID would leave us guessing.
 */
export interface FolderLock {
  release(): void;
}

export function tryLockFolder(folder: string): FolderLock | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new Database(join(folder, "serve.lock"), { create: true });
  try {
    database.run("pragma busy_timeout = 0");
    database.run("begin exclusive");
  } catch {
    database.close();
    return undefined;
  }
  writeFileSync(holderPath(folder), `${process.pid}\n`);
  return { release: () => database.close() };
}

export function lockFolder(folder: string): FolderLock {
  const lock = tryLockFolder(folder);
  if (lock) return lock;
  throw new OperatorError(
    `Another QuickLink server ${holder(folder)} is using ${folder}.\n` +
      "  Stop it, or set QL_DATA to another folder for this server. Several servers on the same data need PostgreSQL and Redis:\n" +
      "  set DATABASE_URL and REDIS_URL.",
    2,
  );
}

function holder(folder: string): string {
  try {
    return `(process ${readFileSync(holderPath(folder), "utf8").trim()})`;
  } catch {
    return "(process ID unknown)"; // it is just starting
  }
}

const holderPath = (folder: string): string => join(folder, "serve.pid");
