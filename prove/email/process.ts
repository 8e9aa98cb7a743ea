/** A process that sends emails as a server does: the same settings, SQL, Redis, and `openMail`. It answers no requests. */
import { createLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { loadConfig } from "../../src/config.ts";
import { openCore } from "../../src/core.ts";
import { openCounters } from "../../src/counters.ts";
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
const mail = openMail({ core, counters: ledger, metrics, log });
opened.defer(() => mail.close());
process.on("SIGTERM", async () => {
  await opened.disposeAsync();
  process.exit(0);
});
console.log("ready");
