import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { Client, type QueryResultRow } from "pg";
import { ensure, find } from "./machine.ts";
import { freePort, isFree } from "./ports.ts";
import { databasesAt, postgresAvailable, sharedPostgres, startPostgres } from "./postgres.ts";
import { cleanEnvironment, type Environment, runProcess, startProcess, until } from "./process.ts";
import { cli, cliProcess } from "./server.ts";
import { removeFolder, tempFolder } from "./temp.ts";

async function rows(url: string, sql: string): Promise<QueryResultRow[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A zombie counts as gone: a container may have no init that reaps our children's remains. */
async function gone(pid: number): Promise<boolean> {
  const { stdout } = await runProcess(["ps", "-o", "stat=", "-p", String(pid)]);
  return stdout.trim() === "" || stdout.startsWith("Z");
}

describe("ports", () => {
  test("a free port can be listened on, and is not free then", () => {
    const port = freePort();
    const listener = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
    expect(isFree(port)).toBe(false);
    listener.stop(true);
    expect(isFree(port)).toBe(true);
  });

  test("no port is given twice", () => {
    const ports = Array.from({ length: 50 }, freePort);
    expect(new Set(ports).size).toBe(50);
  });
});

describe("processes", () => {
  test("output is captured, and waiting for it ends when it comes", async () => {
    const child = startProcess(["sh", "-c", "echo one; echo two >&2; exec sleep 60"]);
    expect((await child.waitForOutput(/t(w)o/))[1]).toBe("w");
    await child.waitForOutput(/one/);
    expect(child.stdout()).toBe("one\n");
    await child.kill();
  });

  test("a stopped process is gone, and its exit code is known", async () => {
    const child = startProcess(["sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"]);
    await child.waitForOutput(/ready/);
    expect(await child.stop()).toBe(7);
    expect(await gone(child.pid)).toBe(true);
  });

  test("a process that will not stop is killed, and that is an error", async () => {
    const child = startProcess(["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.05; done"]);
    await child.waitForOutput(/ready/);
    await expect(child.stop({ timeoutMs: 100 })).rejects.toThrow("did not end within 100 ms of SIGTERM");
    expect(await gone(child.pid)).toBe(true);
  });

  test("waiting for a process that ends fails at once and shows what it said", async () => {
    const child = startProcess(["sh", "-c", "echo no such luck; exit 3"]);
    await expect(child.waitForUrl(`http://127.0.0.1:${freePort()}/`)).rejects.toThrow(
      /ended with 3 [\s\S]*no such luck/,
    );
  });

  test("a command gets its input and none of our environment", async () => {
    const env = cleanEnvironment({ GREETING: "hello" });
    const { code, stdout, stderr } = await runProcess(["sh", "-c", "cat; env >&2; exit 4"], { input: "in", env });
    expect([code, stdout]).toEqual([4, "in"]);
    expect(stderr).toContain("GREETING=hello");
    expect(stderr).not.toContain("NODE_ENV");
  });

  test("what a process started and made is gone after it was killed with -9", async () => {
    const ground = (name: string) => JSON.stringify(join(import.meta.dir, name));
    const script = `
      const { startProcess } = await import(${ground("process.ts")});
      const { tempFolder } = await import(${ground("temp.ts")});
      console.log(startProcess(["sleep", "60"]).pid, tempFolder());
      await Bun.sleep(60_000);
    `;
    const parent = startProcess([process.execPath, "--no-env-file", "-e", script]);
    const [, pid, folder] = await parent.waitForOutput(/^(\d+) (\S+)\n/);
    expect(existsSync(String(folder))).toBe(true);
    await parent.kill();
    await until("the sleeper to be gone", async () => (await gone(Number(pid))) || undefined);
    await until("the folder to be gone", () => !existsSync(String(folder)) || undefined);
  });
});

test("a temporary folder is new and can be removed with what is in it", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "file"), "x");
  removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
});

describe("commands in this process", () => {
  const commands: [string[], Environment][] = [
    [["config", "--json"], { PORT: "4321" }],
    [["link", "create", "--help"], {}],
    [["link", "list", "--nope"], {}],
    [["tenant", "show", "nobody"], {}],
    [["config"], { PORT: "http" }],
  ];

  test("print and end as they do in a process of their own", async () => {
    for (const [args, more] of commands) {
      const env = { QL_DATA: tempFolder("data"), ...more };
      expect(await cli(args, { env })).toEqual(await cliProcess(args, { env }));
    }
  });

  test("keep apart when they run at once, and change nothing of the process", async () => {
    const before = [process.exitCode, getPriority()];
    const ports = ["4321", "4322", "4323", "http"];
    const all = await Promise.all(ports.map((PORT) => cli(["config", "--json"], { env: { PORT } })));
    const shown = all.slice(0, 3).map(({ stdout }) => JSON.parse(stdout) as { name: string; value: string }[]);
    expect(shown.map((settings) => settings.find(({ name }) => name === "PORT")?.value)).toEqual(ports.slice(0, 3));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 2]);

    const list = join(tempFolder("import"), "links.csv");
    writeFileSync(list, "url\nhttps://example.com/\nftp://example.com/\n");
    const env = { QL_DATA: tempFolder("data") };
    expect((await cli(["tenant", "create", "default"], { env })).code).toBe(0);
    expect((await cli(["import", list], { env })).code).toBe(1);
    expect([process.exitCode, getPriority()]).toEqual(before);
  });
});

if (postgresAvailable()) {
  describe("PostgreSQL", () => {
    test("is found with its tools in one folder, and is not installed again", async () => {
      const folder = find("postgresql")?.folder ?? "";
      const present = ["postgres", "initdb", "pg_dump"].filter((binary) => existsSync(join(folder, binary)));
      expect(present).toEqual(["postgres", "initdb", "pg_dump"]);
      expect(await ensure(["postgresql"])).toEqual([]);
    });

    test("runs as somebody else than root, answers, and is gone after stop", async () => {
      const postgres = await startPostgres();
      expect(postgres).not.toHaveProperty("kill"); // it would lose commits
      const { stdout: uid } = await runProcess(["ps", "-o", "uid=", "-p", String(postgres.pid)]);
      expect(Number(uid)).toBeGreaterThan(0);
      const [settings] = await rows(
        postgres.url("postgres"),
        `SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS listen,
          current_setting('data_directory') AS data`,
      );
      expect(settings).toEqual({ fsync: "off", listen: "127.0.0.1", data: expect.any(String) });
      await postgres.stop();
      expect(await gone(postgres.pid)).toBe(true);
      expect(isFree(postgres.port)).toBe(true);
      expect(existsSync(String(settings?.data))).toBe(false);
    });

    test("keeps every acknowledged commit when it is durable, killed and restarted", async () => {
      const postgres = await startPostgres({ durable: true });
      const url = await postgres.createDatabase();
      expect(await rows(url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
      await rows(url, "CREATE TABLE t (n int)");
      const client = new Client({ connectionString: url });
      client.on("error", () => {}); // its connection breaks
      await client.connect();
      let acknowledged = 0;
      const writing = (async () => {
        for (;;) {
          await client.query("INSERT INTO t VALUES ($1)", [acknowledged]);
          acknowledged++;
        }
      })().catch(() => {});
      await until("commits", () => acknowledged > 100 || undefined);
      const before = postgres.pid;
      await postgres.kill();
      await writing;
      await expect(rows(url, "SELECT 1")).rejects.toThrow();
      await postgres.restart();
      expect(postgres.pid).not.toBe(before);
      const [kept] = await rows(url, `SELECT count(*)::int AS n FROM t WHERE n < ${acknowledged}`);
      expect(kept).toEqual({ n: acknowledged });
      await postgres.stop();
    });

    test("gives every caller a database of its own", async () => {
      const shared = await sharedPostgres();
      const [one, two] = await Promise.all([shared.createDatabase("same"), shared.createDatabase("same")]);
      expect(one).not.toBe(two);
      await rows(one, "CREATE TABLE t (n int)");
      expect(await rows(two, "SELECT to_regclass('t') AS t")).toEqual([{ t: null }]);
    });

    test("fills a template once, also for callers that share nothing, and gives each a copy of its own", async () => {
      const shared = await sharedPostgres();
      const template = `filled_${crypto.randomUUID().slice(0, 8)}`;
      let filled = 0;
      const fill = async (url: string): Promise<void> => {
        filled++;
        await rows(url, "CREATE TABLE t AS SELECT 42 AS n");
      };
      const copies = await Promise.all([
        shared.createFilled(template, fill),
        shared.createFilled(template, fill),
        databasesAt(shared.base).createFilled(template, fill),
      ]);
      expect(filled).toBe(1);
      await rows(copies[0], "DELETE FROM t");
      expect(await Promise.all(copies.map((url) => rows(url, "SELECT n FROM t")))).toEqual([
        [],
        [{ n: 42 }],
        [{ n: 42 }],
      ]);
    });
  });
}
