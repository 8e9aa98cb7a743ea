import { Problem } from "../base/errors.ts";
import type { Mount } from "../http/mount.ts";
import { problemResponse } from "../http/problem.ts";
import { finalPage } from "../redirect/pages.ts";
import { downloadPath, uploadPath } from "./disk.ts";
import { createDownload, type DownloadSettings } from "./download.ts";
import { createUpload, type UploadSettings } from "./upload.ts";

/** Where the folder's files are sent to and fetched from, each by an address that says it all and is signed. */
export function mountFiles(settings: UploadSettings & DownloadSettings): Mount {
  const [upload, download] = [createUpload(settings), createDownload(settings)];
  return {
    prefix: "/files/",
    handle(request, tools) {
      const method = request.method === "HEAD" ? "GET" : request.method;
      for (const { path, takes, answer } of [
        { path: uploadPath, takes: "PUT", answer: upload },
        { path: downloadPath, takes: "GET", answer: download },
      ]) {
        if (!tools.path.startsWith(path)) continue;
        if (method === takes) return answer(request, tools.path.slice(path.length), tools);
        const allow = takes === "GET" ? ["GET", "HEAD"] : [takes];
        return problemResponse(
          new Problem("method_not_allowed", `This address takes ${allow.join(" and ")}.`, { allow }),
        );
      }
      return finalPage({ kind: "missing" }, request);
    },
  };
}
