/**
 * Where the bytes of files are: a folder, or a bucket of an S3-compatible store. The server signs URLs and checks what
 * arrived; the bytes go directly between the client and the store.
 *
 * A key consists of IDs only: no user input is ever part of a path. Uploads arrive under `incoming/` and are moved to
 * their final key, so that whatever else is written to an upload's URL, no stored file changes. Check a file after
 * moving it, not before: until then it may be replaced.
 */
export interface Storage {
  /** Accepts exactly one body of this size and type until then; the headers are part of the signature. */
  signUpload(upload: Upload): Promise<SignedRequest>;
  /** Makes the browser save it under this name, whatever its type. */
  signDownload(download: Download): Promise<string>;
  /** `undefined` if there is none. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** The bytes from `start`, at most `length`; fewer at the end. `NoObject` if there is none, as for `sha256`. */
  read(key: string, start: number, length: number): Promise<Uint8Array>;
  /** Of the whole object, in hex; streamed. */
  sha256(key: string): Promise<string>;
  /**
   * Durable when it returns. Moving again is no error: the object at `to` stays, and `from` is removed. `NoObject` if
   * neither exists.
   */
  move(from: string, to: string): Promise<void>;
  /** Removing a missing object is no error. */
  remove(key: string): Promise<void>;
  /** In the order of keys, after `after`, at most `limit`. */
  list(prefix: string, after: string | undefined, limit: number): Promise<StoredObject[]>;
  /** Throws when it cannot be used. */
  ping(): Promise<void>;
}

/** An upload that started while its URL was valid may take this much longer. */
export const uploadMostMs = 3_600_000;

export const keyPattern = /^[a-z0-9_]{1,64}(?:\/[a-z0-9_]{1,64}){0,4}$/;

/** Throws on anything that is not a key of ours: that would be a bug, and may lead anywhere. */
export function checkKey(key: string): string {
  if (!keyPattern.test(key)) throw new Error("not the key of a stored object");
  return key;
}

export class NoObject extends Error {
  override readonly name = "NoObject";

  constructor(key: string) {
    super(`no object ${key}`);
  }
}

/** The store is unavailable, or its response is unusable. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

export interface Upload {
  readonly key: string;
  readonly sizeBytes: number;
  readonly type: string;
  /** In hex, if the client announced it. */
  readonly sha256: string | null;
  readonly until: number;
}

export interface Download {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  /** Of the bytes, in hex: the basis of the ETag. */
  readonly sha256: string | null;
  readonly until: number;
}

export interface SignedRequest {
  readonly method: "PUT";
  readonly url: string;
  /** To be sent unchanged. Every client sends the length by itself. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: number;
}
