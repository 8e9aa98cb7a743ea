/** Only the operator sees the API key of the first start: logs are read by many, and kept. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProcess, until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { serveOnTerminal } from "../ground/terminal.ts";
import { databases, type LinkBody, must, newDatabase, siteOf } from "./servers.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const lineAbout = (output: string, words: string) => output.split("\n").find((line) => line.includes(words)) ?? "";

describe.each([...databases])("without a terminal, on %s", (database) => {
  test("the key is in a private file, the log names the file, and doctor asks to delete it", async () => {
    const folder = join(tempFolder("data"), "not", "yet");
    const env = { ...(await newDatabase(database)), QL_DATA: folder };
    const file = join(folder, "first-key");
    const server = await startServer({ env: { ...env, QL_LOG_LEVEL: "trace" } });
    expect(server.key).toMatch(/^ql_[A-Za-z0-9]{43}$/);
    expect([modeOf(file), modeOf(folder)]).toEqual(["600", "700"]);
    const site = siteOf(server, env);
    expect((await site.call("GET", "/api/tenant")).status).toBe(200);
    const told = JSON.parse(lineAbout(server.output(), "its API key is in this file")) as { file: string };
    expect(told.file).toBe(file);
    const asked = JSON.parse((await site.cli("doctor", "--json")).stdout) as object[];
    expect(asked).toContainEqual(expect.objectContaining({ check: "first key", status: "warn" }));
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain("ql_");

    const again = await startServer({ env, key: server.key });
    expect(await again.stop()).toBe(0);
    expect(again.output()).not.toContain("first-key");
    expect(readFileSync(file, "utf8").trim()).toBe(server.key);
  }, 60_000);
});

if (databases.includes("PostgreSQL")) {
  test("if no file can be written the server runs, and names the command that creates a key", async () => {
    const blocked = join(tempFolder("data"), "a-file");
    writeFileSync(blocked, "");
    const env = { ...(await newDatabase("PostgreSQL")), QL_DATA: blocked };
    const server = await startServer({ env, key: "none was written" });
    const words = "could not be written";
    await until("the log", () => server.output().includes(words) || undefined);
    const { msg } = JSON.parse(lineAbout(server.output(), words)) as { msg: string };
    const command = /quicklink (key create NAME .*)$/.exec(msg)?.[1]?.split(" ") ?? [];
    const site = siteOf(server, env);
    const key = must(await site.cli(...command)).trim();
    expect((await site.call("GET", "/api/tenant", { key })).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain("ql_");
  }, 60_000);
}

test("a terminal shows the key once, with a curl command that creates a link when pasted, and no file is written", async () => {
  const { folder, port, shown, stop } = serveOnTerminal();
  try {
    const line = await until("a curl line", () => /^ *(curl .*\})'\r?$/m.exec(shown())?.[1]);
    const { code, stdout } = await runProcess(["bash", "-c", `${line}'`]);
    expect(code).toBe(0);
    const link = JSON.parse(stdout) as LinkBody;
    const answer = await fetch(`http://127.0.0.1:${port}/${link.code}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "https://example.com/"]);
    expect(shown().match(/API key \(shown only once\):/g)).toHaveLength(1);
    expect(existsSync(join(folder, "first-key"))).toBe(false);
  } finally {
    await stop();
  }
}, 60_000);
