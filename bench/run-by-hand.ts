/**
 * A process that creates links by hand (`links-by-hand.ts`), and prints what it took. Arguments: path or URL of the
 * database, tenant, links per transaction, connections, milliseconds or 0, links or 0, priority, the process of PostgreSQL or 0.
 */
import { setPriority } from "node:os";
import { cpuMicros, cpuMicrosOfTree } from "./cpu.ts";
import { handRow, postgresByHand, sqliteByHand } from "./links-by-hand.ts";

const [address = "", tenant = "", ...given] = Bun.argv.slice(2);
const [each = 1, connections = 1, ms = 0, links = 0, priority = 0, postgresPid = 0] = given.map(Number);

setPriority(priority);
const open = () => (address.startsWith("postgres") ? postgresByHand(address, tenant) : sqliteByHand(address, tenant));
const hands = await Promise.all(Array.from({ length: connections }, open));
const databaseMicros = () => (postgresPid === 0 ? 0 : cpuMicrosOfTree(postgresPid));
let made = 0;

async function work(goOn: () => boolean): Promise<void> {
  await Promise.all(
    hands.map(async (hand) => {
      while (goOn()) {
        made += each;
        await hand.insert(Array.from({ length: each }, () => handRow(links > 0)));
      }
    }),
  );
}

const warmMs = 500;
const warm = performance.now() + warmMs;
await work(() => performance.now() < warm);
made = 0;
const before = { cpu: cpuMicros(process.pid), database: databaseMicros(), at: performance.now() };
await work(() => (links > 0 ? made < links : performance.now() - before.at < ms));
const seconds = (performance.now() - before.at) / 1_000;
console.log(
  JSON.stringify({
    perSecond: made / seconds,
    clientMicros: (cpuMicros(process.pid) - before.cpu) / made,
    databaseMicros: (databaseMicros() - before.database) / made,
  }),
);
for (const hand of hands) await hand.close();
