/** Threads of a server: what runs in them, and that they end without work, and come back with it. */
import { expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openCore } from "../../src/core.ts";
import { createBackground } from "../../src/server/background.ts";
import { idleThreadMs } from "../../src/server/end-thread.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import { byCommand } from "../ground/actors.ts";
import { sharedPostgres } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";

/** Notes the threads that are started in this process, and those that have ended. */
function watchThreads() {
  const { Worker } = globalThis;
  const seen = { started: 0, ended: 0 };
  globalThis.Worker = class extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      seen.started++;
      this.addEventListener("close", () => seen.ended++);
    }
  };
  return {
    seen,
    [Symbol.dispose]() {
      globalThis.Worker = Worker;
    },
  };
}

test("the background thread ends after a minute without work, and the next work starts another one", async () => {
  using threads = watchThreads();
  const { seen } = threads;
  const log = createLog("silent", { write() {} }, false, () => 0);
  const core = await openCore(loadConfig({ QL_DATA: tempFolder("data") }, "/"), { log });
  const clock = manualClock(0);
  const background = createBackground({ ...core, clock });
  const tenant = await core.tenants.create("acme", "Acme", byCommand);
  try {
    // Takes no turn, so it is with the thread at once.
    const work = () => background.runSteps(tenant, [], byCommand);
    expect(seen).toEqual({ started: 0, ended: 0 });
    expect(await work()).toEqual([]);
    clock.advance(idleThreadMs - 1);
    expect(await work()).toEqual([]);
    clock.advance(idleThreadMs - 1);
    const busy = work();
    clock.advance(2 * idleThreadMs); // it has work
    expect(await busy).toEqual([]);
    expect(seen).toEqual({ started: 1, ended: 0 });

    clock.advance(idleThreadMs);
    const next = work(); // while the first one ends
    expect(await next).toEqual([]);
    await until("the first thread to end", async () => seen.ended === 1 || undefined);
    expect(seen).toEqual({ started: 2, ended: 1 });
    clock.advance(idleThreadMs);
    await background.close();
    await until("the second thread to end", async () => seen.ended === 2 || undefined);
    await expect(work()).rejects.toThrow("shutting down");
  } finally {
    await background.close();
    await core.close();
  }
}, 120_000);

test("on PostgreSQL clicks are condensed in the thread, not in that of the visitors", async () => {
  using threads = watchThreads();
  const { seen } = threads;
  const postgres = await sharedPostgres();
  const log = createLog("silent", { write() {} }, false, () => 0);
  const url = await postgres.createDatabase("threads");
  const sql = openPostgres(url, { connections: 1, patient: true }, log);
  await migrate(sql);
  await sql.close();
  const core = await openCore(loadConfig({ DATABASE_URL: url, QL_CODE_SALT: crypto.randomUUID() }, "/"), { log });
  const background = createBackground(core);
  try {
    await background.nearLimits();
    expect(seen.started).toBe(0);
    expect(await background.condenseClicks()).toEqual({ tenants: 0, events: 0 });
    expect(seen.started).toBe(1);
  } finally {
    await background.close();
    await core.close();
  }
}, 120_000);
