import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "./base/log.ts";
import { createRecorder, type Recorder } from "./clicks/recorder.ts";
import type { Core } from "./core.ts";
import type { LeaseStore } from "./limits/leases.ts";
import { createMeters, type Meters } from "./limits/meters.ts";
import { createMonth } from "./limits/month.ts";
import { ownDomain } from "./links/link.ts";
import { reasons } from "./redirect/decide.ts";
import { createSqlLeases } from "./sql/leases.ts";
import type { Sql } from "./sql/sql.ts";

/**
 * Counting hits, put together: meters spend leases, the store gives them, the recorder writes down what was spent. On
 * SQLite with a connection of its own that does not wait for the disk at every commit: that is safe through kill -9, and
 * after a power cut a second of counts may be missing.
 */
export interface Hits {
  readonly meters: Meters;
  close(): Promise<void>;
}

export async function openHits(core: Core, log: Logger): Promise<Hits> {
  const { config, clock } = core;
  const sql = config.embedded ? await openCounting(join(config.QL_DATA, "quicklink.sqlite")) : core.sql;
  const id = randomBytes(12).toString("base64url");
  let leases = 0;
  const split = (key: string) => ({ domain: ownDomain, code: key });
  const store = createSqlLeases(sql, clock, reasons, split, () => 1);
  let recorder: Recorder | undefined;
  const meters = createMeters({
    reasons: reasons.length,
    store: saidOnce(store, log),
    clock,
    month: createMonth(clock),
    newLeaseId: () => `${id}.${++leases}`,
    usedUp: () => recorder?.soon(),
    flush: async () => recorder?.flush(),
  });
  recorder = createRecorder({ meters, write: (sequence, batch) => store.record(id, sequence, batch), log });
  return {
    meters,
    async close() {
      await recorder.stop().catch(() => log.error("the last hits could not be written down and are lost"));
      if (sql !== core.sql) await sql.close();
    },
  };
}

/** Visitors are told one by one that it is unavailable; the operator once, and once that it is over. */
function saidOnce(store: LeaseStore, log: Logger): LeaseStore {
  let failing = false;
  return {
    async acquire(ask) {
      try {
        const answer = await store.acquire(ask);
        if (failing) log.info("limits on hits are answered again");
        failing = false;
        return answer;
      } catch (error) {
        if (!failing) log.error({ error }, "limits on hits cannot be asked; links with a limit are unavailable");
        failing = true;
        throw error;
      }
    },
  };
}

async function openCounting(path: string): Promise<Sql> {
  const { openSqlite } = await import("./sql/sqlite.ts");
  return openSqlite(path, "normal");
}
