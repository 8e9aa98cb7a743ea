/** `bun condense-process.ts NOW N`: condenses clicks, and kills itself in its n-th transaction, before the commit. */
import { killedIn } from "../../test/conformance/killed.ts";
import { condenseAt, openUnderTest } from "./later.ts";

const [now = "", transactions = ""] = Bun.argv.slice(2);
const env = Object.fromEntries(
  Object.entries(Bun.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
);
const sql = await openUnderTest(env);
await condenseAt(killedIn(sql, Number(transactions)), Number(now));
await sql.close();
