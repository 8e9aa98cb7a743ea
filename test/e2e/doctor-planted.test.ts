/** Planted misconfigurations are found, and the advice fixes them. */
import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { postgresAvailable, sharedPostgres, startPostgres, startReplica } from "../ground/postgres.ts";
import { cleanEnvironment, type Environment, runProcess, until } from "../ground/process.ts";
import { cli, programInShell } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, must, newDatabase } from "./servers.ts";

interface Finding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly found: string;
  readonly advice?: string;
}

const published = { QL_BASE_URL: "https://go.example.com", QL_TRUSTED_PROXIES: "127.0.0.1" };

async function finding(env: Environment, check: string): Promise<Finding & { code: number }> {
  const { code, stdout } = await cli(["doctor", "--json"], { env: { ...published, ...env } });
  const found = (JSON.parse(stdout) as Finding[]).filter((one) => one.check === check);
  expect(found.map((one) => one.check)).toEqual([check]);
  return { ...(found[0] as Finding), code };
}

describe.each([...databases])("planted on %s", (database) => {
  test("another salt than that of the database", async () => {
    const env = await newDatabase(database);
    must(await cli(["tenant", "list"], { env }));
    expect(await finding(env, "code salt")).toMatchObject({ status: "ok" });
    const wrong = await finding({ ...env, QL_CODE_SALT: "another salt than it was" }, "code salt");
    expect(wrong).toMatchObject({ status: "fail", code: 1, advice: expect.stringContaining("codes rotate") });
  });
});

describe("planted on the machine", () => {
  test("a missing salt", async () => {
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["tenant", "list"], { env }));
    rmSync(join(env.QL_DATA, "secrets"), { recursive: true });
    const before = readdirSync(env.QL_DATA);
    const gone = await finding(env, "code salt");
    expect(gone).toMatchObject({ status: "fail", code: 1, advice: expect.stringContaining("from a backup") });
    expect(readdirSync(env.QL_DATA).filter((name) => !before.includes(name))).toEqual([]);
  });

  test("a data folder that others can enter, and one whose database they can read", async () => {
    const env = { QL_DATA: tempFolder("data") };
    must(await cli(["tenant", "list"], { env }));
    chmodSync(env.QL_DATA, 0o755);
    const entered = await finding(env, "data folder");
    expect(entered).toMatchObject({ status: "warn", code: 0, advice: `Run: chmod -R go= ${env.QL_DATA}` });
    chmodSync(join(env.QL_DATA, "secrets"), 0o755);
    expect(await finding(env, "data folder")).toMatchObject({ status: "fail", code: 1 });
    must(await runProcess(["sh", "-c", entered.advice?.replace("Run: ", "") ?? "false"]));
    expect(await finding(env, "data folder")).toMatchObject({ status: "ok", code: 0 });
  });

  test("few open files", async () => {
    const command = `ulimit -n 512 && exec ${programInShell} doctor --json`;
    const env = cleanEnvironment({ ...published, QL_DATA: tempFolder("data") });
    const { stdout } = await runProcess(["sh", "-c", command], { cwd: join(import.meta.dir, "../.."), env });
    expect((JSON.parse(stdout) as Finding[]).find(({ check }) => check === "open files")).toMatchObject({
      status: "warn",
      found: expect.stringContaining("at most 512"),
      advice: expect.stringContaining("LimitNOFILE"),
    });
  });
});

if (postgresAvailable()) {
  describe("planted on PostgreSQL", () => {
    test("more connections than it has", async () => {
      const env = await newDatabase("PostgreSQL");
      expect(await finding(env, "database connections")).toMatchObject({ status: "ok" });
      const many = await finding({ ...env, QL_DATABASE_POOL: "500" }, "database connections");
      expect(many).toMatchObject({
        status: "fail",
        code: 1,
        advice: expect.stringContaining("Lower QL_DATABASE_POOL"),
      });
    });

    test("more workers than cores", async () => {
      const env = { ...(await newDatabase("PostgreSQL")), REDIS_URL: "redis://127.0.0.1:1", QL_WORKERS: "256" };
      expect(await finding(env, "workers")).toMatchObject({
        status: "warn",
        advice: expect.stringContaining("QL_WORKERS"),
      });
    });

    test("an encoding that cannot store every title", async () => {
      const postgres = await sharedPostgres();
      const client = new Client({ connectionString: postgres.url("postgres") });
      await client.connect();
      const name = `latin_${crypto.randomUUID().replaceAll("-", "")}`;
      await client.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
      await client.end();
      const env = { DATABASE_URL: postgres.url(name), QL_CODE_SALT: "a salt for tests of the doctor" };
      expect(await finding(env, "database encoding")).toMatchObject({
        ...{ status: "fail", code: 1, found: expect.stringContaining("LATIN1") },
        advice: expect.stringContaining("--encoding=UTF8"),
      });
    });

    test("a replica that lags, and a server that is not a replica", async () => {
      const primary = await startPostgres();
      const replica = await startReplica(primary);
      try {
        const url = await primary.createDatabase("doctor");
        const env = { DATABASE_URL: url, QL_CODE_SALT: "a salt for tests of the doctor" };
        must(await cli(["migrate"], { env }));
        const name = new URL(url).pathname.slice(1);
        const behind = { ...env, DATABASE_REPLICA_URL: replica.url(name) };
        expect(await finding(behind, "database replica")).toMatchObject({
          ...{ status: "ok", found: expect.stringContaining("lags by") },
        });
        await replica.pauseReplay();
        must(await cli(["tenant", "create", "late"], { env }));
        // The replica must receive the change before it can lag.
        const lagging = await until("the replica to lag", async () => {
          const found = await finding(behind, "database replica");
          return found.status === "warn" ? found : undefined;
        });
        expect(lagging.advice).toContain("pg_stat_replication");
        await replica.resumeReplay();
        expect(await finding({ ...env, DATABASE_REPLICA_URL: url }, "database replica")).toMatchObject({
          ...{ status: "fail", code: 1, advice: expect.stringContaining("streaming replica") },
        });
      } finally {
        await replica.stop();
        await primary.stop();
      }
    }, 60_000);
  });
}
