import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
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
  withSoon,
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
  "PATCH /api/links/bulk": { ids: ["lnk_01k9a0b1c2d3e4f5g6h7j8k9m0"], action: "delete" },
  "POST /api/links/replace/preview": { find: "no such text", replace: "other" },
  "PATCH /api/links/replace": { find: "no such text", replace: "other", token: "x" },
  "PATCH /api/tags": { tag: "no such tag", name: "other" },
  "POST /api/stats/shares": { tag: "made" },
  "POST /api/imports": { file: "fil_01k9a0b1c2d3e4f5g6h7j8k9m0" },
  "PATCH /api/imports/{id}": { state: "cancelled" },
  "POST /api/annotations": { text: "made" },
  "PATCH /api/annotations/{id}": { text: "changed" },
  "POST /api/utm-templates": { name: "made", utm: { source: "made" } },
  "PATCH /api/utm-templates/{id}": { utm: { source: "changed" } },
  "PATCH /api/branding": { colour: "#112233" },
  "PATCH /api/links/{id}": { title: "changed" },
  "PUT /api/links/{id}": { url: "https://example.com/replaced" },
  "POST /api/links/{id}/undo": { version: 1 },
  "POST /api/trash/{id}/restore": {},
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
  "PATCH /api/members/{person}": { role: "member" },
  "POST /api/invitations": { role: "viewer" },
  "POST /api/invitations/{id}/resend": {},
  "PATCH /api/workspace": { name: "Renamed" },
};

/** The parameters without which a route refuses everybody. */
const queries: Record<string, string> = {
  "GET /api/links/trends": "?ids=lnk_01k9a0b1c2d3e4f5g6h7j8k9m0",
  "DELETE /api/tags": "?tag=none",
  "GET /api/links/check": "?code=winter",
  "GET /api/links/check-destination": "?url=no",
  "GET /api/links/check-destination/image": "?url=no",
  "GET /api/email/templates/preview": "?name=digest",
};

/** What answers a caller who may, where not all that it needs is there. */
const admitted: Record<string, number> = {
  "POST /api/imports": 422,
  // It may have been checked by now.
  "PATCH /api/imports/{id}": 422,
  "DELETE /api/imports/{id}": 422,
  // Another key has made it before.
  "POST /api/utm-templates": 409,
  "GET /api/links/check-destination/image": 404,
  "PATCH /api/tags": 404,
  "DELETE /api/tags": 404,
  "PATCH /api/links/replace": 412,
  // Writing alone is not enough, because they show something.
  "POST /api/links/replace/preview": 403,
  "POST /api/stats/shares": 403,
  // Who may do everything has emptied the trash by then.
  "POST /api/trash/{id}/restore": 404,
  "DELETE /api/trash/{id}": 404,
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
      if (path.startsWith("/api/members/")) return (await makePerson(site, { roles: { default: "viewer" } })).id;
      if (path.startsWith("/api/invitations/")) {
        const made = await site.call("POST", "/api/invitations", { body: { role: "viewer" } });
        return made.json<{ id: string }>().id;
      }
      if (path.startsWith("/api/annotations/")) return made("/api/annotations", { text: "thing" });
      if (path.startsWith("/api/stats/shares/")) return made("/api/stats/shares", { tag: "thing" });
      if (path.startsWith("/api/imports/")) {
        return made("/api/imports", { file: (await site.store("url\nhttps://example.com")).id });
      }
      if (path.startsWith("/api/utm-templates/")) {
        return made("/api/utm-templates", { name: crypto.randomUUID(), utm: { source: "thing" } });
      }
      if (path.startsWith("/api/keys/")) return (await newKey()).id;
      if (path.startsWith("/api/files/")) return (await site.store("some bytes")).id;
      if (path.includes("{address}")) return newSuppression();
      if (path.startsWith("/api/domains/")) {
        const host = `h${crypto.randomUUID()}.example.com`;
        expect((await site.call("POST", "/api/domains", { body: { host } })).status).toBe(201);
        return host;
      }
      const { id } = await site.create({ url: "https://example.com" });
      if (path.startsWith("/api/trash/")) expect((await site.call("DELETE", `/api/links/${id}`)).status).toBe(204);
      if (path.endsWith("/undo")) {
        expect((await site.call("PATCH", `/api/links/${id}`, { body: { title: "edited" } })).status).toBe(200);
      }
      return id;
    }

    async function made(path: string, body: unknown): Promise<string> {
      const reply = await site.call("POST", path, { body });
      expect(reply.status).toBe(201);
      return reply.json<{ id: string }>().id;
    }

    const allOperations = () =>
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
      );
    /** Those that a key may call. `npm run prove -- access` goes through all. */
    const operations = () => allOperations().filter(({ operation }) => scopes.includes(String(operation["x-scope"])));

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

    /** Every route there is, with names of what belongs to the tenant `default`, new each time. */
    async function routes(chosen: (scope: string) => boolean = () => true): Promise<Route[]> {
      const asked = operations().filter(({ operation }) => chosen(String(operation["x-scope"])));
      return await Promise.all(
        asked.map(async ({ path, method, operation }) => {
          const name = await nameFor(path);
          const title = `${method} ${path}`;
          const body = bodies[title];
          if (body === undefined && method !== "GET" && method !== "DELETE") throw new Error(`no body for ${title}`);
          const real = path.replace(/\{\w+\}/, name) + (queries[title] ?? "");
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

    let untouched: Promise<Route[]> | undefined;
    /** The same for calls that are refused. They leave what they name as it is, so it is made once. */
    const refusedRoutes = (): Promise<Route[]> => {
      untouched ??= routes();
      return untouched;
    };

    /** Calls every route; gives what each answered, and makes sure that nothing was written. */
    async function callAll(key: string | null, options?: CallOptions): Promise<Record<string, number>> {
      const all = await refusedRoutes();
      const before = await site.rows();
      const statuses = await Promise.all(
        all.map(async (route) => [route.title, await route.call(key, options)] as const),
      );
      expect(await site.rows()).toEqual(before);
      return Object.fromEntries(statuses);
    }

    const everywhere = (status: number) =>
      Object.fromEntries(operations().map(({ path, method }) => [`${method} ${path}`, status]));

    test("the document says for every route there is who may call it", () => {
      expect(document.openapi).toBe("3.1.0");
      expect(operations().length).toBeGreaterThanOrEqual(11);
      for (const { path, method, operation } of allOperations()) {
        const access = String(operation["x-scope"]);
        const known = [...scopes, "owner", "account", "operator", "public"].includes(access);
        expect({ path, method, known }).toEqual({ path, method, known: true });
        const bySession = access === "public" ? [] : [{ session: [] }];
        expect(operation.security).toEqual(scopes.includes(access) ? [{ key: [] }, ...bySession] : bySession);
        expect(path).toStartWith("/api/");
      }
    });

    test("what no key may call is said to be for people, or for everybody", async () => {
      const others = allOperations().filter(({ operation }) => !scopes.includes(String(operation["x-scope"])));
      for (const { path, method, operation } of others) {
        const access = String(operation["x-scope"]);
        expect({ path, access, listed: ["public", "account", "operator", "owner"].includes(access) }).toMatchObject({
          listed: true,
        });
        expect(operation.security).toEqual(access === "public" ? [] : [{ session: [] }]);
        if (access === "public") continue;
        const real = path.replace(/\{\w+\}/g, "any");
        const body = method === "GET" ? {} : { body: {} };
        expect([path, (await site.call(method, real, body)).status]).toEqual([path, 403]);
        expect([path, (await site.call(method, real, { ...body, key: null })).status]).toEqual([path, 401]);
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
    }, 60_000);

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
      const key = await withSoon(async (expiresAt) => {
        const reply = await site.call("POST", "/api/keys", { body: { name: "test", scopes, expiresAt } });
        return reply.status === 422 ? undefined : reply.json<Key>();
      });
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
        // Who may read links may read their clicks.
        const also = scope === "links:read" ? "stats:read" : scope;
        const opens = (needed: string) => scope === "admin" || needed === scope || needed === also;
        const closed = (await refusedRoutes()).filter((route) => !opens(route.scope));
        const open = await routes(opens);
        const before = await site.rows();
        for (const route of closed) {
          expect({ route: route.title, status: await route.call(secret) }).toEqual({ route: route.title, status: 403 });
        }
        expect(await site.rows()).toEqual(before);
        // What empties the trash comes last, because others need what is in it.
        const last = ({ title }: Route) => Number(title === "DELETE /api/trash");
        for (const route of open.toSorted((a, b) => last(a) - last(b))) {
          const status = await route.call(secret);
          const opened = status < 300 || status === admitted[route.title];
          expect({ route: route.title, status, opened }).toMatchObject({ opened: true });
        }
      });
    }

    test("a key that may only write publishes no statistics, and is shown no links in a preview", async () => {
      const asked = [
        ["/api/stats/shares", "stats:read", { tag: "any" }, 201],
        ["/api/links/replace/preview", "links:read", { find: "https", replace: "http" }, 200],
      ] as const;
      for (const [path, scope, body, status] of asked) {
        const [writer, both] = [
          await newKey({ scopes: ["links:write"] }),
          await newKey({ scopes: ["links:write", scope] }),
        ];
        const refused = await site.call("POST", path, { key: writer.secret, body });
        expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(scope)]);
        expect((await site.call("POST", path, { key: both.secret, body })).status).toBe(status);
      }
    });

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
