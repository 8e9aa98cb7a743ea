import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import {
  type CallOptions,
  databases,
  type LinkBody,
  must,
  type ProblemBody,
  query,
  type Site,
  startSite,
} from "./servers.ts";

type Operation = { "x-scope"?: string; security?: unknown[] };
type Document = { openapi: string; paths: Record<string, Record<string, Operation>> };
type Key = { id: string; secret: string };

/** One route of the document, and a call of it that would succeed for who may. */
type Route = { title: string; scope: string; call(key: string | null, options?: CallOptions): Promise<number> };

const scopes = [
  "links:read",
  "links:write",
  "files:read",
  "files:write",
  "stats:read",
  "usage:read",
  "email:read",
  "email:send",
  "admin",
];

/** What each route that takes a body would accept. A new route needs a line here. */
const bodies: Record<string, unknown> = {
  "POST /api/links": { url: "https://example.com/made" },
  "POST /api/links/bulk": { links: [{ url: "https://example.com/made" }] },
  "PATCH /api/links/{id}": { title: "changed" },
  "PUT /api/links/{id}": { url: "https://example.com/replaced" },
  "POST /api/domains": { host: "made.example.com" },
  "PATCH /api/domains/{host}": { rootUrl: "https://example.com/changed" },
  "POST /api/domains/{host}/verify": {},
  "POST /api/files": { name: "made.txt", size: 3, type: "text/plain" },
  "POST /api/files/{id}/complete": {},
  "POST /api/links/{id}/share": { to: "ann@example.com" },
  "PATCH /api/email/settings": { contact: "ops@example.com" },
  "PATCH /api/stats/settings": { timeZone: "Europe/Berlin" },
  "POST /api/email/webhook/rotate": {},
  "POST /api/keys": { name: "made", scopes: ["links:read"] },
};

/** What answers a caller who may, where not all that it needs is there. */
const admitted: Record<string, number> = {
  "POST /api/domains/{host}/verify": 409,
};

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let document: Document;
    let foreignKey: string;

    beforeAll(async () => {
      site = await startSite(database);
      document = (await site.visit("/openapi.json")).json<Document>();
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    async function newKey(fields: Record<string, unknown> = {}): Promise<Key> {
      const reply = await site.call("POST", "/api/keys", { body: { name: "test", scopes, ...fields } });
      expect(reply.status).toBe(201);
      return reply.json<Key>();
    }

    /** Of something that belongs to the tenant `default`, new each time. */
    async function nameFor(path: string): Promise<string> {
      if (path.startsWith("/api/keys/")) return (await newKey()).id;
      if (path.startsWith("/api/files/")) return (await site.store("some bytes")).id;
      if (path.includes("{address}")) return newSuppression();
      if (path.startsWith("/api/domains/")) {
        const host = `h${crypto.randomUUID()}.example.com`;
        expect((await site.call("POST", "/api/domains", { body: { host } })).status).toBe(201);
        return host;
      }
      return (await site.create({ url: "https://example.com" })).id;
    }

    const operations = () =>
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      );

    let addresses = 0;

    async function newSuppression(): Promise<string> {
      const address = `nobody${++addresses}@example.com`;
      await query(
        site.env,
        `insert into suppressions (tenant_id, address, reason, created_at)
         select id, '${address}', 'manual', 0 from tenants where slug = 'default'`,
      );
      return address;
    }

    /** Every route there is, with names of what belongs to the tenant `default`. */
    async function routes(): Promise<Route[]> {
      return await Promise.all(
        operations().map(async ({ path, method, operation }) => {
          const name = await nameFor(path);
          const title = `${method} ${path}`;
          const body = bodies[title];
          if (body === undefined && method !== "GET" && method !== "DELETE") throw new Error(`no body for ${title}`);
          const real = path.replace(/\{\w+\}/, name);
          expect(real).not.toContain("{");
          const call = async (key: string | null, options: CallOptions = {}) => {
            const reply = await site.call(method, real, { key, ...(body === undefined ? {} : { body }), ...options });
            if (reply.status >= 400) {
              expect(reply.headers.get("content-type")).toBe("application/problem+json");
              expect(reply.json<ProblemBody>().status).toBe(reply.status);
              if (reply.status === 401) expect(reply.headers.get("www-authenticate")).toStartWith("Bearer");
            }
            return reply.status;
          };
          return { title, scope: String(operation["x-scope"]), call };
        }),
      );
    }

    /** Calls every route; gives what each answered, and makes sure that nothing was written. */
    async function callAll(key: string | null, options?: CallOptions): Promise<Record<string, number>> {
      const all = await routes();
      const before = await site.rows();
      const statuses = await Promise.all(
        all.map(async (route) => [route.title, await route.call(key, options)] as const),
      );
      expect(await site.rows()).toEqual(before);
      return Object.fromEntries(statuses);
    }

    const everywhere = (status: number) =>
      Object.fromEntries(operations().map(({ path, method }) => [`${method} ${path}`, status]));

    test("the document names a scope for every route there is", () => {
      expect(document.openapi).toBe("3.1.0");
      expect(operations().length).toBeGreaterThanOrEqual(11);
      for (const { path, method, operation } of operations()) {
        expect({ path, method, known: scopes.includes(String(operation["x-scope"])) }).toEqual({
          path,
          method,
          known: true,
        });
        expect(operation.security).toEqual([{ key: [] }]);
        expect(path).toStartWith("/api/");
      }
    });

    test("without a key no route answers", async () => {
      expect(await callAll(null)).toEqual(everywhere(401));
    });

    test("without a valid key no route answers", async () => {
      const { key } = site.server;
      for (const authorization of [
        `Bearer ql_${"x".repeat(43)}`,
        `Bearer ${key.slice(0, -1)}`,
        `Bearer ${key}x`,
        `Bearer ${key.toLowerCase()}`,
        `Bearer ${key}, Bearer ${key}`,
        `Basic ${btoa(`${key}:`)}`,
        "Bearer",
        "Bearer ' or 1=1 --",
        key,
      ]) {
        expect({ authorization, ...(await callAll(null, { headers: { authorization } })) }).toEqual({
          authorization,
          ...everywhere(401),
        });
      }
    });

    test("a key works in the Authorization header only", async () => {
      const { key } = site.server;
      for (const [path, headers] of [
        [`/api/tenant?key=${key}`, {}],
        [`/api/tenant?access_token=${key}`, {}],
        ["/api/tenant", { cookie: `key=${key}` }],
        ["/api/tenant", { "x-api-key": key }],
      ] as const) {
        expect((await site.call("GET", path, { key: null, headers })).status).toBe(401);
      }
      const spelled = await site.call("GET", "/api/tenant", {
        key: null,
        headers: { authorization: `bearer  ${key}` },
      });
      expect(spelled.status).toBe(200);
    });

    test("a revoked key stops working at once, everywhere", async () => {
      const key = await newKey();
      expect((await site.call("GET", "/api/tenant", { key: key.secret })).status).toBe(200);
      expect((await site.call("DELETE", `/api/keys/${key.id}`)).status).toBe(204);
      expect(await callAll(key.secret)).toEqual(everywhere(401));
      expect((await site.call("DELETE", `/api/keys/${key.id}`)).status).toBe(204);
    });

    test("a key that is revoked on the command line stops working at once, everywhere", async () => {
      const key = await newKey();
      must(await site.cli("key", "revoke", key.id));
      expect(await callAll(key.secret)).toEqual(everywhere(401));
    });

    test("an expired key does not work anywhere", async () => {
      const key = await newKey({ expiresAt: new Date(Date.now() + 1_000).toISOString() });
      await until("the key to expire", async () => {
        const { status } = await site.call("GET", "/api/tenant", { key: key.secret });
        return status === 401 || undefined;
      });
      expect(await callAll(key.secret)).toEqual(everywhere(401));
    });

    test("a key can revoke itself, and does nothing afterwards", async () => {
      const key = await newKey({ scopes: ["admin"] });
      expect((await site.call("DELETE", `/api/keys/${key.id}`, { key: key.secret })).status).toBe(204);
      expect((await site.call("GET", "/api/keys", { key: key.secret })).status).toBe(401);
    });

    for (const scope of scopes) {
      test(`a key with the scope ${scope} alone opens what needs it, and nothing else`, async () => {
        const { secret } = await newKey({ scopes: [scope] });
        const all = await routes();
        // Who may read links may read their clicks.
        const also = scope === "links:read" ? "stats:read" : scope;
        const opens = (route: Route) => scope === "admin" || route.scope === scope || route.scope === also;
        const closed = all.filter((route) => !opens(route));
        const before = await site.rows();
        for (const route of closed) {
          expect({ route: route.title, status: await route.call(secret) }).toEqual({ route: route.title, status: 403 });
        }
        expect(await site.rows()).toEqual(before);
        for (const route of all.filter(opens)) {
          const status = await route.call(secret);
          const opened = status < 300 || status === admitted[route.title];
          expect({ route: route.title, status, opened }).toMatchObject({ opened: true });
        }
      });
    }

    test("another tenant's ids are not found on any route, and nothing of theirs can be changed", async () => {
      const all = (await routes()).filter((route) => route.title.includes("{"));
      expect(all.length).toBeGreaterThanOrEqual(5);
      const before = await site.rows();
      for (const route of all) {
        expect({ route: route.title, status: await route.call(foreignKey) }).toEqual({
          route: route.title,
          status: 404,
        });
        const guessed = await route.call(foreignKey, {
          headers: { "content-type": "application/json", "if-match": '"1"' },
        });
        expect({ route: route.title, status: guessed }).toEqual({ route: route.title, status: 404 });
      }
      expect(await site.rows()).toEqual(before);
    });

    test("another tenant's links and keys are in no list, not even with a cursor of theirs", async () => {
      for (const n of [1, 2]) await site.create({ url: `https://example.com/${n}` });
      await site.call("POST", "/api/links", { key: foreignKey, body: { url: "https://example.com/foreign" } });
      for (const path of [
        "/api/links",
        "/api/links?sort=code",
        "/api/links?search=example",
        "/api/links?tag=x&match=any",
      ]) {
        const { items } = (await site.call("GET", path, { key: foreignKey })).json<{ items: LinkBody[] }>();
        expect(items.filter((item) => item.url !== "https://example.com/foreign")).toEqual([]);
      }
      const { nextCursor } = (await site.call("GET", "/api/links?limit=1")).json<{ nextCursor: string }>();
      const theirs = await site.call("GET", `/api/links?limit=1&cursor=${nextCursor}`, { key: foreignKey });
      expect([theirs.status, theirs.json<ProblemBody>().errors?.[0]?.code]).toEqual([422, "bad_cursor"]);
      const keys = (await site.call("GET", "/api/keys", { key: foreignKey })).json<{ items: unknown[] }>();
      expect(keys.items.length).toBe(1);
      const tenant = (await site.call("GET", "/api/tenant", { key: foreignKey })).json<{ slug: string }>();
      expect(tenant.slug).toBe("foreign");
    });

    test("a key is shown once and then only by its first characters", async () => {
      const key = await newKey({ name: "shown once" });
      const list = await site.call("GET", "/api/keys");
      expect(list.text).not.toContain(key.secret);
      expect(list.text).not.toContain(site.server.key);
      const listed = list.json<{ items: { id: string; hint: string }[] }>().items.find(({ id }) => id === key.id);
      expect(listed?.hint).toBe(`${key.secret.slice(0, 8)}…`);
      expect(JSON.stringify(await site.rows())).not.toContain(key.secret.slice(9));
    });
  });
}

describe("what the server says about its callers", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite("SQLite", { QL_LOG_LEVEL: "trace", QL_TRUSTED_PROXIES: "127.0.0.1" });
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  const said = () => site.server.output();

  async function calls(): Promise<void> {
    const { key } = site.server;
    const forwarded = { "x-forwarded-for": "203.0.113.77", "user-agent": "Secret-Agent" };
    const link = await site.create({ url: "https://example.com" });
    for (const path of ["/api/links", "/api/tenant", "/api/keys", "/api/nothing", `/api/links?key=${key}`]) {
      await site.call("GET", path, { headers: forwarded });
      await site.call("GET", path, { key: `${key}x`, headers: forwarded });
    }
    await site.call("POST", "/api/links", { body: { url: `https://${key}@example.com`, nope: key } });
    await site.call("POST", "/api/links", { text: `{"url": ${key}`, headers: { "content-type": "application/json" } });
    await site.call("POST", "/api/keys", { body: { name: "new", scopes: ["admin"] } });
    for (const path of [`/${link.code}`, "/missing", `/${link.code}+`, "/readyz", "/metrics"])
      await site.visit(path, forwarded);
  }

  test("no key and no address is in the log, whatever is called", async () => {
    await calls();
    await until("the log", () => said().match(/"msg":"request"/g)?.[10]);
    expect(said()).not.toContain(site.server.key);
    expect(said()).not.toMatch(/ql_[A-Za-z0-9]{20}/);
    expect(said()).not.toContain("127.0.0.1");
    expect(said()).not.toContain("203.0.113.77");
    expect(said()).not.toContain("Secret-Agent");
  });

  test("a key that was pasted where its id belongs is not in the log either", async () => {
    const secret = `ql_${"pasted0".repeat(7).slice(0, 43)}`;
    expect((await site.call("DELETE", `/api/keys/${secret}`)).status).toBe(404);
    const mark = (await site.call("GET", "/api/tenant")).headers.get("x-request-id");
    await until("the log", () => said().includes(String(mark)) || undefined);
    expect(said()).not.toContain(secret);
  });

  test("metrics know no key, no address and no code", async () => {
    await calls();
    const link = await site.create({ url: "https://example.com", code: "in-no-metric" });
    await site.visit(`/${link.code}`);
    const { text, status } = await site.visit("/metrics");
    expect(status).toBe(200);
    for (const secret of [site.server.key, "127.0.0.1", "203.0.113.77", "in-no-metric"])
      expect(text).not.toContain(secret);
  });
});

describe("metrics", () => {
  const token = "a token for the metrics of this test";
  let open: Site;
  let closed: Site;

  beforeAll(async () => {
    [open, closed] = await Promise.all([startSite("SQLite"), startSite("SQLite", { QL_METRICS_TOKEN: token })]);
  });

  afterAll(async () => {
    expect(await Promise.all([open.server.stop(), closed.server.stop()])).toEqual([0, 0]);
  });

  test("without a token are only for direct requests from this machine", async () => {
    expect((await open.visit("/metrics")).status).toBe(200);
    for (const headers of [
      { "x-forwarded-for": "127.0.0.1" },
      { "x-forwarded-for": "" },
      { "x-forwarded-for": "203.0.113.7" },
      { forwarded: "for=127.0.0.1" },
      { via: "1.1 proxy" },
      { "x-real-ip": "127.0.0.1" },
    ] as Record<string, string>[]) {
      const reply = await open.visit("/metrics", headers);
      expect({ headers, status: reply.status }).toEqual({ headers, status: 403 });
      expect(reply.json<ProblemBody>().code).toBe("forbidden");
    }
  });

  test("with a token are for clients that have it, from anywhere", async () => {
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: `Bearer ${token}x` },
      { authorization: token },
      { authorization: `Bearer ${closed.server.key}` },
      { "x-forwarded-for": "127.0.0.1" },
    ] as Record<string, string>[]) {
      const reply = await closed.visit("/metrics", headers);
      expect({ headers, status: reply.status }).toEqual({ headers, status: 403 });
      expect(reply.text).not.toContain("quicklink_redirects_total");
    }
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.7" };
    expect((await closed.visit("/metrics", headers)).text).toContain("quicklink_redirects_total");
    expect((await closed.visit("/metrics", headers, "POST")).status).toBe(405);
  });
});
