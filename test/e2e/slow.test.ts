/** What takes the server's own ten seconds, because nothing shorter can be set. All of it waits at the same time. */
import { expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { dial, hangingRequest } from "./servers.ts";

test.concurrent("a body that trickles in is refused after ten seconds, and nobody else waits meanwhile", async () => {
  const server = await startServer();
  const line = await hangingRequest(server);
  line.send("{");
  const trickle = setInterval(() => line.send(" "), 250);
  let slowestMs = 0;
  await until("an answer", async () => {
    const started = performance.now();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    return line.received().includes("body_timeout") || undefined;
  });
  clearInterval(trickle);
  line.hangUp();
  expect(line.received().toString("latin1")).toContain("HTTP/1.1 408 ");
  expect(slowestMs).toBeLessThan(2_000);
  expect(await server.stop()).toBe(0);
});

test.concurrent("a client that is silent in the middle of its headers is hung up on", async () => {
  const server = await startServer();
  const line = await dial(server.port);
  line.send("GET /healthz HTTP/1.1\r\nHost: loc");
  const started = performance.now();
  await line.closed;
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(line.received().toString("latin1")).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
  expect(await server.stop()).toBe(0);
});

test.concurrent("a stop cuts off a request that never ends, within ten seconds, and still ends with 0", async () => {
  const server = await startServer();
  const line = await hangingRequest(server);
  const started = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - started).toBeLessThan(10_000);
  line.hangUp();
});
