/** Files, as a client of the API and a visitor of links meet them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { mutant } from "../ground/mutant.ts";
import { until } from "../ground/process.ts";
import { redisAvailable, startRedis } from "../ground/redis.ts";
import { startS3 } from "../ground/s3.ts";
import { startServer } from "../ground/server.ts";
import {
  databases,
  type FileBody,
  must,
  type ProblemBody,
  query,
  type Reply,
  type Site,
  siteOf,
  startSite,
  type UploadBody,
} from "./servers.ts";

const sha256Of = (body: string) => createHash("sha256").update(body).digest("hex");

type Use = { name: string; used: number; held: number; limit: number | null };

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
      must(await site.cli("tenant", "update", "default", "--storage", "10000"));
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    async function standing(on: Site = site, key?: string): Promise<Pick<Use, "used" | "held" | "limit">> {
      const reply = await on.call("GET", "/api/usage", key === undefined ? {} : { key });
      const use = reply.json<{ limits: Use[] }>().limits.find(({ name }) => name === "storageBytes");
      if (use === undefined) throw new Error(`storage is not in ${reply.text}`);
      return { used: use.used, held: use.held, limit: use.limit };
    }

    const announce = (fields: Record<string, unknown>, on: Site = site) =>
      on.call("POST", "/api/files", { body: { name: "a file.txt", type: "text/plain", size: 5, ...fields } });
    const complete = (id: string) => site.call("POST", `/api/files/${id}/complete`);
    const remove = (id: string) => site.call("DELETE", `/api/files/${id}`);
    const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;

    /** Whatever happens in there, afterwards as much is used and held as before. */
    async function givingBack(work: () => Promise<void>): Promise<void> {
      const before = await standing();
      await work();
      expect(await standing()).toEqual(before);
    }

    describe("a file", () => {
      test("is announced, sent, completed, read about, fetched and deleted", async () => {
        const before = await standing();
        const announced = await announce({ name: "Grüße.txt", size: 5 });
        expect(announced.status).toBe(201);
        const { id, upload, state, sha256 } = announced.json<UploadBody>();
        expect([state, sha256, upload.method]).toEqual(["pending", null, "PUT"]);
        expect(announced.headers.get("location")).toBe(`/api/files/${id}`);
        const left = Date.parse(upload.expiresAt) - Date.now();
        expect([left > 14 * 60_000, left < 16 * 60_000]).toEqual([true, true]);
        expect(await standing()).toMatchObject({ used: before.used, held: before.held + 5 });

        expect(codeOf(await complete(id))).toBe("upload_missing");
        expect((await site.send(upload, "hello")).status).toBe(201);
        const completed = await complete(id);
        expect([completed.status, completed.json<FileBody>()]).toEqual([
          200,
          {
            ...{ id, name: "Grüße.txt", size: 5, type: "text/plain", sha256: sha256Of("hello"), state: "stored" },
            ...{ createdAt: expect.any(String), storedAt: expect.any(String) },
          },
        ]);
        expect(await standing()).toMatchObject({ used: before.used + 5, held: before.held });
        expect((await complete(id)).json<FileBody>()).toEqual(completed.json<FileBody>());
        expect((await site.call("GET", `/api/files/${id}`)).json<FileBody>()).toEqual(completed.json<FileBody>());
        const { items } = (await site.call("GET", "/api/files?limit=1")).json<{ items: FileBody[] }>();
        expect(items).toEqual([completed.json<FileBody>()]);

        const offer = (await site.call("GET", `/api/files/${id}/download`)).json<{ url: string }>();
        const fetched = await site.visit(new URL(offer.url).pathname);
        expect([fetched.status, fetched.text]).toEqual([200, "hello"]);
        expect(fetched.headers.get("content-disposition")).toStartWith("attachment");

        expect((await remove(id)).status).toBe(204);
        expect(await standing()).toEqual(before);
        expect((await site.call("GET", `/api/files/${id}`)).status).toBe(404);
        expect((await site.visit(new URL(offer.url).pathname)).status).toBe(404);
        expect((await remove(id)).status).toBe(404);
      });

      test("that was deleted takes no more bytes at its upload address", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({ size: 5 })).json<UploadBody>();
          expect((await remove(id)).status).toBe(204);
          const late = await site.send(upload, "hello");
          expect([late.status, codeOf(late)]).toEqual([404, "not_found"]);
          const kept = readdirSync(site.server.dataDir, { recursive: true });
          expect(kept.filter((name) => String(name).includes(id))).toEqual([]);
        });
      });

      test("that does not fit is refused with what is used, held, allowed and missing", async () => {
        const { used, held } = await standing();
        const reply = await announce({ size: 10_001 - used - held });
        expect(reply.status).toBe(413);
        expect(reply.json<ProblemBody>()).toMatchObject({ code: "over_quota", used, held, limit: 10_000, missing: 1 });
        const fits = await announce({ size: 10_000 - used - held });
        expect(fits.status).toBe(201);
        expect((await remove(fits.json<UploadBody>().id)).status).toBe(204);
        expect(await standing()).toMatchObject({ used, held });
      });

      test("that fills nine tenths has the tenant's contact told, once", async () => {
        must(await site.cli("tenant", "update", "default", "--storage", "10000"));
        expect((await site.call("PATCH", "/api/email/settings", { body: { contact: "ops@example.com" } })).status).toBe(
          200,
        );
        const { used, held } = await standing();
        const files = [await site.store("x".repeat(9_000 - used - held)), await site.store("one more")];
        const told = () => query(site.env, "select recipient, dedupe_key as key from emails where kind = 'quota'");
        const rows = await until("a notice", async () => {
          const found = await told();
          return found.length > 0 ? found : undefined;
        });
        expect(rows).toEqual([
          { recipient: "ops@example.com", key: expect.stringMatching(/^quota:storage:\d{4}-\d{2}:80$/) },
        ]);
        for (const { id } of files) expect((await remove(id)).status).toBe(204);
        expect((await site.call("PATCH", "/api/email/settings", { body: { contact: null } })).status).toBe(200);
      });

      test("of another tenant is not found", async () => {
        const key = await site.tenant("stranger");
        const { id } = await site.store("mine");
        for (const [method, path] of [
          ["GET", `/api/files/${id}`],
          ["GET", `/api/files/${id}/download`],
          ["POST", `/api/files/${id}/complete`],
          ["DELETE", `/api/files/${id}`],
        ] as const) {
          expect((await site.call(method, path, { key })).status).toBe(404);
        }
        const link = await site.call("POST", "/api/links", { key, body: { file: id } });
        expect(link.json<ProblemBody>().errors).toMatchObject([{ field: "file", code: "unknown_file" }]);
        expect((await site.call("GET", "/api/files", { key })).json<{ items: [] }>().items).toEqual([]);
        expect((await remove(id)).status).toBe(204);
      });
    });

    describe("what cannot be announced", () => {
      const bad: [string, Record<string, unknown>, string, string][] = [
        ["nothing at all", { size: 0 }, "size", "too_small"],
        ["less than nothing", { size: -1 }, "size", "too_small"],
        ["half a byte", { size: 1.5 }, "size", "wrong_type"],
        ["a size in words", { size: "5" }, "size", "wrong_type"],
        ["more than the server takes", { size: 100_000_001 }, "size", "too_big"],
        ["a way out of the folder", { name: "../../etc/passwd" }, "name", "bad_file_name"],
        ["a way out on Windows", { name: "..\\..\\boot.ini" }, "name", "bad_file_name"],
        ["the folder above", { name: ".." }, "name", "bad_file_name"],
        ["a name that reads backwards", { name: "invoice\u202efdp.exe" }, "name", "bad_file_name"],
        ["a name with a line break", { name: "a\r\nX-Evil: 1" }, "name", "control_characters"],
        ["a name with a zero", { name: "a\u0000.txt" }, "name", "control_characters"],
        ["a name of 256 characters", { name: "a".repeat(256) }, "name", "too_long"],
        ["a name of spaces", { name: "  " }, "name", "blank"],
        ["half a character", { name: "\ud800" }, "name", "bad_unicode"],
        ["no media type", { type: "text" }, "type", "bad_format"],
        ["a media type with a header in it", { type: "text/plain\r\nX-Evil: 1" }, "type", "bad_format"],
        ["a media type with parameters", { type: "text/html; onload=x" }, "type", "bad_format"],
        ["a media type without end", { type: `text/${"a".repeat(100)}` }, "type", "too_long"],
        ["no checksum", { sha256: "abc" }, "sha256", "bad_format"],
        ["a field that there is not", { key: "stored/x" }, "key", "unknown_field"],
      ];
      test.each(bad)("%s", async (_, fields, field, code) => {
        await givingBack(async () => {
          const reply = await announce(fields);
          expect(reply.status).toBe(422);
          expect(reply.json<ProblemBody>().errors?.map((error) => [error.field, error.code])).toContainEqual([
            field,
            code,
          ]);
        });
      });
    });

    describe("an upload that is wrong is refused, and the quota is right afterwards", () => {
      test("more bytes than announced", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          expect((await site.send(upload, "hello!")).status).toBe(413);
          expect(codeOf(await complete(id))).toBe("upload_missing");
          await remove(id);
        });
      });

      test("fewer bytes than announced", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          expect((await site.send(upload, "hell")).status).toBe(422);
          expect(codeOf(await complete(id))).toBe("upload_missing");
          await remove(id);
        });
      });

      test("another type in the header", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          expect((await site.send(upload, "hello", { "content-type": "text/html" })).status).toBe(422);
          await remove(id);
        });
      });

      test("bytes of another type: the upload is given up", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({ type: "image/png" })).json<UploadBody>();
          expect((await site.send(upload, "hello")).status).toBe(201);
          const reply = await complete(id);
          expect(reply.json<ProblemBody>().errors).toMatchObject([{ field: "type", code: "wrong_content" }]);
          expect((await complete(id)).status).toBe(404);
        });
      });

      test("another checksum", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({ sha256: sha256Of("other") })).json<UploadBody>();
          expect((await site.send(upload, "hello")).status).toBe(422);
          expect(codeOf(await complete(id))).toBe("upload_missing");
          await remove(id);
        });
      });

      test("a tampered address, one put together from two, and one to read", async () => {
        const other = await site.store("other");
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          const { id: next, upload: theirs } = (await announce({})).json<UploadBody>();
          const reading = (await site.call("GET", `/api/files/${other.id}/download`)).json<{ url: string }>().url;
          for (const url of [
            upload.url.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
            upload.url.replace(/[^.]*$/, theirs.url.split(".").at(-1) ?? ""),
            upload.url.replace(/[^/]*$/, reading.split("/").at(-1) ?? ""),
          ]) {
            const reply = await site.send({ ...upload, url }, "hello");
            expect([reply.status, codeOf(reply)]).toEqual([403, "address_invalid"]);
          }
          expect(codeOf(await complete(id))).toBe("upload_missing");
          await Promise.all([remove(id), remove(next)]);
        });
        await remove(other.id);
      });

      test("a second time before it is completed: the first bytes stay", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          expect((await site.send(upload, "hello")).status).toBe(201);
          const again = await site.send(upload, "HELLO");
          expect([again.status, codeOf(again)]).toEqual([409, "upload_taken"]);
          expect((await complete(id)).json<FileBody>().sha256).toBe(sha256Of("hello"));
          await remove(id);
        });
      });

      test("a second time after it was completed: what is stored stays", async () => {
        await givingBack(async () => {
          const { id, upload } = (await announce({})).json<UploadBody>();
          await site.send(upload, "hello");
          await complete(id);
          await site.send(upload, "HELLO");
          const { url } = (await site.call("GET", `/api/files/${id}/download`)).json<{ url: string }>();
          expect((await site.visit(new URL(url).pathname)).text).toBe("hello");
          await remove(id);
        });
      });
    });

    describe("a link to a file", () => {
      test("leads to its download, counted and limited like any other", async () => {
        const file = await site.store("the plan", { name: "plan.txt" });
        const link = await site.create({ file: file.id, hitsPerMonth: 2, permanent: true });
        expect([link.url, link.file]).toEqual([null, file.id]);
        const answer = await site.reach(`/${link.code}`);
        expect(answer.status).toBe(302);
        expect(answer.headers.get("cache-control")).toBe("private, no-store");
        const download = await site.visit(new URL(answer.headers.get("location") ?? "").pathname);
        expect([download.status, download.text]).toEqual([200, "the plan"]);
        expect(download.headers.get("content-disposition")).toContain("plan.txt");
        expect(download.headers.get("x-content-type-options")).toBe("nosniff");

        expect((await site.reach(`/${link.code}`, {}, "HEAD")).status).toBe(302);
        expect((await site.reach(`/${link.code}`)).status).toBe(302);
        expect((await site.reach(`/${link.code}`)).status).toBe(429);
        const preview = await site.reach(`/${link.code}+`);
        expect([preview.status, preview.text.includes("plan.txt")]).toEqual([200, true]);
        expect(preview.text).not.toContain("/files/download/");
      });

      test("can be made to lead elsewhere, and back", async () => {
        const file = await site.store("one");
        const link = await site.create({ url: "https://example.com/before" });
        const patch = (body: Record<string, unknown>) => site.call("PATCH", `/api/links/${link.id}`, { body });
        expect((await patch({ file: file.id })).json<typeof link>()).toMatchObject({ url: null, file: file.id });
        expect((await site.reach(`/${link.code}`)).headers.get("location")).toContain("/files/");
        const again = (await patch({ title: "a title" })).json<typeof link>();
        expect(again).toMatchObject({ file: file.id, url: null, title: "a title" });
        const back = await patch({ url: "https://example.com/after" });
        expect(back.json<typeof link>()).toMatchObject({ url: "https://example.com/after", file: null });
        expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe("https://example.com/after");
        const put = await site.call("PUT", `/api/links/${link.id}`, { body: { url: null, file: file.id } });
        expect(put.json<typeof link>()).toMatchObject({ url: null, file: file.id });
      });

      test("may lead some visitors elsewhere, and what is added to addresses leaves the file alone", async () => {
        const file = await site.store("for the rest");
        const rules = [{ when: { language: ["de"] }, url: "https://example.com/de" }];
        const link = await site.create({ file: file.id, rules, forwardQuery: true, utm: { source: "mail" } });
        const german = await site.reach(`/${link.code}?a=1`, { "accept-language": "de" });
        expect(german.headers.get("location")).toBe("https://example.com/de?utm_source=mail&a=1");
        const other = await site.reach(`/${link.code}?a=1`, { "accept-language": "fr" });
        expect(new URL(other.headers.get("location") ?? "").pathname).toStartWith("/files/download/");
      });

      test("with a password gives nothing away without it", async () => {
        const file = await site.store("hush", { name: "hush.txt" });
        const link = await site.create({ file: file.id, password: "open sesame" });
        const closed = await site.reach(`/${link.code}`);
        expect([closed.status, closed.headers.get("location")]).toEqual([401, null]);
        expect((await site.reach(`/${link.code}+`)).text).not.toContain("hush.txt");
        const opened = await fetch(`${site.server.url}/${link.code}`, {
          method: "POST",
          redirect: "manual",
          headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
          body: "password=open+sesame",
        });
        expect(opened.status).toBe(303);
        const download = await site.visit(new URL(opened.headers.get("location") ?? "").pathname);
        expect(download.text).toBe("hush");
      });

      test("answers 404 once the file is deleted, at once, and works again when it leads elsewhere", async () => {
        const file = await site.store("soon gone");
        const link = await site.create({ file: file.id });
        expect((await site.reach(`/${link.code}`)).status).toBe(302);
        expect((await remove(file.id)).status).toBe(204);
        expect((await site.reach(`/${link.code}`)).status).toBe(404);
        const read = (await site.call("GET", `/api/links/${link.id}`)).json<typeof link>();
        expect([read.file, read.version]).toEqual([file.id, 2]);
        await site.call("PATCH", `/api/links/${link.id}`, { body: { url: "https://example.com/new" } });
        expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe("https://example.com/new");
      });

      test("needs exactly one of url and file, and a file that is stored", async () => {
        const file = await site.store("x");
        const pending = (await announce({})).json<UploadBody>();
        const bad: [Record<string, unknown>, string, string][] = [
          [{}, "url", "required"],
          [{ url: null, file: null }, "url", "required"],
          [{ url: "https://example.com", file: file.id }, "file", "url_and_file"],
          [{ file: "fil_nonsense" }, "file", "unknown_file"],
          [{ file: file.id.replace(/.$/, (last) => (last === "0" ? "1" : "0")) }, "file", "unknown_file"],
          [{ file: pending.id }, "file", "unknown_file"],
        ];
        for (const [body, field, code] of bad) {
          const reply = await site.call("POST", "/api/links", { body });
          expect(reply.json<ProblemBody>()).toMatchObject({ status: 422, errors: [{ field, code }] });
        }
        const bulk = await site.call("POST", "/api/links/bulk", {
          body: { links: [...bad.map(([body]) => body), { file: file.id }] },
        });
        expect(bulk.json<{ created: number; failed: number }>()).toMatchObject({ created: 1, failed: bad.length });
        await remove(pending.id);
        await remove(file.id);
      });
    });

    describe("sync quotas", () => {
      test("finds nothing to correct, because the row changes with the files", async () => {
        await site.store("counted");
        const output = must(await site.cli("sync", "quotas"));
        expect(output).toMatch(/^default\t\d+\t\d+\t0\t/m);
        expect(output).toContain("drift=0 orphaned_objects=0 removed=0 files_without_object=0 removed=0");
      });

      test("reports how far a row is off, corrects it, and the running server follows", async () => {
        const { used } = await standing();
        await query(site.env, "update tenant_storage set bytes = bytes + 100");
        expect(must(await site.cli("sync", "quotas", "--tenant", "default", "--dry-run"))).toContain("drift=100");
        const json = JSON.parse(must(await site.cli("sync", "quotas", "--tenant", "default", "--json")));
        expect(json).toMatchObject({ drift: 100, tenants: [{ tenant: "default", bytes: used, drift: -100 }] });
        expect(await standing()).toMatchObject({ used });
        const { held } = await standing();
        const fits = await announce({ size: 10_000 - used - held });
        expect(fits.status).toBe(201);
        await remove(fits.json<UploadBody>().id);
      });
    });

    test("after kill -9 what is stored and what is held is known again", async () => {
      const own = await startSite(database);
      must(await own.cli("tenant", "update", "default", "--storage", "1000"));
      await own.store("a".repeat(300));
      const { id, upload } = (await announce({ size: 400 }, own)).json<UploadBody>();
      await own.server.kill();
      const { dataDir, port, key } = own.server;
      const again = siteOf(await startServer({ dataDir, port, key, env: own.env }), own.env);
      expect(await standing(again)).toEqual({ used: 300, held: 400, limit: 1_000 });
      expect((await announce({ size: 301 }, again)).status).toBe(413);
      expect((await again.send(upload, "b".repeat(400))).status).toBe(201);
      expect((await again.call("POST", `/api/files/${id}/complete`)).status).toBe(200);
      expect(await standing(again)).toEqual({ used: 700, held: 0, limit: 1_000 });
      expect(await again.server.stop()).toBe(0);
    });
  });
}

describe("with a bucket", () => {
  test("bytes go straight to the store and come from there; what is stored is counted, and gone when it is deleted", async () => {
    const s3 = startS3();
    // A copy of the program whose jobs look every second whether they are due.
    const source = mutant([{ file: "base/jobs.ts", from: "lookMs = 15_000", to: "lookMs = 1_000" }]);
    const site = await startSite("SQLite", { S3_URL: s3.url }, source);
    const call = (method: string, path: string, body?: unknown) =>
      site.call(method, path, body === undefined ? {} : { body });
    const standing = async () => {
      const { limits } = (await call("GET", "/api/usage")).json<{ limits: Use[] }>();
      return limits.find(({ name }) => name === "storageBytes");
    };
    try {
      const announced = await call("POST", "/api/files", { name: "a.txt", size: 5, type: "text/plain" });
      const { id, upload } = announced.json<UploadBody>();
      expect(new URL(upload.url).port).toBe(String(s3.port));
      const put = (body: string, headers = upload.headers) => fetch(upload.url, { method: "PUT", headers, body });
      expect((await put("hello!")).ok).toBe(false);
      expect((await put("hello", { ...upload.headers, "content-type": "text/html" })).ok).toBe(false);
      expect((await call("POST", `/api/files/${id}/complete`)).status).toBe(409);
      expect((await put("hello")).ok).toBe(true);
      expect((await call("POST", `/api/files/${id}/complete`)).json<FileBody>().sha256).toBe(sha256Of("hello"));
      expect(await standing()).toMatchObject({ used: 5, held: 0 });
      // The store cannot refuse it, and it changes nothing.
      expect((await put("HELLO")).ok).toBe(true);
      const link = await site.create({ file: id });
      const { headers } = await site.reach(`/${link.code}`);
      const download = await fetch(headers.get("location") ?? "");
      expect([await download.text(), download.headers.get("content-disposition")]).toEqual([
        "hello",
        expect.stringContaining("a.txt"),
      ]);
      s3.failNext(1_000, 503);
      expect((await call("DELETE", `/api/files/${id}`)).status).toBe(204);
      expect((await site.reach(`/${link.code}`)).status).toBe(404);
      expect(await standing()).toMatchObject({ used: 5 });
      s3.failNext(0, 503);
      await query(
        site.env,
        "insert into jobs (name, due_at) values ('files-sweep', 0) on conflict do update set due_at = 0",
      );
      await until("the sweeper", async () => (await standing())?.used === 0 || undefined, 45_000);
      expect([...s3.objects.keys()].filter((key) => key.startsWith("stored/"))).toEqual([]);
    } finally {
      await site.server.stop();
      await s3.stop();
    }
  }, 60_000);
});

if (redisAvailable() && databases.includes("PostgreSQL")) {
  describe("two servers with one Redis", () => {
    test("a file that one deletes is gone from the links of the other; a cached link leads to it until then", async () => {
      const redis = await startRedis();
      const one = await startSite("PostgreSQL", { REDIS_URL: redis.url });
      const env = { ...one.env, REDIS_URL: redis.url, QL_GUESSES_PER_MINUTE: "none" };
      const { dataDir, key } = one.server;
      const other = siteOf(await startServer({ env, dataDir, key }), one.env);
      try {
        const file = await one.store("shared", { name: "shared.txt" });
        const link = await one.create({ file: file.id });
        for (const site of [one, other, one, other]) {
          const location = (await site.reach(`/${link.code}`)).headers.get("location") ?? "";
          expect((await other.visit(new URL(location).pathname)).text).toBe("shared");
        }
        expect((await one.call("DELETE", `/api/files/${file.id}`)).status).toBe(204);
        expect((await one.reach(`/${link.code}`)).status).toBe(404);
        await until(
          "the other to notice",
          async () => (await other.visit(`/${link.code}`)).status === 404 || undefined,
        );
      } finally {
        await other.server.stop();
        await one.server.stop();
        await redis.stop();
      }
    });
  });
}
