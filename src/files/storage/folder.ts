import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkKey, NoObject } from "./storage.ts";

/**
 * Stored objects as files below one folder. A file gets its name by `link`, which unlike `rename` never replaces: a
 * named file is complete, on disk, and unchanged until it is removed. Before that it has a name in `.temp`, which no
 * key can lead to.
 */
export interface Folder {
  pathOf(key: string): string;
  /** `undefined` if there is none. */
  stat(key: string): Promise<Stats | undefined>;
  /** A new file without a name yet. */
  draft(): Promise<Draft>;
  /** Durable. False if the name is taken; the draft keeps its temporary name in any case. */
  name(draft: string, key: string): Promise<boolean>;
  move(from: string, to: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** Removes drafts of processes that were killed. Returns how many. */
  clearDrafts(bornBefore: number): Promise<number>;
}

export interface Draft {
  readonly path: string;
  readonly handle: FileHandle;
  /** Removes its name in `.temp`: a file without another name is deleted. */
  discard(): Promise<void>;
}

export function createFolder(root: string): Folder {
  const drafts = join(root, ".temp");
  const pathOf = (key: string) => join(root, checkKey(key));

  /** A name that is not on disk in its folder is lost in a crash. */
  async function name(path: string, key: string): Promise<boolean> {
    const target = pathOf(key);
    const made = await mkdir(dirname(target), { recursive: true, mode });
    try {
      await link(path, target);
    } catch (error) {
      if (isCode(error, "EEXIST")) return false;
      throw error;
    }
    for (let folder = dirname(target); ; folder = dirname(folder)) {
      await syncFolder(folder);
      // `made` is the first folder that did not exist: its name is in the folder above.
      if (made === undefined || folder === dirname(made)) return true;
    }
  }

  async function remove(key: string): Promise<void> {
    const path = pathOf(key);
    if (await unlinkIfThere(path)) await syncFolder(dirname(path));
  }

  return {
    pathOf,
    name,
    remove,
    async stat(key) {
      const found = await statIfThere(pathOf(key));
      return found?.isFile() ? found : undefined;
    },
    async draft() {
      await mkdir(drafts, { recursive: true, mode });
      const path = join(drafts, randomBytes(16).toString("hex"));
      const handle = await open(path, "wx", 0o600);
      return {
        path,
        handle,
        async discard() {
          await handle.close();
          await unlinkIfThere(path);
        },
      };
    },
    async move(from, to) {
      try {
        await name(pathOf(from), to);
      } catch (error) {
        if (!isCode(error, "ENOENT")) throw error;
        if ((await statIfThere(pathOf(to))) === undefined) throw new NoObject(from);
      }
      await remove(from);
    },
    async clearDrafts(bornBefore) {
      const names = await readdir(drafts).catch(ifMissing<string[]>([]));
      let cleared = 0;
      for (const one of names) {
        const path = join(drafts, one);
        const found = await statIfThere(path);
        if (found !== undefined && found.mtimeMs < bornBefore && (await unlinkIfThere(path))) cleared++;
      }
      return cleared;
    },
  };
}

const mode = 0o700;

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function unlinkIfThere(path: string): Promise<boolean> {
  return await unlink(path).then(() => true, ifMissing(false));
}

const statIfThere = (path: string): Promise<Stats | undefined> => stat(path).catch(ifMissing(undefined));

export function ifMissing<Instead>(instead: Instead): (error: unknown) => Instead {
  return (error) => {
    if (isCode(error, "ENOENT")) return instead;
    throw error;
  };
}

export const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));
