/**
 * One of several processes that issue codes from one database, built from the server's parts. Arguments: how many, the
 * file to write them to, and a file to wait for, so that all start at once. Each code is written before the next is
 * requested, so that a kill loses none that could have been seen.
 */
import { existsSync, openSync, writeSync } from "node:fs";
import { createLog } from "../src/base/log.ts";
import { createCodes } from "../src/codes/codes.ts";
import { createIssuer } from "../src/codes/issuer.ts";
import { loadConfig } from "../src/config/config.ts";
import { withSecrets } from "../src/config/data-folder.ts";
import { openCore } from "../src/core.ts";
import { takeCodeBlock } from "../src/sql/code-counter.ts";

const [count = "", path = "", go = ""] = Bun.argv.slice(2);

const config = withSecrets(loadConfig());
const { sql, close } = await openCore(config, { log: createLog("silent", { write() {} }, false, () => 0) });
const issuer = createIssuer(createCodes(config.QL_CODE_SALT), (size) => takeCodeBlock(sql, size), config.QL_CODE_BLOCK);
const file = openSync(path, "a");
console.log("ready");
while (!existsSync(go)) await Bun.sleep(1);
for (let i = 0; i < Number(count); i++) writeSync(file, `${await issuer.next()}\n`);
await close();
