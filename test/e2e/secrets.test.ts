import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { createRing, parseKeys } from "../../src/base/seal.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { cleanEnvironment, type Environment, startProcess } from "../ground/process.ts";
import { cli, program, startServer } from "../ground/server.ts";
import { must, newDatabase } from "./servers.ts";

const silent = createLog("silent", { write() {} }, false, systemClock.now);
const secretOf = (slug: string) => `SG.secret-of-${slug}`;

const connect = ({ DATABASE_URL, QL_DATA }: Environment): Sql =>
  DATABASE_URL === undefined
    ? openSqlite(join(String(QL_DATA), "quicklink.sqlite"))
    : openPostgres(DATABASE_URL, { connections: 2 }, silent);

const ringFile = ({ QL_DATA }: Environment) => join(String(QL_DATA), "secrets", "QL_SECRET_KEYS");
const keysIn = (env: Environment) => readFileSync(ringFile(env), "utf8").trim();

/** Tenants whose keys are encrypted with a ring. */
async function fill(env: Environment, ring: string, count: number): Promise<void> {
  const sql = connect(env);
  try {
    const tenants = createTenants(sql, systemClock);
    const settings = createEmailSettings(sql, createRing(parseKeys(ring)), systemClock);
    for (let i = 0; i < count; i++) {
      const { id, slug } = await tenants.create(`tenant-${i}`, "A tenant", byCommand);
      await settings.change(id, { sendgridKey: secretOf(slug), sender: "links@example.com" }, byCommand);
    }
  } finally {
    await sql.close();
  }
}

/** How many can be decrypted with a ring, and their values. */
async function opened(env: Environment, ring: string): Promise<number> {
  const sql = connect(env);
  try {
    const settings = createEmailSettings(sql, createRing(parseKeys(ring)), systemClock);
    let right = 0;
    for (const { id, slug } of await createTenants(sql, systemClock).list(1_000)) {
      const own = await settings.ownKey(id).catch(() => undefined);
      if (own?.key === secretOf(slug)) right++;
    }
    return right;
  } finally {
    await sql.close();
  }
}

describe("the keys that an embedded server keeps", () => {
  async function folder(count: number): Promise<Environment> {
    const env = await newDatabase("SQLite");
    must(await cli(["tenant", "list"], { env }));
    await fill(env, keysIn(env), count);
    return env;
  }

  test("are rotated: everything is encrypted with the new key, and the old one is removed", async () => {
    const env = await folder(3);
    const before = keysIn(env);
    const printed = must(await cli(["secrets", "rotate"], { env }));
    expect(printed).toMatch(
      /^Encrypted 3 secrets with "k[0-9a-f]{8}"; 0 were up to date; 0 cannot be decrypted\.\nRemoved the old key/,
    );
    expect(parseKeys(keysIn(env))).toHaveLength(1);
    expect(keysIn(env)).not.toBe(before);
    expect([await opened(env, keysIn(env)), await opened(env, before)]).toEqual([3, 0]);
    expect(printed).not.toContain(keysIn(env).split(":")[1] ?? "");
  });

  test("are not rotated under a running server", async () => {
    const env = await folder(1);
    const before = keysIn(env);
    const server = await startServer({ dataDir: String(env.QL_DATA), key: "none", env });
    const refused = await cli(["secrets", "rotate"], { env });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "A server is running on this data folder. Stop it, run this command again, then start the server.\n",
    ]);
    expect(keysIn(env)).toBe(before);
    expect(await server.stop()).toBe(0);
    must(await cli(["secrets", "rotate"], { env }));
    expect(await opened(env, keysIn(env))).toBe(1);
  });

  test("decrypt every secret whenever the rotation is killed, and the next run finishes it", async () => {
    const count = 150;
    const env = await folder(count);
    const before = keysIn(env);
    let unfinished = 0;
    for (let round = 0; round < 40 && unfinished < 3; round++) {
      const child = startProcess([...program, "secrets", "rotate"], {
        cwd: join(import.meta.dir, "../.."),
        env: cleanEnvironment(env),
      });
      // As soon as the ring has both keys, and later and later while rows are encrypted again.
      while (keysIn(env) === before) if ((await Promise.race([child.exited, Bun.sleep(1)])) !== undefined) break;
      await Bun.sleep(round * 5);
      await child.kill();
      expect(await opened(env, keysIn(env))).toBe(count);
      if (parseKeys(keysIn(env)).length > 1) unfinished++;
      else break;
    }
    expect(unfinished).toBeGreaterThan(0);
    const printed = must(await cli(["secrets", "rotate"], { env }));
    expect(parseKeys(keysIn(env))).toHaveLength(1);
    expect(await opened(env, keysIn(env))).toBe(count);
    expect(printed).toContain("0 cannot be decrypted");
    const files = readdirSync(join(String(env.QL_DATA), "secrets")).toSorted();
    expect(files).toEqual(["QL_CODE_SALT", "QL_SECRET_KEYS", "QL_SIGNING_KEYS"]);
  }, 60_000);

  test("report whose secret no key decrypts", async () => {
    const env = await folder(2);
    const other = await newDatabase("SQLite");
    must(await cli(["tenant", "list"], { env: other }));
    const printed = must(await cli(["secrets", "rotate"], { env: { ...env, QL_SECRET_KEYS: keysIn(other) } }));
    expect(printed).toContain("Encrypted 0 secrets with");
    expect(printed.match(/The SendGrid key of ten_\w+ must be saved again/g)).toHaveLength(2);
  });
});

if (postgresAvailable()) {
  test("with PostgreSQL the operator puts a new key first, encrypts again, and removes the old one", async () => {
    const env = await newDatabase("PostgreSQL");
    const [old, next] = [`k1:${"1".repeat(64)}`, `k2:${"2".repeat(64)}`];
    await fill(env, old, 3);
    const rotate = (keys: string) => cli(["secrets", "rotate"], { env: { ...env, QL_SECRET_KEYS: keys } });
    const first = must(await rotate(`${next},${old}`));
    expect(first).toContain('Encrypted 3 secrets with "k2"; 0 were up to date; 0 cannot be decrypted.');
    expect(first).toContain('remove "k1"');
    expect(must(await rotate(`${next},${old}`))).toContain('Encrypted 0 secrets with "k2"; 3 were up to date');
    expect([await opened(env, next), await opened(env, old)]).toEqual([3, 0]);
    expect(must(await rotate(next))).toContain("Only one key is set");
    const unset = await cli(["secrets", "rotate"], { env });
    expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining("QL_SECRET_KEYS is not set")]);
  });
}
