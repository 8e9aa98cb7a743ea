import { createHash } from "node:crypto";
import { createReadStream, type Dirent } from "node:fs";
import { access, constants, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { createFolder, ifMissing } from "./folder.ts";
import { checkKey, NoObject, type Storage, type StoredObject } from "./storage.ts";
import type { Tokens } from "./tokens.ts";

export interface DiskSettings {
  readonly root: string;
  readonly baseUrl: string;
  readonly tokens: Tokens;
}

/** Where this server itself receives and sends the bytes, below `/files/`. */
export const uploadPath = "/files/upload/";
export const downloadPath = "/files/download/";

export function createDisk({ root, baseUrl, tokens }: DiskSettings): Storage {
  const folder = createFolder(root);

  return {
    async signUpload(upload) {
      return {
        method: "PUT",
        url: `${baseUrl}${uploadPath}${tokens.upload(upload)}`,
        headers: { "content-type": upload.type },
      };
    },
    signDownload: async (download) => `${baseUrl}${downloadPath}${tokens.download(download)}`,
    async stat(key) {
      const found = await folder.stat(key);
      return found && { key, sizeBytes: found.size, modifiedAt: Math.floor(found.mtimeMs) };
    },
    async read(key, start, length) {
      const handle = await open(folder.pathOf(key), "r").catch(noObject(key));
      try {
        const bytes = Buffer.alloc(length);
        let read = 0;
        while (read < length) {
          const { bytesRead } = await handle.read(bytes, read, length - read, start + read);
          if (bytesRead === 0) break;
          read += bytesRead;
        }
        return bytes.subarray(0, read);
      } finally {
        await handle.close();
      }
    },
    async sha256(key) {
      const hash = createHash("sha256");
      try {
        for await (const chunk of createReadStream(folder.pathOf(key), { highWaterMark: 262_144 })) hash.update(chunk);
      } catch (error) {
        noObject(key)(error);
      }
      return hash.digest("hex");
    },
    move: folder.move,
    remove: folder.remove,
    async list(prefix, after, limit) {
      const found: StoredObject[] = [];
      for await (const key of keysBelow(root, "", prefix, after)) {
        if (found.length === limit) break;
        const stats = await folder.stat(key);
        if (stats) found.push({ key, sizeBytes: stats.size, modifiedAt: Math.floor(stats.mtimeMs) });
      }
      return found;
    },
    async ping() {
      await mkdir(root, { recursive: true, mode: 0o700 });
      await access(root, constants.R_OK | constants.W_OK | constants.X_OK);
    },
  };
}

function noObject(key: string): (error: unknown) => never {
  return (error) => {
    ifMissing(undefined)(error);
    throw new NoObject(checkKey(key));
  };
}

/** In the order of whole keys: a folder sorts as its name with the slash. */
async function* keysBelow(
  root: string,
  base: string,
  prefix: string,
  after: string | undefined,
): AsyncGenerator<string> {
  const entries = await readdir(join(root, base), { withFileTypes: true }).catch(ifMissing<Dirent[]>([]));
  const names = entries
    .filter(({ name }) => !name.startsWith("."))
    .map((entry) => `${base}${entry.name}${entry.isDirectory() ? "/" : ""}`);
  for (const name of names.sort(byCodeUnit)) {
    if (!name.startsWith(prefix) && !prefix.startsWith(name)) continue;
    if (!name.endsWith("/")) {
      if (name.startsWith(prefix) && (after === undefined || name > after)) yield name;
    } else if (after === undefined || name > after || after.startsWith(name)) {
      yield* keysBelow(root, name, prefix, after);
    }
  }
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
