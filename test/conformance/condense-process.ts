/**
 * A process that condenses clicks and kills itself in its n-th transaction, before the commit.
 * Arguments: address, time, n.
 */
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { connectAt } from "./databases.ts";

const [address = "", now = "", transactions = ""] = process.argv.slice(2);
let left = Number(transactions);
const sql = connectAt(address);
await condense(
  {
    ...sql,
    transaction: (work) =>
      sql.transaction(async (trx) => {
        const result = await work(trx);
        if (--left === 0) process.kill(process.pid, "SIGKILL");
        return result;
      }),
  },
  { now: Number(now) },
);
await sql.close();
