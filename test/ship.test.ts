/**
 * What is shipped fits what is here. There is no container engine and no systemd in a test run: so the files are read,
 * every path and setting in them is looked for, and what they would run is run from a folder that has only what they copy.
 */
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../src/config/config.ts";
import { newDatabase } from "./e2e/servers.ts";
import { freePort } from "./ground/ports.ts";
import { postgresAvailable } from "./ground/postgres.ts";
import { cleanEnvironment, runProcess, startProcess } from "./ground/process.ts";
import { redisAvailable, startRedis } from "./ground/redis.ts";
import { cli, startServer } from "./ground/server.ts";
import { tempFolder } from "./ground/temp.ts";

const root = join(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const settings = new Set<string>(loadConfig({}, "/nonexistent").shown.map(({ name }) => name));

describe("the Dockerfile", () => {
  const instructions = read("Dockerfile")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ word: line.split(" ")[0] ?? "", rest: line.slice(line.indexOf(" ") + 1) }));
  const all = (word: string): string[] => instructions.filter((one) => one.word === word).map(({ rest }) => rest);
  const only = (word: string): string => {
    const [one, ...others] = all(word);
    if (one === undefined || others.length > 0) throw new Error(`there is not one ${word}`);
    return one;
  };
  const copied = all("COPY").flatMap((words) => (words.startsWith("--from") ? [] : words.split(" ").slice(0, -1)));

  test("copies what is there, and what is not kept from it", () => {
    expect(copied).toContain("src");
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const admitted = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path]) => path);
    expect([...new Set(copied)].filter((path) => !admitted.includes(path))).toEqual([]);
    expect(read(".dockerignore")).toContain("\n*\n");
  });

  test("pins what it builds on, and runs as an unprivileged user", () => {
    for (const from of all("FROM")) expect(from).toMatch(/^[a-z]+:\d[\w.-]+(?: AS \w+)?$/);
    expect(only("USER")).toBe("quicklink");
    expect(read("Dockerfile")).toContain("npm ci --omit=dev");
    expect(only("STOPSIGNAL")).toBe("SIGTERM");
    expect(only("VOLUME")).toBe("/data");
    expect(only("ENV")).toContain("QL_DATA=/data");
  });

  test("makes a server that starts, is healthy and stops, from nothing but what is copied", async () => {
    const app = join(tempFolder("image"), "app");
    mkdirSync(app);
    for (const path of copied) cpSync(join(root, path), join(app, path), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
    const [, bundling] = all("RUN");
    expect(bundling).toStartWith("node_modules/.bin/bun ");
    const bundled = await runProcess(["sh", "-c", bundling ?? ""], { cwd: app, timeoutMs: 60_000 });
    expect([bundled.code, bundled.stderr]).toEqual([0, ""]);
    for (const folder of ["web", "scripts"]) rmSync(join(app, folder), { recursive: true });
    const words = (text: string): string[] =>
      (JSON.parse(text) as string[])
        .map((word) => word.replace("/app/", `${app}/`))
        .map((word) => (word === "bun" ? process.execPath : word));
    const port = freePort();
    const env = cleanEnvironment({ PORT: String(port), QL_DATA: tempFolder("data") });
    const server = startProcess([...words(only("ENTRYPOINT")), ...words(only("CMD"))], { cwd: app, env });
    const health = words(only("HEALTHCHECK").replace(/^.*CMD /, ""));
    await server.waitForUrl(`http://127.0.0.1:${port}/readyz`);
    expect((await runProcess(health, { cwd: app, env })).code).toBe(0);
    expect(await (await fetch(`http://127.0.0.1:${port}/app`)).text()).toContain("/app/assets/main-");
    expect(await server.stop({ signal: only("STOPSIGNAL") as NodeJS.Signals })).toBe(0);
    expect((await runProcess(health, { cwd: app, env })).code).toBe(1);
  });
});

interface Service {
  readonly build?: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

describe.each(["compose.yml", "compose.scaled.yml"])("%s", (name) => {
  const { services, volumes } = Bun.YAML.parse(read(name)) as Compose;

  test("names only settings that there are, with values that can be used", () => {
    const ours = Object.values(services).filter(({ build }) => build !== undefined);
    expect(ours.length).toBeGreaterThan(0);
    for (const { environment = {} } of ours) {
      expect(Object.keys(environment).filter((setting) => !settings.has(setting))).toEqual([]);
      const given = {
        ...{ QL_METRICS_TOKEN: "a token for the test", QL_CODE_SALT: "a salt for the test", QL_WORKERS: "2" },
        QL_SECRET_KEYS: `k1:${"0f".repeat(32)}`,
        QL_SIGNING_KEYS: `k1:${"1f".repeat(32)}`,
      };
      const filled = Object.entries(environment).map(([setting, value]) => {
        const interpolated = String(value).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, variable: string) =>
          variable === "QL_BASE_URL"
            ? "https://go.example.com"
            : (Object.entries(given).find(([one]) => one === variable)?.[1] ?? "go.example.com"),
        );
        return [setting, interpolated] as const;
      });
      const config = loadConfig(Object.fromEntries(filled), "/nonexistent");
      expect(config.unknown).toEqual([]);
      expect(config.baseUrl).toBe("https://go.example.com");
      expect(config.embedded).toBe(name === "compose.yml");
    }
  });

  test("mounts what is there, pins every image, and waits for what says that it is well", () => {
    for (const [service, { image, volumes: mounts = [], depends_on: waits = {} }] of Object.entries(services)) {
      expect([service, image]).toEqual([service, expect.stringMatching(/^[a-z]+:(?:local|\d[\w.-]+)$/)]);
      for (const mount of mounts) {
        const [from = ""] = mount.split(":");
        if (from.startsWith(".")) expect([mount, existsSync(join(root, from))]).toEqual([mount, true]);
        else expect(Object.keys(volumes)).toContain(from);
      }
      for (const [other, { condition }] of Object.entries(waits)) {
        const awaited = services[other];
        expect([other, awaited !== undefined]).toEqual([other, true]);
        // Our own image says how it is by itself.
        if (condition === "service_healthy") expect(awaited?.healthcheck ?? awaited?.build).toBeDefined();
      }
    }
  });
});

if (postgresAvailable() && redisAvailable()) {
  test("the doctor finds nothing wrong with the Redis servers of compose.scaled.yml", async () => {
    const { services } = Bun.YAML.parse(read("compose.scaled.yml")) as Compose;
    const byDefault = (word: string) => word.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
    const [links, limits] = await Promise.all(
      ["redis-links", "redis-limits"].map(async (service) =>
        startRedis({ settings: services[service]?.command?.slice(1).map(byDefault) ?? [] }),
      ),
    );
    try {
      // As the requirements have them.
      const info = (await links?.command("INFO", "memory")) ?? "";
      expect(info).toContain(`maxmemory:${4 * 1_024 ** 3}\r\nmaxmemory_human:4.00G\r\nmaxmemory_policy:volatile-lru`);
      expect((await limits?.command("INFO", "memory")) ?? "").toContain("maxmemory_policy:noeviction");
      const env = {
        ...(await newDatabase("PostgreSQL")),
        REDIS_URL: links?.url ?? "",
        LIMITS_REDIS_URL: limits?.url ?? "",
      };
      const { stdout } = await cli(["doctor", "--json"], { env });
      const findings = (JSON.parse(stdout) as { status: string; check: string; found: string }[]).filter(
        ({ status, check, found }) => check.startsWith("redis") && status !== "ok" && !found.startsWith("answers in"),
      );
      expect(findings).toEqual([]);
    } finally {
      await links?.stop();
      await limits?.stop();
    }
  });
}

describe("ops/systemd/quicklink.service", () => {
  const unit = read("ops/systemd/quicklink.service");

  test("has lines of one form, in known parts", () => {
    expect([...unit.matchAll(/^\[(\w+)\]$/gm)].map(([, part]) => part)).toEqual(["Unit", "Service", "Install"]);
    const lines = unit.split("\n").filter((line) => line !== "" && !/^[#[]/.test(line));
    expect(lines.filter((line) => !/^[A-Z][A-Za-z]+=/.test(line))).toEqual([]);
    const named = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, words = ""]) => words.split(" "));
    expect(named.map((word) => word.split("=")[0] ?? "").filter((name) => !settings.has(name))).toEqual([]);
    for (const line of [
      "ProtectSystem=strict",
      "NoNewPrivileges=yes",
      "StateDirectory=quicklink",
      "Restart=on-failure",
    ]) {
      expect(unit).toContain(`\n${line}\n`);
    }
  });

  test("is accepted by systemd, where there is one, and exposes little", async () => {
    const systemd = Bun.which("systemd-analyze");
    if (systemd === null) return;
    const path = join(tempFolder("unit"), "quicklink.service");
    writeFileSync(path, unit.replace("/usr/local/bin/quicklink", process.execPath));
    const { code, stderr } = await runProcess([systemd, "verify", path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { stdout } = await runProcess([systemd, "security", "--offline=true", "--no-pager", path]);
    const exposure = Number(/Overall exposure level.*?: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
    expect(exposure).toBeLessThan(3);
  });
});

test("docs/install.md speaks of files and parts that there are", () => {
  const text = read("docs/install.md");
  const files = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path);
  const named = [...text.matchAll(/\b(?:ops|test)\/[\w./-]+\.\w+/g)].map(([path]) => `../${path}`);
  expect(files.length).toBeGreaterThan(3);
  expect([...files, ...named].filter((path) => !existsSync(join(root, "docs", path)))).toEqual([]);
  const parts = [...text.matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );
  const wanted = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, part = ""]) => part);
  expect(wanted.filter((part) => !parts.includes(part))).toEqual([]);
});

describe("ops/caddy/Caddyfile", () => {
  const text = read("ops/caddy/Caddyfile");
  const { services } = Bun.YAML.parse(read("compose.scaled.yml")) as Compose;
  const given = services.caddy?.environment ?? {};
  const bare = text.replaceAll(/#.*$/gm, "");

  test("names only variables that compose.scaled.yml gives it, and its braces are closed", () => {
    const used = [...bare.matchAll(/\{\$(\w+)/g)].map(([, name = ""]) => name);
    expect(Object.keys(given).toSorted()).toEqual([...new Set(used)].toSorted());
    expect(bare.split("{").length).toBe(bare.split("}").length);
    expect(Object.keys(services)).toContain(String(given.QUICKLINK_UPSTREAM).replace(/:\d+$/, ""));
    const snippets = [...bare.matchAll(/^\((\w+)\) \{$/gm)].map(([, name = ""]) => name);
    const imported = [...bare.matchAll(/^\timport (\w+)$/gm)].map(([, name = ""]) => name);
    expect([...new Set(imported)]).toEqual(snippets);
  });

  test("serves the own host, and on demand whatever else leads here", () => {
    expect([...bare.matchAll(/^(\S+) \{$/gm)].map(([, site = ""]) => site)).toEqual([
      "(quicklink)",
      "{$QUICKLINK_HOST:localhost}",
      "https://",
    ]);
    expect(bare.slice(bare.indexOf("https:// {"))).toMatch(/\ttls \{\s+on_demand\s+\}/);
  });

  test("asks addresses that the server answers: whether it is well, and for whom certificates are", async () => {
    const asked = /^\t\task http:\/\/\{\$QUICKLINK_UPSTREAM:[\d.:]+\}(\/\S+)$/m.exec(bare)?.[1];
    const health = /health_uri (\/\S+)/.exec(bare)?.[1];
    const server = await startServer({ env: { QL_BASE_URL: "https://go.example.com" } });
    try {
      // As Caddy calls it, by its name in the network of containers.
      const headers = { host: String(given.QUICKLINK_UPSTREAM) };
      const status = async (path: string) => (await fetch(server.url + path, { headers })).status;
      expect(await status(`${health}`)).toBe(200);
      expect(await status(`${asked}?domain=go.example.com`)).toBe(200);
      expect(await status(`${asked}?domain=stranger.example.com`)).toBe(404);
    } finally {
      await server.stop();
    }
  });
});
