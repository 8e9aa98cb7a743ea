import { createHash } from "node:crypto";
import { withDeadline } from "../../base/deadline.ts";
import { messageOf, Problem } from "../../base/errors.ts";
import { type FileId, parseId, type TenantId } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Shares } from "../../base/shares.ts";
import type { MountTools } from "../../http/mount.ts";
import { problemResponse } from "../../http/problem.ts";
import { incomingKey, isAdmitted, type TenantFile } from "../file.ts";
import { type Draft, type Folder, isCode } from "../storage/folder.ts";
import { type Upload, uploadMostMs } from "../storage/storage.ts";
import type { Tokens } from "../storage/tokens.ts";
import { receive, tooLarge, tooShort, type UploadRate } from "./receive.ts";

/**
 * `PUT /files/upload/{token}`: one body of the size and type in the URL, written to a draft and, once complete and on
 * disk, linked to its key. A URL whose object already exists is refused, so that it cannot be changed any more.
 *
 * The URL is valid only while its file is announced and not complete: only then does it count for its tenant. The row
 * is checked before the first byte, while bytes arrive, and after the draft got its name. A deletion marks the row
 * first and removes the object afterwards, so one of the two sees the other, and nothing is left behind.
 *
 * Each URL accepts one body at a time, so that its drafts never hold more than one file. Each process knows only its
 * own: with four processes, at most four drafts. None of this is on disk, so a crash leaves no URL blocked.
 */
export interface UploadSettings {
  readonly folder: Folder;
  readonly tokens: Tokens;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** A file of any tenant, in any state. */
  readonly fileOf: (id: FileId) => Promise<TenantFile | undefined>;
  /** Of this process, by tenant. */
  readonly uploads: Shares;
  readonly pace?: UploadRate;
  /** How often the row is checked while bytes arrive. */
  readonly lookMs?: number;
}

export type Receive = (request: Request, token: string, tools: MountTools) => Promise<Response>;

const usualPace: UploadRate = { leastBytesPerSecond: 1_024, windowMs: 30_000, deadlineMs: uploadMostMs };
const usualLookMs = 5_000;
const sqlMs = 2_000;
const retrySeconds = 5;
const outcomes = ["stored", "refused", "mismatch", "broken_off", "taken", "full", "busy", "failed"] as const;
type Outcome = (typeof outcomes)[number];

export function createUpload(settings: UploadSettings): Receive {
  const { folder, tokens, log, metrics, fileOf, uploads, pace = usualPace, lookMs = usualLookMs } = settings;
  const count = metrics.tally("quicklink_uploads_total", "Uploads to this server by outcome.", "outcome", outcomes);
  const bytes = metrics.tally("quicklink_upload_bytes_total", "Bytes of uploads by outcome.", "fate", [
    "kept",
    "thrown_away",
  ]);
  const arriving = new Set<string>();

  /** Whose upload this is. Throws if its file is no longer announced, or not as the URL says. */
  async function requireAnnounced({ key, sizeBytes, type }: Upload): Promise<TenantId> {
    const id = parseId("file", key.replace(/^incoming\//, ""));
    const file = id && (await withDeadline(fileOf(id), sqlMs, "SQL").catch(cannotTell));
    if (file?.state === "stored") throw taken();
    const asSigned = file && incomingKey(file.id) === key && file.sizeBytes === sizeBytes && file.type === type;
    if (!asSigned || file.state !== "pending" || !isAdmitted(file)) throw deleted();
    return file.tenantId;
  }

  async function take(request: Request, upload: Upload): Promise<string> {
    const draft = await folder.draft();
    const ending = new AbortController();
    const look = setInterval(() => {
      requireAnnounced(upload).catch((error: unknown) => {
        if (!isProblem(error, "unavailable")) ending.abort(error);
      });
    }, lookMs);
    let written = 0;
    let kept = false;
    try {
      const hash = createHash("sha256");
      const write = async (piece: Uint8Array) => {
        hash.update(piece);
        await writeAll(draft, piece);
        written += piece.length;
      };
      await receive(request.body, upload.sizeBytes, pace, write, ending.signal);
      const sha256 = hash.digest("hex");
      if (upload.sha256 !== null && sha256 !== upload.sha256) {
        throw new Problem(
          "upload_mismatch",
          `The SHA-256 of the sent bytes is ${sha256}, which differs from the announced one. Nothing was stored.`,
        );
      }
      await draft.handle.sync();
      if (!(await folder.name(draft.path, upload.key))) throw taken();
      await requireAnnounced(upload).catch(async (error: unknown) => {
        // Completed, and moved to its final place, before we checked: that is what it was sent for.
        if (isProblem(error, "upload_taken") && (await folder.stat(upload.key)) === undefined) return;
        await folder.remove(upload.key);
        throw error;
      });
      kept = true;
      return sha256;
    } finally {
      clearInterval(look);
      bytes[kept ? "kept" : "thrown_away"] += written;
      await draft.discard();
    }
  }

  async function alone<Result>({ key }: Upload, work: () => Promise<Result>): Promise<Result> {
    if (arriving.has(key)) throw isArriving();
    arriving.add(key);
    try {
      return await work();
    } finally {
      arriving.delete(key);
    }
  }

  return async (request, token, tools) => {
    try {
      const upload = tokens.openUpload(token);
      checkHeaders(request.headers, upload);
      const tenant = await requireAnnounced(upload);
      const work = async () => {
        if (await folder.stat(upload.key)) throw taken();
        tools.patient();
        return take(request, upload);
      };
      const sha256 = await alone(upload, () => uploads.run(tenant, work, { signal: request.signal }));
      count.stored++;
      return new Response(null, { status: 201, headers: { etag: `"${sha256}"`, "cache-control": "no-store" } });
    } catch (error) {
      const problem = problemOf(error);
      count[outcomeOf(problem)]++;
      if (problem.code === "storage_full" || problem.code === "internal") {
        log.error({ error: messageOf(error) }, "upload could not be stored");
      }
      const response = problemResponse(problem);
      // The rest of the body is not awaited.
      response.headers.set("connection", "close");
      return response;
    }
  };
}

function checkHeaders(headers: Headers, { sizeBytes, type }: Upload): void {
  const given = headers.get("content-type") ?? "";
  if (given !== type) {
    throw new Problem("upload_mismatch", `Send the announced header Content-Type: ${type}.`);
  }
  const length = headers.get("content-length");
  if (length === null) return;
  if (Number(length) > sizeBytes) throw tooLarge(sizeBytes);
  if (Number(length) < sizeBytes) throw tooShort(Number(length), sizeBytes);
}

/** A write may accept less than it was given, for example when the disk is nearly full. */
async function writeAll({ handle }: Draft, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at, piece.length - at)).bytesWritten;
}

const taken = (): Problem =>
  new Problem(
    "upload_taken",
    "This file has already been uploaded and is unchanged. Complete the upload, or start a new one.",
  );

const isArriving = (): Problem =>
  new Problem("upload_taken", "Another request is uploading this file. Wait for it to finish, then try again.", {
    retryAfterSeconds: retrySeconds,
  });

const deleted = (): Problem => new Problem("not_found", "This upload was deleted or cancelled. Start a new upload.");

function cannotTell(): never {
  throw new Problem("unavailable", "The database is unavailable. Nothing was stored; try again shortly.", {
    retryAfterSeconds: retrySeconds,
  });
}

const isProblem = (error: unknown, code: Problem["code"]): boolean => error instanceof Problem && error.code === code;

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isCode(error, "ENOSPC", "EDQUOT")) {
    return new Problem(
      "storage_full",
      "The server has no space left for this file. Nothing was stored; try again later.",
    );
  }
  return new Problem("internal", "Internal server error. Nothing was stored; try again.");
}

function outcomeOf({ code }: Problem): Outcome {
  switch (code) {
    case "upload_mismatch":
    case "upload_too_large":
      return "mismatch";
    case "body_timeout":
      return "broken_off";
    case "upload_taken":
      return "taken";
    case "storage_full":
      return "full";
    case "busy":
      return "busy";
    case "internal":
    case "unavailable":
      return "failed";
    default:
      return "refused";
  }
}
