import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../ground/ports.ts";
import { type DurablePostgres, postgresAvailable, sharedPostgres, startPostgres } from "../ground/postgres.ts";
import { type Environment, startProcess, until } from "../ground/process.ts";
import { cli, program, type Server, startServer } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import {
  createExpired,
  databases,
  dial,
  hangingRequest,
  type LinkBody,
  metric,
  must,
  newDatabase,
  type ProblemBody,
  patience,
  query,
  refused,
  type Site,
  serveInVain,
  siteOf,
  startSite,
} from "./servers.ts";

type Ready = { status: string; dependencies: Record<string, { ok: boolean; ms: number; error?: string }> };

const json = { accept: "application/json" };

const again = (server: Server, env: Environment) =>
  startServer({ dataDir: server.dataDir, key: server.key, env }).then((next) => siteOf(next, env));

describe("a running server", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite("SQLite");
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  test("is healthy, and ready with each dependency and its response time", async () => {
    for (const method of ["GET", "HEAD"]) expect((await site.visit("/healthz", {}, method)).status).toBe(200);
    const reply = await site.visit("/readyz");
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const ready = reply.json<Ready>();
    expect(ready).toEqual({ status: "ready", dependencies: { sql: { ok: true, ms: expect.any(Number) } } });
    expect(ready.dependencies.sql?.ms).toBeWithin(0, 1_000);
  });

  test("gives metrics that Prometheus can read", async () => {
    const { text, headers } = await site.visit("/metrics");
    expect(headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const label = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"`;
    const line = new RegExp(
      String.raw`^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .+|[a-zA-Z_:][\w:]*(\{(${label},?)*\})? -?(\d+(\.\d+)?(e[+-]?\d+)?|\+?Inf|NaN))$`,
    );
    const lines = text.split("\n").filter((one) => one !== "");
    expect(lines.filter((one) => !line.test(one))).toEqual([]);
    for (const name of ["quicklink_redirects_total", "quicklink_cache_hit_total", "quicklink_api_request_seconds"]) {
      expect(text).toContain(`# HELP ${name} `);
      expect(text).toContain(`# TYPE ${name} `);
    }
  });

  test("counts every visit once, by its outcome", async () => {
    const link = await site.create({ url: "https://example.com" });
    const [spent, sent] = await Promise.all([
      createExpired(site, { url: "https://example.com" }),
      createExpired(site, { url: "https://example.com", fallbackUrl: "https://example.org" }),
    ]);
    const outcomes = ["counted", "bot", "head", "prefetch", "preview", "missing", "expired", "fallback"] as const;
    const counts = async () => {
      const { text } = await site.visit("/metrics");
      return outcomes.map((outcome) => metric(text, `quicklink_redirects_total{outcome="${outcome}"}`));
    };
    const before = await counts();
    await site.visit(`/${link.code}`);
    await site.visit(`/${link.code}`);
    await site.visit(`/${link.code}`, { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1)" });
    await site.visit(`/${link.code}`, {}, "HEAD");
    await site.visit(`/${link.code}`, { "sec-purpose": "prefetch;prerender" });
    await site.visit(`/${link.code}+`);
    await site.visit("/not-there");
    await site.visit(`/${spent.code}`);
    await site.visit(`/${sent.code}`);
    const after = await counts();
    expect(outcomes.map((outcome, n) => `${outcome} ${(after[n] ?? 0) - (before[n] ?? 0)}`)).toEqual([
      ...["counted 2", "bot 1", "head 1", "prefetch 1", "preview 1", "missing 1", "expired 1", "fallback 1"],
    ]);
  });

  test("counts API requests by method and status", async () => {
    const count = async () => {
      const { text } = await site.visit("/metrics");
      const series = 'quicklink_api_request_seconds_count{method="POST",status="422"}';
      return text.includes(series) ? metric(text, series) : 0;
    };
    const before = await count();
    await site.call("POST", "/api/links", { body: {} });
    expect(await count()).toBe(before + 1);
  });

  test("assigns an ID to every API request, and does not accept one from a stranger", async () => {
    const replies = [
      await site.call("GET", "/api/tenant"),
      await site.call("GET", "/api/tenant", { key: null }),
      await site.call("POST", "/api/links", { body: { url: 1 } }),
      await site.call("GET", "/api/tenant", { headers: { "x-request-id": "mine" } }),
    ];
    const ids = replies.map((reply) => reply.headers.get("x-request-id"));
    for (const id of ids) expect(id).toMatch(/^req_[\w-]{12}$/);
    expect(new Set(ids).size).toBe(4);
    expect(replies.slice(1, 3).map((reply) => reply.json<ProblemBody>().requestId)).toEqual([
      ids[1],
      ids[2],
    ] as string[]);
  });

  test("keeps API answers from caches, frames and sniffing", async () => {
    for (const reply of [await site.call("GET", "/api/links"), await site.call("GET", "/api/links", { key: null })]) {
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
      expect(reply.headers.get("strict-transport-security")).toBeNull();
    }
  });

  test("lets nothing run in its pages, and the policy allows exactly their style", async () => {
    const link = await site.create({ url: "https://example.com" });
    for (const path of ["/", "/not-there", `/${link.code}+`]) {
      const { headers, text } = await site.visit(path);
      const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain(`style-src 'sha256-${hash}'`);
      expect(policy).not.toContain("unsafe");
      expect(text).not.toMatch(/<script|\son\w+=|style="/i);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-robots-tag")).toBe("noindex");
    }
  });

  test("tells browsers not to guess a type", async () => {
    const paths = ["/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/robots.txt", "/not-there", "/api/tenant"];
    const replies = await Promise.all([
      ...paths.map(async (path) => [path, await site.visit(path)] as const),
      ...["/not-there", "/nothing/here"].map(
        async (path) => [`${path} as JSON`, await site.visit(path, json)] as const,
      ),
      ...["/not-there", "/healthz"].map(async (path) => [`POST ${path}`, await site.visit(path, {}, "POST")] as const),
    ]);
    const without = replies.filter(([, reply]) => reply.headers.get("x-content-type-options") !== "nosniff");
    expect(without.map(([what]) => what)).toEqual([]);
  });

  test("does not reveal its software", async () => {
    const link = await site.create({ url: "https://example.com" });
    for (const reply of [
      await site.visit(`/${link.code}`),
      await site.call("GET", "/api/tenant"),
      await site.visit("/"),
    ]) {
      expect([reply.headers.get("server"), reply.headers.get("x-powered-by")]).toEqual([null, null]);
    }
  });
});

test("behind a listed proxy, a request keeps its valid request ID", async () => {
  const site = await startSite("SQLite", { QL_TRUSTED_PROXIES: "127.0.0.0/8", QL_BASE_URL: "https://go.example.com/" });
  const name = async (given: string) =>
    (await site.call("GET", "/api/tenant", { headers: { "x-request-id": given } })).headers.get("x-request-id");
  expect(await name("from-proxy.1_A")).toBe("from-proxy.1_A");
  for (const odd of ["a b", '"', "x".repeat(65), "é"]) expect(await name(odd)).toMatch(/^req_/);

  const link = await site.create({ url: "https://example.com" });
  expect([link.shortUrl, link.domain]).toEqual([`https://go.example.com/${link.code}`, "go.example.com"]);
  const reply = await site.call("GET", "/api/tenant");
  expect(reply.headers.get("strict-transport-security")).toMatch(/^max-age=\d{8}/);
  const circle = await site.call("POST", "/api/links", { body: { url: "http://GO.example.com/x" } });
  expect(circle.json<ProblemBody>().errors?.[0]?.code).toBe("own_host");
  expect(await site.server.stop()).toBe(0);
});

test("generated secrets are readable only by their user", async () => {
  const folder = join(tempFolder(), "made", "by", "us");
  const server = await startServer({ dataDir: folder });
  const mode = (...path: string[]) => (statSync(join(folder, ...path)).mode & 0o777).toString(8);
  expect([mode(), mode("secrets"), mode("secrets", "QL_CODE_SALT")]).toEqual(["700", "700", "600"]);
  expect(await server.stop()).toBe(0);
});

for (const database of databases) {
  describe(`on ${database}`, () => {
    let env: Environment;

    beforeAll(async () => {
      env = await newDatabase(database);
    });

    const start = async () => siteOf(await startServer({ dataDir: String(env.QL_DATA), env }), env);

    test("nothing is lost and no code is issued twice, through an orderly stop and a kill -9", async () => {
      const codes = new Set<string>();
      const keep = (links: readonly LinkBody[]) => {
        for (const link of links) {
          expect(codes.has(link.code)).toBe(false);
          codes.add(link.code);
        }
      };
      const make = (on: Site, count: number) =>
        Array.from({ length: count }, (_, n) => on.create({ url: `https://example.com/${n}` }));

      let site = await start();
      const { server } = site;
      keep(await Promise.all(make(site, 20)));
      const named = await site.create({
        url: "https://example.com/named",
        code: "named",
        tags: ["kept"],
        title: "Kept",
      });
      expect(await site.server.stop()).toBe(0);

      site = await again(server, env);
      expect(site.server.output()).not.toContain("ql_");
      expect((await site.call("GET", `/api/links/${named.id}`)).json<LinkBody>()).toMatchObject({
        ...named,
        shortUrl: expect.any(String),
        domain: expect.any(String),
      });
      keep(await Promise.all(make(site, 20)));
      const racing = make(site, 60).map((link) => link.catch(() => undefined));
      keep((await Promise.all(racing.slice(0, 5))).filter((link) => link !== undefined));
      await site.server.kill();
      keep((await Promise.all(racing.slice(5))).filter((link) => link !== undefined));

      site = await again(server, env);
      keep(await Promise.all(make(site, 20)));
      expect(codes.size).toBeGreaterThanOrEqual(65);
      // One by one: each needs a lease, and SQL has a second for it.
      for (const code of codes) expect((await site.reach(`/${code}`)).status).toBe(302);
      expect(await site.server.stop()).toBe(0);
    });

    test("a stop lets a running request finish, accepts no new ones, and exits with 0", async () => {
      const own = await newDatabase(database);
      const site = siteOf(await startServer({ dataDir: String(own.QL_DATA), env: own }), own);
      const { server } = site;
      must(await site.cli("tenant", "update", "default", "--plan", "unlimited"));
      const links = Array.from({ length: 1_000 }, (_, n) => ({ url: `https://example.com/${n}` }));
      const body = JSON.stringify({ links });
      const line = await dial(server.port);
      line.send(
        `POST /api/links/bulk HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n` +
          "Connection: close\r\n\r\n",
      );
      // Only now is it certain that the request runs.
      await line.waitFor(/100 Continue/);
      const stopped = server.stop();
      await until("the port to be closed", () => refused(server.port));
      line.send(body);
      await line.closed;
      const answer = line.received().toString("utf8");
      expect(answer).toContain("HTTP/1.1 200 ");
      expect(answer).toContain('{"created":1000,"failed":0,');
      expect(await stopped).toBe(0);
      const [row] = (await query(own, "select count(*) as n from links")) as { n: number | string }[];
      expect(Number(row?.n)).toBe(1_000);
    });

    test("another salt than that of the database is refused before anything starts", async () => {
      const own = await newDatabase(database);
      must(await cli(["tenant", "create", "first"], { env: own }));
      const { code, output } = await serveInVain({ ...own, QL_CODE_SALT: "quite another salt than before" });
      expect(code).toBe(2);
      expect(output).toContain("QL_CODE_SALT does not match this database");
      expect(output).not.toContain("quite another salt");
      expect(output).not.toMatch(/\n\s+at /);
    });

    test("a database of a newer version is refused and left alone, by the server and by commands", async () => {
      const own = await newDatabase(database);
      must(await cli(["tenant", "create", "first"], { env: own }));
      await query(own, "insert into schema_migrations (name, timestamp) values ('9999-later', '2099-01-01T00:00:00Z')");
      const before = await siteOf({} as Server, own).rows();
      const server = await serveInVain(own);
      const command = await cli(["link", "list"], { env: own });
      const migration = await cli(["migrate"], { env: own });
      expect([server.code, command.code, migration.code]).toEqual([2, 2, 2]);
      for (const said of [server.output, command.stderr, migration.stderr]) {
        expect(said).toContain("The database is newer than this program (it contains: 9999-later)");
        expect(said).not.toMatch(/\n\s+at /);
      }
      expect(await siteOf({} as Server, own).rows()).toEqual(before);
    });
  });
}

describe("invalid setups are refused at once, with a sentence", () => {
  test("a second server on the same data folder", async () => {
    const server = await startServer();
    const second = await serveInVain({ QL_DATA: server.dataDir });
    expect(second.code).toBe(2);
    expect(second.output).toContain(`Another QuickLink server (process ${server.pid}) is using ${server.dataDir}`);
    expect(second.output).toContain("QL_DATA");
    expect(second.output).not.toMatch(/\n\s+at /);
    const migration = await cli(["migrate"], { env: { QL_DATA: server.dataDir } });
    expect([migration.code, migration.stderr]).toEqual([2, expect.stringContaining("Another QuickLink server")]);
    await server.kill();
    const third = await startServer({ dataDir: server.dataDir, key: server.key });
    expect(await third.stop()).toBe(0);
  });

  test("a port that is in use", async () => {
    const server = await startServer();
    const { code, output } = await serveInVain({ QL_DATA: tempFolder("data"), PORT: String(server.port) });
    expect(code).toBe(2);
    expect(output).toContain(`Port ${server.port} is already in use`);
    expect(output).toContain("PORT");
    expect(output).not.toMatch(/\n\s+at /);
    expect(await server.stop()).toBe(0);
  });

  test("a first start that fails does not lose the first key", async () => {
    const server = await startServer();
    const dataDir = tempFolder("data");
    // Another test covers whether it exits by itself.
    const vain = startProcess([...program, "serve"], {
      cwd: join(import.meta.dir, "../.."),
      env: { PATH: String(Bun.env.PATH), HOST: "127.0.0.1", PORT: String(server.port), QL_DATA: dataDir },
    });
    await vain.waitForOutput(/in use/);
    if (vain.running()) await vain.kill();
    const shown = await startServer({ dataDir }).catch(() => undefined);
    expect(shown?.key ?? "no key was printed").toMatch(/^ql_/);
    await Promise.all([shown?.stop(), server.stop()]);
  });

  test("a data folder that is a file", async () => {
    const { code, output } = await serveInVain({ QL_DATA: join(import.meta.dir, "server.test.ts") });
    expect(code).not.toBe(0);
    expect(output).toContain("QL_DATA");
    expect(output).not.toMatch(/\n\s+at /);
  });

  if (postgresAvailable()) {
    const salt = { QL_CODE_SALT: "a salt for end-to-end tests" };

    test("a PostgreSQL without tables", async () => {
      const env = { ...salt, DATABASE_URL: await (await sharedPostgres()).createDatabase("empty") };
      const { code, output } = await serveInVain(env);
      expect([code, output]).toEqual([2, expect.stringContaining("Run `quicklink migrate`")]);
      const command = await cli(["tenant", "list"], { env });
      expect([command.code, command.stderr]).toEqual([2, expect.stringContaining("Run `quicklink migrate`")]);
      expect(await query(env, "select 1 from pg_tables where schemaname = 'public'")).toEqual([]);
    });

    test("a PostgreSQL that does not answer, to the server and to commands", async () => {
      const env = { ...salt, DATABASE_URL: `postgres://someone:hush-hush@127.0.0.1:${freePort()}/nothing` };
      const server = await serveInVain(env);
      const commands = await Promise.all([cli(["tenant", "list"], { env }), cli(["migrate"], { env })]);
      for (const [code, said] of [
        [server.code, server.output] as const,
        ...commands.map(({ code, stderr }) => [code, stderr] as const),
      ]) {
        expect(code).not.toBe(0);
        expect(said).toContain("DATABASE_URL");
        expect(said).not.toContain("hush-hush");
        expect(said).not.toMatch(/\n\s+at /);
      }
    });

    test("a PostgreSQL without that database", async () => {
      const { code, output } = await serveInVain({ ...salt, DATABASE_URL: (await sharedPostgres()).url("nowhere") });
      expect(code).not.toBe(0);
      expect(output).toContain("DATABASE_URL");
      expect(output).not.toMatch(/\n\s+at /);
    });
  }
});

describe("a stop", () => {
  /** It gives running requests this long. */
  const requestsMs = 8_000;

  test("does not wait for a connection that is only kept open", async () => {
    const server = await startServer();
    const line = await dial(server.port);
    line.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await line.waitFor(/ok\n$/);
    const started = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - started).toBeLessThan(requestsMs);
    line.hangUp();
  });

  test("that is asked for again and again does not wait for what runs", async () => {
    const server = await startServer();
    const line = await hangingRequest(server);
    const started = performance.now();
    let code: number | undefined;
    const stopped = server.stop().then((ended) => {
      code = ended;
    });
    // Signals within a second of the first count as the same one.
    await until("the end", () => {
      if (code === undefined) process.kill(server.pid, "SIGTERM");
      return code !== undefined || undefined;
    });
    await stopped;
    expect(code).toBe(1);
    expect(performance.now() - started).toBeLessThan(requestsMs);
    line.hangUp();
  });
});

if (postgresAvailable()) {
  describe("while PostgreSQL is unavailable", () => {
    let postgres: DurablePostgres;
    let site: Site;
    let warm: LinkBody;
    let cold: LinkBody;
    let limited: LinkBody;

    beforeAll(async () => {
      // What it acknowledged must survive its death, or the test would request a lost link.
      postgres = await startPostgres({ durable: true });
      const env = {
        ...patience,
        DATABASE_URL: await postgres.createDatabase("outage"),
        QL_CODE_SALT: "a salt for end-to-end tests",
      };
      must(await cli(["migrate"], { env }));
      site = siteOf(await startServer({ env }), env);
      must(await site.cli("tenant", "update", "default", "--plan", "unlimited"));
      warm = await site.create({ url: "https://example.com/warm" });
      limited = await site.create({ url: "https://example.com/limited", hitsPerMonth: 10 });
      cold = await site.create({ url: "https://example.com/cold" });
      for (const { code } of [warm, limited]) expect((await site.reach(`/${code}`)).status).toBe(302);
      await postgres.kill();
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await postgres.stop();
    });

    const stale = async () =>
      metric((await site.visit("/metrics")).text, 'quicklink_cache_events_total{event="stale"}');

    test("cached links still redirect, even expired entries", async () => {
      await until("a stale answer", async () => {
        const reply = await site.visit(`/${warm.code}`);
        expect([reply.status, reply.headers.get("location")]).toEqual([302, "https://example.com/warm"]);
        return (await stale()) > 0 || undefined;
      });
    });

    test("a link with a limit is unavailable once its lease is used up, never unlimited", async () => {
      // The next lease may have arrived just before PostgreSQL went away.
      const reply = await until("the lease to be spent", async () => {
        const visit = await site.visit(`/${limited.code}`, json);
        return visit.status === 302 ? undefined : visit;
      });
      expect([reply.status, reply.json<ProblemBody>().code]).toEqual([503, "unavailable"]);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    });

    test("uncached links are temporarily unavailable, never missing", async () => {
      const page = await site.visit(`/${cold.code}`);
      expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
      expect(page.text).toContain("<h1>Please try again in a moment</h1>");
      expect(Number(page.headers.get("retry-after"))).toBeGreaterThan(0);
      const problem = await site.visit(`/${cold.code}`, json);
      expect([problem.status, problem.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
      expect(problem.json<ProblemBody>().code).toBe("unavailable");
      expect(Number(problem.headers.get("retry-after"))).toBeGreaterThan(0);
    });

    test("the server is healthy and degraded, and says what is unavailable without saying where it is", async () => {
      expect((await site.visit("/healthz")).status).toBe(200);
      const reply = await site.visit("/readyz");
      expect(reply.status).toBe(200);
      expect(reply.json<Ready>()).toEqual({
        status: "degraded",
        dependencies: { sql: { ok: false, ms: expect.any(Number), error: expect.any(String) } },
      });
      expect(reply.text).not.toContain(String(postgres.port));
    });

    test("the API is temporarily unavailable and says when to retry", async () => {
      for (const [method, path, body] of [
        ["GET", "/api/links", undefined],
        ["POST", "/api/links", { url: "https://example.com/never" }],
        ["POST", "/api/links/bulk", { links: [{ url: "https://example.com/never" }] }],
      ] as const) {
        const reply = await site.call(method, path, { body });
        expect([reply.status, reply.json<ProblemBody>().code]).toEqual([503, "unavailable"]);
        expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
      }
    });

    test("everything works again once it is back, and what was refused did not happen", async () => {
      await postgres.restart();
      await until("the cold link", async () => (await site.visit(`/${cold.code}`)).status === 302 || undefined);
      await until("readiness", async () => (await site.visit("/readyz")).json<Ready>().status === "ready" || undefined);
      const edited = await until("the API", async () => {
        const reply = await site.call("PATCH", `/api/links/${warm.id}`, { body: { url: "https://example.com/back" } });
        return reply.status === 200 ? reply : undefined;
      });
      expect(edited.status).toBe(200);
      expect((await site.reachOnceRecovered(`/${warm.code}`)).headers.get("location")).toBe("https://example.com/back");
      const { items } = (await site.call("GET", "/api/links")).json<{ items: LinkBody[] }>();
      const paths = items.map((link) => new URL(link.url ?? "").pathname);
      expect(paths.sort()).toEqual(["/back", "/cold", "/limited"]);
      // The feed is followed again too: an edit made elsewhere arrives.
      must(await site.cli("link", "disable", warm.code));
      await until("the edit", async () => (await site.visit(`/${warm.code}`)).status === 404 || undefined);
    });
  });
}
