import { describe, expect, test } from "bun:test";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tempFolder } from "../../test/ground/temp.ts";
import { dayMs, systemClock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { verifyDays } from "../base/signing-keys.ts";
import { type Config, type Environment, loadConfig } from "./config.ts";
import { prepareDataFolder, secretPath, withSecrets } from "./data-folder.ts";
import type { SettingName } from "./settings.ts";

const salt = "0123456789abcdef0123456789abcdef";
const postgres = "postgres://quicklink:hunter2@db.internal:5432/quicklink";
const redis = "redis://:hunter2@cache.internal:6379";

/** Settings from an environment of our own, with no file beside it unless the test writes one. */
function load(environment: Environment = {}, dotenv?: string): Config {
  const folder = tempFolder("config");
  if (dotenv !== undefined) writeFileSync(join(folder, ".env"), dotenv);
  return loadConfig({ QL_DATA: join(folder, "data"), ...environment }, folder);
}

function refusal(environment: Environment, dotenv?: string): OperatorError {
  try {
    load(environment, dotenv);
  } catch (error) {
    if (error instanceof OperatorError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(environment)}`);
}

const shown = (config: Config, name: SettingName) => config.shown.find((setting) => setting.name === name);

function file(text: string): string {
  const path = join(tempFolder("secret"), "secret");
  writeFileSync(path, text);
  return path;
}

describe("without any setting", () => {
  test("the server runs embedded, on port 3000, with every default that is promised", () => {
    const config = loadConfig({}, tempFolder("config"));
    expect(config).toMatchObject({
      PORT: 3_000,
      HOST: "0.0.0.0",
      QL_DATABASE_POOL: 10,
      QL_REDIS_WAIT_MS: 50,
      QL_SQL_WAIT_MS: 100,
      QL_CACHE_TTL_SECONDS: 3_600,
      QL_CACHE_MISSING_TTL_SECONDS: 300,
      QL_CACHE_JITTER: 0.08,
      QL_BREAKER_FAILURES: 5,
      QL_BREAKER_SHARE: 0.1,
      QL_BREAKER_WINDOW_SECONDS: 10,
      QL_BREAKER_OPEN_SECONDS: 30,
      QL_DATA: resolve("./data"),
      QL_CODE_BLOCK: 1_000,
      QL_LINK_DAYS: 365,
      QL_HISTORY_DAYS: 400,
      QL_CACHE_MB: 64,
      QL_BODY_LIMIT: 1_048_576,
      QL_API_OUTAGE: "degrade",
      QL_GUESSES_PER_MINUTE: 100,
      QL_LOG_LEVEL: "info",
      baseUrl: "http://localhost:3000",
      embedded: true,
      unknown: [],
    });
    expect([config.QL_BASE_URL, config.DATABASE_URL, config.REDIS_URL, config.QL_METRICS_TOKEN]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(config.QL_TRUSTED_PROXIES.check("127.0.0.1")).toBe(false);
  });

  test("the server's own names are the host of QL_BASE_URL and those in QL_HOSTS, as DNS has them", () => {
    const names = (settings: Record<string, string>) => {
      const { ownNames } = load(settings);
      return { ...ownNames, names: [...ownNames.names] };
    };
    expect(names({})).toEqual({ names: ["localhost"], onlyThese: false });
    expect(names({ QL_BASE_URL: "https://Go.Example.com.:8443" })).toEqual({
      names: ["go.example.com"],
      onlyThese: true,
    });
    expect(names({ QL_BASE_URL: "http://[::1]:3000", QL_HOSTS: " S.example.com. , bücher.example,[::1]," })).toEqual({
      names: ["[::1]", "s.example.com", "xn--bcher-kva.example"],
      onlyThese: true,
    });
  });

  test("short links start with the port in force", () => {
    expect(load({ PORT: "8080" }).baseUrl).toBe("http://localhost:8080");
    expect(load({ PORT: "8080", QL_BASE_URL: "https://Go.Example.com:443/" }).baseUrl).toBe("https://go.example.com");
  });
});

const bad: Record<SettingName, readonly string[]> = {
  PORT: ["0", "65536", "-1", "3000.5", "0x50", "1e3", "80 ", "http"],
  HOST: ["example.com", "256.0.0.1", "127.0.0.1:80", "[::1]"],
  QL_BASE_URL: [
    "go.example.com",
    "ftp://go.example.com",
    "https://go.example.com/path",
    "https://go.example.com?a",
    "https://go.example.com#a",
    "https://user@go.example.com",
    "javascript:alert(1)",
  ],
  QL_HOSTS: ["https://s.example.com", "s.example.com:8080", "a b", "a..b", "*.example.com", "a/b"],
  DATABASE_URL: ["mysql://hunter2@db/x", "db.internal", "https://hunter2@db"],
  DATABASE_REPLICA_URL: ["mysql://hunter2@db/x", "db.internal"],
  QL_DATABASE_POOL: ["0", "501", "ten"],
  QL_SQL_WAIT_MS: ["9", "10001", "100ms"],
  REDIS_URL: ["http://hunter2@cache", "cache:6379", "redis://a,b", "redis-sentinel://a,b", "redis-cluster://a/1"],
  LIMITS_REDIS_URL: ["redis://:hunter2@a,b", "redis://:hunter2%@a", "limits:6379"],
  QL_REDIS_WAIT_MS: ["4", "10001", "0.05"],
  QL_BREAKER_FAILURES: ["0", "10001", "five"],
  QL_BREAKER_SHARE: ["1.1", "-0.1", "10%", "1e-3"],
  QL_BREAKER_WINDOW_SECONDS: ["0", "301", "10s"],
  QL_BREAKER_OPEN_SECONDS: ["0", "601", "30s"],
  QL_HITS_OUTAGE: ["Degrade", "fail", "yes"],
  QL_WORKERS: ["0", "257", "many"],
  QL_DATA: [],
  QL_CODE_SALT: ["hunter2", "x".repeat(15), "x".repeat(1_001)],
  QL_CODE_BLOCK: ["0", "1000001", "1_000"],
  QL_LINK_DAYS: ["0", "36501", "-5"],
  QL_HISTORY_DAYS: ["0", "36501", "ever"],
  QL_CACHE_MB: ["0", "65537", "64MB"],
  QL_CACHE_TTL_SECONDS: ["9", "86401", "1h"],
  QL_CACHE_MISSING_TTL_SECONDS: ["0", "86401", "5m"],
  QL_CACHE_JITTER: ["0.51", "-0.1", "8%", "0,08"],
  QL_BODY_LIMIT: ["1023", "1073741825", "1MB"],
  QL_TRUSTED_PROXIES: [
    "proxy",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.1;10.0.0.2",
    "::/129",
    "127.0.0.1,*",
  ],
  QL_COUNTRY_HEADER: ["CF IPCountry", "CF-IPCountry:", "x".repeat(65), "7-country"],
  QL_CLICK_FACTS: ["yes", "On", "true"],
  QL_CLICK_EVENTS_PER_SECOND: ["0", "-1", "1000001", "1.5", "none"],
  QL_CITY_DATABASE: [],
  QL_WORKSPACES: ["nobody", "Everyone", "operator,everyone"],
  QL_API_OUTAGE: ["fail", "Open", "degrade,open"],
  QL_GUESSES_PER_MINUTE: ["0", "-1", "1000001", "None", "null"],
  SMTP_URL: ["mail.internal", "http://hunter2@mail.internal", "smtp:mail"],
  QL_MAIL_FROM: ["nobody", "A <a@b", "a@b, c@d", "Link <a b@example.com>"],
  QL_EMAILS_PER_HOUR: ["0", "-1", "all", "1.5"],
  QL_SIGN_UP: ["Everyone", "domains", "example", "@example.com", "a@example.com", "*.example.com", "[::1]"],
  QL_SENDGRID_URL: ["api.sendgrid.com", "ftp://api.sendgrid.com", "https://api.sendgrid.com/v3"],
  QL_SECRET_KEYS: ["abc", `k1:${"0".repeat(63)}`, `k1:${"g".repeat(64)}`, `k1:${"0".repeat(64)},k1:${"1".repeat(64)}`],
  QL_SIGNING_KEYS: [
    "abc",
    `k1:${"0".repeat(30)}`,
    `k1:${"0".repeat(65)}`,
    `k1:${"g".repeat(64)}`,
    `k1:${"0".repeat(64)},k1:${"1".repeat(64)}`,
    `k1:${"0".repeat(64)}@2027-01-01`,
    `k1:${"0".repeat(64)},k2:${"1".repeat(64)}@2027-02-30`,
    `k1:${"0".repeat(64)},k2:${"1".repeat(64)}@tomorrow`,
    Array.from({ length: 33 }, (_, i) => `k${i}:${"0".repeat(64)}`).join(),
  ],
  QL_OIDC_ISSUER: [
    "login.example.com",
    "http://login.example.com",
    "https://login.example.com?a=b",
    "https://login.example.com#a",
    "https://user:pw@login.example.com",
  ],
  QL_OIDC_CLIENT_ID: ["x".repeat(256)],
  QL_OIDC_CLIENT_SECRET: ["x".repeat(1_001)],
  QL_OIDC_DOMAINS: ["@example.com", "*.example.com", "https://example.com", "a b"],
  QL_OIDC_NAME: ["x".repeat(61)],
  QL_OIDC_SIGN_UP: ["yes", "On"],
  S3_URL: [
    "s3://hunter2:b@host/bucket",
    "https://host/bucket",
    "https://hunter2@host/bucket",
    "https://a:hunter2@host",
    "https://a:hunter2@host/b",
    "https://a:hunter2@host/bucket/folder",
    "https://a:hunter2@host/bucket?zone=eu",
  ],
  QL_FILE_LIMIT: ["0", "-1", "100MB", "5000000001"],
  QL_BLOCKLIST: [],
  QL_CHECK_TARGETS: ["0", "366", "off", "daily"],
  QL_FETCH_ALLOW: ["10.0.0.0/33", "internal", "10.0.0.0/8;11.0.0.0/8"],
  QL_DNS_SERVERS: ["dns.example.com", "1.2.3.4:dns", "9.9.9.9 8.8.8.8"],
  QL_FETCH_PORTS: ["0", "65536", "80,", "80-90", "https"],
  QL_METRICS_TOKEN: ["hunter2"],
  QL_LOG_LEVEL: ["loud", "INFO", "10"],
};

test("a breaker's window and pause are set in seconds and kept in milliseconds", () => {
  const config = load({ QL_BREAKER_WINDOW_SECONDS: "20", QL_BREAKER_OPEN_SECONDS: "40", QL_BREAKER_FAILURES: "3" });
  expect(config.breaker).toMatchObject({ failures: 3, windowMs: 20_000, pauseMostMs: 40_000 });
});

test("guesses may be without limit", () => {
  expect(load({ QL_GUESSES_PER_MINUTE: "none" }).QL_GUESSES_PER_MINUTE).toBeNull();
});

describe("a bad value", () => {
  const cases = Object.entries(bad).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  test.each(cases)("of %s names it, says what is wrong, gives an example and exits 2: %s", (name, value) => {
    const error = refusal({ [name]: value });
    expect(error.exitCode).toBe(2);
    expect(error.message).toMatch(new RegExp(`^${name}: .{10,}\\.\\n  Example: ${name}=.+$`));
  });

  test("is shown, unless it is a secret", () => {
    expect(refusal({ PORT: "http" }).message).toContain('"http"');
    for (const name of ["DATABASE_URL", "REDIS_URL", "LIMITS_REDIS_URL", "QL_CODE_SALT", "QL_METRICS_TOKEN"] as const) {
      const value = bad[name].find((text) => text.includes("hunter2"));
      expect(refusal({ [name]: value }).message).not.toContain("hunter2");
    }
  });

  test("in .env or in a secret's file is refused the same way", () => {
    expect(refusal({}, "PORT=http").message).toStartWith('PORT: "http" is not');
    expect(refusal({ QL_METRICS_TOKEN_FILE: file("hunter2") }).message).toStartWith("QL_METRICS_TOKEN: the value must");
  });

  test("is every setting's: there is a case for each", () => {
    expect(Object.keys(bad)).toEqual(load().shown.map(({ name }) => name));
  });

  test("of a range with two widths is refused, not cut short", () => {
    expect(refusal({ QL_TRUSTED_PROXIES: "10.0.0.0/8/16" }).message).toStartWith("QL_TRUSTED_PROXIES: ");
  });

  test("of an address without its slashes is refused, as the sentence about it says", () => {
    expect(refusal({ DATABASE_URL: "postgres:db", QL_CODE_SALT: salt }).message).toStartWith("DATABASE_URL: ");
  });

  test("the example that goes with it is a good one", () => {
    const examples = Object.entries(bad).flatMap(([name, [value]]) => {
      if (value === undefined) return [];
      const example = /Example: \w+=(.+)$/.exec(refusal({ [name]: value }).message)?.[1] ?? "";
      return example.startsWith("$(") ? [] : [[name, example] as const];
    });
    const config = load({ ...Object.fromEntries(examples), QL_CODE_SALT: salt });
    expect(config.PORT).toBe(8080);
    expect(config.QL_TRUSTED_PROXIES.check("10.1.2.3")).toBe(true);
    expect(examples.length).toBeGreaterThan(10);
  });
});

describe("a value is taken", () => {
  test("from the environment first, then from .env, then by default", () => {
    expect(load({ PORT: "1111" }, "PORT=2222").PORT).toBe(1_111);
    expect(load({}, "PORT=2222").PORT).toBe(2_222);
    expect(load().PORT).toBe(3_000);
  });

  test("from the command line before all, and says so", () => {
    const environment = { DATABASE_URL: postgres, REDIS_URL: redis, QL_CODE_SALT: salt, QL_WORKERS: "2" };
    const config = loadConfig(environment, "/nonexistent", { QL_WORKERS: "3" });
    expect(config.QL_WORKERS).toBe(3);
    expect(shown(config, "QL_WORKERS")?.origin).toBe("command line");
  });

  test("from the environment, then the secret's file, then .env", () => {
    const path = file("from the file of the secret\n");
    const dotenv = "QL_METRICS_TOKEN=from the file .env";
    const environment = { QL_METRICS_TOKEN: "from the environment", QL_METRICS_TOKEN_FILE: path };
    expect(load(environment, dotenv).QL_METRICS_TOKEN).toBe("from the environment");
    expect(load({ QL_METRICS_TOKEN_FILE: path }, dotenv).QL_METRICS_TOKEN).toBe("from the file of the secret");
    expect(load({}, dotenv).QL_METRICS_TOKEN).toBe("from the file .env");
  });

  test("from a secret's file that .env names", () => {
    const path = file(`${salt}\n`);
    expect(load({}, `QL_CODE_SALT_FILE=${path}`).QL_CODE_SALT).toBe(salt);
  });

  test("with its origin told", () => {
    const path = file("0123456789abcdef");
    const config = load({ PORT: "1111", QL_METRICS_TOKEN_FILE: path }, "QL_LINK_DAYS=30");
    const origins = (["PORT", "QL_METRICS_TOKEN", "QL_LINK_DAYS", "HOST", "QL_BASE_URL", "QL_CODE_SALT"] as const).map(
      (name) => shown(config, name)?.origin,
    );
    expect(origins).toEqual(["environment", `file ${path}`, ".env", "default", "not set", "generated on first start"]);
  });

  test("as not set when it is empty, which is how compose files say so", () => {
    const config = load({ PORT: "", DATABASE_URL: "", QL_METRICS_TOKEN: "" }, "PORT=2222");
    expect([config.PORT, config.DATABASE_URL, config.embedded]).toEqual([2_222, undefined, true]);
  });

  test("from a file for secrets only", () => {
    expect(load({ PORT_FILE: file("1111") }).PORT).toBe(3_000);
  });

  test("not from a file that is not there, and says which", () => {
    const error = refusal({ QL_METRICS_TOKEN_FILE: "/nonexistent/token" });
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain('QL_METRICS_TOKEN_FILE: cannot read "/nonexistent/token"');
  });

  test("not from an empty file", () => {
    expect(refusal({ QL_METRICS_TOKEN_FILE: file("\n") }).exitCode).toBe(2);
  });

  test("the same way in another thread, from the texts that it gets", () => {
    const config = load(
      { PORT: "1111", DATABASE_URL: postgres, QL_TRUSTED_PROXIES: "10.0.0.0/8" },
      `QL_CODE_SALT=${salt}`,
    );
    const again = loadConfig(config.source, "/");
    const { shown: _, QL_TRUSTED_PROXIES: theirs, source: __, ...rest } = again;
    expect(config).toMatchObject(rest);
    expect(theirs.check("10.1.2.3")).toBe(true);
  });
});

describe("what contradicts itself is refused with exit status 2", () => {
  test.each(["REDIS_URL", "LIMITS_REDIS_URL"])("%s without PostgreSQL", (name) => {
    const error = refusal({ [name]: redis });
    expect(error.exitCode).toBe(2);
    expect(error.message).toStartWith(`${name} is set but DATABASE_URL is not`);
    expect(error.message).toContain("Set DATABASE_URL, or unset");
  });

  test("several workers without PostgreSQL or without Redis", () => {
    for (const settings of [{}, { DATABASE_URL: postgres, QL_CODE_SALT: salt }]) {
      const error = refusal({ ...settings, QL_WORKERS: "2" });
      expect(error.exitCode).toBe(2);
      expect(error.message).toStartWith("2 workers need both PostgreSQL and Redis");
      expect(error.message).toContain("Set DATABASE_URL and REDIS_URL");
    }
  });

  test("PostgreSQL without a salt, because every machine would generate its own", () => {
    const error = refusal({ DATABASE_URL: postgres });
    expect(error.exitCode).toBe(2);
    expect(error.message).toStartWith("QL_CODE_SALT: must be set when DATABASE_URL is set");
  });

  test("and what does not is accepted", () => {
    const config = load({ DATABASE_URL: postgres, REDIS_URL: redis, QL_CODE_SALT: salt });
    expect(config.embedded).toBe(false);
  });
});

describe("the Redis for limits", () => {
  const base = { DATABASE_URL: postgres, QL_CODE_SALT: salt };

  test("is its own where there is one, else the one for all, else none", () => {
    const own = "redis-cluster://a:7000,b:7001";
    expect(load({ ...base, REDIS_URL: redis, LIMITS_REDIS_URL: own }).limitsRedisUrl).toBe(own);
    expect(load({ ...base, REDIS_URL: redis }).limitsRedisUrl).toBe(redis);
    expect(load(base).limitsRedisUrl).toBeUndefined();
  });

  test("is enough for several workers", () => {
    expect(load({ ...base, LIMITS_REDIS_URL: redis, QL_WORKERS: "4" }).QL_WORKERS).toBe(4);
  });
});

describe("a secret", () => {
  const secrets = {
    DATABASE_URL: postgres,
    REDIS_URL: redis,
    QL_CODE_SALT: salt,
    QL_METRICS_TOKEN: "hunter2".repeat(3),
  };

  test("is not shown, but the host of an address is", () => {
    const config = load(secrets);
    expect(shown(config, "DATABASE_URL")?.value).toBe("postgres://(hidden)@db.internal:5432/quicklink");
    expect(shown(config, "REDIS_URL")?.value).toBe("redis://(hidden)@cache.internal:6379");
    expect(shown(config, "QL_CODE_SALT")?.value).toBe("(hidden)");
    expect(shown(config, "QL_METRICS_TOKEN")?.value).toBe("(hidden)");
  });

  test("in the query of an address is not shown", () => {
    const config = load({ ...secrets, DATABASE_URL: "postgres://db/quicklink?user=me&password=hunter2" });
    expect(JSON.stringify(config.shown)).not.toContain("hunter2");
  });

  test.each([
    ["redis://user:hunter2@cache", "redis://(hidden)@cache"],
    ["rediss://:hunter2@[::1]:7000/3", "rediss://(hidden)@[::1]:7000/3"],
    ["redis-sentinel://:hunter2@a:1,b:2/limits/3", "redis-sentinel://(hidden)@a:1,b:2/limits/3"],
    ["rediss-sentinel://a,b/limits", "rediss-sentinel://a,b/limits"],
    ["redis-cluster://me:hunter2@a:7000,b:7001", "redis-cluster://(hidden)@a:7000,b:7001"],
    ["rediss-cluster://a:7000,[::1]:7001", "rediss-cluster://a:7000,[::1]:7001"],
    ["redis://user:1?hunter2@cache", "(hidden)"],
    ["redis://user:1#hunter2@cache", "(hidden)"],
  ])("of Redis is not shown, whatever the form: %s", (address, seen) => {
    const config = load({ ...secrets, REDIS_URL: address, LIMITS_REDIS_URL: address });
    expect([shown(config, "REDIS_URL")?.value, shown(config, "LIMITS_REDIS_URL")?.value]).toEqual([seen, seen]);
  });

  test("that has an @ in it is hidden whole", () => {
    const config = load({ ...secrets, DATABASE_URL: "postgres://me:pass@hunter2@db.internal/quicklink" });
    expect(shown(config, "DATABASE_URL")?.value).not.toContain("hunter2");
  });

  test("that is not a URL is hidden even if it looks like one", () => {
    const looksLikeOne = "correct://horse-battery-staple";
    const config = load({ QL_CODE_SALT: looksLikeOne, QL_METRICS_TOKEN: looksLikeOne });
    expect([shown(config, "QL_CODE_SALT")?.value, shown(config, "QL_METRICS_TOKEN")?.value]).toEqual([
      "(hidden)",
      "(hidden)",
    ]);
  });

  test("is the only thing that is hidden", () => {
    const config = load({ PORT: "1111", QL_LOG_LEVEL: "debug" });
    expect([shown(config, "PORT")?.value, shown(config, "QL_LOG_LEVEL")?.value]).toEqual(["1111", "debug"]);
  });
});

describe("the salt of a first start", () => {
  const saltPath = (config: Config) => join(config.QL_DATA, "secrets", "QL_CODE_SALT");

  test("is generated, for us alone to read, and stays the same", () => {
    const folder = join(tempFolder("config"), "new", "data");
    const first = withSecrets(loadConfig({ QL_DATA: folder }, "/nonexistent"));
    expect(first.QL_CODE_SALT).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(saltPath(first)).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
    const second = loadConfig({ QL_DATA: folder }, "/nonexistent");
    expect(withSecrets(second).QL_CODE_SALT).toBe(first.QL_CODE_SALT);
    expect(shown(second, "QL_CODE_SALT")).toMatchObject({
      value: "(hidden)",
      origin: `generated, ${saltPath(first)}`,
    });
  });

  test("is one for all who start at the same time", () => {
    const settings = { QL_DATA: tempFolder("config") };
    const [one, two] = [loadConfig(settings, "/nonexistent"), loadConfig(settings, "/nonexistent")];
    expect(withSecrets(one).QL_CODE_SALT).toBe(withSecrets(two).QL_CODE_SALT);
  });

  test("is not generated where one is set", () => {
    const config = load({ QL_CODE_SALT: salt });
    expect(withSecrets(config).QL_CODE_SALT).toBe(salt);
    expect(() => statSync(saltPath(config))).toThrow();
  });

  test("is another on another machine", () => {
    expect(withSecrets(load()).QL_CODE_SALT).not.toBe(withSecrets(load()).QL_CODE_SALT);
  });

  test("that a crash left empty is not taken for one", () => {
    const config = load();
    mkdirSync(join(config.QL_DATA, "secrets"), { recursive: true });
    writeFileSync(saltPath(config), "");
    // To refuse it would be as good as to make a new one: no code was issued with it.
    let made: string;
    try {
      made = withSecrets(loadConfig({ QL_DATA: config.QL_DATA }, "/nonexistent")).QL_CODE_SALT;
    } catch (error) {
      expect(error).toBeInstanceOf(OperatorError);
      return;
    }
    expect(made).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("the keys for tenants' secrets of a first start", () => {
  test("are generated beside the salt, for us alone to read, and stay the same", () => {
    const settings = { QL_DATA: tempFolder("config") };
    const first = withSecrets(loadConfig(settings, "/nonexistent"));
    expect(first.QL_SECRET_KEYS).toMatchObject([{ key: { length: 32 } }]);
    expect(statSync(secretPath(first.QL_DATA, "QL_SECRET_KEYS")).mode & 0o777).toBe(0o600);
    const second = loadConfig(settings, "/nonexistent");
    expect(second.QL_SECRET_KEYS).toEqual(first.QL_SECRET_KEYS);
    expect(shown(second, "QL_SECRET_KEYS")?.value).toBe("(hidden)");
    expect(second.ownSecrets).toEqual(new Set(["QL_CODE_SALT", "QL_SECRET_KEYS", "QL_SIGNING_KEYS"] as const));
  });

  test("are the operator's where they are set, and with PostgreSQL none are generated", () => {
    const config = load({ QL_SECRET_KEYS: `k1:${"a".repeat(64)}, k2:${"b".repeat(64)}` });
    expect(config.QL_SECRET_KEYS?.map(({ id }) => id)).toEqual(["k1", "k2"]);
    expect(config.ownSecrets).toEqual(new Set(["QL_CODE_SALT", "QL_SIGNING_KEYS"] as const));
    expect(load({ DATABASE_URL: postgres, QL_CODE_SALT: salt })).toMatchObject({
      QL_SECRET_KEYS: undefined,
      ownSecrets: new Set(),
    });
  });
});

describe("the signing keys of a first start", () => {
  test("are one new key, and do not follow from the salt", () => {
    const settings = { QL_DATA: tempFolder("config") };
    const made = withSecrets(loadConfig(settings, "/nonexistent"));
    expect(made.QL_SIGNING_KEYS).toMatchObject([{ key: { length: 32 } }]);
    expect(statSync(secretPath(made.QL_DATA, "QL_SIGNING_KEYS")).mode & 0o777).toBe(0o600);
    expect(loadConfig(settings, "/nonexistent").QL_SIGNING_KEYS).toEqual(made.QL_SIGNING_KEYS);
  });

  test("where a server has signed with its salt until now, that is a former key for a stated time", () => {
    const settings = { QL_DATA: tempFolder("config"), QL_CODE_SALT: salt };
    writeFileSync(join(settings.QL_DATA, "quicklink.sqlite"), "");
    const { QL_SIGNING_KEYS: keys } = withSecrets(loadConfig(settings, "/nonexistent"));
    const [first, former] = keys;
    expect(keys).toHaveLength(2);
    expect(first?.until).toBeUndefined();
    expect(former).toMatchObject({ id: "salt", key: Buffer.from(salt) });
    expect(((former?.until ?? 0) - systemClock.now()) / dayMs).toBeWithin(verifyDays, verifyDays + 1.01);
  });
});

describe("the data folder", () => {
  test("is made, for us alone, and may be there already", () => {
    const config = load({ QL_DATA: join(tempFolder("config"), "new", "data") });
    prepareDataFolder(config);
    prepareDataFolder(config);
    expect(statSync(config.QL_DATA).mode & 0o777).toBe(0o700);
  });

  test.each([
    ["a file", (path: string) => path],
    ["in a file", (path: string) => join(path, "data")],
  ])("that is %s names the setting and exits 2", (_, folder) => {
    const config = load({ QL_DATA: folder(file("in the way")) });
    expect(() => prepareDataFolder(config)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringMatching(/^QL_DATA: .*\n {2}Example: QL_DATA=/) }),
    );
  });
});

describe("a variable that looks like ours and is not", () => {
  test("is reported, from the environment and from .env", () => {
    expect(load({ QL_PROT: "1", HOME: "/root" }, "QL_DATE=x\nOTHER=y").unknown.toSorted()).toEqual([
      "QL_DATE",
      "QL_PROT",
    ]);
  });

  test("is not the file of a secret", () => {
    expect(load({ QL_CODE_SALT_FILE: file(salt) }).unknown).toEqual([]);
  });

  test("includes the _FILE form of a setting that is not secret, because it is never read", () => {
    expect(load({ QL_LINK_DAYS_FILE: file("30") }).unknown).toEqual(["QL_LINK_DAYS_FILE"]);
  });
});
