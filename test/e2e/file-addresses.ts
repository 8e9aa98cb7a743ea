/** Addresses of files as a server with these keys would sign them. */
import { systemClock } from "../../src/base/clock.ts";
import { createSigningKeys } from "../../src/base/signature.ts";
import { parseSigningKeys } from "../../src/base/signing-keys.ts";
import { downloadPath, uploadPath } from "../../src/files/disk.ts";
import { createTokens } from "../../src/files/tokens.ts";

export const fileKeys = `k1:${"f".repeat(64)}`;

const type = "text/plain";

export function fileAddresses(keys = fileKeys) {
  const signer = createSigningKeys(parseSigningKeys(keys), systemClock).signerFor("files");
  const tokens = createTokens(signer, systemClock);
  const end = () => systemClock.now() + 600_000;
  return {
    type,
    upload: (key: string, sizeBytes: number) =>
      uploadPath + tokens.upload({ key, sizeBytes, type, sha256: null, until: end() }),
    download: (key: string) => downloadPath + tokens.download({ key, name: "a.txt", type, sha256: null, until: end() }),
  };
}
