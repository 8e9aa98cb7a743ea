/**
 * A process that sends emails as a server does: the same settings, SQL, Redis, and `openMail`. It answers no requests.
 * Its argument is the folder of the source.
 */
import { join } from "node:path";

const [source = ""] = Bun.argv.slice(2);
const load = async <Module>(file: string): Promise<Module> => (await import(join(source, file))) as Module;
const { createLog } = await load<typeof import("../../src/base/log.ts")>("base/log.ts");
const { createMetrics } = await load<typeof import("../../src/base/metrics.ts")>("base/metrics.ts");
const { loadConfig } = await load<typeof import("../../src/config/config.ts")>("config/config.ts");
const { openCore } = await load<typeof import("../../src/core.ts")>("core.ts");
const { openCounters } = await load<typeof import("../../src/server/counters.ts")>("server/counters.ts");
const { openMail } = await load<typeof import("../../src/server/email.ts")>("server/email.ts");
const { openRedis } = await load<typeof import("../../src/server/redis.ts")>("server/redis.ts");

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
