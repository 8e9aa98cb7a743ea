import { Problem } from "../../base/errors.ts";
import { escapeHtml } from "../../base/escape-html.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Shares } from "../../base/shares.ts";
import type { MountTools } from "../../http/mount.ts";
import { problemResponse } from "../../http/problem.ts";
import { networkOf } from "../../limits/network.ts";
import { page, wantsJson } from "../../redirect/error-pages.ts";
import type { Folder } from "../storage/folder.ts";
import type { Tokens } from "../storage/tokens.ts";
import { attachment, servedType } from "./headers.ts";
import { hasAlready, requestedRange } from "./range.ts";

/**
 * `GET /files/download/{token}`: the file, a part of it, or 304.
 *
 * Each download takes a place until the client has everything, shared between the clients' networks; if an address is
 * unknown (behind an untrusted proxy), between the tenants that own the files. A client that takes nothing for a while,
 * or less than the minimum rate in any window, is disconnected, and may ask for the rest.
 */
export interface DownloadSettings {
  readonly folder: Folder;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  /** Of this process. */
  readonly downloads: Shares;
  readonly rate?: DownloadRate;
}

export interface DownloadRate {
  readonly leastBytesPerSecond: number;
  /** Window in which the rate is measured. */
  readonly windowMs: number;
  readonly stallMs: number;
  readonly mostMs: number;
}

export type SendDownload = (request: Request, token: string, tools: MountTools) => Promise<Response>;

const usualRate: DownloadRate = {
  leastBytesPerSecond: 16_384,
  windowMs: 60_000,
  stallMs: 60_000,
  mostMs: 3_600_000,
};
const outcomes = ["whole", "part", "unchanged", "beyond", "missing", "refused", "busy"] as const;

export function createDownload(settings: DownloadSettings): SendDownload {
  const { folder, tokens, metrics, downloads, rate = usualRate } = settings;
  const count = metrics.tally(
    "quicklink_downloads_total",
    "Downloads from this server by outcome.",
    "outcome",
    outcomes,
  );
  const bytes = metrics.tally("quicklink_download_bytes_total", "Bytes of started downloads.", "outcome", [
    "whole",
    "part",
  ]);

  async function send(request: Request, token: string, tools: MountTools): Promise<Response> {
    const { key, name, type, sha256 } = tokens.openDownload(token);
    const found = await folder.stat(key);
    if (found === undefined) throw new Problem("not_found", "This file no longer exists.");
    const etag = sha256 === null ? undefined : `"${sha256}"`;
    const modified = found.mtime.toUTCString();
    const headers = new Headers({ ...always, "last-modified": modified, ...(etag && { etag }) });
    if (hasAlready(request.headers, etag)) {
      count.unchanged++;
      return new Response(null, { status: 304, headers });
    }
    const asked = requestedRange(request.headers, found.size, etag, modified);
    if (asked.kind === "beyond") {
      count.beyond++;
      headers.set("content-range", `bytes */${found.size}`);
      return new Response(null, { status: 416, headers });
    }
    const part = asked.kind === "part" ? asked : undefined;
    const length = part?.length ?? found.size;
    headers.set("content-type", servedType(type));
    headers.set("content-disposition", attachment(name));
    headers.set("content-length", String(length));
    if (part) headers.set("content-range", `bytes ${part.start}-${part.start + length - 1}/${found.size}`);
    const status = part ? 206 : 200;
    if (request.method === "HEAD") {
      count[asked.kind]++;
      return new Response(null, { status, headers });
    }
    const entered = await downloads.enter(holderOf(tools.address, key), { signal: request.signal });
    if (entered.kind === "busy") throw entered.problem;
    count[asked.kind]++;
    bytes[asked.kind] += length;
    const { leastBytesPerSecond, windowMs, stallMs, mostMs } = rate;
    const deadlineMs = Math.min(mostMs, windowMs + (1_000 * length) / leastBytesPerSecond);
    void tools.sending({ stallMs, leastBytesPerSecond, windowMs, deadlineMs }).finally(entered.leave);
    return new Response(tools.file(folder.pathOf(key), part), { status, headers });
  }

  return async (request, token, tools) => {
    try {
      return await send(request, token, tools);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      count[error.code === "not_found" ? "missing" : error.code === "busy" ? "busy" : "refused"]++;
      if (wantsJson(request)) return problemResponse(error);
      const { retryAfterSeconds } = error.more;
      const more = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
      return page(error.status, "This file cannot be downloaded", `<p>${escapeHtml(error.detail)}</p>`, more);
    }
  };
}

function holderOf(address: string | undefined, key: string): string {
  const network = address === undefined ? undefined : networkOf(address);
  return network ?? key.split("/").slice(0, 2).join("/");
}

const always = {
  "accept-ranges": "bytes",
  // The URL is a credential: only the client that asked may cache the file, and must revalidate it.
  "cache-control": "private, no-cache",
  "content-security-policy": "sandbox; default-src 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
};
