/**
 * Writes clicks as fast as it can, with the server's own writer. Arguments: the file or address of the database, how many
 * links the clicks are spread over, and for how many milliseconds. Prints what was written, as JSON. It is a separate
 * process, so that making up clicks does not delay the server or the client that measures time.
 */
import { randomBytes } from "node:crypto";
import { sql as raw } from "kysely";
import { type ClickBatch, type ClickedLink, dimensions, isPerson } from "../../src/clicks/click.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import type { LinkNumber, TenantNumber } from "../../src/sql/schema.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { cpuMicros } from "../cpu.ts";
import { openDatabase } from "../subject.ts";
import { draw, drawFact, firstId, randomOf, reasons, storedValues } from "./spread.ts";

const [where = "", spreadOver = "", forMs = ""] = Bun.argv.slice(2);

const batchClicks = 10_000; // as the server's recorder takes
const batches = 4; // made before, and written again and again
const visitors = 1_000_000;
const pauseMs = 6; // as the server's thread on SQLite
/** Far from the numbers of real links. */
const firstNumber = 1_000_000;

const isFile = !where.includes("://");
const sql = isFile ? openSqlite(where, "normal") : openDatabase(where);
const found = await raw<{ number: number }>`select number from tenants order by number desc limit 1`.execute(sql.db);
const tenant = Number(found.rows[0]?.number) as TenantNumber;
const random = randomOf(Date.now());
const texts = ["", ...storedValues.map(({ value }) => value)];
const links: ClickedLink[] = Array.from({ length: Number(spreadOver) }, (_, place) => ({
  ...{ link: (firstNumber + place) as LinkNumber, tenant, domain: "", code: `bench-${place}`, tags: [] },
}));

function makeBatch(): ClickBatch {
  const facts = new Uint16Array(batchClicks * dimensions.length);
  const reason = new Uint8Array(batchClicks);
  const visitor = new Float64Array(batchClicks);
  const link = new Uint16Array(batchClicks);
  const used = new Map<number, number>();
  for (let n = 0; n < batchClicks; n++) {
    const chosen = random() % links.length;
    if (!used.has(chosen)) used.set(chosen, used.size);
    link[n] = used.get(chosen) ?? 0;
    reason[n] = draw(reasons, random);
    visitor[n] = 1 + (random() % visitors);
    for (let fact = 0; fact < dimensions.length; fact++) {
      const id = drawFact(fact, isPerson(reason[n] ?? 0), random);
      facts[n * dimensions.length + fact] = id === 0 ? 0 : id - firstId + 1;
    }
  }
  const inBatch = [...used.keys()].flatMap((place) => links[place] ?? []);
  const at = new Float64Array(batchClicks);
  return { texts, links: inBatch, at, link, reason, visitor, facts, bare: [], dropped: 0, excluded: 0 };
}

const writer = createClickWriter({
  ...{ sql, secret: randomBytes(32), writerId: randomBytes(12).toString("base64url") },
  ...(isFile && { pause: () => Bun.sleep(pauseMs) }),
});
const made = Array.from({ length: batches }, makeBatch);
let [events, overflow, sequence] = [0, 0, 0];

async function write(): Promise<void> {
  const batch = made[sequence % batches] as ClickBatch;
  batch.at.fill(Date.now());
  const written = await writer.write(++sequence, batch);
  events += written.events;
  overflow += written.overflow;
}

// The first batches bring new values, and the writer knows none: a server that starts is slower, too.
const begun = performance.now();
while (sequence < batches && performance.now() - begun < Number(forMs)) await write();
[events, overflow] = [0, 0];
const [started, before] = [performance.now(), cpuMicros(process.pid)];
while (performance.now() - started < Number(forMs)) await write();
const cpu = cpuMicros(process.pid) - before;
console.log(JSON.stringify({ events, overflow, ms: performance.now() - started, cpu }));
await sql.close();
