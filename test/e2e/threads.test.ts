/** Threads of an embedded server end without work, and come back with it. */
import { expect, test } from "bun:test";
import { manualClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openCore } from "../../src/core.ts";
import { createBackground } from "../../src/server/background.ts";
import { idleThreadMs } from "../../src/server/end-thread.ts";
import { byCommand } from "../ground/actors.ts";
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
