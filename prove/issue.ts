/**
 * One of several processes that issue codes from one database, built from the server's parts. Arguments: how many, the
 * file to write them to, a file to wait for, so that all start at once, and the folder of the source. Each code is written before the next is
 * requested, so that a kill loses none that could have been seen.
 */
import { existsSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const [count = "", path = "", go = "", source = ""] = Bun.argv.slice(2);

const load = async <Module>(file: string): Promise<Module> => (await import(join(source, file))) as Module;
const { createLog } = await load<typeof import("../src/base/log.ts")>("base/log.ts");
const { createCodes } = await load<typeof import("../src/codes/codes.ts")>("codes/codes.ts");
const { createIssuer } = await load<typeof import("../src/codes/issuer.ts")>("codes/issuer.ts");
const { loadConfig } = await load<typeof import("../src/config/config.ts")>("config/config.ts");
const { withSecrets } = await load<typeof import("../src/config/data-folder.ts")>("config/data-folder.ts");
const { openCore } = await load<typeof import("../src/core.ts")>("core.ts");
const { takeCodeBlock } = await load<typeof import("../src/sql/code-counter.ts")>("sql/code-counter.ts");

const config = withSecrets(loadConfig());
const { sql, close } = await openCore(config, { log: createLog("silent", { write() {} }, false, () => 0) });
const issuer = createIssuer(createCodes(config.QL_CODE_SALT), (size) => takeCodeBlock(sql, size), config.QL_CODE_BLOCK);
const file = openSync(path, "a");
console.log("ready");
while (!existsSync(go)) await Bun.sleep(1);
for (let i = 0; i < Number(count); i++) writeSync(file, `${await issuer.next()}\n`);
await close();
