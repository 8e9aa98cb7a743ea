/** A process that sends emails as a server does: the same settings, SQL, Redis, and `openMail`. It answers no requests. */
import { createLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openCore } from "../../src/core.ts";
import { openCounters } from "../../src/server/counters.ts";
import { openMail } from "../../src/server/email.ts";
import { openRedis } from "../../src/server/redis.ts";

const config = loadConfig();
const log = createLog("warn", process.stderr, true, Date.now);
const opened = new AsyncDisposableStack();
const core = await openCore(config, { log });
opened.defer(() => core.close());
const metrics = createMetrics();
const wiring = { core, metrics, log, opened };
const redis = await openRedis(wiring);
const { ledger } = await openCounters(redis.limits, core.clock);
openMail(wiring, ledger);
process.on("SIGTERM", async () => {
  await opened.disposeAsync();
  process.exit(0);
});
console.log("ready");
