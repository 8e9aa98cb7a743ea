import type { Clock } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import type { Signer } from "../../base/signature.ts";
import { checkKey, type Download, type Upload } from "./storage.ts";

/**
 * The content of a signed URL: it is self-contained, and its holder can do that one thing until it expires. The purpose
 * is part of the signature, so that a download URL never allows an upload.
 */
export interface Tokens {
  upload(upload: Upload): string;
  download(download: Download): string;
  /** Throws a `Problem` if it is not signed by us, or expired. */
  openUpload(token: string): Upload;
  openDownload(token: string): Download;
}

const lengthMost = 4_000;

export function createTokens(signer: Signer, clock: Clock): Tokens {
  function seal(purpose: Purpose, content: readonly (string | number | null)[]): string {
    const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
    return `${payload}.${signer.sign(`${purpose}.${payload}`)}`;
  }

  function open(purpose: Purpose, token: string): unknown[] {
    const [payload = "", signature = "", ...more] = token.length > lengthMost ? [] : token.split(".");
    if (more.length > 0 || !signer.isSigned(`${purpose}.${payload}`, signature)) {
      throw new Problem("address_invalid", "This URL was not issued by this server, or it was changed.");
    }
    const [until, ...content] = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (Number(until) <= clock.now()) throw new Problem("address_expired", over[purpose]);
    return [until, ...content];
  }

  return {
    upload: ({ key, sizeBytes, type, sha256, until }) =>
      seal("upload", [until, checkKey(key), sizeBytes, type, sha256]),
    download: ({ key, name, type, sha256, until }) => seal("download", [until, checkKey(key), name, type, sha256]),
    openUpload(token) {
      const [until, key, sizeBytes, type, sha256] = open("upload", token) as UploadContent;
      return { until, key: checkKey(key), sizeBytes, type, sha256 };
    },
    openDownload(token) {
      const [until, key, name, type, sha256] = open("download", token) as DownloadContent;
      return { until, key: checkKey(key), name, type, sha256 };
    },
  };
}

type Purpose = "upload" | "download";
type UploadContent = [until: number, key: string, sizeBytes: number, type: string, sha256: string | null];
type DownloadContent = [until: number, key: string, name: string, type: string, sha256: string | null];

const over: Readonly<Record<Purpose, string>> = {
  upload: "This upload URL has expired. Start a new upload.",
  download: "This download URL has expired. Open the link again to get a new one.",
};
