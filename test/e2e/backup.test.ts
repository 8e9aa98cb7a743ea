import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { createRing, parseKeys } from "../../src/base/seal.ts";
import { createEmailSettings } from "../../src/email/settings.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { find } from "../ground/machine.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { cleanEnvironment, type Environment, runProcess } from "../ground/process.ts";
import { cli, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { must, newDatabase, query, type Site, siteOf, startSite } from "./servers.ts";

const folder = tempFolder("backups");
let files = 0;
const newFile = () => join(folder, `backup-${++files}.sqlite`);

const refusal = async (args: string[], env: Environment): Promise<string> => {
  const { code, stderr } = await cli(args, { env });
  expect(code).toBeGreaterThan(0);
  return stderr;
};

async function tables(env: Environment): Promise<Record<string, unknown[]>> {
  const names = (await query(env, "select name from sqlite_schema where type = 'table'")) as { name: string }[];
  const all: Record<string, unknown[]> = {};
  for (const { name } of names) all[name] = await query(env, `select * from ${name} order by 1, 2`);
  return all;
}

/** The email settings of the first tenant, under the keys in its data folder. */
async function withEmail<Result>(
  { QL_DATA }: Environment,
  use: (settings: ReturnType<typeof createEmailSettings>, tenant: TenantId) => Promise<Result>,
): Promise<Result> {
  const keys = readFileSync(join(String(QL_DATA), "secrets", "QL_SECRET_KEYS"), "utf8").trim();
  const sql = openSqlite(join(String(QL_DATA), "quicklink.sqlite"));
  try {
    const [tenant] = await createTenants(sql, systemClock).list(1);
    if (tenant === undefined) throw new Error("there is no tenant");
    return await use(createEmailSettings(sql, createRing(parseKeys(keys)), systemClock), tenant.id);
  } finally {
    await sql.close();
  }
}

describe("a backup of the embedded database", () => {
  const running: Site[] = [];
  afterAll(() => Promise.all(running.map(({ server }) => server.stop())));

  test("made under load has every link that was acknowledged before it, and can be served from elsewhere", async () => {
    const site = await startSite("SQLite");
    running.push(site);
    const codes: string[] = [];
    let writing = true;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; writing; i++) codes.push((await site.create({ url: `https://example.com/${writer}/${i}` })).code);
    });
    while (codes.length < 100) await site.create({ url: "https://example.com/more" });
    const acknowledged = [...codes];
    const file = newFile();
    expect(must(await site.cli("backup", file))).toContain("all that is in the database, and its secrets");
    const enough = codes.length + 50;
    while (codes.length < enough) await site.create({ url: "https://example.com/later" });
    writing = false;
    await Promise.all(writers);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const dataDir = join(tempFolder("data"), "new");
    expect(must(await cli(["restore", file], { env: { QL_DATA: dataDir } }))).toContain("is that of the backup");
    const env = { QL_DATA: dataDir };
    const restored = siteOf(
      await startServer({ dataDir, key: site.server.key, env: { QL_GUESSES_PER_MINUTE: "none" } }),
      env,
    );
    running.push(restored);
    for (const code of acknowledged) {
      const [there, here] = [await site.visit(`/${code}`), await restored.visit(`/${code}`)];
      expect([here.status, here.headers.get("location")]).toEqual([302, there.headers.get("location")]);
    }
    // Codes that were given out after the backup are not given to other links.
    const given = new Set(codes);
    for (let i = 0; i < 100; i++) {
      expect(given.has((await restored.create({ url: "https://example.com/new" })).code)).toBe(false);
    }
    expect(await query(env, "select name from sqlite_schema where name like 'backup%'")).toEqual([]);
  }, 60_000);

  test("brings back every row of every table, and tenants' secrets still open", async () => {
    const site = await startSite("SQLite");
    const { id: stored } = await site.store("hello");
    await site.create({ file: stored, code: "to-file", password: "open sesame" });
    const rules = [{ when: { country: ["DE"] }, url: "https://example.com/de" }];
    const headers = { "idempotency-key": "once" };
    await site.call("POST", "/api/links", { body: { url: "https://example.com/", code: "by-rules", rules }, headers });
    must(await site.cli("domain", "add", "go.example.com"));
    must(await site.cli("link", "suspend", "by-rules", "--reason", "phishing"));
    const list = join(folder, `links-${++files}.csv`);
    writeFileSync(list, "url\nhttps://example.com/imported\n");
    must(await site.cli("import", list));
    await site.server.stop();
    await withEmail(site.env, async (email, tenant) =>
      email.change(tenant, { sendgridKey: "SG.a-secret", sender: "a@example.com" }),
    );

    const file = newFile();
    expect(must(await site.cli("backup", file))).toContain("Uploaded files are not in it.");
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["restore", file], { env }));
    const [before, after] = [await tables(site.env), await tables(env)];
    for (const name of ["links", "files", "domains", "suspended_links", "imports", "idempotency", "email_settings"]) {
      expect([name, before[name]?.length]).not.toEqual([name, 0]);
    }
    // The counter of codes jumps.
    expect({ ...after, counters: [] }).toEqual({ ...before, counters: [] });
    expect(await withEmail(env, async (email, tenant) => (await email.ownKey(tenant))?.key)).toBe("SG.a-secret");
    expect(existsSync(join(env.QL_DATA, "files"))).toBe(false);
  }, 60_000);

  test("has the salt also if that came from the environment, and not a wrong one", async () => {
    const env = { QL_DATA: tempFolder("data"), QL_CODE_SALT: "a salt that is in no folder" };
    must(await cli(["tenant", "create", "default"], { env }));
    must(await cli(["link", "create", "https://example.com", "--code", "salted"], { env }));
    const file = newFile();
    expect(await refusal(["backup", file], { ...env, QL_CODE_SALT: "another salt than that" })).toContain(
      "not the salt this database was made with",
    );
    must(await cli(["backup", file], { env }));
    const elsewhere = { QL_DATA: tempFolder("data") };
    must(await cli(["restore", file], { env: elsewhere }));
    expect(must(await cli(["link", "get", "salted"], { env: elsewhere }))).toContain("https://example.com/");
    const contradicting = { QL_DATA: tempFolder("data"), QL_CODE_SALT: "another salt than that" };
    expect(must(await cli(["restore", file], { env: contradicting }))).toContain(
      "QL_CODE_SALT is set to another value",
    );
  });

  test("is not written over anything, nor where there is nothing to back up", async () => {
    const env = { QL_DATA: tempFolder("data") };
    expect(await refusal(["backup", newFile()], env)).toContain("There is no database");
    must(await cli(["tenant", "list"], { env }));
    const file = newFile();
    writeFileSync(file, "precious");
    expect(await refusal(["backup", file], env)).toContain("is there already");
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(await refusal(["backup", "/nonexistent/backup"], env)).toContain("could not be written");
  });
});

describe("restoring", () => {
  async function made(): Promise<{ file: string; env: { QL_DATA: string } }> {
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["tenant", "create", "default"], { env }));
    must(await cli(["link", "create", "https://example.com/", "--code", "first"], { env }));
    const file = newFile();
    must(await cli(["backup", file], { env }));
    return { file, env };
  }

  test("is refused while a server runs, and over a database; with --force that one is kept", async () => {
    const { file, env } = await made();
    const site = await startSite("SQLite");
    expect(await refusal(["restore", file, "--force"], site.env)).toContain("Another QuickLink server");
    await site.server.stop();
    must(await cli(["link", "create", "https://example.com/", "--code", "second"], { env }));
    expect(await refusal(["restore", file], env)).toContain("--force");
    expect(must(await cli(["link", "list"], { env }))).toContain("second");
    expect(must(await cli(["restore", file, "--force"], { env }))).toContain("What was there is kept");
    const links = must(await cli(["link", "list"], { env }));
    expect([links.includes("first"), links.includes("second")]).toEqual([true, false]);
    const kept = readdirSync(env.QL_DATA).filter((name) => name.includes("replaced"));
    expect(kept.map((name) => name.split(".replaced")[0]).toSorted()).toEqual(["quicklink.sqlite", "secrets"]);
    // Nothing of the old database lies beside the new one, where SQLite would take it for its own.
    expect(readdirSync(env.QL_DATA).filter((name) => name.includes("replaced") && /-(?:wal|shm)$/.test(name))).toEqual(
      [],
    );
  });

  test("is refused from what is no backup, is damaged, or is of a newer program; nothing is left behind", async () => {
    const { file } = await made();
    const none = newFile();
    writeFileSync(none, "this is text");
    const cut = newFile();
    writeFileSync(cut, readFileSync(file));
    truncateSync(cut, statSync(cut).size / 2);
    const plain = (await made()).env;
    const newer = await made();
    await query(newer.env, "insert into schema_migrations (name, timestamp) values ('9999-future', 'later')");
    const future = newFile();
    must(await cli(["backup", future], { env: newer.env }));
    for (const [source, sentence] of [
      [none, "no backup"],
      [cut, "damaged"],
      [join(plain.QL_DATA, "quicklink.sqlite"), "no backup"],
      [future, "newer than this program"],
      ["/nonexistent", "There is no file"],
    ] as const) {
      const env = { QL_DATA: tempFolder("data") };
      expect(await refusal(["restore", source], env)).toContain(sentence);
      expect(readdirSync(env.QL_DATA).filter((name) => !name.startsWith("serve."))).toEqual([]);
    }
  });
});

if (postgresAvailable()) {
  describe("the recipe for PostgreSQL in the runbook", () => {
    const runbook = readFileSync(join(import.meta.dir, "../../docs/runbook.md"), "utf8");
    const recipe = (mark: string): string =>
      new RegExp(`^ *\`\`\`sh ${mark}\\n([\\s\\S]*?)^ *\`\`\`$`, "m").exec(runbook)?.[1] ?? "";

    async function follow(mark: string, env: Environment, cwd: string): Promise<void> {
      const script = recipe(mark);
      expect(script).toContain("pg_");
      const path = [find("postgresql")?.folder, process.env.PATH].join(":");
      const { code, stderr } = await runProcess(["sh", "-ec", script], {
        cwd,
        env: cleanEnvironment({ ...env, PATH: path }),
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }

    async function everything(env: Environment): Promise<Record<string, unknown[]>> {
      const tables = (await query(
        env,
        "select tablename as name from pg_tables where schemaname = 'public' order by 1",
      )) as {
        name: string;
      }[];
      const all: Record<string, unknown[]> = {};
      for (const { name } of tables) all[name] = await query(env, `select t::text from ${name} t order by 1`);
      return all;
    }

    test("brings back every row of every table, into an empty database and over one that has moved on", async () => {
      const env = await newDatabase("PostgreSQL");
      must(await cli(["tenant", "create", "default"], { env }));
      for (const code of ["one", "two"])
        must(await cli(["link", "create", "https://example.com/", "--code", code], { env }));
      must(await cli(["link", "delete", "two"], { env }));
      const cwd = tempFolder("dump");
      await follow("backup", env, cwd);
      const before = await everything(env);
      expect(before.links).toHaveLength(1);
      expect(before.link_versions).toHaveLength(2);

      const empty = { ...env, DATABASE_URL: await (await sharedPostgres()).createDatabase("restored") };
      await follow("restore", empty, cwd);
      expect(await everything(empty)).toEqual(before);
      must(await cli(["link", "create", "https://example.com/", "--code", "three"], { env: empty }));

      await follow("restore", empty, cwd);
      expect(await everything(empty)).toEqual(before);
      expect(await refusal(["backup", newFile()], env)).toContain("pg_dump");
    });
  });
}
