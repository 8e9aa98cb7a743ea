import type { Clock } from "../../base/clock.ts";
import type { FileId, TenantId } from "../../base/ids.ts";
import { incomingKey, isAdmitted, type TenantFile } from "../file.ts";
import type { SignedRequest, Storage } from "../storage/storage.ts";
import type { FileStore } from "../store.ts";

/**
 * Repeats a request to announce a file whose earlier run was interrupted. It has a few derived IDs in a fixed order: a
 * run takes the first free one, and another if that was denied or its hold has ended. So whatever an earlier run
 * created has one of these IDs.
 *
 * An admitted upload is returned again, with a URL for the same bytes: the same URL while it is valid, if the file
 * storage signs deterministically. The URL of an upload that was not admitted was never given out, and its bytes may be
 * held: it is given up. A file that its owner deleted since is announced again.
 */
export interface Admitted {
  readonly file: TenantFile;
  readonly upload: SignedRequest;
}

/** A failed run uses up one. */
export const idsMost = 8;
export const uploadMs = 15 * 60_000;

export interface RepeatedRequestSettings {
  readonly store: FileStore;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly discard: (file: TenantFile) => Promise<void>;
}

/** The file, or the free IDs. */
export type RepeatedRequest = (tenant: TenantId, ids: readonly FileId[]) => Promise<Admitted | readonly FileId[]>;

export function createRepeatedRequest({ store, storage, clock, discard }: RepeatedRequestSettings): RepeatedRequest {
  /** `undefined` if it was given up meanwhile. */
  async function renewed(file: TenantFile): Promise<Admitted | undefined> {
    const over = file.uploadUntil <= clock.now();
    const uploadUntil = over ? clock.now() + uploadMs : file.uploadUntil;
    if (over && file.state === "pending" && !(await store.admit(file, uploadUntil))) return undefined;
    const { id, sizeBytes, type, sha256 } = file;
    const upload = await storage.signUpload({ key: incomingKey(id), sizeBytes, type, sha256, until: uploadUntil });
    return { file: { ...file, uploadUntil }, upload };
  }

  return async (tenant, ids) => {
    const made = await store.several(tenant, ids);
    for (const file of made) {
      if (file.state === "deleting") continue;
      if (!isAdmitted(file)) {
        await discard(file);
        continue;
      }
      const admitted = await renewed(file);
      if (admitted) return admitted;
    }
    const taken = new Set(made.map(({ id }) => id));
    return ids.filter((id) => !taken.has(id));
  };
}
