import { useSyncExternalStore } from "react";
import { ApiError, call } from "../../api/call.ts";
import type { File as StoredFile, Upload } from "../../api/generated.ts";
import { messageOf } from "../../forms.ts";
import { randomId } from "../../random-id.ts";
import { announce, sendTo } from "./send-file.ts";

/**
 * Uploads of this tab. They go on while somebody looks at other pages. Each one is announced, sent to the address that the
 * server signs, and completed; a lost connection is tried again with growing pauses, from where it stands: an announced
 * upload is not announced twice, and one that was sent is only completed.
 */
export type UploadState =
  | { readonly kind: "waiting" | "checking" | "done" }
  | { readonly kind: "sending"; readonly share: number }
  | { readonly kind: "retrying"; readonly atMs: number }
  | { readonly kind: "failed"; readonly message: string };

export interface RunningUpload {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly state: UploadState;
  readonly stored: StoredFile | undefined;
}

interface Job {
  readonly id: string;
  readonly file: File;
  announced: Upload | undefined;
  isSent: boolean;
  tries: number;
  state: UploadState;
  stored: StoredFile | undefined;
  request: XMLHttpRequest | undefined;
}

const atOnce = 2;
const triesMost = 6;
const firstPauseMs = 1_000;

let jobs: readonly Job[] = [];
let shown: readonly RunningUpload[] = [];
let onStored: () => void = () => {};
const listeners = new Set<() => void>();

/** Called after a file was stored. */
export function whenStored(listener: () => void): void {
  onStored = listener;
}

export function useUploads(): readonly RunningUpload[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => shown,
  );
}

export function startUploads(files: readonly File[]): void {
  const added = files.map(
    (file): Job => ({
      ...{ id: randomId(), file, announced: undefined, isSent: false, tries: 0 },
      ...{ state: { kind: "waiting" }, stored: undefined, request: undefined },
    }),
  );
  jobs = [...jobs, ...added];
  tell();
  next();
}

export function retryUpload(id: string): void {
  const job = jobs.find((one) => one.id === id);
  if (job === undefined) return;
  job.tries = 0;
  set(job, { kind: "waiting" });
  next();
}

/** A running one is cancelled: what it reserved is free again. */
export function removeUpload(id: string): void {
  const job = jobs.find((one) => one.id === id);
  jobs = jobs.filter((one) => one !== job);
  job?.request?.abort();
  if (job?.announced !== undefined && job.stored === undefined) {
    void call("DELETE /api/files/{id}", { path: { id: job.announced.id } }).catch(() => {});
  }
  tell();
  next();
}

const isRunning = ({ state: { kind } }: Job): boolean => kind === "sending" || kind === "checking";

function next(): void {
  const waiting = jobs.find(({ state }) => state.kind === "waiting");
  if (waiting === undefined || jobs.filter(isRunning).length >= atOnce) return;
  void run(waiting);
  next();
}

async function run(job: Job): Promise<void> {
  set(job, { kind: "sending", share: 0 });
  try {
    job.announced ??= await announce(job.file, job.id);
    if (!job.isSent) {
      const onProgress = (share: number) => set(job, { kind: "sending", share });
      await sendTo(job.announced, job.file, onProgress, (request) => {
        job.request = request;
      });
    }
    job.isSent = true;
    set(job, { kind: "checking" });
    job.stored = await call("POST /api/files/{id}/complete", { path: { id: job.announced.id } });
    set(job, { kind: "done" });
    onStored();
  } catch (error) {
    if (!jobs.includes(job)) return;
    failed(job, error);
  }
  next();
}

function failed(job: Job, error: unknown): void {
  // One that has not begun is not sent later by itself.
  const hasBegun = job.announced !== undefined;
  const passes =
    error instanceof ApiError &&
    (error.code === "offline" || error.status === 503 || (error.code === "disconnected" && hasBegun));
  if (error instanceof ApiError && error.code === "upload_missing") job.isSent = false;
  if (!passes || ++job.tries >= triesMost) {
    set(job, { kind: "failed", message: messageOf(error) });
    return;
  }
  const pauseMs = firstPauseMs * 2 ** job.tries;
  set(job, { kind: "retrying", atMs: Date.now() + pauseMs });
  const again = () => {
    clearTimeout(timer);
    window.removeEventListener("online", again);
    if (job.state.kind !== "retrying" || !jobs.includes(job)) return;
    set(job, { kind: "waiting" });
    next();
  };
  const timer = setTimeout(again, pauseMs);
  window.addEventListener("online", again);
}

function set(job: Job, state: UploadState): void {
  job.state = state;
  tell();
}

function tell(): void {
  shown = jobs.map(({ id, file, state, stored }) => ({ id, name: file.name, size: file.size, state, stored }));
  for (const listener of listeners) listener();
}
