import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { TenantId } from "../../src/base/ids.ts";
import { createRing, parseKeys } from "../../src/base/seal.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { archiveFiles, markDeleted } from "../../src/files/archive.ts";
import { createArchive, snapshot } from "../../src/sql/backup.ts";
import { openSqlite } from "../../src/sql/sqlite.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { find } from "../ground/machine.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { cleanEnvironment, type Environment, runProcess, startProcess, until } from "../ground/process.ts";
import { cli, program, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { type FileBody, must, newDatabase, query, type Site, siteOf, startSite } from "./servers.ts";

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

/** The email settings of the first tenant, with the keys in its data folder. */
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

  test("created under load has every link that was acknowledged before it, and can be served from elsewhere", async () => {
    // With such small blocks, numbers are taken from SQL after the backup, too.
    const site = await startSite("SQLite", { QL_CODE_BLOCK: "10" });
    running.push(site);
    const codes: string[] = [];
    let writing = true;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; writing; i++) codes.push((await site.create({ url: `https://example.com/${writer}/${i}` })).code);
    });
    while (codes.length < 100) await site.create({ url: "https://example.com/more" });
    const acknowledged = [...codes];
    const file = newFile();
    expect(must(await site.cli("backup", file))).toContain("the database and its secrets");
    const enough = codes.length + 50;
    while (codes.length < enough) await site.create({ url: "https://example.com/later" });
    writing = false;
    await Promise.all(writers);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const dataDir = join(tempFolder("data"), "new");
    expect(must(await cli(["restore", file], { env: { QL_DATA: dataDir } }))).toContain("Restored the database in");
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
    // Codes issued after the backup are not given to other links.
    const given = new Set(codes);
    for (let i = 0; i < 100; i++) {
      expect(given.has((await restored.create({ url: "https://example.com/new" })).code)).toBe(false);
    }
    expect(await query(env, "select name from sqlite_schema where name like 'backup%'")).toEqual([]);
  }, 60_000);

  test("restores every row of every table, and tenants' secrets can be decrypted", async () => {
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
      email.change(tenant, { sendgridKey: "SG.a-secret", sender: "a@example.com" }, byCommand),
    );

    const file = newFile();
    expect(must(await site.cli("backup", file, "--without-files"))).toContain("Uploaded files are not included.");
    const env = { QL_DATA: tempFolder("data") };
    expect(must(await cli(["restore", file], { env }))).toContain("The backup does not contain uploaded files");
    const [before, after] = [await tables(site.env), await tables(env)];
    for (const name of ["links", "files", "domains", "suspended_links", "imports", "idempotency", "email_settings"]) {
      expect([name, before[name]?.length]).not.toEqual([name, 0]);
    }
    // The counter of codes jumps.
    expect({ ...after, counters: [] }).toEqual({ ...before, counters: [] });
    expect(await withEmail(env, async (email, tenant) => (await email.ownKey(tenant))?.key)).toBe("SG.a-secret");
    expect(existsSync(join(env.QL_DATA, "files"))).toBe(false);
  }, 60_000);

  test("has the clicks of today, and neither the visitors nor the salts by which they are recognised", async () => {
    const site = await startSite("SQLite");
    const { id } = await site.create({ url: "https://example.com/", code: "clicked" });
    for (const language of ["de", "en"]) await site.visit("/clicked", { "accept-language": language });
    await site.server.stop(); // writes all clicks
    const salted = "select salt from click_days where salt is not null";
    const seen = "select hash from click_visitors";
    const salts = (await query(site.env, salted)) as { salt: string }[];
    expect([salts.length, (await query(site.env, seen)).length]).toEqual([1, 2]);

    const file = newFile();
    must(await site.cli("backup", file));
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["restore", file], { env }));
    expect([await query(env, salted), await query(env, seen)]).toEqual([[], []]);
    for (const copy of [file, join(env.QL_DATA, "quicklink.sqlite")]) {
      expect(readFileSync(copy).includes(String(salts[0]?.salt))).toBe(false);
    }
    const restored = siteOf(await startServer({ dataDir: env.QL_DATA, key: site.server.key }), env);
    running.push(restored);
    await restored.visit("/clicked");
    await until("the click", async () => {
      const reply = await restored.call("GET", `/api/links/${id}/stats`);
      const { totals } = reply.json<{ totals: { clicks: number; visitors: number } }>();
      // The same visitor, who cannot be recognised.
      return (totals.clicks === 3 && totals.visitors === 2) || undefined;
    });
  }, 60_000);

  test("contains the salt even if it came from the environment, and refuses a wrong one", async () => {
    const env = { QL_DATA: tempFolder("data"), QL_CODE_SALT: "a salt that is in no folder" };
    must(await cli(["tenant", "create", "default"], { env }));
    must(await cli(["link", "create", "https://example.com", "--code", "salted"], { env }));
    const file = newFile();
    expect(await refusal(["backup", file], { ...env, QL_CODE_SALT: "another salt than that" })).toContain(
      "QL_CODE_SALT does not match this database",
    );
    must(await cli(["backup", file], { env }));
    const elsewhere = { QL_DATA: tempFolder("data") };
    must(await cli(["restore", file], { env: elsewhere }));
    expect(must(await cli(["link", "get", "salted"], { env: elsewhere }))).toContain("https://example.com/");
    const contradicting = { QL_DATA: tempFolder("data"), QL_CODE_SALT: "another salt than that" };
    expect(must(await cli(["restore", file], { env: contradicting }))).toContain(
      "QL_CODE_SALT is set to a different value",
    );
  });

  test("overwrites nothing, and is refused without a database", async () => {
    const env = { QL_DATA: tempFolder("data") };
    expect(await refusal(["backup", newFile()], env)).toContain("No database in");
    must(await cli(["tenant", "list"], { env }));
    const file = newFile();
    writeFileSync(file, "precious");
    expect(await refusal(["backup", file], env)).toContain("already exists");
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(await refusal(["backup", "/nonexistent/backup"], env)).toContain("could not be written");
  });
});

describe("uploaded files in a backup", () => {
  const stop: (() => Promise<unknown>)[] = [];
  afterAll(() => Promise.all(stop.map((end) => end())));

  async function withFiles(...bodies: string[]) {
    const site = await startSite("SQLite");
    stop.push(() => site.server.stop());
    const stored: FileBody[] = [];
    for (const [i, body] of bodies.entries()) stored.push(await site.store(body, { name: `file ${i}.txt` }));
    const tenant = (await site.call("GET", "/api/tenant")).json<{ id: string }>().id;
    const path = ({ id }: Pick<FileBody, "id">, root = String(site.env.QL_DATA)) =>
      join(root, "files", "stored", tenant, id);
    return { site, stored, path };
  }

  /** As long as it does not fit into one piece. */
  const long = Array.from({ length: 60_000 }, (_, i) => `line ${i} of a long file\n`)
    .join("")
    .repeat(2);

  test("are restored byte for byte, and served from there", async () => {
    const { site, stored, path } = await withFiles("hello", long);
    const [first, second] = stored as [FileBody, FileBody];
    await site.create({ file: second.id, code: "the-file" });
    const file = newFile();
    expect(must(await site.cli("backup", file))).toContain("the database and its secrets; 2 uploaded files");
    expect(readdirSync(folder).filter((name) => name.startsWith(`${basename(file)}.`))).toEqual([]);

    const dataDir = tempFolder("data");
    const printed = must(await cli(["restore", file], { env: { QL_DATA: dataDir } }));
    expect(printed).toContain("Restored 2 uploaded files; all checksums match.");
    for (const [body, one] of [
      ["hello", first],
      [long, second],
    ] as const) {
      expect(readFileSync(path(one, dataDir), "utf8")).toBe(body);
      expect(statSync(path(one, dataDir)).mode & 0o777).toBe(0o600);
    }
    const server = await startServer({ dataDir, key: site.server.key });
    stop.push(() => server.stop());
    const restored = siteOf(server, { QL_DATA: dataDir });
    const location = new URL((await restored.reach("/the-file")).headers.get("location") ?? "");
    expect((await restored.visit(location.pathname + location.search)).text).toBe(long);
  }, 60_000);

  test("that are missing or damaged are named, and fail the command; all others are included", async () => {
    const { site, stored, path } = await withFiles("whole", "damaged", "missing", "linked");
    const [whole, damaged, missing, linked] = stored as [FileBody, FileBody, FileBody, FileBody];
    writeFileSync(path(damaged), "d4maged");
    for (const one of [missing, linked]) rmSync(path(one));
    const elsewhere = join(folder, "linked");
    writeFileSync(elsewhere, "linked");
    symlinkSync(elsewhere, path(linked));
    const file = newFile();
    const { code, stdout, stderr } = await site.cli("backup", file);
    expect([code, stdout.includes("1 uploaded files")]).toEqual([1, true]);
    expect(stderr).toContain("3 files are missing or damaged");
    for (const { id } of [damaged, missing, linked]) expect(stderr).toContain(id);
    expect(stderr).not.toContain(whole.id);
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["restore", file], { env }));
    expect(stored.map((one) => existsSync(path(one, env.QL_DATA)))).toEqual([true, false, false, false]);
  });

  test("that are deleted meanwhile are deleted in it too; one stored meanwhile is not included", async () => {
    const { site, stored } = await withFiles("stays", "goes");
    const [stays, goes] = stored as [FileBody, FileBody];
    const copy = join(folder, `snapshot-${++files}`);
    snapshot(join(String(site.env.QL_DATA), "quicklink.sqlite"), copy);
    expect((await site.call("DELETE", `/api/files/${goes.id}`)).status).toBe(204);
    const later = await site.store("later");
    const [snapshotSql, live] = [openSqlite(copy), openSqlite(join(String(site.env.QL_DATA), "quicklink.sqlite"))];
    const archive = createArchive(newFile());
    const root = join(String(site.env.QL_DATA), "files");
    const found = await archiveFiles({ snapshot: snapshotSql, live, root, archive, progress() {} });
    expect(found).toMatchObject({ files: 1, damaged: 0, deleted: [goes.id] });
    await markDeleted(snapshotSql, found.deleted);
    const rows = await acrossTenants(snapshotSql.db)
      .selectFrom("files")
      .select(["id", "state"])
      .orderBy("id")
      .execute();
    expect(rows.map(({ id, state }) => [String(id), state])).toEqual([
      [stays.id, "stored"],
      [goes.id, "deleting"],
    ]);
    expect(rows.some(({ id }) => String(id) === later.id)).toBe(false);
    archive.close();
    await Promise.all([snapshotSql.close(), live.close()]);
  });

  test("killed in the middle leaves nothing that looks like a backup", async () => {
    const { site, stored, path } = await withFiles("first", "second");
    const [, second] = stored as [FileBody, FileBody];
    // The reader waits.
    rmSync(path(second));
    expect((await runProcess(["mkfifo", path(second)], {})).code).toBe(0);
    const file = newFile();
    const child = startProcess([...program, "backup", file], {
      cwd: join(import.meta.dir, "../.."),
      env: cleanEnvironment(site.env),
    });
    const drafts = () => readdirSync(folder).filter((name) => name.startsWith(`${basename(file)}.`));
    await until("the backup to be half made", () => drafts().some((name) => name.endsWith(".db-wal")) || undefined);
    await child.kill();
    expect(existsSync(file)).toBe(false);
    expect(drafts().length).toBeGreaterThan(0);
    for (const draft of drafts()) {
      const env = { QL_DATA: tempFolder("data") };
      await refusal(["restore", join(folder, draft)], env);
      expect(readdirSync(env.QL_DATA).filter((name) => !name.startsWith("serve."))).toEqual([]);
    }
  });

  test("are skipped with --without-files, and refused if S3_URL says that they belong in a bucket", async () => {
    const { site } = await withFiles("hello");
    const file = newFile();
    must(await site.cli("backup", file));
    const env = { QL_DATA: tempFolder("data"), S3_URL: "http://key:secret@127.0.0.1:9/bucket" };
    expect(await refusal(["restore", file], env)).toContain("--without-files");
    expect(must(await cli(["restore", file, "--without-files"], { env }))).toContain("were not restored");
    expect(existsSync(join(env.QL_DATA, "files"))).toBe(false);
    const bucket = newFile();
    expect(must(await cli(["backup", bucket], { env }))).toContain("Uploaded files are in the bucket of S3_URL");
    expect(await refusal(["backup", newFile(), "--only-files"], env)).toContain("bucket");
    expect(await refusal(["backup", newFile(), "--only-files", "--without-files"], site.env)).toContain(
      "exclude each other",
    );
    const files = newFile();
    must(await site.cli("backup", files, "--only-files"));
    const elsewhere = { QL_DATA: tempFolder("data") };
    expect(await refusal(["restore", files, "--without-files"], elsewhere)).toContain("contains only uploaded files");
  });

  test("of a manipulated archive reach no other place, and damage is detected", async () => {
    const { site, stored } = await withFiles("hello");
    const [{ id }] = stored as [FileBody];
    const file = newFile();
    must(await site.cli("backup", file));

    const hostile = newFile();
    writeFileSync(hostile, readFileSync(file));
    const tamper = new Database(hostile);
    for (const name of [
      "../../evil",
      "stored/../../../evil",
      "/tmp/evil",
      `stored/../${id}`,
      "secrets/QL_CODE_SALT",
      "",
    ]) {
      tamper.run("insert into backup_entries select ?, bytes, sha256, first, pieces from backup_entries limit 1", [
        name,
      ]);
    }
    tamper.close();
    const base = tempFolder("hostile");
    const env = { QL_DATA: join(base, "a", "b") };
    expect(must(await cli(["restore", hostile], { env }))).toContain("Restored 1 uploaded files");
    const all = readdirSync(base, { recursive: true }).map(String);
    expect(all.filter((name) => name.includes("evil"))).toEqual([]);
    expect(all.filter((name) => name.endsWith(id))).toHaveLength(1);

    for (const [statement, why] of [
      ["update backup_pieces set bytes = zeroblob(length(bytes)) where id = 1", "damaged"],
      ["delete from backup_pieces where id = 1", "damaged"],
      ["update backup_entries set sha256 = 'x' where name = 'quicklink.sqlite'", "damaged"],
      ["insert into backup_secrets values ('../../evil', 'x')", "invalid name"],
      ["delete from backup", "incomplete"],
    ] as const) {
      const bad = newFile();
      writeFileSync(bad, readFileSync(file));
      const database = new Database(bad);
      database.run(statement);
      database.close();
      const place = { QL_DATA: tempFolder("data") };
      expect([statement, await refusal(["restore", bad], place)]).toEqual([statement, expect.stringContaining(why)]);
      expect(readdirSync(place.QL_DATA).filter((name) => !name.startsWith("serve."))).toEqual([]);
    }
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
    mkdirSync(join(env.QL_DATA, "files", "stored"), { recursive: true });
    expect(must(await cli(["restore", file, "--force"], { env }))).toContain("The previous data is kept");
    const links = must(await cli(["link", "list"], { env }));
    expect([links.includes("first"), links.includes("second")]).toEqual([true, false]);
    const kept = readdirSync(env.QL_DATA).filter((name) => name.includes("replaced"));
    expect(kept.map((name) => name.split(".replaced")[0]).toSorted()).toEqual(["files", "quicklink.sqlite", "secrets"]);
    // Nothing of the old database is left beside the new one, where SQLite would use it.
    expect(readdirSync(env.QL_DATA).filter((name) => name.includes("replaced") && /-(?:wal|shm)$/.test(name))).toEqual(
      [],
    );
  });

  test("is refused from a file that is not a backup, is damaged, or is of a newer program; nothing is left behind", async () => {
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
      [none, "Not a file created by"],
      [cut, "damaged"],
      [join(plain.QL_DATA, "quicklink.sqlite"), "Not a file created by"],
      [future, "newer than this program"],
      ["/nonexistent", "No such file"],
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

    test("restores every row of every table, into an empty database and over a newer one", async () => {
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

    test("has a command for uploaded files on disk beside it", async () => {
      const site = await startSite("PostgreSQL");
      const { id } = await site.store("hello");
      const file = newFile();
      expect(must(await site.cli("backup", file, "--only-files"))).toContain("1 uploaded files");
      expect(await site.server.stop()).toBe(0);
      const folderOf = (env: Environment) => join(String(env.QL_DATA), "files");
      const kept =
        readdirSync(folderOf(site.env), { recursive: true })
          .map(String)
          .find((name) => name.endsWith(id)) ?? "";
      rmSync(folderOf(site.env), { recursive: true });
      expect(must(await site.cli("restore", file))).toContain("Restored 1 uploaded files");
      expect(readFileSync(join(folderOf(site.env), kept), "utf8")).toBe("hello");
      expect(await refusal(["restore", file], site.env)).toContain("--force");
    });
  });
}
