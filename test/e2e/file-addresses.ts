/** Addresses of files as a server with this salt would sign them. */
import { createHmac } from "node:crypto";
import { systemClock } from "../../src/base/clock.ts";
import { downloadPath, uploadPath } from "../../src/files/disk.ts";
import { createTokens } from "../../src/files/tokens.ts";

export const fileSalt = "a salt for tests of files";

const type = "text/plain";

export function fileAddresses(salt = fileSalt) {
  const tokens = createTokens(createHmac("sha256", salt).update("files").digest(), systemClock);
  const end = () => systemClock.now() + 600_000;
  return {
    type,
    upload: (key: string, sizeBytes: number) =>
      uploadPath + tokens.upload({ key, sizeBytes, type, sha256: null, until: end() }),
    download: (key: string) => downloadPath + tokens.download({ key, name: "a.txt", type, sha256: null, until: end() }),
  };
}
