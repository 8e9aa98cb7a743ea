import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { cleanEnvironment, type Environment, type Finished, runProcess } from "../ground/process.ts";
import { cli, cliProcess, program, programInShell } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type LinkBody, must, newDatabase, query } from "./servers.ts";

type Shown = { name: string; value: string; origin: string };
type TenantShown = { id: string; slug: string; name: string; plan: string; createdAt: string } & Record<
  string,
  unknown
>;
type KeyShown = {
  id: string;
  name: string;
  hint: string;
  scopes: string[];
  expiresAt: string | null;
  revokedAt: string | null;
};

const salt = "a salt that nobody may see";

/** In a separate folder, which may have a `.env`. */
const cliIn = (folder: string, args: readonly string[], env: Environment = {}): Promise<Finished> =>
  cli(args, { folder, env: { QL_DATA: "", QL_LOG_LEVEL: "", ...env } });

/** The same, as a process: also paths on the command line and in settings are relative to the folder. */
const processIn = (folder: string, args: readonly string[], env: Environment = {}): Promise<Finished> =>
  runProcess([...program, ...args], { cwd: folder, env: cleanEnvironment(env) });

const lines = (text: string) => text.split("\n").filter((line) => line !== "");

/** Commands on one database: as they end, with the output of one that must not fail, and with its JSON. */
function commands(env: () => Environment) {
  const run = (...args: string[]) => cli(args, { env: env() });
  const ok = async (...args: string[]) => must(await run(...args));
  const okJson = async <Body>(...args: string[]): Promise<Body> => JSON.parse(await ok(...args, "--json")) as Body;
  return { run, ok, okJson };
}

/** A command that must fail in an orderly way: a sentence on standard error, nothing else. */
function expectFailure({ code, stdout, stderr }: Finished, status: number, ...says: (string | RegExp)[]): void {
  expect({ code, stdout, stderr }).toEqual({ code: status, stdout: "", stderr: expect.any(String) });
  for (const part of says) expect(stderr).toMatch(part);
  expect(stderr).not.toMatch(/\n\s+at |Unexpected error/);
}

describe("config", () => {
  const settings = async (env: Environment, folder = tempFolder()) =>
    JSON.parse(must(await cliIn(folder, ["config", "--json"], env))) as Shown[];
  const setting = (all: readonly Shown[], name: string) => all.find((one) => one.name === name);

  test("shows every setting of the document, its value and where it came from", async () => {
    // Not the folder of a server that was started here.
    const all = await settings({ PORT: "4321", QL_LINK_DAYS: "30", QL_DATA: tempFolder() });
    expect(setting(all, "PORT")).toEqual({ name: "PORT", value: "4321", origin: "environment" });
    expect(setting(all, "QL_LINK_DAYS")).toEqual({ name: "QL_LINK_DAYS", value: "30", origin: "environment" });
    expect(setting(all, "HOST")).toEqual({ name: "HOST", value: "0.0.0.0", origin: "default" });
    expect(setting(all, "DATABASE_URL")).toEqual({ name: "DATABASE_URL", value: "", origin: "not set" });
    expect(setting(all, "QL_CODE_SALT")?.origin).toBe("generated on first start");
    for (const name of [
      "REDIS_URL",
      "QL_DATA",
      "QL_BASE_URL",
      "QL_TRUSTED_PROXIES",
      "QL_METRICS_TOKEN",
      "QL_LOG_LEVEL",
    ]) {
      expect(setting(all, name)?.name).toBe(name);
    }
  });

  test("is tab separated for programs, with a dash for empty values", async () => {
    const rows = lines(must(await cliIn(tempFolder(), ["config"], { PORT: "4321" }))).map((line) => line.split("\t"));
    expect(rows.every((row) => row.length === 3)).toBe(true);
    expect(rows).toContainEqual(["PORT", "4321", "environment"]);
    expect(rows).toContainEqual(["REDIS_URL", "-", "not set"]);
  });

  test("hides secrets, but not which server they are for", async () => {
    const env = {
      DATABASE_URL: "postgres://someone:hush-hush@db.internal:5432/links?sslpassword=hush-hush",
      REDIS_URL: "redis://:hush-hush@cache.internal:6379",
      QL_CODE_SALT: salt,
      QL_METRICS_TOKEN: "hush-hush-hush-hush",
    };
    const outputs = await Promise.all([
      cliIn(tempFolder(), ["config"], env).then(must),
      cliIn(tempFolder(), ["config", "--json"], env).then(must),
    ]);
    for (const output of outputs) {
      expect(output).not.toContain("hush");
      expect(output).not.toContain(salt);
      expect(output).toContain("db.internal:5432/links");
      expect(output).toContain("cache.internal:6379");
    }
  });

  test("hides a password that has an at sign or a slash in it", async () => {
    for (const password of ["hush@hush", "hush%2Fhush", "hush:hush"]) {
      const env = { DATABASE_URL: `postgres://someone:${password}@db.internal/links`, QL_CODE_SALT: salt };
      expect(must(await cliIn(tempFolder(), ["config"], env))).not.toContain("hush");
    }
  });

  test("takes a value from the environment, else the named file, else .env, else the default", async () => {
    const folder = tempFolder();
    const [fromFile, fromDotenv] = ["a salt from a file, with spaces", "a salt from the dotenv file"];
    writeFileSync(join(folder, "salt"), `${fromFile}\n`);
    writeFileSync(
      join(folder, ".env"),
      `# a comment\nPORT=5001\nQL_LINK_DAYS="7"\nQL_CODE_SALT=${fromDotenv}\nQL_DATA=here\nQL_LOG_LEVEL=\n`,
    );
    const named = { QL_CODE_SALT_FILE: join(folder, "salt") };

    const plain = await settings({}, folder);
    expect(setting(plain, "PORT")).toMatchObject({ value: "5001", origin: ".env" });
    expect(setting(plain, "QL_LINK_DAYS")).toMatchObject({ value: "7", origin: ".env" });
    expect(setting(plain, "QL_CODE_SALT")).toMatchObject({ value: "(hidden)", origin: ".env" });
    expect(setting(plain, "QL_LOG_LEVEL")).toMatchObject({ value: "info", origin: "default" });
    const both = await settings({ ...named, PORT: "5002" }, folder);
    expect(setting(both, "PORT")).toMatchObject({ value: "5002", origin: "environment" });
    expect(setting(both, "QL_CODE_SALT")).toMatchObject({ value: "(hidden)", origin: `file ${join(folder, "salt")}` });
    const all = await settings({ ...named, QL_CODE_SALT: salt }, folder);
    expect(setting(all, "QL_CODE_SALT")).toMatchObject({ value: "(hidden)", origin: "environment" });
    expect(JSON.stringify([plain, both, all])).not.toMatch(/a salt from/);
  });

  test("commands use what .env and a file say", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "salt"), salt);
    writeFileSync(
      join(folder, ".env"),
      `QL_DATA=./mine\nQL_BASE_URL=https://go.example.com\nQL_CODE_SALT_FILE=${join(folder, "salt")}\n`,
    );
    must(await processIn(folder, ["tenant", "create", "default"]));
    expect(must(await processIn(folder, ["link", "create", "https://example.com"]))).toStartWith(
      "https://go.example.com/",
    );
    expect(existsSync(join(folder, "mine", "quicklink.sqlite"))).toBe(true);
    expect(existsSync(join(folder, "mine", "secrets", "QL_CODE_SALT"))).toBe(false);
    expectFailure(
      await processIn(folder, ["link", "list"], { QL_CODE_SALT: "another one, just as long" }),
      2,
      /QL_CODE_SALT/,
    );
  });

  test("warns about a name that is nearly a setting", async () => {
    const { code, stderr } = await cliIn(tempFolder(), ["config"], { QL_BASEURL: "https://go.example.com" });
    expect([code, stderr]).toEqual([0, expect.stringContaining("QL_BASEURL is not a QuickLink setting")]);
  });
});

describe("a bad setting stops the start with its name and an example", () => {
  for (const [name, value, reason] of [
    ["PORT", "http", "whole number"],
    ["PORT", "0", "whole number"],
    ["PORT", "65536", "whole number"],
    ["HOST", "example.com", "IP address"],
    ["QL_BASE_URL", "go.example.com", "https?://"],
    ["QL_BASE_URL", "https://go.example.com/path", "path"],
    ["DATABASE_URL", "mysql://hush-hush@localhost/x", "postgres"],
    ["REDIS_URL", "localhost:6379", "redis"],
    ["QL_CODE_SALT", "hush-hush", "16"],
    ["QL_TRUSTED_PROXIES", "10.0.0.0/99", "10.0.0.0/99"],
    ["QL_LOG_LEVEL", "loud", "trace"],
    ["QL_CACHE_MB", "-1", "whole number"],
    ["QL_METRICS_TOKEN", "hush-hush", "16"],
  ] as const) {
    test(`${name}=${value}`, async () => {
      const folder = tempFolder();
      const env = { [name]: value, QL_DATA: join(folder, "data") };
      const finished = await cliIn(folder, ["serve"], env);
      expectFailure(finished, 2, new RegExp(`^${name}: `), new RegExp(reason), new RegExp(`Example: ${name}=`));
      expect(finished.stderr).not.toContain("hush");
      expect(existsSync(join(folder, "data"))).toBe(false);
    });
  }

  test("and so does every other command", async () => {
    const env = { PORT: "http" };
    const commands = ["config", "migrate", "tenant list", "link list"].map((command) => command.split(" "));
    for (const finished of await Promise.all(commands.map((command) => cliIn(tempFolder(), command, env)))) {
      expectFailure(finished, 2, /^PORT: /);
    }
  });

  test("Redis without PostgreSQL, PostgreSQL without a salt, a missing secret file", async () => {
    const folder = tempFolder();
    const [redis, postgres, file] = await Promise.all([
      processIn(folder, ["serve"], { REDIS_URL: "redis://localhost" }),
      cliIn(folder, ["serve"], { DATABASE_URL: "postgres://localhost/x" }),
      cliIn(folder, ["serve"], { QL_CODE_SALT_FILE: join(folder, "nothing") }),
    ]);
    expectFailure(redis, 2, /REDIS_URL/, /DATABASE_URL/);
    expectFailure(postgres, 2, /QL_CODE_SALT/, /DATABASE_URL/);
    expectFailure(file, 2, /QL_CODE_SALT_FILE/, /nothing/);
  });
});

describe("help", () => {
  test("every command explains itself, and those that create something show an example", async () => {
    const commands = ["serve", "config", "migrate", "codes", "tenant", "plan", "key", "link", "link list"];
    const withExample = ["", "tenant create", "tenant update", "plan set", "key create", "link create"];
    const help = async (command: string) =>
      must(await cliIn(tempFolder(), [...command.split(" ").filter(Boolean), "--help"]));
    const texts = await Promise.all([...commands, ...withExample].map(help));
    for (const text of texts) expect(text).toContain("Usage: quicklink");
    for (const text of texts.slice(commands.length)) expect(text).toMatch(/Examples?:\n {2}\$ quicklink /);
  });

  test("an unknown command or option exits with 2 and says where to look", async () => {
    const folder = tempFolder();
    const [command, option, missing, sub] = await Promise.all([
      processIn(folder, ["srve"]),
      cliIn(folder, ["link", "list", "--nope"]),
      cliIn(folder, ["link", "create"]),
      cliIn(folder, ["tenant", "crate", "x"]),
    ]);
    expectFailure(command, 2, /srve/, /--help/);
    expectFailure(option, 2, /--nope/);
    expectFailure(missing, 2, /url/);
    expectFailure(sub, 2, /crate/);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  test("the version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dir, "../../package.json"), "utf8"));
    expect(must(await processIn(tempFolder(), ["--version"])).trim()).toBe(version);
  });
});

test("without a tenant, commands say how to create one", async () => {
  const env = { QL_DATA: tempFolder("data") };
  expectFailure(
    await cli(["link", "create", "https://example.com"], { env }),
    1,
    /No workspace "default"/,
    /tenant create/,
  );
  expect(must(await cli(["tenant", "list"], { env }))).toBe("");
});

for (const database of databases) {
  describe(`on ${database}`, () => {
    let env: Environment;

    const { run, ok, okJson } = commands(() => env);

    beforeAll(async () => {
      env = { ...(await newDatabase(database)), QL_BASE_URL: "https://go.example.com" };
      await ok("tenant", "create", "default", "--plan", "unlimited");
    });

    test("migrate creates the tables once, and --status only lists what has run", async () => {
      const own =
        database === "SQLite"
          ? { QL_DATA: join(tempFolder(), "new") }
          : { DATABASE_URL: String(env.DATABASE_URL).replace(/[^/]+$/, "postgres"), QL_CODE_SALT: salt };
      const fresh = { ...own };
      if (database === "PostgreSQL") {
        const name = `cli_${crypto.randomUUID().replaceAll("-", "")}`;
        await query(own, `create database ${name}`);
        fresh.DATABASE_URL = String(env.DATABASE_URL).replace(/[^/]+$/, name);
      }
      const migrate = async (...args: string[]) => must(await cli(["migrate", ...args], { env: fresh }));
      const pending = lines(await migrate("--status")).map((line) => line.split("\t"));
      expect(pending.map(([, state]) => state)).toEqual(pending.map(() => "pending"));
      expect(pending.length).toBeGreaterThan(0);
      expect(lines(await migrate())).toEqual(pending.map(([name]) => `applied ${name}`));
      expect(await migrate()).toBe("The database is up to date.\n");
      expect(lines(await migrate("--status"))).toEqual(pending.map(([name]) => `${name}\tapplied`));
    });

    test("two machines that migrate at once do not disturb each other", async () => {
      if (database === "SQLite") {
        const folder = { QL_DATA: tempFolder("data") };
        const both = await Promise.all([
          cliProcess(["tenant", "list"], { env: folder }),
          cliProcess(["tenant", "list"], { env: folder }),
        ]);
        // One may be told that another process is migrating; neither may break anything.
        expect(both.map(({ code }) => code)).toContain(0);
        must(await cli(["tenant", "create", "default"], { env: folder }));
        return;
      }
      const name = `cli_${crypto.randomUUID().replaceAll("-", "")}`;
      const base = String(env.DATABASE_URL).replace(/[^/]+$/, "");
      await query({ DATABASE_URL: `${base}postgres` }, `create database ${name}`);
      const fresh = { DATABASE_URL: base + name, QL_CODE_SALT: salt };
      const both = await Promise.all([
        cliProcess(["migrate"], { env: fresh }),
        cliProcess(["migrate"], { env: fresh }),
      ]);
      expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
        [0, ""],
        [0, ""],
      ]);
      expect(both.map(({ stdout }) => stdout).sort()).toEqual([
        "The database is up to date.\n",
        expect.stringMatching(/^applied /),
      ]);
    });

    test("a tenant is created, listed, shown and changed, with its own limits", async () => {
      const made = await okJson<TenantShown>("tenant", "create", "acme", "--name", "Acme Ltd");
      expect(made).toEqual({
        id: expect.stringMatching(/^ten_[0-9a-z]{26}$/),
        slug: "acme",
        name: "Acme Ltd",
        plan: "default",
        hitsPerLinkPerMonth: 10_000,
        linksPerMonth: 1_000,
        storageBytes: 1_000_000_000,
        emailsPerHourSmtp: 50,
        emailsPerHourSendgrid: 200,
        apiPerMinute: 600,
        eventDays: 90,
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        suspended: null,
      });
      expect((await okJson<TenantShown[]>("tenant", "list")).find(({ slug }) => slug === "acme")).toEqual(made);
      expect(lines(await ok("tenant", "list"))).toContain(
        ["acme", "Acme Ltd", "default", made.createdAt, "-"].join("\t"),
      );

      expectFailure(await run("tenant", "create", "acme"), 1, /workspace "acme" already exists/);
      const changed = await okJson<TenantShown>(
        "tenant",
        "update",
        "acme",
        "--hits",
        "50000",
        "--links",
        "none",
        "--smtp-emails",
        "0",
      );
      const own = { hitsPerLinkPerMonth: 50_000, linksPerMonth: null, emailsPerHourSmtp: 0 };
      expect(changed).toEqual({ ...made, ...own });
      // A set limit stays when something else changes, and goes when the plan's is requested.
      const moved = await okJson<TenantShown>(
        "tenant",
        "update",
        "acme",
        "--plan",
        "unlimited",
        "--name",
        "Acme",
        "--hits",
        "plan",
      );
      expect(moved).toMatchObject({ plan: "unlimited", name: "Acme", hitsPerLinkPerMonth: null, emailsPerHourSmtp: 0 });
      expect(await okJson<TenantShown>("tenant", "show", "acme")).toEqual(moved);
      expect(lines(await ok("tenant", "show", "acme"))).toContain("hitsPerLinkPerMonth\t-");
    });

    test("a link is created, shown, listed, disabled, enabled and deleted", async () => {
      const shortUrl = (
        await ok("link", "create", "https://example.com/ü", "--code", "Sale", "--title", "A title", "--permanent")
      ).trim();
      expect(shortUrl).toBe("https://go.example.com/Sale");
      const link = await okJson<LinkBody>("link", "get", "Sale");
      expect(link).toMatchObject({
        code: "Sale",
        shortUrl,
        domain: "go.example.com",
        url: "https://example.com/%C3%BC",
        title: "A title",
        permanent: true,
        status: "active",
        version: 1,
      });
      expect(await okJson<LinkBody>("link", "get", link.id)).toEqual(link);
      expect(lines(await ok("link", "get", "Sale"))).toContain("url\thttps://example.com/%C3%BC");
      const generated = await okJson<LinkBody>("link", "create", "https://example.com", "--expires", "never");
      expect([generated.expiresAt, generated.permanent]).toEqual([null, false]);
      expect(generated.code).toMatch(/^[0-9A-Za-z]{7}$/);
      const dated = await okJson<LinkBody>("link", "create", "https://example.com", "--expires", "2099-01-31");
      expect(dated.expiresAt).toBe("2099-01-31T00:00:00.000Z");

      const list = await okJson<LinkBody[]>("link", "list");
      expect(list.map(({ code }) => code).sort()).toEqual([dated.code, generated.code, "Sale"].sort());
      expect(lines(await ok("link", "list"))).toContain(
        ["Sale", link.url, "active", link.expiresAt, "A title"].join("\t"),
      );
      expect((await okJson<LinkBody[]>("link", "list", "--limit", "1")).length).toBe(1);

      expect(await ok("link", "disable", "Sale")).toBe("Sale is disabled.\n");
      expect((await okJson<LinkBody>("link", "get", "Sale")).status).toBe("disabled");
      expect(await okJson<LinkBody>("link", "enable", link.id)).toMatchObject({ status: "active", version: 3 });
      expect(await ok("link", "delete", "Sale")).toStartWith("Deleted Sale. To restore it");
      expectFailure(await run("link", "get", "Sale"), 1, /No link .*Sale exists in the workspace "default"/);
    });

    test("the salt is changed on purpose only, and links stay", async () => {
      const own = await newDatabase(database);
      must(await cli(["tenant", "create", "default"], { env: own }));
      const link = JSON.parse(
        must(await cli(["link", "create", "https://example.com", "--json"], { env: own })),
      ) as LinkBody;
      const keys = { QL_SIGNING_KEYS: `k1:${"1".repeat(64)}` };
      const changed = { ...own, ...keys, QL_CODE_SALT: "a new salt, made on purpose" };
      expectFailure(await cli(["link", "list"], { env: changed }), 2, /QL_CODE_SALT/, /quicklink codes rotate/);
      expect(must(await cli(["codes", "rotate"], { env: changed }))).toContain("Epoch 2");
      expect(must(await cli(["codes", "rotate"], { env: changed }))).toContain("already in use");
      expect(must(await cli(["link", "list"], { env: changed }))).toStartWith(`${link.code}\t`);
      must(await cli(["link", "create", "https://example.com"], { env: changed }));
    });
  });
}

describe("plans and keys", () => {
  let env: Environment;

  const { run, ok, okJson } = commands(() => env);

  beforeAll(async () => {
    env = { QL_DATA: tempFolder("data") };
    await ok("tenant", "create", "default");
  });

  test("a plan is created, changed and assigned", async () => {
    expect(await ok("plan", "set", "team", "--hits", "100000", "--links", "none")).toContain(
      "tenant update NAME --plan team",
    );
    const plans = async () => await okJson<Record<string, unknown>[]>("plan", "list");
    const team = async () => (await plans()).find(({ name }) => name === "team");
    expect(await team()).toMatchObject({ hitsPerLinkPerMonth: 100_000, linksPerMonth: null, apiPerMinute: 600 });
    await ok("plan", "set", "team", "--api", "5");
    expect(await team()).toMatchObject({ hitsPerLinkPerMonth: 100_000, linksPerMonth: null, apiPerMinute: 5 });
    expect((await plans()).map(({ name }) => name)).toEqual(["default", "unlimited", "team"]);
    expect(lines(await ok("plan", "list"))).toContain("unlimited\t-\t-\t-\t-\t-\t-\t-");
    await ok("tenant", "create", "on-team", "--plan", "team");
    expect(await okJson<TenantShown>("tenant", "show", "on-team")).toMatchObject({ plan: "team", apiPerMinute: 5 });

    const [builtIn, name] = await Promise.all([
      run("plan", "set", "default", "--hits", "1"),
      run("plan", "set", "Not OK", "--hits", "1"),
    ]);
    expectFailure(builtIn, 1, /built in/);
    expectFailure(name, 1, /Not OK/);
  });

  test("a key is created and shown once, listed by its first characters, and revoked", async () => {
    const secret = (await ok("key", "create", "website", "--scopes", "links:read,links:write", "--days", "90")).trim();
    expect(secret).toMatch(/^ql_[A-Za-z0-9]{43}$/);
    const made = await okJson<KeyShown & { secret: string }>("key", "create", "ever");
    expect(made).toMatchObject({
      name: "ever",
      scopes: [
        "links:read",
        "links:write",
        "files:read",
        "files:write",
        "stats:read",
        "usage:read",
        "email:read",
        "email:send",
        "admin",
      ],
      expiresAt: null,
    });

    const keys = async () => await okJson<KeyShown[]>("key", "list");
    const website = (await keys()).find(({ name }) => name === "website");
    expect(website).toMatchObject({
      hint: `${secret.slice(0, 8)}…`,
      scopes: ["links:read", "links:write"],
      revokedAt: null,
    });
    expect(Math.abs(Date.parse(String(website?.expiresAt)) - Date.now() - 90 * 86_400_000)).toBeLessThan(60_000);
    const plain = await ok("key", "list");
    for (const hidden of [secret, made.secret]) expect(plain).not.toContain(hidden);
    expect(lines(plain).every((line) => line.split("\t").length === 8)).toBe(true);

    expect(await ok("key", "revoke", made.id)).toBe(`Revoked ${made.id}.\n`);
    expect((await keys()).find(({ id }) => id === made.id)?.revokedAt).toMatch(/Z$/);
  });
});

describe("invalid input is refused with a reason", () => {
  let env: Environment;

  const { run, ok, okJson } = commands(() => env);

  beforeAll(async () => {
    env = { QL_DATA: tempFolder("data"), QL_BASE_URL: "https://go.example.com" };
    await ok("tenant", "create", "default", "--plan", "unlimited");
    await ok("tenant", "create", "other");
  });

  test("a tenant", async () => {
    const [bad, taken, plan, none, limit, negative] = await Promise.all([
      run("tenant", "create", "Not A Slug"),
      run("tenant", "create", "default"),
      run("tenant", "create", "planless", "--plan", "nope"),
      run("tenant", "update", "nobody", "--plan", "unlimited"),
      run("tenant", "update", "default", "--hits", "many"),
      run("tenant", "update", "default", "--hits=-5"),
    ]);
    expectFailure(bad, 1, /Not A Slug/, /a-z, 0-9/);
    expectFailure(taken, 1, /workspace "default" already exists/);
    expectFailure(plan, 1, /No plan "nope"/, /default, unlimited/);
    expectFailure(none, 1, /No workspace "nobody"/, /default/);
    expectFailure(limit, 2, /--hits/, /whole number or none/);
    expectFailure(negative, 2, /--hits/);
    expectFailure(await run("tenant", "show", "planless"), 1, /No workspace "planless"/);
  });

  test("a key", async () => {
    const foreign = await okJson<KeyShown>("key", "create", "theirs", "--tenant", "other");
    const [scope, days, tenant, none, theirs] = await Promise.all([
      run("key", "create", "x", "--scopes", "links:read,root"),
      run("key", "create", "x", "--days", "0"),
      run("key", "create", "x", "--tenant", "nobody"),
      run("key", "revoke", "key_nothing"),
      run("key", "revoke", foreign.id),
    ]);
    expectFailure(
      scope,
      2,
      /Unknown scope "root"/,
      /links:read, links:write, files:read, files:write, stats:read, usage:read, email:read/,
    );
    expectFailure(days, 2, /--days/);
    expectFailure(tenant, 1, /No workspace "nobody"/);
    expectFailure(none, 1, /no API key key_nothing/, /quicklink key list/);
    expectFailure(theirs, 1, /no API key/);
    expect(await ok("key", "revoke", foreign.id, "--tenant", "other")).toContain("Revoked");
  });

  test("a link", async () => {
    const made = await okJson<LinkBody>(
      "link",
      "create",
      "https://example.com",
      "--code",
      "theirs",
      "--tenant",
      "other",
    );
    const [scheme, own, reserved, taken, past, date, limit, foreign, byId, none] = await Promise.all([
      run("link", "create", "javascript:alert(1)"),
      run("link", "create", "https://go.example.com/x"),
      run("link", "create", "https://example.com", "--code", "API"),
      run("link", "create", "https://example.com", "--code", "theirs"),
      run("link", "create", "https://example.com", "--expires", "2001-01-01"),
      run("link", "create", "https://example.com", "--expires", "someday"),
      run("link", "list", "--limit", "none"),
      run("link", "delete", "theirs"),
      run("link", "disable", made.id),
      run("link", "enable", "nothing"),
    ]);
    expectFailure(scheme, 1, /http:\/\/ or https:\/\//);
    expectFailure(own, 1, /would loop/);
    expectFailure(reserved, 1, /reserved/);
    expectFailure(taken, 1, /taken/);
    expectFailure(past, 1, /future/);
    expectFailure(date, 1, /someday/, /2027-01-31|never/);
    expectFailure(limit, 1, /--limit/);
    for (const finished of [foreign, byId, none])
      expectFailure(finished, 1, /No link .* exists in the workspace "default"/);
    expect(await okJson<LinkBody>("link", "get", "theirs", "--tenant", "other")).toEqual(made);
  });

  test("a text that the API would not accept", async () => {
    const [control, long] = await Promise.all([
      run("link", "create", "https://example.com", "--title", "one\ttwo\nthree"),
      run("link", "create", "https://example.com", "--title", "x".repeat(201)),
    ]);
    expectFailure(control, 1, /control characters/);
    expectFailure(long, 1, /200/);
  });
});

test.each(["config --json", "doctor --json", "config"])(
  "%s ends in peace when its reader has read enough",
  async (command) => {
    const env = cleanEnvironment({ QL_DATA: tempFolder("data"), QL_LOG_LEVEL: "warn" });
    // The reader has gone before the first line is written.
    const script = `(sleep 0.2; ${programInShell} ${command}; echo "status $?" >&2) | true`;
    const { stderr } = await runProcess(["bash", "-c", script], { env });
    expect(stderr).toBe("status 0\n");
  },
);

test("a connection that breaks is an error, unless it is the reader of the command", async () => {
  const env = { QL_DATA: tempFolder("data") };
  expect((await cli(["tenant", "create", "default"], { env })).code).toBe(0);
  const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const stdin = new Readable({
    read() {
      this.destroy(broken);
    },
  });
  const { code, stderr } = await cli(["link", "create", "https://example.com/", "--password-stdin"], { env, stdin });
  expect([code, stderr]).toEqual([1, expect.stringContaining("write EPIPE")]);
});
