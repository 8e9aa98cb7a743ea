import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { databases, must, type ProblemBody, query, type Site, siteOf, startSite, type UploadBody } from "./servers.ts";

type Counts = { rows: number; created: number; present: number; rejected: number };
type Import = {
  id: string;
  format: string | null;
  state: string;
  problem: string | null;
  check: Counts | null;
  done: Counts;
};
type Page<Item> = { items: Item[]; nextCursor: string | null };

/** A machine that is busy elsewhere may see the end of an import before it can interrupt it: then it gets a longer one. */
const rowsMost = 150_000;
const listOf = (rows: number) =>
  ["url", ...Array.from({ length: rows }, (_, i) => `https://example.com/${i}`)].join("\n");

for (const database of databases) {
  describe(`imports through the API on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const upload = async (text: string, key: string, on = site): Promise<string> => {
      const body = { name: "links.csv", size: Buffer.byteLength(text), type: "text/csv" };
      const { id, upload: address } = (await on.call("POST", "/api/files", { key, body })).json<UploadBody>();
      await on.send(address, text);
      expect((await on.call("POST", `/api/files/${id}/complete`, { key })).status).toBe(200);
      return id;
    };
    const begin = async (text: string, key: string): Promise<Import> => {
      const reply = await site.call("POST", "/api/imports", { key, body: { file: await upload(text, key) } });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.json<Import>();
    };
    const read = async ({ id }: Import, key: string, on = site) =>
      (await on.call("GET", `/api/imports/${id}`, { key })).json<Import>();
    const reach = (run: Import, key: string, state: string, on = site) =>
      until(`the import to be ${state}`, async () => {
        const now = await read(run, key, on);
        if (now.state === "failed" && state !== "failed") throw new Error(now.problem ?? "");
        return now.state === state ? now : undefined;
      });
    const set = (run: Import, key: string, state: string) =>
      site.call("PATCH", `/api/imports/${run.id}`, { key, body: { state } });
    const links = async (slug: string) =>
      (await query(site.env, `select l.id from links l join tenants t on t.id = l.tenant_id where t.slug = '${slug}'`))
        .length;

    test("a file is recognised and checked without writing, then imported, with a report of its bad rows", async () => {
      const slug = `imports-${database.toLowerCase()}`;
      const key = await site.tenant(slug);
      const rows = Array.from({ length: 600 }, (_, i) => `https://example.com/${i},${slug}-${i},Title ${i}`);
      rows[10] = "not a url,some-code,Bad";
      rows[20] = `https://example.com/dup,${slug}-1,Twice`;
      const run = await begin(["longUrl,shortCode,title", ...rows].join("\n"), key);
      expect(run).toMatchObject({ state: "checking", check: null });
      const checked = await reach(run, key, "checked");
      expect(checked).toMatchObject({ format: "shlink", done: { rows: 0, created: 0 } });
      expect(checked.check).toMatchObject({ rows: 600, rejected: 2 });
      expect(await links(slug)).toBe(0);
      const bad = (await site.call("GET", `/api/imports/${run.id}/rows?limit=1`, { key })).json<
        Page<{ line: number }>
      >();
      expect(bad.items.map(({ line }) => line)).toEqual([12]);
      const rest = await site.call("GET", `/api/imports/${run.id}/rows?limit=1&cursor=${bad.nextCursor}`, { key });
      expect(rest.json<Page<{ line: number }>>().items.map(({ line }) => line)).toEqual([22]);
      expect((await set(run, key, "running")).json<Import>().state).toBe("running");
      const done = await reach(run, key, "done");
      expect(done.done).toMatchObject({ rows: 600, created: 598, rejected: 2 });
      expect(await links(slug)).toBe(598);
      expect((await site.reach(`/${slug}-0`)).headers.get("location")).toBe("https://example.com/0");
      const report = await site.call("GET", `/api/imports/${run.id}/rows?phase=import`, { key });
      expect(report.json<Page<{ line: number }>>().items.map(({ line }) => line)).toEqual([12, 22]);
      // Started again, it stays done.
      expect((await set(run, key, "running")).json<Import>().state).toBe("done");
      const log = (await site.call("GET", "/api/history?action=link.import", { key })).json<
        Page<{ by: { kind: string }; after: unknown }>
      >();
      expect(log.items).toMatchObject([{ by: { kind: "key" }, after: { created: 598, refused: 2 } }]);
      expect((await site.call("DELETE", `/api/imports/${run.id}`, { key })).status).toBe(204);
      expect((await site.call("GET", `/api/imports/${run.id}`, { key })).status).toBe(404);
      expect(await links(slug)).toBe(598);
    }, 60_000);

    test("it uses what is left of the month to the last link, and continues when there is more", async () => {
      const slug = `month-${database.toLowerCase()}`;
      const key = await site.tenant(slug);
      must(await site.cli("tenant", "update", slug, "--links", "7"));
      const run = await begin(
        ["url", ...Array.from({ length: 20 }, (_, i) => `https://example.com/${i}`)].join("\n"),
        key,
      );
      await reach(run, key, "checked");
      await set(run, key, "running");
      const failed = await reach(run, key, "failed");
      expect(failed.problem).toContain("7 new links");
      expect(failed.done).toMatchObject({ created: 7 });
      expect(await links(slug)).toBe(7);
      must(await site.cli("tenant", "update", slug, "--links", "100"));
      await set(run, key, "running");
      expect((await reach(run, key, "done")).done).toMatchObject({ rows: 20, created: 20 });
      expect(await links(slug)).toBe(20);
    }, 60_000);

    test("a cancelled one stops between batches, keeps what it has, and continues without repeating", async () => {
      for (let rows = 1_500; ; rows *= 3) {
        const slug = `cancel-${rows}-${database.toLowerCase()}`;
        const key = await site.tenant(slug);
        const run = await begin(listOf(rows), key);
        await reach(run, key, "checked");
        expect((await site.call("DELETE", `/api/imports/${run.id}`, { key })).status).toBe(204);
        const again = await begin(listOf(rows), key);
        await reach(again, key, "checked");
        await set(again, key, "running");
        await until("some rows", async () => ((await read(again, key)).done.rows > 0 ? true : undefined));
        const cancelled = await set(again, key, "cancelled");
        if (rows < rowsMost && (await read(again, key)).state === "done") continue;
        expect(cancelled.json<Import>().state).toBe("cancelled");
        // Whoever starts it again at once meets the step that was just told to stop.
        for (let times = 0; times < 30; times++) {
          await set(again, key, "running");
          await set(again, key, "cancelled");
        }
        await set(again, key, "running");
        const done = await reach(again, key, "done");
        expect(done.done).toMatchObject({ rows, created: rows });
        expect(await links(slug)).toBe(rows);
        return;
      }
    }, 60_000);

    test("what is no import names the reason; others' imports and files do not exist", async () => {
      const key = await site.tenant(`bad-${database.toLowerCase()}`);
      const foreign = await site.tenant(`bad-foreign-${database.toLowerCase()}`);
      const file = await upload("url\nhttps://example.com", key);
      for (const [body, field] of [
        [{}, "file"],
        [{ file: "nonsense" }, "file"],
        [{ file: "fil_01k9a0b1c2d3e4f5g6h7j8k9m0" }, "file"],
        [{ file, format: "excel" }, "format"],
      ] as const) {
        const reply = await site.call("POST", "/api/imports", { key, body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
      expect((await site.call("POST", "/api/imports", { key: foreign, body: { file } })).status).toBe(422);
      const run = await begin("colour,size\nred,1", key);
      expect((await reach(run, key, "failed")).problem).toContain("url");
      expect((await site.call("GET", `/api/imports/${run.id}`, { key: foreign })).status).toBe(404);
      expect((await site.call("GET", `/api/imports/${run.id}/rows`, { key: foreign })).status).toBe(404);
      const locked = await begin("url,password\nhttps://example.com,correct horse", key);
      expect((await reach(locked, key, "checked")).check).toMatchObject({ rejected: 1, created: 0 });
      const gone = await begin("url\nhttps://example.com", key);
      await reach(gone, key, "checked");
      const running = await set(gone, key, "cancelled");
      expect(running.json<ProblemBody>().errors?.[0]?.field).toBe("state");
    }, 60_000);
  });
}

test("an import continues after the server was killed, and creates every link once", async () => {
  for (let rows = 2_000; ; rows *= 3) {
    const site = await startSite("SQLite");
    const { key } = site.server;
    const text = listOf(rows);
    const body = { name: "links.csv", size: Buffer.byteLength(text), type: "text/csv" };
    const { id: file, upload } = (await site.call("POST", "/api/files", { body })).json<UploadBody>();
    await site.send(upload, text);
    await site.call("POST", `/api/files/${file}/complete`);
    const { id } = (await site.call("POST", "/api/imports", { body: { file } })).json<Import>();
    const read = async (on: Site) => (await on.call("GET", `/api/imports/${id}`)).json<Import>();
    await until("the check", async () => ((await read(site)).state === "checked" ? true : undefined));
    await site.call("PATCH", `/api/imports/${id}`, { body: { state: "running" } });
    await until("some rows", async () => ((await read(site)).done.rows > 0 ? true : undefined));
    await site.server.kill();
    const [{ n }] = (await query(site.env, "select count(*) as n from links")) as [{ n: number }];
    if (rows < rowsMost && n === rows) continue;
    expect(n).toBeLessThan(rows);
    const settings = { ...site.env, QL_GUESSES_PER_MINUTE: "none" };
    const next = siteOf(await startServer({ dataDir: String(site.env.QL_DATA), env: settings, key }), site.env);
    const done = await until("the rest", async () => {
      const now = await read(next);
      return now.state === "done" ? now : undefined;
    });
    expect(done.done).toMatchObject({ rows, created: rows });
    expect(await query(site.env, "select count(*) as n from links")).toEqual([{ n: rows }]);
    expect(await next.server.stop()).toBe(0);
    return;
  }
}, 90_000);
