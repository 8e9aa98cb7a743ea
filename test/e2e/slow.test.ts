/** What takes the server's own ten seconds, because nothing shorter can be set. All of it waits at the same time. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { openDiskStore } from "../conformance/stores.ts";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { fileAddresses, fileKeys } from "./file-addresses.ts";
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

const pauseMs = 13_000; // the server looks at timeouts every four seconds

test.concurrent("an upload and a download that pause for longer than ten seconds are whole in the end", async () => {
  const server = await startServer({ env: { QL_SIGNING_KEYS: fileKeys } });
  const { upload, download, type } = fileAddresses();
  const bytes = Buffer.alloc(24_000_000, "0123456789"); // more than the buffers between us hold
  const sent = await fetch(server.url + upload("incoming/quick", bytes.length), {
    method: "PUT",
    body: bytes,
    headers: { "content-type": type },
  });
  expect(sent.status).toBe(201);

  const line = await dial(server.port);
  line.send(`PUT ${upload("incoming/slow", bytes.length)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n`);
  line.send(`Content-Length: ${bytes.length}\r\n\r\n`);
  line.send(bytes.subarray(0, 1_000_000));
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`GET ${download("incoming/quick")} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  socket.pause();
  await Bun.sleep(pauseMs);

  line.send(bytes.subarray(1_000_000));
  await line.waitFor(/^HTTP\/1\.1 201 /);
  line.hangUp();
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const received = Buffer.concat(chunks);
  expect(received.toString("latin1", 0, 15)).toBe("HTTP/1.1 200 OK");
  expect(received.subarray(-bytes.length).equals(bytes)).toBe(true);
  expect(await server.stop()).toBe(0);
});

test.concurrent("a download that is not taken is hung up on after its deadline", async () => {
  const store = await openDiskStore({ deadlineMs: 1 });
  const [key, sizeBytes, type] = ["incoming/a", 24_000_000, "text/plain"] as const;
  const until = store.clock.now() + 60_000;
  const { url, headers } = await store.storage.signUpload({ key, sizeBytes, type, sha256: null, until });
  await fetch(url, { method: "PUT", body: Buffer.alloc(sizeBytes), headers });
  const path = new URL(await store.storage.signDownload({ key, name: "a", type, sha256: null, until })).pathname;
  const socket = connect(store.port, "127.0.0.1");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  socket.pause();
  await Bun.sleep(pauseMs);
  let received = 0;
  for await (const chunk of socket) received += chunk.length;
  expect(received).toBeLessThan(sizeBytes);
  await store.stop();
});
