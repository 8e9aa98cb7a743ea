import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, BlockList, createServer as createBareServer, type Server } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createSafeFetch, type SafeFetchSettings } from "../../src/safe-fetch/safe-fetch.ts";
import { certificate, certificateKey } from "../ground/certificate.ts";
import { type Ground, layGround, tricksOn } from "../ground/tricks.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);

const servers: Server[] = [];

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

/** A server as the world has them, and a client that may ask it. */
async function asking(handler: RequestListener, more: Partial<SafeFetchSettings> = {}) {
  const server = createServer(handler);
  let connections = 0;
  server.on("connection", () => connections++);
  const port = await listening(server);
  const safeFetch = client([port], more);
  return {
    port,
    safeFetch,
    connections: () => connections,
    get: (path = "/") => safeFetch.fetch("GET", `http://127.0.0.1:${port}${path}`),
  };
}

const client = (ports: number[], more: Partial<SafeFetchSettings> = {}) =>
  createSafeFetch({ allow: loopback, ports, userAgent: "QuickLink test", ...more });

afterAll(() => {
  for (const server of servers) server.close();
});

describe("what is refused", () => {
  let ground: Ground;

  beforeAll(async () => {
    ground = await layGround();
  });

  afterAll(() => ground.stop());

  const safeFetchOn = ({ allow, port, dns }: Ground) =>
    createSafeFetch({ allow, ports: [port], userAgent: "QuickLink test", resolve: dns.resolve });

  test("every trick is, for its own reason, and no private server gets a request", async () => {
    const safeFetch = safeFetchOn(ground);
    const wrong: string[] = [];
    for (const { title, url, refusal } of tricksOn(ground)) {
      const outcome = await safeFetch.fetch("GET", url);
      if (outcome.kind !== "refused" || outcome.reason !== refusal) wrong.push(`${title}: ${url}`);
    }
    expect(wrong).toEqual([]);
    expect(ground.canaries()).toBe(0);
  });

  test("a name that turns private after it was checked is asked for once, and reached where it was checked", async () => {
    const visits = ground.visits();
    const url = `http://rebinding.test:${ground.port}/`;
    expect(await safeFetchOn(ground).fetch("GET", url)).toMatchObject({ kind: "answered", status: 200, url });
    expect(ground.visits() - visits).toBe(1);
    expect(ground.canaries()).toBe(0);
    expect(await safeFetchOn(ground).fetch("GET", url)).toEqual({ kind: "refused", reason: "private_address" });
  });

  test("an unknown name is a failure, not a refusal", async () => {
    const outcome = await safeFetchOn(ground).fetch("GET", `http://unheard-of.test:${ground.port}/`);
    expect(outcome).toEqual({ kind: "failed", reason: "unknown_host" });
  });
});

describe("what is sent", () => {
  test("is a plain request, over its own connection", async () => {
    const seen: unknown[] = [];
    const { get, connections, port } = await asking((request, response) => {
      seen.push([request.method, request.url, request.headers]);
      response.writeHead(200, { "set-cookie": "a=b", connection: "keep-alive" }).end("x");
    });
    await get("/a?b=c#d");
    await get("/a?b=c#d");
    const headers = {
      host: `127.0.0.1:${port}`,
      "user-agent": "QuickLink test",
      accept: "text/html,application/xhtml+xml,*/*;q=0.5",
      "accept-encoding": "identity",
      connection: "close",
    };
    expect(seen).toEqual([
      ["GET", "/a?b=c", headers],
      ["GET", "/a?b=c", headers],
    ]);
    expect(connections()).toBe(2);
  });

  test("follows redirects, relative ones too, and returns the final URL", async () => {
    const { get, port } = await asking((request, response) => {
      if (request.url === "/a/b") response.writeHead(307, { location: "../c" }).end();
      else response.end("here");
    });
    expect(await get("/a/b")).toMatchObject({ kind: "answered", url: `http://127.0.0.1:${port}/c` });
  });

  test("follows five redirects and no more", async () => {
    const { get, connections } = await asking((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(302, { location: `/${left - 1}` }).end();
      else response.end("here");
    });
    expect(await get("/5")).toMatchObject({ kind: "answered" });
    expect(connections()).toBe(6);
    expect(await get("/6")).toEqual({ kind: "refused", reason: "too_many_redirects" });
    expect(connections()).toBe(12);
  });
});

describe("what is read", () => {
  test("is the beginning of a body without end", async () => {
    const { get } = await asking(
      (_, response) => {
        const more = () => {
          while (response.write("a".repeat(10_000)));
        };
        response.on("drain", more);
        more();
      },
      { bodyMostBytes: 5_000 },
    );
    expect(await get()).toMatchObject({ kind: "answered", body: Buffer.from("a".repeat(5_000)) });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("is unpacked from %s no further than it is read", async (encoding, pack) => {
    const packed = { "/small": pack(Buffer.from("small")), "/huge": pack(Buffer.alloc(50_000_000, 97)) };
    const { get } = await asking(
      (request, response) => {
        response.writeHead(200, { "content-encoding": encoding });
        response.end(packed[request.url as keyof typeof packed]);
      },
      { bodyMostBytes: 5_000 },
    );
    expect(await get("/small")).toMatchObject({ body: Buffer.from("small") });
    expect(await get("/huge")).toMatchObject({ body: Buffer.from("a".repeat(5_000)) });
  });

  test("is empty for an unknown or false content encoding", async () => {
    const { get } = await asking((request, response) => {
      response.writeHead(200, { "content-encoding": request.url === "/odd" ? "zstd, gzip" : "gzip" }).end("plain");
    });
    expect(await get("/odd")).toMatchObject({ kind: "answered", body: Buffer.alloc(0) });
    expect(await get("/false")).toMatchObject({ kind: "answered", body: Buffer.alloc(0) });
  });

  test("is given up when it does not come in time: no answer, no end, a redirect after the other", async () => {
    const { get } = await asking(
      (request, response) => {
        if (request.url === "/silent") return;
        if (request.url === "/slow") response.write("a");
        else setTimeout(() => response.writeHead(302, { location: "/turn" }).end(), 50);
      },
      { deadlineMs: 150 },
    );
    for (const path of ["/silent", "/slow", "/turn"]) {
      expect({ path, ...(await get(path)) }).toEqual({ path, kind: "failed", reason: "timeout" });
    }
  });

  test("is given up when the name is not resolved in time", async () => {
    const safeFetch = client([80], { deadlineMs: 50, resolve: () => new Promise(() => {}) });
    expect(await safeFetch.fetch("GET", "http://slow.test/")).toEqual({ kind: "failed", reason: "timeout" });
  });

  test.each([
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x-y: zzzzzzzz\r\n".repeat(5_000)}`],
    ["no HTTP at all", "220 mail.example.com ESMTP\r\n\r\n"],
    ["a length that is none", "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n"],
  ])("is not %s", async (_, bytes) => {
    const port = await listening(
      createBareServer((socket) => {
        socket.on("error", () => {});
        socket.end(bytes);
      }),
    );
    expect(await client([port]).fetch("GET", `http://127.0.0.1:${port}/`)).toEqual({
      kind: "failed",
      reason: "bad_answer",
    });
  });

  test("a refused connection is a failure with its own reason", async () => {
    const server = createBareServer();
    const port = await listening(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await client([port]).fetch("HEAD", `http://127.0.0.1:${port}/`)).toEqual({
      kind: "failed",
      reason: "no_connection",
    });
  });

  test("the next address of a name is tried when the first does not answer", async () => {
    const { port } = await asking((_, response) => response.end("here"));
    const safeFetch = client([port], { resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    expect(await safeFetch.fetch("GET", `http://two.test:${port}/`)).toMatchObject({ kind: "answered", status: 200 });
  });
});

describe("https", () => {
  async function secure(more: Partial<SafeFetchSettings>) {
    const port = await listening(
      createSecureServer({ key: certificateKey, cert: certificate }, (request, response) =>
        response.end(request.headers.host),
      ),
    );
    const safeFetch = client([port], { resolve: async () => ["127.0.0.1"], ...more });
    return (name: string) => safeFetch.fetch("GET", `https://${name}:${port}/`);
  }

  test("is verified by the name, though the connection goes to a number", async () => {
    const get = await secure({ ca: certificate });
    expect(await get("safe.test")).toMatchObject({ kind: "answered", status: 200 });
    expect(await get("other.test")).toEqual({ kind: "failed", reason: "certificate" });
    expect(await get("127.0.0.1")).toEqual({ kind: "failed", reason: "certificate" });
  });

  test("is not trusted with a self-signed certificate", async () => {
    expect(await (await secure({}))("safe.test")).toEqual({ kind: "failed", reason: "certificate" });
  });
});
