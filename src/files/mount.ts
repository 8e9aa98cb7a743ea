import type { Mount } from "../http/mount.ts";
import { wrongMethod } from "../http/problem.ts";
import { finalPage } from "../redirect/error-pages.ts";
import { createDownload, type DownloadSettings } from "./download/download.ts";
import { downloadPath, uploadPath } from "./storage/disk.ts";
import { createUpload, type UploadSettings } from "./upload/upload.ts";

/** Uploads to and downloads from the folder, each by a self-contained signed URL. */
export function mountFiles(settings: UploadSettings & DownloadSettings): Mount {
  const [upload, download] = [createUpload(settings), createDownload(settings)];
  return {
    prefix: "/files/",
    onCustomDomains: false,
    handle(request, tools) {
      const method = request.method === "HEAD" ? "GET" : request.method;
      for (const { path, takes, answer } of [
        { path: uploadPath, takes: "PUT", answer: upload },
        { path: downloadPath, takes: "GET", answer: download },
      ]) {
        if (!tools.path.startsWith(path)) continue;
        if (method === takes) return answer(request, tools.path.slice(path.length), tools);
        return takes === "GET" ? wrongMethod("GET", "HEAD") : wrongMethod(takes);
      }
      return finalPage({ kind: "missing" }, request);
    },
  };
}
