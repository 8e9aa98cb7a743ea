/** The socket in front of Bun's server: every request gets the answer that Bun's server alone would give. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import fc from "fast-check";
import { manualClock } from "../../src/base/clock.ts";
import type { Peer } from "../../src/base/tcp-connection.ts";
import { targetOf } from "../../src/http/request.ts";
import { type Front, listenFront } from "../../src/http/socket/front.ts";
import type { PlainRequest } from "../../src/http/socket/plain-request.ts";
import { purposeNames } from "../../src/redirect/bots.ts";
import { Redirection, type VisitReply } from "../../src/redirect/redirection.ts";
import { until } from "../ground/process.ts";
import { type Server, startServer } from "../ground/server.ts";
import { dial, raw } from "./servers.ts";

const clock = manualClock(Date.UTC(2026, 10, 18, 4, 5, 6));
const destination = "https://example.com/a?b=c";
const headersRead = [
  "host",
  "user-agent",
  "referer",
  "cookie",
  "dnt",
  "via",
  "accept",
  "x-forwarded-for",
  "accept-language",
  ...purposeNames,
];

/** What a redirect would see of a request, as the body of an answer. */
const seen = (code: string, url: string, headers: Pick<Headers, "get">): Response =>
  Response.json({ code, query: url.split("?")[1] ?? "", headers: headersRead.map((name) => headers.get(name)) });

type Receive = (request: PlainRequest) => VisitReply | Promise<VisitReply> | undefined;

interface Pair {
  readonly front: Front;
  readonly peers: Map<number, Peer>;
  /** Requests that Bun's server got. */
  inner: number;
  plain: number;
  readonly innerPort: number;
  stop(): void;
}

function open(
  receive: Receive,
  answer?: (request: Request) => Response | Promise<Response>,
  idleSeconds?: number,
): Pair {
  const peers = new Map<number, Peer>();
  const server = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0, development: false, idleTimeout: 10 },
    async fetch(request) {
      pair.inner++;
      if (answer !== undefined) return answer(request);
      const { path: whole } = targetOf(request.url);
      const path = whole.slice(1);
      return request.method === "GET" && /^[\w-]{1,64}$/.test(path)
        ? seen(path, request.url, request.headers)
        : new Response(`${request.method} ${(await request.bytes()).length}`);
    },
  });
  const front = listenFront({
    ...{
      hostname: "127.0.0.1",
      port: 0,
      sharesPort: false,
      inner: { port: server.port ?? 0, peers, log: silent },
      clock,
      log: silent,
    },
    receive(request) {
      pair.plain++;
      return receive(request);
    },
    failed: (error) => new Response(String(error), { status: 500 }),
    ...(idleSeconds !== undefined && { idleSeconds }),
  });
  const pair: Pair = {
    ...{ front, peers, inner: 0, plain: 0, innerPort: server.port ?? 0 },
    stop() {
      void front.stop();
      front.closeAll();
      void server.stop(true);
    },
  };
  return pair;
}

const silent = { warn() {}, error() {} };
const toOne = new Redirection(302, destination);
const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, "Host: a.example", ...headers, "", ""].join("\r\n");
const last = "Connection: close";

describe("a plain request", () => {
  let pair: Pair;
  beforeAll(() => {
    pair = open(({ code }) => {
      switch (code) {
        case "later":
          return Bun.sleep(100).then(() => toOne);
        case "page":
          return new Response("a page", {
            status: 404,
            headers: { "content-type": "text/plain", "set-cookie": "a=b" },
          });
        case "large":
          return new Response(`${"x".repeat(8_000_000)}-the-end`);
        case "throws":
          throw new Error("no answer");
        case "rejects":
          return Promise.reject(new Error("no answer"));
        case "unsendable":
          return new Redirection(302, "https://example.com/\r\nSet-Cookie: a=b");
        case "api":
          return undefined;
        default:
          return toOne;
      }
    });
  });
  afterAll(() => pair.stop());

  test("is answered with a redirect, its date and its length", async () => {
    expect(await raw(pair.front.port, get("/abc", last))).toBe(
      `HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: ${destination}\r\nContent-Length: 0\r\nDate: Wed, 18 Nov 2026 04:05:06 GMT\r\n\r\n`,
    );
    expect(pair.inner).toBe(0);
  });

  test("has the date of its own second", async () => {
    const line = await dial(pair.front.port);
    line.send(get("/abc"));
    await line.waitFor(/04:05:06 GMT\r\n\r\n$/);
    await clock.advance(1_000);
    line.send(get("/abc"));
    await line.waitFor(/04:05:07 GMT\r\n\r\n$/);
    line.hangUp();
    await clock.advance(-1_000);
  });

  test("is answered on the same connection again and again", async () => {
    const line = await dial(pair.front.port);
    for (let i = 1; i <= 20; i++) {
      line.send(get(i % 3 === 0 ? "/later" : "/abc"));
      await line.waitFor(new RegExp(`^(?:HTTP[\\s\\S]*?\r\n\r\n){${i}}$`));
    }
    line.hangUp();
  });

  test("is answered in its order, if the client does not wait for the answer before", async () => {
    const line = await visitLater();
    line.send(get("/page", last));
    await line.closed;
    expect(
      line
        .received()
        .toString()
        .match(/HTTP\/1\.1 \d+/g),
    ).toEqual(["HTTP/1.1 302", "HTTP/1.1 404"]);
  });

  test.each([
    [["/later", "/abc", "/page"], "302 302 404"],
    [["/abc", "/abc", "/later", "/later", "/abc"], "302 302 302 302 302"],
    [["/page", "/throws", "/abc"], "404 500 302"],
  ])("is answered in its order, if several are sent at once: %j", async (paths, statuses) => {
    const before = { plain: pair.plain, inner: pair.inner };
    const requests = paths.map((path, place) => get(path, ...(place === paths.length - 1 ? [last] : [])));
    const received = await raw(pair.front.port, requests.join(""), 12_000);
    expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)?.join(" ")).toBe(statuses);
    expect([pair.plain - before.plain, pair.inner - before.inner]).toEqual([paths.length, 0]);
  });

  test("that ends the connection is the last that is answered", async () => {
    const before = pair.plain;
    const received = await raw(pair.front.port, get("/abc") + get("/later", last) + get("/abc"), 12_000);
    expect(received.match(/HTTP\/1\.1 302/g)).toHaveLength(2);
    expect(pair.plain - before).toBe(2);
  });

  test("with a part of the next one behind it is answered, and so is that once it is complete", async () => {
    const line = await dial(pair.front.port);
    line.send(get("/abc") + get("/abc", last).slice(0, 20));
    await line.waitFor(/302 Found/);
    line.send(get("/abc", last).slice(20));
    await line.closed;
    expect(line.received().toString()).toContain('"code":"abc"');
  });

  test("with more behind it than it should have ends the connection", async () => {
    const line = await dial(pair.front.port);
    const before = pair.plain;
    line.send(get("/abc").repeat(40_000));
    await line.closed;
    expect(pair.plain - before).toBeLessThan(2_000);
  });

  test("of a client that has said that this was all is answered, too", async () => {
    const before = pair.plain;
    const socket = connect({ port: pair.front.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.write(get("/later"));
    await until("the visit to begin", () => pair.plain > before || undefined);
    socket.end(get("/page"));
    let received = "";
    for await (const chunk of socket) received += chunk;
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 302", "HTTP/1.1 404"]);
  });

  test("with more behind it than it should have, while it is answered, ends the connection", async () => {
    const line = await visitLater();
    line.send("x".repeat(70_000));
    await line.closed;
  });

  /** A visit that is not answered yet. */
  async function visitLater() {
    const line = await dial(pair.front.port);
    const before = pair.plain;
    line.send(get("/later"));
    await until("the visit to begin", () => pair.plain > before || undefined);
    return line;
  }

  test("is answered with a page, its headers and its length", async () => {
    const text = await raw(pair.front.port, get("/page", last));
    expect(text).toStartWith("HTTP/1.1 404 Not Found\r\nConnection: close\r\n");
    expect(text).toContain("\r\nset-cookie: a=b\r\n");
    expect(text).toContain("\r\ncontent-length: 6\r\n");
    expect(text).toEndWith("\r\n\r\na page");
  });

  test("is answered with a page that is larger than what the client takes at once", async () => {
    const text = await raw(pair.front.port, get("/large", last));
    expect(text.length).toBeGreaterThan(8_000_000);
    expect(text).toEndWith("x-the-end");
  });

  test.each(["/throws", "/rejects", "/unsendable"])("%s is a 500 if it cannot be answered", async (path) => {
    expect(await raw(pair.front.port, get(path, last))).toStartWith("HTTP/1.1 500 ");
  });

  test("of a client that sends nothing more is answered, at once and later", async () => {
    for (const path of ["/abc", "/later", "/page", "/api"]) {
      expect(await halfClosed(pair.front.port, get(path))).toStartWith(
        path === "/page" ? "HTTP/1.1 404" : /^\/(abc|later)$/.test(path) ? "HTTP/1.1 302" : "HTTP/1.1 200",
      );
    }
  });
});

/** Sends and says that this was all, and returns everything until the server closes. */
async function halfClosed(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.end(text);
  let received = "";
  for await (const chunk of socket) received += chunk;
  return received;
}

describe("as Bun's server alone", () => {
  let pair: Pair;
  beforeAll(() => {
    pair = open((request) => seen(request.code, request.url, request.headers));
  });
  afterAll(() => pair.stop());

  test("whatever is sent is answered in the same way, and plain requests by the front", async () => {
    const path = fc.oneof(
      fc.constantFrom(
        "/abc",
        "/a-b_9?x=1",
        "/abc?a=http://b/&c",
        "/abc?",
        "/a/b",
        "/",
        "/abc+",
        "/a%20b",
        "/abc??",
        "/é",
      ),
      fc.stringMatching(/^\/[\w-]{1,70}$/),
    );
    const name = fc.constantFrom(
      ...[
        "User-Agent",
        "user-agent",
        "REFERER",
        "Cookie",
        "DNT",
        "Via",
        "Accept",
        "X-Forwarded-For",
        "Accept-Language",
      ],
      ...["X-Other", "Content-Length ", "Accept-Encoding", "content-type", "X\tY", "Sec-GPC", "X.Y", "Datum", "Hose"],
      ...["Sec-Purpose", "Purpose", "X-Moz", "X-Purpose", "X-Real-IP"],
    );
    const value = fc.oneof(
      fc.stringMatching(/^[ -~]{0,20}$/),
      fc.constantFrom("", " ", "\t", "a\tb", "1", "a, b", " x "),
    );
    const header = fc.tuple(name, fc.constantFrom(":", ": ", ":  ", " :"), value).map((parts) => parts.join(""));
    const text = fc
      .record({
        method: fc.constantFrom("GET", "GET", "GET", "GET", "HEAD", "DELETE", "get"),
        path,
        version: fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
        host: fc.constantFrom("Host: a.example", "host: b.example:80", "HOST:c", ""),
        headers: fc.array(header, { maxLength: 5 }),
        end: fc.constantFrom("\r\n", "\r\n", "\r\n", "\n"),
      })
      .map(({ method, path, version, host, headers, end }) =>
        [`${method} ${path} HTTP/${version}`, ...(host === "" ? [] : [host]), ...headers, last, "", ""].join(end),
      );
    await fc.assert(
      fc.asyncProperty(text, async (request) => {
        const bytes = Buffer.from(request, "latin1");
        const [ours, buns] = await Promise.all([
          raw(pair.front.port, bytes, 12_000),
          raw(pair.innerPort, bytes, 12_000),
        ]);
        expect(partsOf(ours)).toEqual(partsOf(buns));
      }),
      { numRuns: 400 },
    );
    expect(pair.plain).toBeGreaterThan(10); // about 45
  });
});

/** Status and body: the front and Bun write other headers. */
function partsOf(answer: string): readonly [string, string] {
  const end = answer.indexOf("\r\n\r\n");
  return [answer.slice(0, 12), end === -1 ? answer : answer.slice(end + 4)];
}

describe("a tunnel", () => {
  const sizeBytes = 20_000_000;
  const content = Buffer.alloc(sizeBytes, "0123456789abcdef!");
  let pair: Pair;
  beforeAll(() => {
    pair = open(
      ({ code }) => (code === "api" ? undefined : toOne),
      async (request) => {
        const { path } = targetOf(request.url);
        if (path === "/large/file") return new Response(content);
        if (path === "/hash")
          return new Response(new Bun.CryptoHasher("sha256").update(await request.bytes()).digest("hex"));
        if (path === "/its/peer") return Response.json([...pair.peers.values()]);
        return new Response(path);
      },
    );
  });
  afterAll(() => pair.stop());

  test("begins with the first request that is not plain, and keeps what follows", async () => {
    const line = await dial(pair.front.port);
    const before = pair.plain;
    line.send(get("/abc"));
    await line.waitFor(/302 Found/);
    line.send(get("/api"));
    await line.waitFor(/\/api$/);
    line.send(get("/abc"));
    await line.waitFor(/\/abc$/);
    expect(pair.plain).toBe(before + 2);
    line.hangUp();
  });

  test("passes on a request that arrives in parts", async () => {
    const line = await dial(pair.front.port);
    const [first, second] = [get("/abc", last).slice(0, 20), get("/abc", last).slice(20)];
    await until("no other tunnel", () => pair.peers.size === 0 || undefined);
    line.send(first);
    await until("the tunnel", () => pair.peers.size === 1 || undefined);
    line.send(second);
    await line.closed;
    expect(line.received().toString()).toEndWith("/abc");
  });

  test("passes on a large body, and a large answer to a client that is slow", async () => {
    const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    const sent = await fetch(`http://127.0.0.1:${pair.front.port}/hash`, { method: "POST", body: content });
    expect(await sent.text()).toBe(hash);
    for (const headers of [[], [last]]) {
      const received = new Bun.CryptoHasher("sha256");
      let [size, headEnd] = [0, -1];
      const done = Promise.withResolvers<void>();
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: pair.front.port,
        socket: {
          data(from, chunk) {
            const start = headEnd === -1 ? chunk.indexOf("\r\n\r\n") + 4 : 0;
            headEnd = 0;
            received.update(chunk.subarray(start));
            size += chunk.length - start;
            from.pause();
            setTimeout(() => from.resume(), 2);
            if (size >= sizeBytes) done.resolve();
          },
          close: () => done.resolve(),
        },
      });
      socket.write(get("/large/file", ...headers));
      await done.promise;
      expect(size).toBe(sizeBytes);
      expect(received.digest("hex")).toBe(hash);
      socket.end();
    }
  });

  test("knows who is behind it, until they are gone", async () => {
    const line = await dial(pair.front.port);
    line.send(get("/its/peer"));
    const [, body = "[]"] = await line.waitFor(/(\[.*\])$/);
    const others = JSON.parse(body) as Peer[];
    expect(others.every(({ address }) => address === "127.0.0.1")).toBe(true);
    expect(others.length).toBeGreaterThan(0);
    line.hangUp();
    await until("it to be forgotten", () => pair.peers.size === 0 || undefined);
  });

  test("ends when Bun's server ends it, and when it cannot be reached", async () => {
    expect(await raw(pair.front.port, get("/api", last))).toEndWith("/api");
    const unreachable = listenFront({
      ...{ hostname: "127.0.0.1", port: 0, sharesPort: false, clock, receive: () => undefined },
      inner: { port: 1, peers: new Map(), log: silent },
      log: silent,
      failed: () => new Response(),
    });
    expect(await raw(unreachable.port, get("/api"), 5_000)).toBe("");
    await unreachable.stop();
  });
});

describe("a connection", () => {
  test("without a request is closed, and so is one that has been answered", async () => {
    const pair = open(() => toOne, undefined, 1);
    const [silent, answered] = [await dial(pair.front.port), await dial(pair.front.port)];
    answered.send(get("/abc"));
    await answered.waitFor(/302/);
    await Promise.all([silent.closed, answered.closed]);
    pair.stop();
  });

  test("is closed by a stop once it has its answer, and new ones are refused", async () => {
    const reply = Promise.withResolvers<VisitReply>();
    const pair = open(({ code }) => (code === "later" ? reply.promise : toOne));
    const [idle, busy] = [await dial(pair.front.port), await dial(pair.front.port)];
    idle.send(get("/abc"));
    busy.send(get("/later"));
    await idle.waitFor(/302/);
    await until("the visit to begin", () => pair.plain === 2 || undefined);
    await pair.front.stop();
    await idle.closed;
    expect(dial(pair.front.port)).rejects.toThrow();
    reply.resolve(toOne);
    await busy.closed;
    expect(busy.received().toString()).toStartWith("HTTP/1.1 302");
    await pair.front.closed();
    pair.stop();
  });
});

describe("the server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer({ env: { QL_GUESSES_PER_MINUTE: "5" } });
  });
  afterAll(() => server.stop());

  /** The status of a request from an address of this machine. */
  async function statusFrom(localAddress: string, method: string, path: string): Promise<number> {
    const socket = connect({ port: server.port, host: "127.0.0.1", localAddress });
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    let received = "";
    for await (const chunk of socket) received += chunk;
    return Number(received.slice(9, 12));
  }

  test.each(["GET", "HEAD"])(
    "tells clients apart by their own address, with and without a tunnel: %s",
    async (method) => {
      const [guesser, other] = method === "GET" ? ["127.0.0.2", "127.0.0.3"] : ["127.0.0.4", "127.0.0.5"];
      const statuses = [];
      for (let i = 0; i < 7; i++) statuses.push(await statusFrom(guesser, method, `/guess${i}`));
      expect(statuses.at(0)).toBe(404);
      expect(statuses.at(-1)).toBe(429);
      expect(await statusFrom(other, method, "/guess9")).toBe(404);
    },
  );

  test("ends the tunnel of a connection with its next redirect, so that the one after is plain again", async () => {
    const { code } = await createLinkOn(server);
    const line = await dial(server.port);
    line.send(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await line.waitFor(/ok\n$/);
    line.send(`GET /${code} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await line.closed;
    expect(line.received().toString()).toMatch(/HTTP\/1\.1 302 Found\r\n[\s\S]*connection: close\r\n/i);
  });
});

test("a stop answers what has been sent, whether or not it needs a tunnel", async () => {
  const server = await startServer();
  const { code } = await createLinkOn(server);
  const methods = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "HEAD" : "GET"));
  const lines = await Promise.all(methods.map(() => dial(server.port)));
  // A connection that is not accepted yet is lost with the listener. They are accepted in their order, and this one is the last.
  await raw(server.port, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  for (const [i, line] of lines.entries()) line.send(`${methods[i]} /${code} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  expect(await server.stop()).toBe(0);
  await Promise.all(lines.map(({ closed }) => closed));
  expect(lines.map((line) => line.received().toString().slice(0, 12))).toEqual(methods.map(() => "HTTP/1.1 302"));
});

async function createLinkOn(server: Server): Promise<{ code: string }> {
  const response = await fetch(`${server.url}/api/links`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ url: destination }),
  });
  return (await response.json()) as { code: string };
}
