/** Five processes that send, one PostgreSQL, one Redis and two providers that count, all by one clock that we set. */

import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import { createRing, newKey, writeKeys } from "../../src/base/seal.ts";
import { type EmailProvider, getStatus } from "../../src/email/outbox/charges.ts";
import type { MailKind } from "../../src/email/outbox/outbox.ts";
import { createEmailStore } from "../../src/email/outbox/store.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { connectCounters, type SharedCounters } from "../../src/server/counters.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../../test/ground/actors.ts";
import { startPostgres } from "../../test/ground/postgres.ts";
import { type Child, cleanEnvironment, type Environment, startProcess, until } from "../../test/ground/process.ts";
import { type RedisServer, startRedis } from "../../test/ground/redis.ts";
import { type Sendgrid, startSendgrid } from "../../test/ground/sendgrid.ts";
import { cli, sourceFolder } from "../../test/ground/server.ts";
import { type SmtpServer, startSmtp } from "../../test/ground/smtp.ts";
import { tempFolder } from "../../test/ground/temp.ts";
import { type SharedClock, startClock } from "./clock.ts";

export const tenantNames = ["acme", "beta", "gamma"] as const;
export type TenantName = (typeof tenantNames)[number];

export interface Site {
  readonly clock: SharedClock;
  readonly sql: Sql;
  readonly redis: RedisServer;
  readonly smtp: SmtpServer;
  readonly sendgrid: Sendgrid;
  readonly tenants: Readonly<Record<TenantName, TenantId>>;
  /** Into the outbox, for the first process that claims it. The recipients tell whose they are. */
  enqueue(tenant: TenantName, count: number, kind?: MailKind): Promise<void>;
  /** What the counters say is used of a tenant's limit. */
  used(tenant: TenantName, provider: EmailProvider): Promise<number>;
  /** Until nothing is due and nothing on its way. */
  quiet(): Promise<void>;
  /** kill -9 of one of them, and another takes its place. Returns whether it was running. */
  kill(): Promise<boolean>;
  stop(): Promise<void>;
}

const processes = 5;
const quietMs = 120_000;
const betaKey = "SG.of-beta";
const secretKey = newKey();
const silent = createLog("silent", { write() {} }, false, systemClock.now);

export async function startSite(): Promise<Site> {
  const clock = startClock();
  const [postgres, redis] = await Promise.all([startPostgres({ env: clock.env }), startRedis({ env: clock.redisEnv })]);
  const smtp = await startSmtp({ now: clock.now });
  const sendgrid = startSendgrid({ now: clock.now });
  sendgrid.keys.add(betaKey);
  const url = await postgres.createDatabase("email");
  const env: Environment = {
    ...{ DATABASE_URL: url, REDIS_URL: redis.url, QL_CODE_SALT: crypto.randomUUID(), QL_DATA: tempFolder("data") },
    ...{ SMTP_URL: smtp.url, QL_SENDGRID_URL: sendgrid.url, QL_MAIL_FROM: "Links <links@example.com>" },
    QL_SECRET_KEYS: writeKeys([secretKey]),
  };
  const migrated = await cli(["migrate"], { env });
  if (migrated.code !== 0) throw new Error(`migrate ended with ${migrated.code}\n${migrated.stdout}${migrated.stderr}`);
  const sql = openPostgres(url, { connections: 4 }, silent);
  const store = createEmailStore(sql);
  const tenants = await createThree(sql);
  const settings = createEmailSettings(sql, createRing([secretKey]), systemClock);
  await settings.change(tenants.beta, { sendgridKey: betaKey, sender: "tenant@example.com" }, byCommand);
  const counters: SharedCounters = await connectCounters(redis.url, systemClock);

  const pids = [postgres.pid, redis.pid];
  const launch = async (): Promise<Child> => {
    const child = startProcess([process.execPath, "--no-env-file", join(import.meta.dir, "process.ts"), sourceFolder], {
      env: cleanEnvironment({ ...env, ...clock.env }),
    });
    pids.push(child.pid);
    await child.waitForOutput(/ready/, quietMs);
    return child;
  };
  const children = await Promise.all(Array.from({ length: processes }, launch));

  const busy = async () => {
    const { due } = await store.look();
    const sending = await acrossTenants(sql.db)
      .selectFrom("emails")
      .select("id")
      .where("state", "=", "sending")
      .limit(1)
      .execute();
    return due || sending.length > 0;
  };

  return {
    ...{ clock, sql, redis, smtp, sendgrid, tenants },

    async enqueue(tenant, count, kind = "report") {
      for (let i = 0; i < count; i++) {
        await store.insert({
          ...{ id: newId("email", systemClock), tenant: tenants[tenant], kind, key: null, replyTo: null },
          ...{ to: `${kind}-${i}@${tenant}.example`, subject: "A report", text: "text", html: "<p>html</p>" },
        });
      }
    },

    async used(tenant, provider) {
      const maxes = { tenant: null, platform: null };
      const status = await getStatus(counters.ledger, tenants[tenant], provider, maxes);
      if (status.kind !== "known") throw new Error(`the counters answer ${status.kind}`);
      return status.limits[0]?.used ?? 0;
    },

    quiet: () =>
      until("the outbox to be quiet", async () => ((await busy()) ? undefined : true), quietMs).then(() => {}),

    async kill() {
      const victim = children.shift();
      const ran = victim?.running() ?? false;
      await victim?.kill();
      children.push(await launch());
      return ran;
    },

    async stop() {
      await Promise.all(children.map((child) => child.stop().catch(() => child.kill())));
      await counters.close();
      await sql.close();
      await Promise.all([smtp.stop(), sendgrid.stop(), redis.stop(), postgres.stop()]);
      for (const pid of pids) clock.cleanUpAfter(pid);
    },
  };
}

/** As specified: 50 through SMTP, 200 through an own key; and one that only the platform limits. */
async function createThree(sql: Sql): Promise<Record<TenantName, TenantId>> {
  const tenants = createTenants(sql, systemClock);
  const [acme, beta, gamma] = [
    await tenants.create("acme", "Acme", byCommand),
    await tenants.create("beta", "Beta", byCommand),
    await tenants.create("gamma", "Gamma", byCommand, "unlimited"),
  ];
  return { acme: acme.id, beta: beta.id, gamma: gamma.id };
}
