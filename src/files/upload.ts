import { createHash } from "node:crypto";
import { messageOf, Problem } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import type { MountTools } from "../http/mount.ts";
import { problemResponse } from "../http/problem.ts";
import { type Draft, type Folder, isCode } from "./folder.ts";
import { type Pace, receive, tooLarge, tooShort } from "./receive.ts";
import { type Upload, uploadMostMs } from "./storage.ts";
import type { Tokens } from "./tokens.ts";

/**
 * `PUT /files/upload/{token}`: one body of the size and type that the address says, to a draft, and once it is whole and
 * on the disk to its key. An address whose object is there already is refused, so that nobody changes it any more; after
 * it was moved away it may be written again, to no effect.
 */
export interface UploadSettings {
  readonly folder: Folder;
  readonly tokens: Tokens;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Uploads that this process takes at the same time. */
  readonly atOnce?: number;
  readonly pace?: Pace;
}

export type Receive = (request: Request, token: string, tools: MountTools) => Promise<Response>;

const usualPace: Pace = { leastBytesPerSecond: 1_024, windowMs: 30_000, deadlineMs: uploadMostMs };
const retrySeconds = 5;
const outcomes = ["stored", "refused", "mismatch", "broken_off", "taken", "full", "busy", "failed"] as const;
type Outcome = (typeof outcomes)[number];

export function createUpload(settings: UploadSettings): Receive {
  const { folder, tokens, log, metrics, atOnce = 64, pace = usualPace } = settings;
  const count = metrics.tally("quicklink_uploads_total", "Uploads to this server by outcome.", "outcome", outcomes);
  const bytes = metrics.tally("quicklink_upload_bytes_total", "Bytes of uploads, by what became of them.", "fate", [
    "kept",
    "thrown_away",
  ]);
  let running = 0;
  metrics.gauge("quicklink_uploads_running", "Uploads that are being received.", () => running);

  async function take(request: Request, upload: Upload): Promise<string> {
    const draft = await folder.draft();
    let written = 0;
    let kept = false;
    try {
      const hash = createHash("sha256");
      await receive(request.body, upload.sizeBytes, pace, async (piece) => {
        hash.update(piece);
        await writeAll(draft, piece);
        written += piece.length;
      });
      const sha256 = hash.digest("hex");
      if (upload.sha256 !== null && sha256 !== upload.sha256) {
        throw new Problem(
          "upload_mismatch",
          `The SHA-256 of what was sent is ${sha256}, and another was announced. Nothing was kept.`,
        );
      }
      await draft.handle.sync();
      kept = await folder.name(draft.path, upload.key);
      if (!kept) throw taken();
      return sha256;
    } finally {
      bytes[kept ? "kept" : "thrown_away"] += written;
      await draft.discard();
    }
  }

  return async (request, token, tools) => {
    let entered = false;
    try {
      const upload = tokens.openUpload(token);
      checkHeaders(request.headers, upload);
      if (running >= atOnce) {
        throw new Problem("busy", "Too many files are being uploaded right now. Try again in a moment.", {
          retryAfterSeconds: retrySeconds,
        });
      }
      running++;
      entered = true;
      if (await folder.stat(upload.key)) throw taken();
      tools.patient(pace.deadlineMs);
      const sha256 = await take(request, upload);
      count.stored++;
      return new Response(null, { status: 201, headers: { etag: `"${sha256}"`, "cache-control": "no-store" } });
    } catch (error) {
      const problem = problemOf(error);
      count[outcomeOf(problem)]++;
      if (problem.code === "storage_full" || problem.code === "internal") {
        log.error({ error: messageOf(error) }, "an upload could not be stored");
      }
      const response = problemResponse(problem);
      // The rest of the body is not waited for.
      response.headers.set("connection", "close");
      return response;
    } finally {
      if (entered) running--;
    }
  };
}

function checkHeaders(headers: Headers, { sizeBytes, type }: Upload): void {
  const given = headers.get("content-type") ?? "";
  if (given !== type) {
    throw new Problem("upload_mismatch", `Send the header Content-Type: ${type}, which was announced.`);
  }
  const length = headers.get("content-length");
  if (length === null) return;
  if (Number(length) > sizeBytes) throw tooLarge(sizeBytes);
  if (Number(length) < sizeBytes) throw tooShort(Number(length), sizeBytes);
}

/** A write may take less than it was given, as when the disk is about to be full. */
async function writeAll({ handle }: Draft, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await handle.write(piece, at, piece.length - at)).bytesWritten;
}

const taken = (): Problem =>
  new Problem("upload_taken", "This file has arrived already, and stays as it is. Complete it, or begin a new upload.");

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isCode(error, "ENOSPC", "EDQUOT")) {
    return new Problem("storage_full", "There is no room left to store this file. Nothing was kept; try again later.");
  }
  return new Problem("internal", "Something went wrong on our side. Nothing was kept; try again.");
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
      return "failed";
    default:
      return "refused";
  }
}
