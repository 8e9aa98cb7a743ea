import { accessSync, constants, existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { createS3 } from "../files/storage/s3.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const name = "files";
const roomLeastFiles = 10;

/** Where the bytes of files are: the bucket, or the folder and the room that is left there. */
export const files: Check = async (config) =>
  config.S3_URL === undefined ? await folder(config) : await store(config.S3_URL);

async function store(bucket: NonNullable<Config["S3_URL"]>): Promise<Finding[]> {
  try {
    const started = systemClock.elapsed();
    await createS3({ bucket, clock: systemClock }).ping();
    return [ok(name, `${bucket.endpoint} answers in ${(systemClock.elapsed() - started).toFixed(1)} ms`)];
  } catch (error) {
    return [fail(name, error, "Start it, or mend S3_URL: files can neither be uploaded nor downloaded without it.")];
  }
}

async function folder({ embedded, filesFolder, QL_FILE_LIMIT }: Config): Promise<Finding[]> {
  const alone = embedded
    ? ""
    : "; if several machines serve this database they need S3_URL, or all of them this folder";
  if (!existsSync(filesFolder)) return [ok(name, `${filesFolder} is not there yet; the first upload makes it${alone}`)];
  try {
    accessSync(filesFolder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return [fail(name, error, "Give the folder to the user that runs the server.")];
  }
  const { bavail, bsize } = await statfs(filesFolder);
  const room = `${filesFolder}, with room for ${Math.floor((bavail * bsize) / 1_048_576)} MB${alone}`;
  return bavail * bsize < QL_FILE_LIMIT * roomLeastFiles
    ? [warn(name, room, `That is little for files of up to ${QL_FILE_LIMIT} bytes: make room.`)]
    : [ok(name, room)];
}
