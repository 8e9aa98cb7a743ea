/** What takes the server's own ten seconds, because nothing shorter can be set. All of it waits at the same time. */
import { expect, test } from "bun:test";
import { connect } from "node:net";
import { newId } from "../../src/base/ids.ts";
import { createShares } from "../../src/base/shares.ts";
import type { DownloadRate } from "../../src/files/download/download.ts";
import { few, openDiskStore } from "../conformance/stores.ts";
import { until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";
import { announce, type } from "./announced.ts";
import { dial, hangingRequest } from "./servers.ts";

test.concurrent("a body that trickles in is refused after ten seconds, and no other request waits meanwhile", async () => {
  const server = await startServer();
  let slowestMs = 0;
  async function trickled(): Promise<string> {
    const line = await hangingRequest(server);
    let isClosed = false;
    void line.closed.then(() => {
      isClosed = true;
    });
    line.send("{");
    const trickle = setInterval(() => line.send(" "), 250);
    await until("an answer", async () => {
      const started = performance.now();
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      return line.received().includes("body_timeout") || isClosed || undefined;
    });
    clearInterval(trickle);
    line.hangUp();
    return line.received().toString("latin1");
  }
  // Who still sends while the answer comes may lose it with the connection.
  let answer = "";
  for (let tries = 0; tries < 3 && !answer.includes("body_timeout"); tries++) answer = await trickled();
  expect(answer).toContain("HTTP/1.1 408 ");
  expect(slowestMs).toBeLessThan(8_000);
  expect(await server.stop()).toBe(0);
}, 120_000);

test.concurrent("a client that is silent in the middle of its headers is hung up on", async () => {
  const server = await startServer();
  const line = await dial(server.port);
  line.send("GET /healthz HTTP/1.1\r\nHost: loc");
  await line.closed;
  expect(line.received().toString("latin1")).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
  expect(await server.stop()).toBe(0);
});

test.concurrent("a stop cuts off a request that never ends, within ten seconds, and still ends with 0", async () => {
  const server = await startServer();
  const line = await hangingRequest(server);
  const started = performance.now();
  expect(await server.stop()).toBe(0);
  // 8 s for requests, and what a busy machine takes.
  expect(performance.now() - started).toBeLessThan(14_000);
  line.hangUp();
});

const pauseMs = 13_000; // the server looks at timeouts every four seconds

test.concurrent("an upload and a download that pause for longer than ten seconds are whole in the end", async () => {
  const server = await startServer();
  const bytes = Buffer.alloc(24_000_000, "0123456789"); // more than the buffers between us hold
  const [quick, slow] = [await announce(server, bytes.length), await announce(server, bytes.length)];
  expect((await quick.send(bytes)).status).toBe(201);
  expect((await quick.complete()).status).toBe(200);
  const { pathname: download } = new URL(await quick.downloadUrl());

  const line = await dial(server.port);
  line.send(`PUT ${slow.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n`);
  line.send(`Content-Length: ${bytes.length}\r\n\r\n`);
  line.send(bytes.subarray(0, 1_000_000));
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`GET ${download} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
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

test.concurrent("a connection is silent for no longer after an upload than before, whether it was taken or refused", async () => {
  const store = await openDiskStore();
  const upload = async (sha256: string | null) => {
    const key = `incoming/${newId("file", store.clock)}`;
    const until = store.clock.now() + 60_000;
    const { url } = await store.storage.signUpload({ key, sizeBytes: 5, type, sha256, until });
    const line = await dial(store.port);
    line.send(`PUT ${new URL(url).pathname} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\n`);
    line.send("Content-Length: 5\r\n\r\nfirst");
    await line.waitFor(sha256 === null ? /^HTTP\/1\.1 201 / : /^HTTP\/1\.1 422 /);
    line.send("GET /heal");
    return line;
  };
  const lines = [await upload(null), await upload("0".repeat(64))];
  const late = Bun.sleep(25_000).then(() => "still open");
  expect(await Promise.race([Promise.all(lines.map(({ closed }) => closed)).then(() => "closed"), late])).toBe(
    "closed",
  );
  await store.stop();
});

/** A large file, and how it is asked for. */
async function served(rate: DownloadRate) {
  const downloads = createShares(few);
  const store = await openDiskStore({ rate, downloads });
  const [key, sizeBytes] = [`incoming/${newId("file", store.clock)}`, 24_000_000];
  const until = store.clock.now() + 60_000;
  const { url, headers } = await store.storage.signUpload({ key, sizeBytes, type, sha256: null, until });
  await fetch(url, { method: "PUT", body: Buffer.alloc(sizeBytes), headers });
  const path = new URL(await store.storage.signDownload({ key, name: "a", type, sha256: null, until })).pathname;
  const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const ask = () => {
    const socket = connect(store.port, "127.0.0.1");
    socket.write(request);
    return socket.pause();
  };
  return { ask, request, port: store.port, downloads, sizeBytes, stop: store.stop };
}

const patient: DownloadRate = { leastBytesPerSecond: 1, windowMs: 2_000, stallMs: 200_000, mostMs: 3_600_000 };

test.concurrent("a reader that takes nothing for too long is hung up on, and its place is free again", async () => {
  const { ask, downloads, sizeBytes, stop } = await served({ ...patient, stallMs: 5_000, windowMs: 3_600_000 });
  const socket = ask();
  await until("it to be sent", () => downloads.figures.running === 1 || undefined);
  await until("its place to be free", () => downloads.figures.running === 0 || undefined, 30_000);
  let received = 0;
  for await (const chunk of socket) received += chunk.length;
  expect(received).toBeLessThan(sizeBytes);
  await stop();
});

/** Takes so much each second, however much is there. */
async function readSteadily(port: number, request: string, bytesPerSecond: number) {
  let received = 0;
  const started = performance.now();
  // node:net reads ahead of who uses it, however much that is.
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(from, chunk) {
        received += chunk.length;
        const aheadMs = (received / bytesPerSecond) * 1_000 - (performance.now() - started);
        if (aheadMs <= 0) return;
        from.pause();
        setTimeout(() => from.resume(), aheadMs);
      },
    },
  });
  socket.write(request);
  return { socket, received: () => received };
}

test.concurrent("a reader that is slower than the least rate is hung up on soon, however large the file", async () => {
  // At the minimum rate the file takes 48 s, during which nothing used to be checked.
  const rate = { ...patient, leastBytesPerSecond: 500_000 };
  const { request, port, downloads, sizeBytes, stop } = await served(rate);
  const reader = await readSteadily(port, request, 20_000);
  await until("it to be sent", () => downloads.figures.running === 1 || undefined);
  await until("its place to be free", () => downloads.figures.running === 0 || undefined, 20_000);
  expect(reader.received()).toBeLessThan(sizeBytes / 2);
  reader.socket.end();
  await stop();
});

test.concurrent("a reader that is faster than the least rate gets all of it, however long that takes", async () => {
  const rate = { ...patient, leastBytesPerSecond: 500_000 };
  const { request, port, downloads, sizeBytes, stop } = await served(rate);
  const reader = await readSteadily(port, request, 2_400_000);
  await until("all of it", () => reader.received() > sizeBytes || undefined, 30_000);
  await until("its place to be free", () => downloads.figures.running === 0 || undefined);
  reader.socket.end();
  await stop();
});

test.concurrent("a reader that takes all of it gives its place back at once", async () => {
  const { ask, downloads, sizeBytes, stop } = await served(patient);
  const socket = ask();
  let received = 0;
  socket.on("data", (chunk) => {
    received += chunk.length;
  });
  socket.resume();
  await until("all of it", () => received > sizeBytes || undefined);
  await until("its place to be free", () => downloads.figures.running === 0 || undefined);
  socket.destroy();
  await stop();
});
