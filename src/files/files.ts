/**
 * The life of a file: announced → uploaded → complete; and its deletion.
 *
 * **In.** `create` writes a pending row, which also says what else the tenant has, holds the bytes, signs a URL for exactly
 * them, and admits the upload: only an admitted one is ever found or completed. That is two statements and one call of the
 * counters. `complete` moves the upload to where only we can write, and checks it there;
 * then one transaction makes it stored and counts it, unless it does not fit after all; then the counters are updated.
 * Until then they can be out of step, but never beyond the limit: that transaction decides.
 *
 * **Out.** A deleted file, or an upload that was refused or abandoned, is condemned first: from then on it cannot be
 * found or completed. Then its links get a new version, its bytes are removed, a hold is released, and last the row is
 * deleted, with what it counted for.
 *
 * Where a crash may leave things, and who continues:
 * - a row without a hold, or held and not admitted: its URL was never given out; the sweeper removes it after a minute,
 *   or the request that made it when it runs again (`repeated-request.ts`);
 * - admitted, whatever was uploaded: the client completes it, or the sweeper removes it two hours after the URL
 *   expired;
 * - moved and not stored: the same, because `complete` finds it at its final place;
 * - stored and the counters not updated (`settled` is 0): it counts twice there until the sweeper updates them;
 * - condemned: the sweeper starts over, and every step may be repeated;
 * - the row deleted and the counters not updated: the next request for storage updates them.
 */
import type { Clock } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type FileId, newId, type TenantId } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { LinkVersion, Publish } from "../cache/feed.ts";
import type { Actor } from "../history/history.ts";
import type { TargetFile } from "../links/link.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { type FileInput, incomingKey, isAdmitted, storedKey, type TenantFile } from "./file.ts";
import type { QuotaOwner, StorageQuota } from "./quota/quota.ts";
import { NoObject, type Storage } from "./storage/storage.ts";
import type { FileKey, FileStore, NewFile, StorageUse } from "./store.ts";
import { contradiction, headBytes } from "./upload/content.ts";
import { type Admitted, createRepeatedRequest, idsMost, uploadMs } from "./upload/repeated-request.ts";

export interface Files {
  /** `idOf`: the IDs of a request that may run again. It then finds what an earlier run created. */
  create(tenant: Tenant, input: FileInput, idOf?: (place: number) => FileId): Promise<Admitted>;
  /** Repeating it returns the same answer. */
  complete(tenant: Tenant, id: FileId): Promise<TenantFile>;
  get(tenant: TenantId, id: FileId): Promise<TenantFile>;
  /** Newest first; `before` is the last one of the previous page. */
  list(tenant: TenantId, limit: number, before?: FileId): Promise<TenantFile[]>;
  /** A temporary URL from which anyone can download it. */
  download(tenant: TenantId, id: FileId): Promise<SignedUrl>;
  /** The same for a caller that already has the file's data. */
  offer(file: TargetFile): Promise<string>;
  /** Deletes a stored file or cancels an upload. */
  remove(tenant: TenantId, id: FileId, by: Actor): Promise<void>;
  /** Continues with a condemned file. False if it must be repeated. */
  finish(file: TenantFile): Promise<boolean>;
}

export interface SignedUrl {
  readonly url: string;
  readonly until: number;
}

export interface FileSettings {
  readonly store: FileStore;
  readonly storage: Storage;
  readonly quota: StorageQuota;
  readonly clock: Clock;
  readonly log: Logger;
  readonly mostBytes: number;
  /** Called for each link to a deleted file. */
  readonly publish: Publish;
  /** Called after a file was stored, with the tenant's total. */
  readonly filled?: (tenant: Tenant, usedBytes: number) => void;
}

const downloadMs = 10 * 60_000;
/** Per tenant: the counters scan all of them for each hold. */
const uploadsMost = 200;
/** Per tenant: storage alone would allow as many files as it has bytes. */
export const filesMost = 100_000;
const linksAtOnce = 100;
const retrySeconds = 5;
const uploadsRetrySeconds = 60;

export function createFiles(settings: FileSettings): Files {
  const { store, storage, quota, clock, log, mostBytes, publish, filled } = settings;
  const completing = new Map<FileId, Promise<TenantFile>>();

  /**
   * `closed`: a hold with this ID was already released; announce it under another. `denied`: by the counters alone; between two
   * steps of another upload, that may have counted twice.
   */
  async function admit(whose: QuotaOwner, draft: NewFile): Promise<Admitted | "denied" | "closed"> {
    const use = await store.insert(draft);
    if (use === undefined) throw runningAlready();
    const refusal = refusalOf(use, whose, draft.sizeBytes);
    if (refusal !== undefined) {
      await store.withdraw(draft);
      throw refusal;
    }
    const verdict = await quota.hold(whose, draft, use);
    if (verdict.kind === "denied" || verdict.kind === "closed") {
      await store.withdraw(draft);
      return verdict.kind;
    }
    if (verdict.kind !== "granted") {
      await giveUp(draft);
      if (verdict.kind === "unavailable") throw unavailable();
      throw new Error(`holding storage for a new file returned ${verdict.kind}`);
    }
    const until = clock.now() + uploadMs;
    const { sizeBytes, type, sha256 } = draft;
    const asked = { key: incomingKey(draft.id), sizeBytes, type, sha256, until };
    const upload = await storage.signUpload(asked).catch(async (error: unknown) => {
      await giveUp(draft);
      throw error;
    });
    if (!(await store.admit(draft, until))) {
      // We were delayed so long that the sweeper came, perhaps before the hold.
      await quota.release(draft);
      throw unavailable();
    }
    const file = { ...draft, state: "pending", settled: false, uploadUntil: until, storedAt: null } as const;
    return { file, upload };
  }

  /**
   * It may be held or not: a missing answer says nothing. The row stays until that is certain, so that the hold can be
   * released later.
   */
  async function giveUp(draft: NewFile): Promise<void> {
    if ((await quota.release(draft)) === "released") await store.withdraw(draft);
  }

  async function refuse({ id, max }: QuotaOwner, size: number): Promise<Problem> {
    const { used, held } = (await quota.freshFigures(id)) ?? (await figuresInSql(id));
    const missing = used + held + size - (max ?? Number.POSITIVE_INFINITY);
    return missing > 0
      ? overQuota({ used, held, limit: max ?? 0, missing }, size)
      : new Problem("busy", "Other uploads are being completed right now. Try again shortly.", {
          retryAfterSeconds: 1,
        });
  }

  async function figuresInSql(tenant: TenantId) {
    const { bytes, pending } = await store.storageUse(tenant);
    return { used: bytes, held: pending };
  }

  async function find(tenant: TenantId, id: FileId): Promise<TenantFile> {
    const file = await store.get(tenant, id);
    if (file === undefined || file.state === "deleting" || !isAdmitted(file)) throw missing();
    return file;
  }

  async function takeIn(tenant: Tenant, id: FileId): Promise<TenantFile> {
    const file = await find(tenant.id, id);
    if (file.state === "stored") return file;
    const key = storedKey(file);
    // Not asked first whether it has arrived: another request may move it between two questions.
    if (!(await isMoved(incomingKey(id), key))) return await notThere(file);
    const seen = await inspect(file, key);
    if (seen === undefined) return await notThere(file);
    if (seen instanceof Problem) {
      await discard(file);
      throw seen;
    }
    const max = tenant.limits.storageBytes;
    const kept = await store.keep(file, { sha256: seen.sha256, max, at: clock.now() });
    switch (kept.kind) {
      case "already":
        return kept.file;
      case "gone":
        // Condemned after we checked; perhaps before we moved.
        await storage.remove(key);
        throw missing();
      case "full": {
        const { bytes } = kept.total;
        await discard(file);
        const over = bytes + file.sizeBytes - (max ?? 0);
        throw overQuota({ used: bytes, held: 0, limit: max ?? 0, missing: over }, file.sizeBytes);
      }
      case "kept":
        filled?.(tenant, kept.total.bytes);
        if (await quota.settle(file, kept.total)) await store.settled(file);
        return kept.file;
    }
  }

  async function isMoved(from: string, to: string): Promise<boolean> {
    try {
      await storage.move(from, to);
      return true;
    } catch (error) {
      if (error instanceof NoObject) return false;
      throw error;
    }
  }

  /** Another request may have completed, refused or deleted it meanwhile. */
  async function notThere({ tenantId, id }: FileKey): Promise<TenantFile> {
    const file = await find(tenantId, id);
    if (file.state === "stored") return file;
    const detail = "No bytes have arrived. Send the file to the upload URL, then complete the upload.";
    throw new Problem("upload_missing", detail);
  }

  /** What it is, or why it is refused; `undefined` if it is gone. */
  async function inspect(file: TenantFile, key: string): Promise<{ sha256: string } | Problem | undefined> {
    const object = await storage.stat(key);
    if (object === undefined) return undefined;
    if (object.sizeBytes !== file.sizeBytes) {
      const detail = `Announced ${file.sizeBytes} bytes, but ${object.sizeBytes} arrived. Start a new upload.`;
      return invalid("size", "wrong_size", detail);
    }
    const wrong = await contradiction(file.type, await storage.read(key, 0, headBytes));
    if (wrong !== undefined)
      return invalid("type", "wrong_content", `${wrong} Start a new upload with the right type.`);
    const sha256 = await storage.sha256(key);
    if (file.sha256 !== null && file.sha256 !== sha256) {
      return invalid(
        "sha256",
        "wrong_checksum",
        "The uploaded bytes have a different SHA-256 than announced. Start a new upload.",
      );
    }
    return { sha256 };
  }

  async function discard(file: TenantFile): Promise<void> {
    const condemned = await store.condemn(file, "pending");
    if (condemned !== undefined) await finishSoon(condemned);
  }

  /** For the caller it is gone either way; if a dependency is unavailable, the sweeper continues. */
  async function finishSoon(file: TenantFile): Promise<void> {
    await finish(file).catch((error: unknown) =>
      log.warn({ error, file: file.id }, "could not remove a file; will retry"),
    );
  }

  async function finish(file: TenantFile): Promise<boolean> {
    for (let after: LinkVersion | undefined, more = file.storedAt !== null; more; ) {
      const changes = await store.touchLinks(file, after, linksAtOnce, clock.now());
      for (const change of changes) publish(change);
      after = changes.at(-1);
      more = changes.length === linksAtOnce;
    }
    await storage.remove(incomingKey(file.id));
    await storage.remove(storedKey(file));
    if (!file.settled && (await quota.release(file)) === "unavailable") return false;
    const erased = await store.erase(file);
    if (erased?.total !== undefined) await quota.sync(file.tenantId, erased.total);
    return true;
  }

  const findAgain = createRepeatedRequest({ store, storage, clock, discard });

  return {
    async create(tenant, input, idOf) {
      const ids = Array.from({ length: idsMost }, (_, place) => idOf?.(place) ?? newId("file", clock));
      const again = idOf ? await findAgain(tenant.id, ids) : ids;
      if ("file" in again) return again;
      const { name, size, type, sha256 = null } = input;
      if (size > mostBytes) throw invalid("size", "too_big", `A file must have at most ${mostBytes} bytes.`);
      const whose = { id: tenant.id, max: tenant.limits.storageBytes };
      if (!(await quota.isAnswering(tenant.id))) throw unavailable();
      let denials = 0;
      for (const id of again) {
        const draft = { id, tenantId: tenant.id, name, sizeBytes: size, type, sha256, createdAt: clock.now() };
        const admitted = await admit(whose, draft);
        if (admitted === "closed") continue;
        if (admitted !== "denied") return admitted;
        if (++denials > 1) throw await refuse(whose, size);
      }
      throw runningAlready();
    },

    async complete(tenant, id) {
      const { tenantId } = await find(tenant.id, id);
      if (tenantId !== tenant.id) throw missing();
      const running = completing.get(id) ?? takeIn(tenant, id).finally(() => completing.delete(id));
      completing.set(id, running);
      return await running;
    },

    get: find,

    list: store.list,

    async download(tenant, id) {
      const file = await find(tenant, id);
      if (file.state !== "stored") throw missing();
      const until = clock.now() + downloadMs;
      const { name, type, sha256 } = file;
      return { url: await storage.signDownload({ key: storedKey(file), name, type, sha256, until }), until };
    },

    offer: ({ key, name, type, sha256 }) =>
      storage.signDownload({ key, name, type, sha256, until: clock.now() + downloadMs }),

    async remove(tenant, id, by) {
      // Twice, because an upload may be completed between the check and the deletion.
      for (let tries = 1; tries <= 2; tries++) {
        const file = await find(tenant, id);
        if (file.state === "deleting") break;
        const condemned = await store.condemn(file, file.state, { deletion: { by, at: clock.now() } });
        if (condemned !== undefined) return await finishSoon(condemned);
      }
      throw missing();
    },

    finish,
  };
}

/** By what SQL said when the upload was announced. */
function refusalOf(use: StorageUse, { max }: QuotaOwner, size: number): Problem | undefined {
  if (use.files + use.uploads >= filesMost) return tooManyFiles();
  if (use.uploads >= uploadsMost) return tooManyUploads();
  const lacking = use.bytes + use.pending + size - (max ?? Number.POSITIVE_INFINITY);
  return lacking > 0
    ? overQuota({ used: use.bytes, held: use.pending, limit: max ?? 0, missing: lacking }, size)
    : undefined;
}

const missing = () => new Problem("not_found", "No such file.");

const unavailable = () =>
  new Problem("unavailable", "The storage quota cannot be checked right now. Try again shortly.", {
    retryAfterSeconds: retrySeconds,
  });

/** Or it failed so often that no ID is left. */
const runningAlready = () =>
  new Problem("busy", "The same request is running right now. Send it again shortly.", { retryAfterSeconds: 1 });

const tooManyFiles = () =>
  new Problem(
    "collection_full",
    `A workspace can have at most ${filesMost.toLocaleString("en")} files. Delete some first.`,
  );

const tooManyUploads = () =>
  new Problem("limit_reached", `You have ${uploadsMost} open uploads. Complete or delete some first.`, {
    retryAfterSeconds: uploadsRetrySeconds,
  });

interface Fullness {
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  readonly missing: number;
}

function overQuota(figures: Fullness, size: number): Problem {
  const [used, held, limit, lacking, asked] = [figures.used, figures.held, figures.limit, figures.missing, size].map(
    (bytes) => bytes.toLocaleString("en"),
  );
  const detail = `Storage quota exceeded: of ${limit} bytes, ${used} are used and ${held} are reserved by incomplete uploads, so these ${asked} bytes are ${lacking} too many. Delete files, or ask the operator to raise the limit.`;
  return new Problem("over_quota", detail, { figures: { ...figures } });
}
