/**
 * A process that condenses clicks and kills itself in its n-th transaction, before the commit.
 * Arguments: address, time, n.
 */
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { connectAt } from "./databases.ts";
import { killedIn } from "./killed.ts";

const [address = "", now = "", transactions = ""] = process.argv.slice(2);
const sql = connectAt(address);
await condense(killedIn(sql, Number(transactions)), { now: Number(now) });
await sql.close();
