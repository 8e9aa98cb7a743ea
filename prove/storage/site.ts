/** Four servers on one PostgreSQL, one Redis and one folder; and the true state, read directly. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startSubject } from "../../bench/subject.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { storageLimit } from "../../src/limits/storage-limit.ts";
import { connectCounters } from "../../src/server/counters.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createKeys, scopes } from "../../src/tenants/keys.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../../test/ground/actors.ts";
import { type Environment, until } from "../../test/ground/process.ts";
import { type RedisServer, startRedis } from "../../test/ground/redis.ts";
import { cli, type Server, startServer } from "../../test/ground/server.ts";
import { look } from "../database.ts";

export interface Owner {
  readonly id: TenantId;
  readonly slug: string;
  readonly key: string;
  readonly max: number;
}

/** What a tenant has, from every side. */
export interface Truth {
  /** By the tenant's row. */
  readonly bytes: number;
  /** Of stored files, added up. */
  readonly sum: number;
  readonly files: number;
  /** Rows that are not in their last state, or that the counters do not know of yet. */
  readonly unfinished: number;
  /** In Redis. */
  readonly used: number;
  readonly held: number;
  /** In the folder of stored files. */
  readonly objects: number;
}

export interface Site {
  readonly redis: RedisServer;
  readonly servers: readonly Server[];
  newOwner(max: number): Promise<Owner>;
  /** Done when every server knows of the new limit. */
  lower(owner: Owner, max: number): Promise<Owner>;
  /** Kills one with -9 and starts it again; whether it was there before and another one is now. */
  crash(place: number): Promise<boolean>;
  /** Redis forgets everything; whether there was anything to forget. */
  flush(): Promise<boolean>;
  truthOf(owner: Owner): Promise<Truth>;
  /** The most that the tenant's row and the sum of its files say at this moment. */
  storedOf(owner: Owner): Promise<number>;
  /** `quicklink sync quotas` for this tenant; gives the drift that it found. */
  sync(owner: Owner): Promise<number>;
  /** Hours pass for what is unfinished, and the sweeper is due. Waits until it has finished; returns what it left. */
  sweep(owner: Owner): Promise<number>;
  stop(): Promise<void>;
}

const instances = 4;
const hoursMs = 3 * 3_600_000;
const sweptMs = 25_000;
const knownMs = 15_000;

export async function startSite(): Promise<Site> {
  const redis = await startRedis();
  const subject = await startSubject("postgres", { REDIS_URL: redis.url, QL_API_OUTAGE: "open" });
  const { dataDir, key } = subject.server;
  const env: Environment = { ...subject.env, QL_DATA: dataDir };
  const start = (port?: number) => startServer({ env, dataDir, key, ...(port !== undefined && { port }) });
  const more = await Promise.all(Array.from({ length: instances - 1 }, () => start()));
  const servers = [subject.server, ...more];
  const counters = await connectCounters(redis.url, systemClock);
  let owners = 0;

  const filesOf = (sql: Sql, { id }: Owner) =>
    acrossTenants(sql.db).selectFrom("files").selectAll().where("tenant_id", "=", id);

  async function standingOf(sql: Sql, owner: Owner) {
    const row = await acrossTenants(sql.db)
      .selectFrom("tenant_storage")
      .select("bytes")
      .where("tenant_id", "=", owner.id)
      .executeTakeFirst();
    const files = await filesOf(sql, owner).execute();
    const stored = files.filter(({ stored_at }) => stored_at !== null);
    const unfinished = files.filter(({ state, settled }) => state !== "stored" || settled === 0).length;
    const sum = stored.reduce((all, { size_bytes }) => all + size_bytes, 0);
    return { bytes: row?.bytes ?? 0, sum, files: stored.length, unfinished };
  }

  return {
    redis,
    servers,
    newOwner: (max) =>
      look(env, async (sql) => {
        const tenants = createTenants(sql, systemClock);
        const slug = `owner-${++owners}`;
        const { id } = await tenants.create(slug, slug, byCommand, "unlimited");
        await tenants.change(slug, { overrides: { storageBytes: max } }, byCommand);
        const { secret } = await createKeys({ sql: sql, clock: systemClock }).create(
          id,
          { name: "proof", scopes },
          byCommand,
        );
        return { id, slug, key: secret, max };
      }),
    async crash(place) {
      const server = servers[place];
      if (server === undefined) throw new Error(`there is no server ${place}`);
      const wasThere = await isThere(server);
      await server.kill();
      const again = await start(server.port);
      servers[place] = again;
      return wasThere && again.pid !== server.pid;
    },
    async flush() {
      const keys = Number(await redis.command("DBSIZE"));
      await redis.flush();
      return keys > 0;
    },
    async lower(owner, max) {
      await look(env, async (sql) => {
        await createTenants(sql, systemClock).change(owner.slug, { overrides: { storageBytes: max } }, byCommand);
      });
      const isKnown = async () => {
        const limits = await Promise.all(servers.map((server) => limitAt(server, owner)));
        return limits.every((limit) => limit === max) || undefined;
      };
      await until("every server to know of the limit", isKnown, knownMs);
      return { ...owner, max };
    },
    async truthOf(owner) {
      const standing = await look(env, (sql) => standingOf(sql, owner));
      const answer = await counters.ledger.status([storageLimit(owner.id, null)]);
      if (answer.kind !== "known") throw new Error("Redis does not answer");
      const [status] = answer.limits;
      const folder = join(dataDir, "files", "stored", owner.id);
      const objects = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile()).length;
      return { ...standing, used: status?.used ?? 0, held: status?.held ?? 0, objects };
    },
    storedOf: (owner) =>
      look(env, async (sql) => {
        const { bytes, sum } = await standingOf(sql, owner);
        return Math.max(bytes, sum);
      }),
    async sync({ slug }) {
      const { code, stdout, stderr } = await cli(["sync", "quotas", "--tenant", slug, "--json"], { env });
      if (code !== 0) throw new Error(`sync ended with ${code}\n${stdout}${stderr}`);
      return (JSON.parse(stdout) as { drift: number }).drift;
    },
    async sweep(owner) {
      return await look(env, async (sql) => {
        await acrossTenants(sql.db)
          .updateTable("files")
          .set((is) => ({
            created_at: is("created_at", "-", hoursMs),
            upload_until: is("upload_until", "-", hoursMs),
          }))
          .where("tenant_id", "=", owner.id)
          .where("state", "=", "pending")
          .execute();
        await sql.db.updateTable("jobs").set({ due_at: 0 }).where("name", "=", "files-sweep").execute();
        const isSwept = async () => (await standingOf(sql, owner)).unfinished === 0 || undefined;
        await until("the sweeper to be done", isSwept, sweptMs).catch(() => {});
        return (await standingOf(sql, owner)).unfinished;
      });
    },
    async stop() {
      await counters.close();
      await Promise.all(servers.slice(1).map((server) => server.stop().catch(() => server.kill())));
      await servers[0]?.stop().catch(() => servers[0]?.kill());
      await subject.postgres?.stop();
      await redis.stop();
    },
  };
}

const isThere = (server: Server): Promise<boolean> =>
  fetch(`${server.url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function limitAt(server: Server, { key }: Owner): Promise<number | undefined> {
  const response = await fetch(`${server.url}/api/usage`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) return undefined;
  const { limits } = (await response.json()) as { limits: { name: string; limit: number | null }[] };
  return limits.find(({ name }) => name === "storageBytes")?.limit ?? undefined;
}
