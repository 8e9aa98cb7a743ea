/**
 * A process that sends emails as a server does: the same settings, SQL, Redis, and `openMail`. It answers no requests, and
 * gets tenants' own keys from its environment.
 */
import { createLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { loadConfig } from "../../src/config.ts";
import { openCore } from "../../src/core.ts";
import { openCounters } from "../../src/counters.ts";
import type { OwnKey } from "../../src/email/senders.ts";
import { openMail } from "../../src/mail.ts";
import { openRedis } from "../../src/open-redis.ts";

const config = loadConfig();
const log = createLog("warn", process.stderr, true, Date.now);
const opened = new AsyncDisposableStack();
const core = await openCore(config, { log });
opened.defer(() => core.close());
const metrics = createMetrics();
const redis = await openRedis({ config, clock: core.clock, metrics, log, opened });
const { ledger } = await openCounters(redis.limits, core.clock);
const keys = new Map<string, string>(Object.entries(JSON.parse(Bun.env.PROVE_KEYS ?? "{}")));
const ownKey: OwnKey = async (tenant) => {
  const key = keys.get(tenant);
  return key === undefined ? undefined : { key, sender: { name: null, address: "tenant@example.com" } };
};
const mail = openMail({ core, counters: ledger, metrics, log, ownKey });
opened.defer(() => mail.close());
process.on("SIGTERM", async () => {
  await opened.disposeAsync();
  process.exit(0);
});
console.log("ready");
