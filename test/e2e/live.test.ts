/** Live clicks of real servers, over real connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { eventsOf, QuickLink, type ServerEvent } from "../../clients/typescript/src/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { eventFrame, openEventStream, type StreamEnd } from "../../src/clicks/live/stream.ts";
import { codesOf, type LiveReader, readEvents } from "../ground/live.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";
import { type RedisServer, redisAvailable, startRedis } from "../ground/redis.ts";
import { startServer } from "../ground/server.ts";
import { type LinkBody, metric, must, type ProblemBody, type Site, siteOf, startSite } from "./servers.ts";

type Watching = LiveReader & { status: number; headers: Headers };

async function watch(site: Site, key: string = site.server.key, query = ""): Promise<Watching> {
  const headers = { authorization: `Bearer ${key}`, "last-event-id": "p1-7" };
  const response = await fetch(`${site.server.url}/api/live${query}`, { headers });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  return Object.assign(readEvents(response.body), { status: response.status, headers: response.headers });
}

const clicks = (reader: LiveReader) => codesOf(reader.events("click"));
const quotas = (reader: LiveReader) => codesOf(reader.events("quota"));

/** Visits the link until its hits are seen. */
const untilMoved = (reader: LiveReader, site: Site, code: string) =>
  until(`hits of ${code}`, async () => {
    await site.visit(`/${code}`);
    return quotas(reader).includes(code) || undefined;
  });

describe("live clicks of one server", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite("SQLite");
  });
  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  const streams = async () => metric((await site.visit("/metrics")).text, "quicklink_live_streams");

  test("a reader sees what happens to its own tenant, and no other", async () => {
    const foreignKey = await site.tenant("live-other");
    const [own, foreign] = [await watch(site), await watch(site, foreignKey)];
    expect(own.headers.get("content-type")).toBe("text/event-stream;charset=utf-8");
    expect(own.headers.get("cache-control")).toBe("no-store");
    await site.create({ url: "https://example.com/live", code: "live-one", hitsPerMonth: 1_000 });
    const theirs = await site.call("POST", "/api/links", {
      key: foreignKey,
      body: { url: "https://example.com/live", code: "live-two" },
    });
    expect(theirs.status).toBe(201);
    await untilMoved(own, site, "live-one");
    await untilMoved(foreign, site, "live-two");
    expect(new Set(quotas(own))).toEqual(new Set(["live-one"]));
    expect(new Set(quotas(foreign))).toEqual(new Set(["live-two"]));
    expect(own.events("quota").at(-1)).toMatchObject({ used: expect.any(Number), limit: 1_000 });
    await until("all clicks", () => clicks(own).length >= Number(own.events("quota").at(-1)?.used) || undefined);
    expect([new Set(clicks(own)), new Set(clicks(foreign))]).toEqual([new Set(["live-one"]), new Set(["live-two"])]);
    const seen = clicks(own).length;
    const from = { "user-agent": "Googlebot/2.1", referer: "https://news.example.com/today" };
    expect((await site.visit("/live-one?utm_source=paper", from)).status).toBe(302);
    const click = await until("the click", () => own.events("click")[seen]);
    expect(click).toMatchObject({
      reason: "bot",
      verdict: "exempt",
      referrer: "news.example.com",
      bot: expect.any(String),
      utm_source: "paper",
    });
    const { items } = (await site.call("GET", "/api/links?search=live-one")).json<{ items: LinkBody[] }>();
    expect(click.link).toEqual({ domain: items[0]?.domain, code: "live-one" });
    await Promise.all([own.leave(), foreign.leave()]);
    await until("both to have left", async () => (await streams()) === 0 || undefined);
  });

  test("a stream ends when it should, and one with bad input does not begin", async () => {
    const reader = await watch(site, site.server.key, "?seconds=1");
    await until("its end", () => reader.isOver() || undefined);
    expect(reader.text()).toBe("retry: 3000\n\n: connected\n\n: its time is over. Connect again.\n\n");
    for (const seconds of ["0", "3601", "x", "1.5"]) {
      const refused = await site.call("GET", `/api/live?seconds=${seconds}`);
      expect([refused.status, refused.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, "seconds"]);
    }
    expect((await site.call("HEAD", "/api/live")).status).toBe(200);
    expect((await site.call("GET", "/api/live", { key: null })).status).toBe(401);
    expect(await streams()).toBe(0);
  });

  test("the client iterates over events until the stream ends, beyond its timeout for a call", async () => {
    const client = new QuickLink({ baseUrl: site.server.url, key: site.server.key, timeoutMs: 1_000 });
    await client.createLink({ url: "https://example.com/client", code: "live-client" });
    const response = await client.watchClicks({ seconds: 3 });
    expect((await site.visit("/live-client")).status).toBe(302);
    const events: ServerEvent[] = [];
    for await (const event of eventsOf(response)) events.push(event);
    const click = events.find(({ event }) => event === "click");
    expect(click?.data).toMatchObject({ link: { code: "live-client" }, verdict: "counted" });
    expect(events.map(({ event }) => event)).toContain("quota");
  });

  test("a tenant has at most 20 streams, and another tenant still gets one", async () => {
    const [busyKey, calmKey] = [await site.tenant("live-busy"), await site.tenant("live-calm")];
    const many = await Promise.all(Array.from({ length: 20 }, () => watch(site, busyKey)));
    const refused = await site.call("GET", "/api/live", { key: busyKey });
    expect([refused.status, refused.json<ProblemBody>().code]).toEqual([429, "too_many_streams"]);
    expect(refused.headers.get("retry-after")).toBe("30");
    const calm = await watch(site, calmKey);
    await Promise.all([...many, calm].map((reader) => reader.leave()));
    await until("all to have left", async () => (await streams()) === 0 || undefined);
  });

  test("a revoked key and a suspended tenant end their streams within 10 s, and no other", async () => {
    const made = await site.call("POST", "/api/keys", { body: { name: "live", scopes: ["stats:read"] } });
    const { id, secret } = made.json<{ id: string; secret: string }>();
    const suspendedKey = await site.tenant("live-suspended");
    const [valid, revoked, suspended] = [await watch(site), await watch(site, secret), await watch(site, suspendedKey)];
    expect((await site.call("DELETE", `/api/keys/${id}`)).status).toBe(204);
    must(await site.cli("tenant", "suspend", "live-suspended", "--reason", "a test"));
    await until("both to end", () => (revoked.isOver() && suspended.isOver()) || undefined);
    for (const { text } of [revoked, suspended])
      expect(text()).toContain(": the API key or session is no longer valid");
    expect(valid.isOver()).toBe(false);
    await valid.leave();
  }, 60_000);
});

test("SIGTERM ends streams at once, also one that nobody reads", async () => {
  const site = await startSite("SQLite");
  const reader = await watch(site);
  const idle = connect(site.server.port, "127.0.0.1");
  idle.on("error", () => {});
  idle.pause();
  idle.write(`GET /api/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${site.server.key}\r\n\r\n`);
  await until("both streams", async () => {
    return metric((await site.visit("/metrics")).text, "quicklink_live_streams") === 2 || undefined;
  });
  const started = performance.now();
  expect(await site.server.stop()).toBe(0);
  // Not after the 8 s that running requests get.
  expect(performance.now() - started).toBeLessThan(8_000);
  await until("its end", () => reader.isOver() || undefined);
  expect(reader.text()).toEndWith(": the server is stopping. Connect again.\n\n");
  idle.destroy();
});

test("a client that stops reading is cut and disconnected, while another gets everything", async () => {
  const ends: (StreamEnd | undefined)[] = [];
  const streams: ReturnType<typeof openEventStream>[] = [];
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 10 },
    fetch(request) {
      const place = streams.length;
      ends.push(undefined);
      // The ten seconds of a client that takes nothing are one here; 0 stays without an end.
      const allowSilence = (seconds: number) => server.timeout(request, Math.min(1, seconds));
      const onEnd = (end: StreamEnd) => {
        ends[place] = end;
      };
      streams.push(openEventStream({ clock: systemClock, allowSilence, onEnd }));
      return new Response(streams[place]?.body);
    },
  });
  const stopped = connect(server.port ?? 0, "127.0.0.1");
  stopped.on("error", () => {});
  stopped.pause();
  stopped.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until("the first stream", () => streams.length === 1 || undefined);
  const response = fetch(server.url);
  await until("the second stream", () => streams.length === 2 || undefined);
  let sent = 0;
  const push = () => {
    const frame = eventFrame(String(sent), "click", JSON.stringify({ n: sent, filler: "x".repeat(4_000) }));
    for (const stream of streams) stream.push(frame);
    sent++;
  };
  push();
  const { body } = await response;
  if (body === null) throw new Error("no body");
  const reader = readEvents(body);
  // Never more at once than a connection may hold; the kernel takes some megabytes before the first one falls behind.
  await until("the cut", () => {
    for (let i = 0; i < 40 && ends[0] === undefined; i++) push();
    return ends[0] === "cut" || undefined;
  });
  push();
  streams[1]?.end("done.");
  await until("the reader's end", () => reader.isOver() || undefined);
  expect(reader.events("click").map(({ n }) => n)).toEqual(Array.from({ length: sent }, (_, n) => n));
  expect(ends[1]).toBe("ended");
  await until("the stopped client to be disconnected", () => server.pendingRequests === 0 || undefined, 25_000);
  stopped.destroy();
  await server.stop(true);
}, 60_000);

if (postgresAvailable() && redisAvailable()) {
  describe("live clicks of two servers", () => {
    let redis: RedisServer;
    let one: Site;
    let two: Site;

    beforeAll(async () => {
      redis = await startRedis();
      one = await startSite("PostgreSQL", { REDIS_URL: redis.url });
      const env = { ...one.env, REDIS_URL: redis.url };
      two = siteOf(await startServer({ dataDir: one.server.dataDir, key: one.server.key, env }), env);
    }, 60_000);

    afterAll(async () => {
      expect(await Promise.all([one.server.stop(), two.server.stop()])).toEqual([0, 0]);
      await redis.stop();
    });

    test("a visit to one is seen at the other, by its own tenant only", async () => {
      const foreignKey = await one.tenant("live-foreign");
      const [own, foreign] = [await watch(one), await watch(one, foreignKey)];
      await one.create({ url: "https://example.com/live", code: "live-far" });
      await untilMoved(own, two, "live-far");
      await until("the click", () => clicks(own).includes("live-far") || undefined);
      expect([...quotas(foreign), ...clicks(foreign)]).toEqual([]);
      expect(own.events("notice")).toEqual([]);
      const { text } = await two.visit("/metrics");
      expect(metric(text, 'quicklink_live_messages_total{outcome="sent"}')).toBeGreaterThan(0);
      await Promise.all([own.leave(), foreign.leave()]);
    });
  });
}
