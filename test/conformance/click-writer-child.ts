/** `bun click-writer-child.ts DATABASE TENANT`: writes batches of 1,000 clicks until it is killed, and says so after each. */
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { batchOf } from "./click-batches.ts";

const [place = "", tenant = ""] = Bun.argv.slice(2);
const log = createLog("silent", { write() {} }, false, systemClock.now);
const sql = place.startsWith("postgres:") ? openPostgres(place, { connections: 1 }, log) : openSqlite(place, "normal");
const writer = createClickWriter({ sql, secret: new Uint8Array(32).fill(7), writerId: "killed", clicksMost: 100 });
const link = { link: 1 as never, tenant: Number(tenant) as never, domain: "", code: "code1", tags: [] };
const batchesMost = 10_000; // if nobody kills it

for (let sequence = 1; sequence <= batchesMost; sequence++) {
  const at = systemClock.now();
  await writer.write(sequence, batchOf(Array.from({ length: 1_000 }, (_, i) => ({ link, at, visitor: i + 1 }))));
  process.stdout.write(`written ${sequence}\n`);
}
