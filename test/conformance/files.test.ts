/** Files on every database, with the counters in process and in Redis; the store is the real disk. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { Problem } from "../../src/base/errors.ts";
import { type FileId, newId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import type { Publish } from "../../src/cache/feed.ts";
import { incomingKey, storedKey, type TenantFile } from "../../src/files/file.ts";
import { createFiles, type Files } from "../../src/files/files.ts";
import { createStorageQuota, type StorageQuota } from "../../src/files/quota/quota.ts";
import { recount } from "../../src/files/quota/storage-total.ts";
import { syncQuota } from "../../src/files/quota/sync.ts";
import type { Storage } from "../../src/files/storage/storage.ts";
import { createFileStore, type FileStore, type NewFile } from "../../src/files/store.ts";
import { findOrphans, graceMs } from "../../src/files/upkeep/orphans.ts";
import { abandonedAfterMs, sweepFiles, unadmittedAfterMs } from "../../src/files/upkeep/sweep.ts";
import type { Admitted } from "../../src/files/upload/repeated-request.ts";
import { createMemoryCounters } from "../../src/in-memory/counters.ts";
import { type Counters, unavailable } from "../../src/limits/counters.ts";
import { ownDomain } from "../../src/links/link.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { connectRedis } from "../../src/redis/client.ts";
import { createRedisCounters } from "../../src/redis/counters.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants, type Tenant } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { nameOf } from "../ground/changes.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { connected, patientMs } from "./counter-stores.ts";
import { onEachDatabase } from "./databases.ts";
import { openDiskStore } from "./stores.ts";
import { twin } from "./two-tenants.ts";

interface Ledger {
  readonly counters: Counters;
  /** Forgets all it knows. */
  lose(): Promise<void>;
  stop(): Promise<void>;
}

async function inProcess(): Promise<Ledger> {
  const open = () => createMemoryCounters({ clock: systemClock });
  let current = open();
  const counters: Counters = {
    take: (...given) => current.take(...given),
    hold: (...given) => current.hold(...given),
    holdInSync: (...given) => current.holdInSync(...given),
    settle: (...given) => current.settle(...given),
    release: (...given) => current.release(...given),
    status: (...given) => current.status(...given),
    sync: (...given) => current.sync(...given),
  };
  return {
    counters,
    async lose() {
      current = open();
    },
    async stop() {},
  };
}

async function onRedis(): Promise<Ledger> {
  const server = await startRedis();
  const redis = connectRedis(server.url, { deadlineMs: patientMs });
  await connected(redis);
  return {
    counters: createRedisCounters({ redis }),
    async lose() {
      await redis.send("any", ["FLUSHALL"]);
    },
    async stop() {
      await redis.close();
      await server.stop();
    },
  };
}

const ledgers = { "in process": inProcess, ...(redisAvailable() && { "in Redis": onRedis }) };
const log = createLog("silent", { write() {} }, false, () => 0);
const mostBytes = 5_000;

const bytesOf = (size: number, fill = "a") => fill.repeat(size);
const sha256Of = (body: string) => createHash("sha256").update(body).digest("hex");

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Problem) return error;
  throw error ?? new Error("nothing was refused");
}

onEachDatabase(({ openTwo }) => {
  describe.each(Object.entries(ledgers))("with the counters %s", (_, openLedger) => {
    let sql: Sql;
    let ledger: Ledger;
    let disk: Awaited<ReturnType<typeof openDiskStore>>;
    let away: { counters: boolean; storage: boolean };
    let store: FileStore;
    let storage: Storage;
    let quota: StorageQuota;
    let files: Files;
    /** The same site as another process sees it. */
    let elsewhere: Files;
    let changed: string[];
    const clock = manualClock(Date.now());

    function faulty<Port extends object>(port: Port, isAway: () => boolean, answer: () => Promise<unknown>): Port {
      return new Proxy(port, {
        get: (target, name) => (isAway() ? answer : Reflect.get(target, name)),
      });
    }

    beforeAll(async () => {
      const [one, two] = await openTwo();
      sql = one;
      ledger = await openLedger();
      disk = await openDiskStore();
      away = { counters: false, storage: false };
      const counters = faulty(
        ledger.counters,
        () => away.counters,
        async () => unavailable,
      );
      storage = faulty(
        disk.storage,
        () => away.storage,
        () => Promise.reject(new Error("the store is away")),
      );
      changed = [];
      const on = (database: Sql) => {
        const rows = createFileStore(database);
        const space = createStorageQuota(counters, rows, clock.now);
        const publish: Publish = (change) => void changed.push(`${nameOf(change)}@${change.version}`);
        const flow = createFiles({ store: rows, storage, quota: space, clock, log, mostBytes, publish });
        return { rows, space, flow };
      };
      const here = on(one);
      [store, quota, files] = [here.rows, here.space, here.flow];
      elsewhere = on(two).flow;
    });

    afterAll(async () => {
      await disk.stop();
      await ledger.stop();
    });

    let tenants = 0;
    async function newTenant(storageBytes: number | null = 1_000): Promise<Tenant> {
      const all = createTenants(sql, clock);
      const slug = `tenant-${++tenants}`;
      await all.create(slug, "Somebody", byCommand);
      return await all.change(slug, { overrides: { storageBytes } }, byCommand);
    }

    const announce = (tenant: Tenant, size: number, more: { type?: string; sha256?: string } = {}) =>
      files.create(tenant, { name: "a file.txt", size, type: "text/plain", ...more });

    async function put({ upload }: Admitted, body: string): Promise<number> {
      const { method, url, headers } = upload;
      disk.clock.set(clock.now());
      return (await fetch(url, { method, headers, body })).status;
    }

    async function stored(tenant: Tenant, size: number): Promise<TenantFile> {
      const admitted = await announce(tenant, size);
      expect(await put(admitted, bytesOf(size))).toBe(201);
      return await files.complete(tenant, admitted.file.id);
    }

    /** What SQL and the counters say, which have to be the same. */
    async function standing(tenant: Tenant) {
      const { bytes, pending } = await store.storageUse(tenant.id);
      const figures = await quota.figures(tenant.id);
      expect(figures).toMatchObject({ used: bytes, held: pending });
      return { used: bytes, held: pending };
    }

    const objects = async ({ id, tenantId }: Pick<TenantFile, "id" | "tenantId">) => ({
      incoming: (await disk.storage.stat(incomingKey(id))) !== undefined,
      stored: (await disk.storage.stat(storedKey({ id, tenantId }))) !== undefined,
    });

    /** As a crash before it was admitted leaves it. */
    async function heldOnly({ id, limits }: Tenant, draft: NewFile): Promise<void> {
      const use = await store.insert(draft);
      if (use === undefined) throw new Error("the row exists");
      expect((await quota.hold({ id, max: limits.storageBytes }, draft, use)).kind).toBe("granted");
    }

    const heldUnheardOf: Counters["holdInSync"] = async (...asked) =>
      (await ledger.counters.holdInSync(...asked)) && unavailable;

    const sweep = () => sweepFiles({ sql, store, storage, files, quota, clock, log });
    const rowOf = (tenant: Tenant, id: FileId) => store.get(tenant.id, id);

    describe("a file that is announced, sent and completed", () => {
      test("is stored, counts, and is found; the hold is over", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 300);
        expect(await standing(tenant)).toEqual({ used: 0, held: 300 });
        expect(await put(admitted, bytesOf(300))).toBe(201);
        const file = await files.complete(tenant, admitted.file.id);
        expect(file).toMatchObject({ state: "stored", sizeBytes: 300, sha256: sha256Of(bytesOf(300)) });
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
        expect(await rowOf(tenant, file.id)).toMatchObject({ state: "stored", settled: true });
        expect(await objects(file)).toEqual({ incoming: false, stored: true });
        const { url } = await files.download(tenant.id, file.id);
        expect(await (await fetch(url)).text()).toBe(bytesOf(300));
      });

      test("asked again, here or elsewhere, at once or later, gives the same answer and counts once", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 300);
        await put(admitted, bytesOf(300));
        const { id } = admitted.file;
        const answers = await Promise.all([
          files.complete(tenant, id),
          elsewhere.complete(tenant, id),
          files.complete(tenant, id),
          elsewhere.complete(tenant, id),
        ]);
        answers.push(await files.complete(tenant, id));
        for (const answer of answers) expect(answer).toMatchObject({ id, state: "stored", sizeBytes: 300 });
        expect(new Set(answers.map(({ storedAt }) => storedAt)).size).toBe(1);
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
      });

      test("is found by a request during which another one moves it", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 300);
        await put(admitted, bytesOf(300));
        const { id } = admitted.file;
        // Whatever this request asks first, the other one moves the object right after the answer.
        let isFirst = true;
        const overtaken = new Proxy(disk.storage, {
          get:
            (target, name: keyof Storage) =>
            async (...given: unknown[]) => {
              const ask = async () => await (target[name] as (...given: unknown[]) => Promise<unknown>)(...given);
              if (!isFirst) return await ask();
              isFirst = false;
              const answer = await ask();
              await disk.storage.move(incomingKey(id), storedKey({ id, tenantId: tenant.id }));
              return answer;
            },
        });
        const flow = createFiles({ store, storage: overtaken, quota, clock, log, mostBytes, publish() {} });
        expect(await flow.complete(tenant, id)).toMatchObject({ id, state: "stored" });
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
      });

      test("belongs to its tenant: no other tenant completes, reads or deletes it", async () => {
        const [owner, stranger] = [await newTenant(), await newTenant()];
        const admitted = await announce(owner, 10);
        await put(admitted, bytesOf(10));
        const { id } = admitted.file;
        for (const attempt of [
          () => files.complete(stranger, id),
          () => files.get(stranger.id, id),
          () => files.download(stranger.id, id),
          () => files.remove(stranger.id, id, byCommand),
        ]) {
          expect((await problemOf(attempt())).code).toBe("not_found");
        }
        expect(await files.list(stranger.id, 10)).toEqual([]);
        expect(await standing(owner)).toEqual({ used: 0, held: 10 });
      });

      test("are listed newest first, page by page, with those that are not uploaded yet", async () => {
        const tenant = await newTenant();
        const ids: FileId[] = [];
        for (let i = 0; i < 3; i++) {
          clock.advance(1);
          ids.push((await stored(tenant, 10)).id);
        }
        clock.advance(1);
        ids.push((await announce(tenant, 10)).file.id);
        const first = await files.list(tenant.id, 3);
        const second = await files.list(tenant.id, 3, first.at(-1)?.id);
        expect([...first, ...second].map(({ id }) => id)).toEqual(ids.toReversed());
      });
    });

    describe("a file that does not fit", () => {
      test("is refused before a byte is sent, with used, held, limit and what is missing", async () => {
        const tenant = await newTenant();
        await stored(tenant, 800);
        await announce(tenant, 100);
        const problem = await problemOf(announce(tenant, 150));
        expect(problem).toMatchObject({ code: "over_quota", status: 413 });
        expect(problem.more.figures).toEqual({ used: 800, held: 100, limit: 1_000, missing: 50 });
        expect(await standing(tenant)).toEqual({ used: 800, held: 100 });
        expect(await files.list(tenant.id, 10)).toHaveLength(2);
        expect((await announce(tenant, 100)).file.state).toBe("pending");
      });

      test("of two at once that do not both fit, one is admitted", async () => {
        const tenant = await newTenant();
        await stored(tenant, 800);
        for (let round = 0; round < 5; round++) {
          const outcomes = await Promise.allSettled([
            files.create(tenant, { name: "a", size: 100, type: "text/plain" }),
            elsewhere.create(tenant, { name: "b", size: 150, type: "text/plain" }),
          ]);
          const admitted = outcomes.filter((one) => one.status === "fulfilled").map((one) => one.value.file);
          expect(admitted).toHaveLength(1);
          for (const { id } of admitted) await files.remove(tenant.id, id, byCommand);
          expect(await standing(tenant)).toEqual({ used: 800, held: 0 });
        }
      });

      test("is refused by SQL from the first byte too many, and fits to the last", async () => {
        const { id: tenantId } = await newTenant();
        const about = { name: "a.txt", sizeBytes: 10, type: "text/plain", sha256: null, createdAt: clock.now() };
        const key = { tenantId, id: newId("file", clock) };
        await store.insert({ ...key, ...about });
        await store.admit(key, clock.now() + 1_000);
        expect((await store.keep(key, { sha256: "hash", max: 9, at: clock.now() })).kind).toBe("full");
        expect((await store.keep(key, { sha256: "hash", max: 10, at: clock.now() })).kind).toBe("kept");
      });

      test("is not given up while its upload may still end, also by a sweeper that read its row before", async () => {
        const { id: tenantId } = await newTenant();
        const about = { name: "a.txt", sizeBytes: 10, type: "text/plain", sha256: null, createdAt: clock.now() };
        const key = { tenantId, id: newId("file", clock) };
        await store.insert({ ...key, ...about });
        await store.admit(key, clock.now() + 1_000);
        expect(await store.condemn(key, "pending", { endedBefore: clock.now() + 1_000 })).toBeUndefined();
        expect(await store.condemn(key, "stored")).toBeUndefined();
        expect(await store.condemn(key, "pending", { endedBefore: clock.now() + 1_001 })).toMatchObject({
          state: "deleting",
        });
      });

      test("is refused by SQL even if the counters forgot everything and were not updated", async () => {
        const tenant = await newTenant();
        const one = await announce(tenant, 600);
        await ledger.lose();
        // A mistake of ours, as it were: counters that know neither what is used nor what is held.
        const other = { ...one.file, id: newId("file", clock) };
        await store.insert(other);
        await store.admit(other, clock.now() + 1_000);
        await put(one, bytesOf(600));
        await disk.storage
          .signUpload({ ...one.file, key: incomingKey(other.id), until: clock.now() + 1_000 })
          .then((upload) => put({ ...one, upload }, bytesOf(600)));
        await files.complete(tenant, one.file.id);
        const problem = await problemOf(files.complete(tenant, other.id));
        expect(problem).toMatchObject({ code: "over_quota" });
        expect(problem.more.figures).toEqual({ used: 600, held: 0, limit: 1_000, missing: 200 });
        expect(await standing(tenant)).toEqual({ used: 600, held: 0 });
        expect(await objects(other)).toEqual({ incoming: false, stored: false });
      });

      test("fits if the tenant has no limit; it is counted all the same", async () => {
        const tenant = await newTenant(null);
        await stored(tenant, 4_000);
        expect(await standing(tenant)).toEqual({ used: 4_000, held: 0 });
      });

      test("is too large for the server, for any tenant", async () => {
        const tenant = await newTenant(null);
        const problem = await problemOf(announce(tenant, mostBytes + 1));
        expect(problem.more.errors).toMatchObject([{ field: "size", code: "too_big" }]);
      });
    });

    describe("an upload that is not what was announced", () => {
      const wrong = [
        ["another checksum", { sha256: sha256Of("something else") }, "sha256", "wrong_checksum"],
        ["no image", { type: "image/png" }, "type", "wrong_content"],
      ] as const;
      test.each(wrong)("%s: it is refused, and everything is given back", async (_name, more, field, code) => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 20, more);
        // Behind the back of the endpoint, which may have noticed by itself.
        await write(admitted.file.id, bytesOf(20));
        const problem = await problemOf(files.complete(tenant, admitted.file.id));
        expect(problem.more.errors).toMatchObject([{ field, code }]);
        expect(await objects(admitted.file)).toEqual({ incoming: false, stored: false });
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
        expect((await problemOf(files.complete(tenant, admitted.file.id))).code).toBe("not_found");
      });

      test("of another size: the same", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 20);
        await write(admitted.file.id, bytesOf(21));
        const problem = await problemOf(files.complete(tenant, admitted.file.id));
        expect(problem.more.errors).toMatchObject([{ field: "size", code: "wrong_size" }]);
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
      });

      test("that has not arrived can still be sent", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 20);
        expect((await problemOf(files.complete(tenant, admitted.file.id))).code).toBe("upload_missing");
        expect(await standing(tenant)).toEqual({ used: 0, held: 20 });
        await put(admitted, bytesOf(20));
        expect((await files.complete(tenant, admitted.file.id)).state).toBe("stored");
      });

      async function write(id: FileId, body: string): Promise<void> {
        const draft = await disk.folder.draft();
        await draft.handle.write(body);
        await disk.folder.name(draft.path, incomingKey(id));
        await draft.discard();
      }
    });

    test("bytes sent again after completion change nothing, and are removed", async () => {
      const tenant = await newTenant();
      const admitted = await announce(tenant, 20);
      await put(admitted, bytesOf(20));
      const file = await files.complete(tenant, admitted.file.id);
      await put(admitted, bytesOf(20, "b"));
      expect(await (await fetch((await files.download(tenant.id, file.id)).url)).text()).toBe(bytesOf(20));
      expect(await files.complete(tenant, file.id)).toEqual({ ...file, settled: true });
      clock.advance(120_000);
      await sweep();
      expect(await objects(file)).toEqual({ incoming: false, stored: true });
      expect(await standing(tenant)).toEqual({ used: 20, held: 0 });
    });

    test("bytes that arrive for a deleted file are removed", async () => {
      const tenant = await newTenant();
      const admitted = await announce(tenant, 20);
      await files.remove(tenant.id, admitted.file.id, byCommand);
      // As a bucket does: it knows no rows, and the address is good for some minutes more.
      await put(admitted, bytesOf(20));
      expect(await objects(admitted.file)).toEqual({ incoming: true, stored: false });
      clock.advance(120_000);
      await sweep();
      expect(await objects(admitted.file)).toEqual({ incoming: false, stored: false });
    });

    describe("a file that is deleted", () => {
      test("returns its bytes, and is not found anywhere", async () => {
        const tenant = await newTenant();
        const file = await stored(tenant, 900);
        await files.remove(tenant.id, file.id, byCommand);
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
        expect(await objects(file)).toEqual({ incoming: false, stored: false });
        expect(await rowOf(tenant, file.id)).toBeUndefined();
        expect((await problemOf(files.remove(tenant.id, file.id, byCommand))).code).toBe("not_found");
        expect((await stored(tenant, 1_000)).state).toBe("stored");
      });

      test("twice at the same time returns its bytes once", async () => {
        const tenant = await newTenant();
        const [file] = [await stored(tenant, 300), await stored(tenant, 300)];
        await Promise.allSettled([
          files.remove(tenant.id, file.id, byCommand),
          elsewhere.remove(tenant.id, file.id, byCommand),
        ]);
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
      });

      test("while the storage is unavailable is gone for its owner, still counts, and is finished later", async () => {
        const tenant = await newTenant();
        const file = await stored(tenant, 300);
        away.storage = true;
        await files.remove(tenant.id, file.id, byCommand);
        expect((await sweep()).failed).toBeGreaterThan(0);
        away.storage = false;
        expect((await problemOf(files.get(tenant.id, file.id))).code).toBe("not_found");
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
        expect(await sweep()).toMatchObject({ deleted: 1, failed: 0 });
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
        expect(await objects(file)).toEqual({ incoming: false, stored: false });
      });

      test("gives each link that led to it a new version, and they lead nowhere", async () => {
        const tenant = await newTenant();
        const file = await stored(tenant, 30);
        const links = createLinkStore(sql);
        const codes = ["one", "two"].map((word) => `${word}-${file.id.slice(-8)}`);
        const created = await links.createEach(
          tenant.id,
          codes.map((code) => ({
            ...{
              id: `lnk_${code}` as never,
              domain: ownDomain,
              code,
              generated: false,
              at: clock.now(),
              by: byCommand,
            },
            ...{ url: "", file: file.id, permanent: false, status: "active" as const, expiresAt: null, title: null },
            ...{ notes: null, tags: [], fallbackUrl: null, hitsPerMonth: null, clickFacts: true },
            ...{ rules: [], split: [], utm: null, forwardQuery: false },
          })),
          "nothing",
        );
        expect(created.map(({ kind }) => kind)).toEqual(["created", "created"]);
        const { value } = await links.target(ownDomain, codes[0] ?? "");
        const { name, type, sizeBytes, sha256 } = file;
        expect(value?.file).toEqual({ key: storedKey(file), name, type, sizeBytes, sha256 });
        await files.remove(tenant.id, file.id, byCommand);
        expect(changed.toSorted().filter((one) => codes.some((code) => one.startsWith(code)))).toEqual(
          codes.map((code) => `${code}@2`),
        );
        for (const code of codes) {
          expect(await links.target(ownDomain, code)).toEqual({ version: 2, value: undefined });
        }
      });
    });

    describe("an upload that is given up", () => {
      test("by its owner returns its bytes at once", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 900);
        await put(admitted, bytesOf(900));
        await files.remove(tenant.id, admitted.file.id, byCommand);
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
        expect(await objects(admitted.file)).toEqual({ incoming: false, stored: false });
      });

      test("that was abandoned is swept after its time, its object first, and not a moment before", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 900);
        await put(admitted, bytesOf(900));
        clock.set(admitted.file.uploadUntil + abandonedAfterMs);
        await sweep();
        expect(await standing(tenant)).toEqual({ used: 0, held: 900 });
        clock.advance(1);
        expect((await sweep()).abandoned).toBeGreaterThan(0);
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
        expect(await objects(admitted.file)).toEqual({ incoming: false, stored: false });
        expect((await problemOf(files.complete(tenant, admitted.file.id))).code).toBe("not_found");
      });

      test("and completed at the same moment is either stored or gone, and counts accordingly", async () => {
        for (let round = 0; round < 5; round++) {
          const tenant = await newTenant();
          const admitted = await announce(tenant, 100);
          await put(admitted, bytesOf(100));
          clock.set(admitted.file.uploadUntil + abandonedAfterMs + 1);
          const [completed] = await Promise.allSettled([elsewhere.complete(tenant, admitted.file.id), sweep()]);
          await sweep();
          const isStored = completed.status === "fulfilled";
          expect(await standing(tenant)).toEqual({ used: isStored ? 100 : 0, held: 0 });
          expect((await objects(admitted.file)).stored).toBe(isStored);
        }
      });
    });

    describe("a request that is run again", () => {
      const input = { name: "a file.txt", size: 600, type: "text/plain" };
      const newIds = () => {
        const ids = Array.from({ length: 20 }, () => newId("file", clock));
        return (place: number) => ids[place] ?? newId("file", clock);
      };

      test("finds its upload, with the same address, and holds its bytes once", async () => {
        const [tenant, idOf] = [await newTenant(), newIds()];
        const first = await files.create(tenant, input, idOf);
        const second = await elsewhere.create(tenant, input, idOf);
        expect(second).toEqual(first);
        expect(await standing(tenant)).toEqual({ used: 0, held: 600 });
        await put(second, bytesOf(600));
        expect((await files.complete(tenant, first.file.id)).state).toBe("stored");
        expect((await files.create(tenant, input, idOf)).file).toMatchObject({ id: first.file.id, state: "stored" });
        expect(await standing(tenant)).toEqual({ used: 600, held: 0 });
      });

      test("gives up what was never admitted, and announces it under another id", async () => {
        const [tenant, idOf] = [await newTenant(), newIds()];
        const { size: sizeBytes, ...rest } = input;
        const draft = { ...rest, id: idOf(0), tenantId: tenant.id, sizeBytes, sha256: null, createdAt: clock.now() };
        await heldOnly(tenant, draft);
        const { file } = await files.create(tenant, input, idOf);
        expect(file.id).toBe(idOf(1));
        expect(await rowOf(tenant, draft.id)).toBeUndefined();
        expect(await standing(tenant)).toEqual({ used: 0, held: 600 });
        // The row of the first is gone, and its hold over: its id is not used again.
        await files.remove(tenant.id, file.id, byCommand);
        expect((await files.create(tenant, input, idOf)).file.id).toBe(idOf(2));
        expect(await standing(tenant)).toEqual({ used: 0, held: 600 });
      });

      test("at the same time as itself makes one upload", async () => {
        for (let round = 1; round <= 10; round++) {
          const [tenant, idOf] = [await newTenant(), newIds()];
          await Promise.allSettled([files.create(tenant, input, idOf), elsewhere.create(tenant, input, idOf)]);
          const { file } = await files.create(tenant, input, idOf);
          expect((await files.list(tenant.id, 10)).map(({ id }) => id)).toEqual([file.id]);
          expect(await standing(tenant)).toEqual({ used: 0, held: 600 });
        }
      });
    });

    describe("a crash", () => {
      test("before the upload was admitted leaves an invisible row that is swept", async () => {
        const tenant = await newTenant();
        const { file } = await announce(tenant, 10);
        const draft = { ...file, id: newId("file", clock), createdAt: clock.now() };
        await heldOnly(tenant, draft);
        expect((await problemOf(files.get(tenant.id, draft.id))).code).toBe("not_found");
        expect(await files.list(tenant.id, 10)).toHaveLength(1);
        clock.advance(unadmittedAfterMs + 1);
        await sweep();
        expect(await rowOf(tenant, draft.id)).toBeUndefined();
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 0, held: 10 });
      });

      test("after the move, before the commit: completing again finds it", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 200);
        await put(admitted, bytesOf(200));
        await disk.storage.move(incomingKey(admitted.file.id), storedKey(admitted.file));
        expect((await files.complete(tenant, admitted.file.id)).state).toBe("stored");
        expect(await standing(tenant)).toEqual({ used: 200, held: 0 });
      });

      test("after the commit, before the counters know: it counts twice at most, and the sweeper settles it", async () => {
        const tenant = await newTenant();
        const admitted = await announce(tenant, 200);
        await put(admitted, bytesOf(200));
        away.counters = true;
        expect((await files.complete(tenant, admitted.file.id)).state).toBe("stored");
        away.counters = false;
        expect(await rowOf(tenant, admitted.file.id)).toMatchObject({ settled: false });
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 0, held: 200 });
        expect((await sweep()).settled).toBeGreaterThan(0);
        expect(await standing(tenant)).toEqual({ used: 200, held: 0 });
        expect(await rowOf(tenant, admitted.file.id)).toMatchObject({ settled: true });
      });

      test("after a row is deleted, before the counters know: the next request for storage updates them", async () => {
        const tenant = await newTenant();
        const file = await stored(tenant, 900);
        const condemned = await store.condemn(file, "stored");
        await store.erase(condemned ?? file);
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 900 });
        expect((await announce(tenant, 1_000)).file.state).toBe("pending");
        expect(await standing(tenant)).toEqual({ used: 0, held: 1_000 });
      });
    });

    describe("when the counters", () => {
      test("do not answer, a new upload is refused for now, and leaves nothing", async () => {
        const tenant = await newTenant();
        away.counters = true;
        const problem = await problemOf(announce(tenant, 10));
        away.counters = false;
        expect(problem).toMatchObject({ code: "unavailable", more: { retryAfterSeconds: expect.any(Number) } });
        expect((await store.storageUse(tenant.id)).uploads).toBe(0);
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
      });

      test("do not answer for long, each server leaves one row for a tenant, and goes on once they do", async () => {
        const tenant = await newTenant();
        away.counters = true;
        for (let i = 0; i < 5; i++) expect((await problemOf(announce(tenant, 10))).code).toBe("unavailable");
        away.counters = false;
        const rows = () =>
          acrossTenants(sql.db).selectFrom("files").select("id").where("tenant_id", "=", tenant.id).execute();
        expect(await rows()).toHaveLength(1);
        const { file } = await announce(tenant, 10);
        clock.advance(unadmittedAfterMs + 1);
        await sweep();
        expect(await rows()).toEqual([{ id: file.id }]);
        expect(await standing(tenant)).toEqual({ used: 0, held: 10 });
      });

      test("answer too late, what they held all the same is given back", async () => {
        const tenant = await newTenant();
        const heldUnheard = createStorageQuota({ ...ledger.counters, holdInSync: heldUnheardOf }, store, clock.now);
        const flow = createFiles({ store, storage, quota: heldUnheard, clock, log, mostBytes, publish: () => {} });
        const input = { name: "a", size: 10, type: "text/plain" };
        expect((await problemOf(flow.create(tenant, input))).code).toBe("unavailable");
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
      });

      test("answer not at all and hold all the same, the row stays until the sweeper has released it", async () => {
        const tenant = await newTenant();
        const mute = createStorageQuota(
          {
            ...ledger.counters,
            holdInSync: heldUnheardOf,
            release: async () => unavailable,
          },
          store,
          clock.now,
        );
        const flow = createFiles({ store, storage, quota: mute, clock, log, mostBytes, publish: () => {} });
        await problemOf(flow.create(tenant, { name: "a", size: 10, type: "text/plain" }));
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 0, held: 10 });
        clock.advance(unadmittedAfterMs + 1);
        await sweep();
        expect(await standing(tenant)).toEqual({ used: 0, held: 0 });
      });

      test("lose everything, the next request restores what is stored and what is held", async () => {
        const tenant = await newTenant();
        await stored(tenant, 500);
        const admitted = await announce(tenant, 300);
        await ledger.lose();
        expect((await problemOf(announce(tenant, 201))).more.figures).toMatchObject({
          used: 500,
          held: 300,
          missing: 1,
        });
        const last = await announce(tenant, 200);
        expect(await standing(tenant)).toEqual({ used: 500, held: 500 });
        for (const one of [admitted, last]) {
          await put(one, bytesOf(one.file.sizeBytes));
          await files.complete(tenant, one.file.id);
        }
        expect(await standing(tenant)).toEqual({ used: 1_000, held: 0 });
      });

      test("lose what is held between the two steps of an announcement, it is held again, and a full quota stays full", async () => {
        const tenant = await newTenant();
        const other = await announce(tenant, 600);
        const draft = { ...other.file, id: newId("file", clock), sizeBytes: 401, createdAt: clock.now() };
        const use = await store.insert(draft);
        await ledger.lose();
        if (use === undefined) throw new Error("the row exists");
        expect((await quota.hold({ id: tenant.id, max: 1_000 }, draft, use)).kind).toBe("denied");
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 0, held: 600 });
        await store.withdraw(draft);
        expect(await standing(tenant)).toEqual({ used: 0, held: 600 });
      });

      test("release an upload between the two steps of an announcement, that is not taken for a loss", async () => {
        const tenant = await newTenant();
        const other = await announce(tenant, 600);
        const draft = { ...other.file, id: newId("file", clock), sizeBytes: 400, createdAt: clock.now() };
        const use = await store.insert(draft);
        if (use === undefined) throw new Error("the row exists");
        await put(other, bytesOf(600));
        await files.complete(tenant, other.file.id);
        expect((await quota.hold({ id: tenant.id, max: 1_000 }, draft, use)).kind).toBe("granted");
        expect(await quota.figures(tenant.id)).toMatchObject({ used: 600, held: 400 });
        expect(await store.admit(draft, clock.now() + 1)).toBe(true);
        expect(await standing(tenant)).toEqual({ used: 600, held: 400 });
      });

      test("lose everything and an upload is completed first, the others are still held at the next request", async () => {
        const tenant = await newTenant();
        const [one, other] = [await announce(tenant, 300), await announce(tenant, 400)];
        await put(one, bytesOf(300));
        await ledger.lose();
        await files.complete(tenant, one.file.id);
        expect((await problemOf(announce(tenant, 301))).more.figures).toMatchObject({ used: 300, held: 400 });
        await files.remove(tenant.id, other.file.id, byCommand);
        expect(await standing(tenant)).toEqual({ used: 300, held: 0 });
      });
    });

    describe("the sync", () => {
      test("finds no drift in any tenant after all of the above", async () => {
        for (const tenant of await createTenants(sql, clock).list(100)) {
          if (tenant.id === twin) continue;
          const { drift } = await syncQuota({ recount: (id, dryRun) => recount(sql, id, dryRun), quota }, tenant, true);
          expect({ tenant: tenant.slug, drift }).toEqual({ tenant: tenant.slug, drift: 0 });
        }
      });

      test("corrects a wrong row, updates the counters, and keeps what is held", async () => {
        const tenant = await newTenant();
        await stored(tenant, 500);
        await announce(tenant, 100);
        await acrossTenants(sql.db)
          .updateTable("tenant_storage")
          .set({ bytes: 123 })
          .where("tenant_id", "=", tenant.id)
          .execute();
        const settings = { recount: (id: Tenant["id"], dryRun: boolean) => recount(sql, id, dryRun), quota };
        expect(await syncQuota(settings, tenant, true)).toMatchObject({ bytes: 500, drift: 377 });
        expect((await store.storageUse(tenant.id)).bytes).toBe(123);
        expect(await syncQuota(settings, tenant, false)).toMatchObject({ bytes: 500, drift: 377, files: 1 });
        expect(await standing(tenant)).toEqual({ used: 500, held: 100 });
        expect(await syncQuota(settings, tenant, false)).toMatchObject({ drift: 0, counted: 500, held: 100 });
      });

      test("while files come and go loses none of them", async () => {
        const tenant = await newTenant(null);
        const settings = { recount: (id: Tenant["id"], dryRun: boolean) => recount(sql, id, dryRun), quota };
        let ended = false;
        const syncing = (async () => {
          const drifts: number[] = [];
          while (!ended) {
            drifts.push((await syncQuota(settings, tenant, false)).drift);
            await new Promise(setImmediate); // SQLite answers without a pause, so no other task would get a turn
          }
          return drifts;
        })();
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            for (let i = 0; i < 5; i++) {
              const file = await stored(tenant, 10);
              if (i % 2 === 0) await files.remove(tenant.id, file.id, byCommand);
            }
          }),
        );
        ended = true;
        expect((await syncing).filter((drift) => drift !== 0)).toEqual([]);
        expect(await standing(tenant)).toEqual({ used: 80, held: 0 });
      });
    });

    describe("orphans", () => {
      const find = (dryRun: boolean) => findOrphans({ sql, store, storage, files, clock }, dryRun);

      test("objects without a row and rows without an object are listed, and removed after the grace time", async () => {
        const tenant = await newTenant();
        const [lost, kept, rowless] = [await stored(tenant, 10), await stored(tenant, 20), await stored(tenant, 30)];
        await disk.storage.remove(storedKey(lost));
        await acrossTenants(sql.db).deleteFrom("files").where("id", "=", rowless.id).execute();
        await recount(sql, tenant.id, false);
        clock.set(Math.max(clock.now(), Date.now()) + graceMs - 60_000);
        clock.advance(-graceMs);
        expect((await find(false)).objects.map(({ key }) => key)).not.toContain(storedKey(rowless));
        clock.advance(2 * graceMs);
        const seen = await find(true);
        expect(seen.objects.map(({ key }) => key)).toContain(storedKey(rowless));
        expect(seen.rows.map(({ id }) => id)).toContain(lost.id);
        expect(seen).toMatchObject({ removedObjects: 0, removedRows: 0, suspicious: false });
        const done = await find(false);
        expect([done.removedObjects, done.removedRows]).toEqual([seen.objectsFound, seen.rowsFound]);
        expect(await disk.storage.stat(storedKey(rowless))).toBeUndefined();
        expect(await rowOf(tenant, lost.id)).toBeUndefined();
        expect((await objects(kept)).stored).toBe(true);
        expect(await standing(tenant)).toEqual({ used: 20, held: 0 });
        expect(await find(true)).toMatchObject({ objectsFound: 0, rowsFound: 0 });
      });

      test("a storage that has lost everything loses no row: probably the wrong folder is mounted", async () => {
        const empty = await openDiskStore();
        const tenant = await newTenant();
        const file = await stored(tenant, 10);
        clock.advance(2 * graceMs);
        const found = await findOrphans({ sql, store, storage: empty.storage, files, clock }, false);
        expect(found).toMatchObject({ suspicious: true, removedRows: 0 });
        expect(found.rowsFound).toBeGreaterThan(0);
        expect((await rowOf(tenant, file.id))?.state).toBe("stored");
        await empty.stop();
      });
    });
  });
});
