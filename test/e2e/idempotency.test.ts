import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { accessOfPath } from "../../src/http/route.ts";
import { until } from "../ground/process.ts";
import { type Names, posts, startNames } from "./posts.ts";
import {
  databases,
  type LinkBody,
  must,
  type ProblemBody,
  query,
  type Reply,
  type Site,
  startSite,
  type UploadBody,
} from "./servers.ts";

let keys = 0;
/** Unlike any other of this run. */
const newKey = () => `test-${++keys}-${crypto.randomUUID()}`;

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let names: Names;

    beforeAll(async () => {
      names = await startNames();
      site = await startSite(database, { QL_DNS_SERVERS: names.address });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      names.stop();
    });

    const post = (path: string, body: unknown, key: string, options: { key?: string } = {}) =>
      site.call("POST", path, { body, headers: { "idempotency-key": key }, ...options });

    const told = ({ status, text, headers }: Reply) => ({
      status,
      text,
      ...Object.fromEntries(["content-type", "etag", "location"].map((name) => [name, headers.get(name)])),
    });

    /** As it would be if the server had been killed before it kept the answer. */
    const cutOff = () =>
      query(site.env, "update idempotency set state = 'running', answer = null, claimed_until = 0 returning key_hash");

    async function links(url: string): Promise<number> {
      return (await query(site.env, `select id from links where url = '${url}'`)).length;
    }

    for (const [route, prepare] of Object.entries(posts)) {
      test(`POST ${route} with the same key happens once and is answered alike`, async () => {
        const key = newKey();
        const { path, body } = await prepare(site, names);
        const first = await post(path, body, key);
        expect(first.status).toBeLessThan(300);
        expect(first.headers.get("idempotency-replayed")).toBeNull();
        const before = await site.rows();
        const second = await post(path, body, key);
        expect(told(second)).toEqual(told(first));
        expect(second.headers.get("idempotency-replayed")).toBe("true");
        expect(await site.rows()).toEqual(before);
      });

      test(`POST ${route} that was cut off before its answer was kept is found again, not made again`, async () => {
        const key = newKey();
        const { path, body } = await prepare(site, names);
        const first = await post(path, body, key);
        const before = await site.rows();
        expect((await cutOff()).length).toBeGreaterThan(0);
        const second = await post(path, body, key);
        expect(told(second)).toEqual(told(first));
        expect(await site.rows()).toEqual(before);
      });
    }

    test("a share that was cut off is found again whatever became of its link and its recipient since", async () => {
      const key = newKey();
      const link = await site.create({ url: "https://example.com/to-share" });
      const to = `since-${database.toLowerCase()}@example.com`;
      const first = await post(`/api/links/${link.id}/share`, { to }, key);
      expect(first.status).toBe(202);
      await site.call("DELETE", `/api/links/${link.id}`);
      await cutOff();
      const second = await post(`/api/links/${link.id}/share`, { to }, key);
      expect(told(second)).toEqual(told(first));
      const rows = await query(site.env, `select id from emails where recipient = '${to}'`);
      expect(rows).toEqual([{ id: first.json<{ id: string }>().id }]);
    });

    test("an upload whose time is over when its request is run again gets a new address, for the same file", async () => {
      const key = newKey();
      const asked = { name: `late-${database}.txt`, size: 5, type: "text/plain" };
      const first = (await post("/api/files", asked, key)).json<UploadBody>();
      await query(
        site.env,
        `update files set created_at = 1, upload_until = ${Date.now() - 1_000} where id = '${first.id}' returning id`,
      );
      await cutOff();
      const second = (await post("/api/files", asked, key)).json<UploadBody>();
      expect(second.id).toBe(first.id);
      expect(second.upload.url).not.toBe(first.upload.url);
      expect((await site.send(second.upload, "hello")).status).toBe(201);
      expect((await site.call("POST", `/api/files/${first.id}/complete`)).status).toBe(200);
    });

    test("an upload that its owner deleted since is announced again, once", async () => {
      const key = newKey();
      const asked = { name: `deleted-${database}.txt`, size: 5, type: "text/plain" };
      const first = (await post("/api/files", asked, key)).json<UploadBody>();
      await site.call("DELETE", `/api/files/${first.id}`);
      for (let run = 1; run <= 2; run++) {
        await cutOff();
        expect((await post("/api/files", asked, key)).status).toBe(201);
      }
      expect((await query(site.env, `select id from files where name = '${asked.name}'`)).length).toBe(1);
    });

    test("a domain that another request has added is not mistaken for this one's", async () => {
      const [key, host] = [newKey(), `taken-${database.toLowerCase()}.example.com`];
      expect((await post("/api/domains", { host }, newKey())).status).toBe(201);
      const reply = await post("/api/domains", { host }, key);
      expect([reply.status, reply.json<ProblemBody>().code]).toEqual([409, "name_taken"]);
    });

    test("a bulk request that was cut off in the middle is completed", async () => {
      const key = newKey();
      const body = {
        links: Array.from({ length: 250 }, (_, n) => ({ url: `https://example.com/bulk-${database}/${n}` })),
      };
      const first = (await post("/api/links/bulk", body, key)).json<{ results: { link: LinkBody }[] }>();
      const lost = first.results.slice(100).map(({ link }) => link.id);
      for (const id of lost) await site.call("DELETE", `/api/links/${id}`);
      await cutOff();
      const second = (await post("/api/links/bulk", body, key)).json<{
        created: number;
        results: { link: LinkBody }[];
      }>();
      expect(second.created).toBe(250);
      expect(second.results.slice(0, 100)).toEqual(first.results.slice(0, 100));
      expect(second.results.map(({ link }) => link.id)).toEqual(first.results.map(({ link }) => link.id));
      const rows = await query(
        site.env,
        `select id from links where url like 'https://example.com/bulk-${database}/%'`,
      );
      expect(rows.length).toBe(250);
    });

    test("the same key for another body or another address is refused, and nothing happens", async () => {
      const key = newKey();
      await post("/api/links", { url: "https://example.com/first" }, key);
      const before = await site.rows();
      for (const [path, body] of [
        ["/api/links", { url: "https://example.com/second" }],
        ["/api/links", { url: "https://example.com/first", title: "more" }],
        ["/api/keys", { name: "other", scopes: ["admin"] }],
      ] as const) {
        const reply = await post(path, body, key);
        expect([reply.status, reply.json<ProblemBody>().code]).toEqual([422, "idempotency_mismatch"]);
      }
      expect(await site.rows()).toEqual(before);
    });

    test("of many at once one is run; the others wait, and then get its answer", async () => {
      const [key, url] = [newKey(), `https://example.com/at-once-${database}`];
      const replies = await Promise.all(Array.from({ length: 30 }, () => post("/api/links", { url }, key)));
      for (const reply of replies.filter(({ status }) => status !== 201)) {
        expect([reply.status, reply.json<ProblemBody>().code]).toEqual([409, "idempotency_in_flight"]);
        expect(Number(reply.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      }
      const last = await until("the answer", async () => {
        const reply = await post("/api/links", { url }, key);
        return reply.status === 201 ? reply : undefined;
      });
      expect(new Set([last, ...replies].filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1);
      expect(await links(url)).toBe(1);
    });

    test("a key is its tenant's own", async () => {
      const key = newKey();
      const mine = await post("/api/links", { url: "https://example.com/mine" }, key);
      const stranger = await site.tenant(`stranger-${keys}`);
      const theirs = await post("/api/links", { url: "https://example.com/theirs" }, key, { key: stranger });
      expect(theirs.status).toBe(201);
      expect(theirs.json<LinkBody>().id).not.toBe(mine.json<LinkBody>().id);
    });

    test("what was refused has changed nothing, and the key may be used for what is right", async () => {
      const key = newKey();
      const taken = await site.create({ url: "https://example.com", code: `Taken-${database}` });
      for (const [body, status] of [
        [{ url: "nowhere" }, 422],
        [{ url: "https://example.com", code: taken.code }, 409],
      ] as const) {
        expect((await post("/api/links", body, key)).status).toBe(status);
      }
      const none = await post("/api/links/bulk", { links: [{ url: "nowhere" }] }, key);
      expect(none.json<{ created: number }>().created).toBe(0);
      expect((await post("/api/links", { url: "https://example.com/right" }, key)).status).toBe(201);
    });

    test("a key that cannot be one is refused by name", async () => {
      for (const key of ["a b", "x".repeat(256), "tab\there", "ü"]) {
        const reply = await post("/api/links", { url: "https://example.com/bad-key" }, key);
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]]).toMatchObject([
          422,
          { field: "Idempotency-Key", code: "bad_key" },
        ]);
      }
      expect((await post("/api/links", { url: "https://example.com/good-key" }, "~".repeat(255))).status).toBe(201);
    });

    test("a repeated request spends no link of the month, but an API call", async () => {
      const slug = `spends-${database.toLowerCase()}`;
      const caller = await site.tenant(slug, "default");
      const used = async (name: string) => {
        const { limits } = (await site.call("GET", "/api/usage", { key: caller })).json<{
          limits: { name: string; used: number }[];
        }>();
        return limits.find((limit) => limit.name === name)?.used ?? 0;
      };
      const key = newKey();
      await post("/api/links", { url: "https://example.com/spent" }, key, { key: caller });
      const [links, calls] = [await used("linksPerMonth"), await used("apiPerMinute")];
      for (let n = 0; n < 3; n++) {
        expect((await post("/api/links", { url: "https://example.com/spent" }, key, { key: caller })).status).toBe(201);
      }
      await cutOff();
      expect((await post("/api/links", { url: "https://example.com/spent" }, key, { key: caller })).status).toBe(201);
      expect([links, await used("linksPerMonth")]).toEqual([1, 1]);
      expect(await used("apiPerMinute")).toBeGreaterThanOrEqual(calls + 4);
    });

    test("after its day a key is new again", async () => {
      const [key, url] = [newKey(), `https://example.com/day-${database}`];
      const first = (await post("/api/links", { url }, key)).json<LinkBody>();
      await query(site.env, "update idempotency set expires_at = 1 returning key_hash");
      const second = (await post("/api/links", { url }, key)).json<LinkBody>();
      expect(second.id).not.toBe(first.id);
      expect(await links(url)).toBe(2);
    });

    test("neither the key nor the secret in the answer can be read in the database, and the secret works", async () => {
      const key = newKey();
      const reply = await post("/api/keys", { name: "sealed", scopes: ["links:read"] }, key);
      const { secret } = reply.json<{ secret: string }>();
      const stored = JSON.stringify(await query(site.env, "select * from idempotency"));
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString("base64").slice(4, 40));
      expect(stored).not.toContain(key);
      expect((await site.call("GET", "/api/tenant", { key: secret })).status).toBe(200);
    });

    test("a caller without the scope gets no stored response", async () => {
      const key = newKey();
      const [path, body] = ["/api/keys", { name: "made once", scopes: ["links:read"] }] as const;
      await post(path, body, key);
      const reader = must(
        await site.cli("key", "create", "reader", "--tenant", "default", "--scopes", "links:read"),
      ).trim();
      expect((await post(path, body, key, { key: reader })).status).toBe(403);
    });

    test("every POST in the document can be run again, and names the header and its refusals", async () => {
      type Operation = {
        parameters?: { name: string; in: string }[];
        responses: Record<string, { description: string }>;
        "x-repeatable"?: boolean;
      };
      const { paths } = (await site.visit("/openapi.json")).json<{
        paths: Record<string, Record<string, Operation>>;
      }>();
      // Answers are kept under the workspace: what belongs to none has no such header.
      const described = Object.entries(paths)
        .filter(([path]) => accessOfPath(path) === "workspace")
        .flatMap(([path, { post }]) => (post ? [[path, post] as const] : []));
      expect(described.map(([path]) => path).toSorted()).toEqual(Object.keys(posts).toSorted());
      for (const [, { parameters, responses, "x-repeatable": repeatable }] of described) {
        expect(repeatable).toBe(true);
        expect(parameters?.map(({ name, in: place }) => `${place} ${name}`)).toContain("header Idempotency-Key");
        expect(responses[409]?.description).toContain("idempotency_in_flight");
        expect(responses[422]?.description).toContain("idempotency_mismatch");
      }
    });
  });
}
