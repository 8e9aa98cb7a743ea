import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const name = "disk space";
const fewBytes = 1_073_741_824;
const tooFewBytes = 104_857_600;

/** The disk of the embedded database, its log and uploaded files. */
export const checkDisk: Check = async ({ embedded, QL_DATA: folder }) => {
  if (!embedded || !existsSync(folder)) return [];
  const { bavail, bsize } = await statfs(folder);
  return [judgeSpace(folder, bavail * bsize)];
};

export function judgeSpace(folder: string, freeBytes: number): Finding {
  const found = `${(freeBytes / 1_073_741_824).toFixed(1)} GB free for ${folder}`;
  const advice =
    "Free disk space, or set QL_DATA to a larger disk. On a full disk nothing can be written, including hits.";
  if (freeBytes < tooFewBytes) return fail(name, found, advice);
  return freeBytes < fewBytes ? warn(name, found, advice) : ok(name, found);
}
