import { accessSync, constants, existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { systemClock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { createS3 } from "../files/storage/s3.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

const name = "files";
const roomLeastFiles = 10;

/** The file storage: the bucket, or the folder and its free space. */
export const checkFiles: Check = async (config) =>
  config.S3_URL === undefined ? await folder(config) : await store(config.S3_URL);

async function store(bucket: NonNullable<Config["S3_URL"]>): Promise<Finding[]> {
  try {
    const started = systemClock.elapsed();
    await createS3({ bucket, clock: systemClock }).ping();
    return [ok(name, `${bucket.endpoint} answers in ${(systemClock.elapsed() - started).toFixed(1)} ms`)];
  } catch (error) {
    return [
      fail(name, error, "Start the file storage, or fix S3_URL. Until then, files cannot be uploaded or downloaded."),
    ];
  }
}

async function folder({ embedded, filesFolder, QL_FILE_LIMIT }: Config): Promise<Finding[]> {
  const alone = embedded ? "" : "; several machines with this database need S3_URL or a shared folder";
  if (!existsSync(filesFolder))
    return [ok(name, `${filesFolder} does not exist yet; the first upload creates it${alone}`)];
  try {
    accessSync(filesFolder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return [fail(name, error, "Make the server's user the owner of the folder.")];
  }
  const { bavail, bsize } = await statfs(filesFolder);
  const room = `${filesFolder}, ${Math.floor((bavail * bsize) / 1_048_576)} MB free${alone}`;
  return bavail * bsize < QL_FILE_LIMIT * roomLeastFiles
    ? [warn(name, room, `Little space for files of up to ${QL_FILE_LIMIT} bytes. Free disk space.`)]
    : [ok(name, room)];
}
