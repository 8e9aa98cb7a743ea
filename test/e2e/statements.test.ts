/** What a request costs in SQL text: nothing is compiled once the first request of its kind was answered. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DefaultQueryCompiler } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/config.ts";
import { type Running, startApp } from "../../src/server/server.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import { freePort } from "../ground/ports.ts";
import { sharedPostgres } from "../ground/postgres.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases } from "./servers.ts";

const rounds = 30;
const log = createLog("silent", { write() {} }, false, systemClock.now);

/** The server runs in this process, so that its compiler can be watched. How often each text was compiled. */
const compiled = new Map<string, number>();
const { compileQuery } = DefaultQueryCompiler.prototype;
beforeAll(() => {
  DefaultQueryCompiler.prototype.compileQuery = function (...query) {
    const result = compileQuery.apply(this, query);
    compiled.set(result.sql, (compiled.get(result.sql) ?? 0) + 1);
    return result;
  };
});
afterAll(() => {
  DefaultQueryCompiler.prototype.compileQuery = compileQuery;
});

/** A text that is compiled for every request is compiled this often; the texts of jobs are not. */
const perRequest = () => [...compiled].filter(([, times]) => times >= rounds).map(([text]) => text);

for (const database of databases) {
  describe(database, () => {
    let running: Running;
    let url: string;
    let key: string;

    beforeAll(async () => {
      const port = freePort();
      const address = database === "SQLite" ? undefined : await (await sharedPostgres()).createDatabase("compiled");
      if (address !== undefined) {
        const sql = openPostgres(address, { connections: 1 }, log);
        await migrate(sql);
        await sql.close();
      }
      const folder = tempFolder("data");
      const settings = {
        PORT: String(port),
        HOST: "127.0.0.1",
        QL_DATA: folder,
        QL_CODE_SALT: "salt of this test",
        QL_SQL_WAIT_MS: "2000", // the machine may be busy
      };
      const config = loadConfig({ ...settings, ...(address !== undefined && { DATABASE_URL: address }) }, folder);
      running = await startApp(config, log);
      key = (await running.firstKey) ?? "";
      url = `http://127.0.0.1:${port}`;
    });
    afterAll(() => running.stop());

    async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        redirect: "manual",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect(answer.status).toBeLessThan(400);
      return answer.status === 204 || answer.status === 302 ? undefined : await answer.json();
    }

    let made = 0;
    const create = async (headers?: Record<string, string>) =>
      (await call("POST", "/api/links", { url: `https://example.com/${++made}` }, headers)) as {
        id: string;
        code: string;
      };

    async function uploadAndDelete(): Promise<void> {
      type Announced = { id: string; upload: { url: string; method: string; headers: Record<string, string> } };
      const file = { name: "a.txt", size: 5, type: "text/plain" };
      const { id, upload } = (await call("POST", "/api/files", file)) as Announced;
      const { method, headers } = upload;
      expect((await fetch(upload.url, { method, headers, body: "hello" })).ok).toBe(true);
      await call("POST", `/api/files/${id}/complete`);
      await call("GET", `/api/files/${id}/download`);
      await call("DELETE", `/api/files/${id}`);
    }

    /** Each kind of request, once. A new link is in no cache, so its first visit is a cold one. */
    const requests: Readonly<Record<string, () => Promise<unknown>>> = {
      create,
      "create with an Idempotency-Key": () => create({ "idempotency-key": `key-${++made}` }),
      "create with a chosen code": () =>
        call("POST", "/api/links", { url: "https://example.com/", code: `slug-${++made}` }),
      "cold redirect": async () => call("GET", `/${(await create()).code}`),
      read: async () => call("GET", `/api/links/${(await create()).id}`),
      edit: async () => call("PATCH", `/api/links/${(await create()).id}`, { url: "https://example.com/edited" }),
      "file, up and down again": uploadAndDelete,
      delete: async () => call("DELETE", `/api/links/${(await create()).id}`),
    };

    for (const [name, request] of Object.entries(requests)) {
      test(`${name}: compiles nothing after the first`, async () => {
        await request();
        await request();
        compiled.clear();
        for (let round = 0; round < rounds; round++) await request();
        expect(perRequest()).toEqual([]);
      });
    }

    test("a query that is built for every request is noticed", async () => {
      compiled.clear();
      for (let round = 0; round < rounds; round++) await call("GET", "/api/links?limit=1");
      expect(perRequest()).not.toEqual([]);
    });
  });
}
