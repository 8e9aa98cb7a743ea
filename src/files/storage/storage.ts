/**
 * Where the bytes of files are: a folder, or a bucket of an S3-compatible store. The server signs addresses and looks at
 * what arrived; the bytes go straight between the client and the store.
 *
 * A key is made by us, of ids only: nothing that somebody typed is ever part of a path. Uploads land under `incoming/` and
 * are moved to their final key, so that whatever else may be written to an upload's address, nothing that is stored
 * changes. Look at what was moved, not at what is to be moved: until then it may be replaced.
 */
export interface Storage {
  /** Admits exactly one body of this size and type, until then; the headers are part of what is signed. */
  signUpload(upload: Upload): Promise<SignedRequest>;
  /** Makes the browser save it under this name, whatever it is. */
  signDownload(download: Download): Promise<string>;
  /** Nothing if there is none. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** The bytes from `start`, at most `length`; fewer where it ends. `NoObject` if there is none, as for `sha256`. */
  read(key: string, start: number, length: number): Promise<Uint8Array>;
  /** Of the whole object, in hex; read as a stream. */
  sha256(key: string): Promise<string>;
  /**
   * Durable when it answers. Moving what was moved already is no error: what is at `to` stays as it is, and `from` is
   * gone. `NoObject` if neither is there.
   */
  move(from: string, to: string): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** In the order of keys, after `after`, at most `limit`. */
  list(prefix: string, after: string | undefined, limit: number): Promise<StoredObject[]>;
  /** Throws when it cannot be used. */
  ping(): Promise<void>;
}

/** An upload that began while its address was good may arrive this much later. */
export const uploadMostMs = 3_600_000;

export const keyPattern = /^[a-z0-9_]{1,64}(?:\/[a-z0-9_]{1,64}){0,4}$/;

/** Throws at what is no key of ours: it would be our mistake, and may lead anywhere. */
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

/** The store does not answer, or not as one that can be used does. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

export interface Upload {
  readonly key: string;
  readonly sizeBytes: number;
  readonly type: string;
  /** In hex, if the client said what it will be. */
  readonly sha256: string | null;
  readonly until: number;
}

export interface Download {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  /** Of the bytes, in hex: what an ETag is made of. */
  readonly sha256: string | null;
  readonly until: number;
}

export interface SignedRequest {
  readonly method: "PUT";
  readonly url: string;
  /** To be sent as they are. The length is sent by every client of its own accord. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: number;
}
