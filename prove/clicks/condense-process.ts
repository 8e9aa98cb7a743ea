/** `bun condense-process.ts NOW N`: condenses clicks, and kills itself in its n-th transaction, before the commit. */
import { condenseAt, openUnderTest } from "./later.ts";

const [now = "", transactions = ""] = Bun.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(Bun.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
const sql = await openUnderTest(env);
let left = Number(transactions);
await condenseAt(
  {
    ...sql,
    transaction: (work) =>
      sql.transaction(async (trx) => {
        const result = await work(trx);
        if (--left === 0) process.kill(process.pid, "SIGKILL");
        return result;
      }),
  },
  Number(now),
);
await sql.close();
