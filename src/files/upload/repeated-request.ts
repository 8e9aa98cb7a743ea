import type { Clock } from "../../base/clock.ts";
import type { FileId, TenantId } from "../../base/ids.ts";
import { incomingKey, isAdmitted, type TenantFile } from "../file.ts";
import type { SignedRequest, Storage } from "../storage/storage.ts";
import type { FileStore } from "../store.ts";

/**
 * A request to announce a file that is run again, because the run before was cut off. It has a few ids of its own, in an
 * order: a run takes the first that is free, and another when that was denied or its hold is over. So whatever an earlier
 * run made stands under one of them.
 *
 * What was admitted is given again, with an address for the same bytes: the same address while it is good, where the
 * store of files signs the same way twice. What was not admitted nobody has the address of, and its bytes may be held: it
 * is given up. What its owner deleted since is announced anew.
 */
export interface Admitted {
  readonly file: TenantFile;
  readonly upload: SignedRequest;
}

/** Each is used up by a run that came to nothing. */
export const idsMost = 8;
export const uploadMs = 15 * 60_000;

export interface RepeatedRequestSettings {
  readonly store: FileStore;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly discard: (file: TenantFile) => Promise<void>;
}

/** The file, or the ids that are free. */
export type RepeatedRequest = (tenant: TenantId, ids: readonly FileId[]) => Promise<Admitted | readonly FileId[]>;

export function createRepeatedRequest({ store, storage, clock, discard }: RepeatedRequestSettings): RepeatedRequest {
  /** Nothing if it was given up meanwhile. */
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
