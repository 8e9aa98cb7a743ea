/** What the disk's own addresses do beyond what all storage does; how they fail, and what is left then. */
import { afterEach, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FileId, newId } from "../../src/base/ids.ts";
import { createShares } from "../../src/base/shares.ts";
import type { TenantFile } from "../../src/files/file.ts";
import type { UploadSettings } from "../../src/files/upload/upload.ts";
import { dial, metric } from "../e2e/servers.ts";
import { until } from "../ground/process.ts";
import { type DiskStore, few, openDiskStore } from "./stores.ts";

const type = "image/png";
let store: DiskStore;
afterEach(() => store.stop());

async function open(more: Partial<UploadSettings> = {}): Promise<void> {
  store = await openDiskStore(more);
}

async function signed(sizeBytes: number, key = `incoming/${newId("file", store.clock)}`) {
  const until = store.clock.now() + 60_000;
  const { url } = await store.storage.signUpload({ key, sizeBytes, type, sha256: null, until });
  return { key, url, path: new URL(url).pathname };
}

const head = (path: string, ...headers: string[]) =>
  [`PUT ${path} HTTP/1.1`, "Host: localhost", `Content-Type: ${type}`, ...headers, "", ""].join("\r\n");

/** A connection on which the server waits for more of a body. */
async function begin(path: string, sizeBytes: number) {
  const line = await dial(store.port);
  line.send(head(path, `Content-Length: ${sizeBytes}`, "Expect: 100-continue"));
  await line.waitFor(/100 Continue/);
  return line;
}

const drafts = () => (existsSync(join(store.root, ".temp")) ? readdirSync(join(store.root, ".temp")) : []);
const counted = async (series: string) => metric((await store.metrics.scrape()).text, series);
const outcome = (name: string) => counted(`quicklink_uploads_total{outcome="${name}"}`);
const noDrafts = () => until("drafts to be gone", () => drafts().length === 0 || undefined);

describe("an upload", () => {
  test("that says it has more bytes than announced is refused before any is read", async () => {
    await open();
    const { path, key } = await signed(10);
    const line = await dial(store.port);
    line.send(head(path, "Content-Length: 100000000"));
    await line.waitFor(/^HTTP\/1\.1 413 .*upload_too_large/s);
    await line.closed;
    expect(await store.storage.stat(key)).toBeUndefined();
    expect(await outcome("mismatch")).toBe(1);
  });

  test("without a length is cut off at the first byte too many", async () => {
    await open();
    const { path, key } = await signed(100_000);
    const line = await dial(store.port);
    line.send(head(path, "Transfer-Encoding: chunked"));
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    line.send(chunk);
    line.send(chunk);
    await line.waitFor(/^HTTP\/1\.1 413 .*upload_too_large/s);
    await line.closed;
    await noDrafts();
    expect(await store.storage.stat(key)).toBeUndefined();
    expect(await counted('quicklink_upload_bytes_total{fate="kept"}')).toBe(0);
  });

  test("without a length that ends early is refused", async () => {
    await open();
    const { path, key } = await signed(10);
    const line = await dial(store.port);
    line.send(`${head(path, "Transfer-Encoding: chunked")}4\r\nfour\r\n0\r\n\r\n`);
    await line.waitFor(/^HTTP\/1\.1 422 .*upload_mismatch.*Announced 10 bytes, but 4 were sent/s);
    await noDrafts();
    expect(await store.storage.stat(key)).toBeUndefined();
  });

  test("without a length that is as long as announced is kept", async () => {
    await open();
    const { path, key } = await signed(8);
    const line = await dial(store.port);
    line.send(`${head(path, "Transfer-Encoding: chunked")}4\r\nfour\r\n4\r\nmore\r\n0\r\n\r\n`);
    await line.waitFor(/^HTTP\/1\.1 201 /);
    line.hangUp();
    expect(Buffer.from(await store.storage.read(key, 0, 10)).toString()).toBe("fourmore");
    expect(await counted('quicklink_upload_bytes_total{fate="kept"}')).toBe(8);
  });

  test("that is slower than the minimum rate is ended, however steadily it trickles", async () => {
    await open({ pace: { leastBytesPerSecond: 1_000, windowMs: 300, deadlineMs: 60_000 } });
    const { path, key } = await signed(1_000_000);
    const line = await begin(path, 1_000_000);
    const trickle = setInterval(() => line.send("x"), 20);
    await line.waitFor(/HTTP\/1\.1 408 .*body_timeout.*1000 bytes per second/s);
    clearInterval(trickle);
    await line.closed;
    await noDrafts();
    expect(await store.storage.stat(key)).toBeUndefined();
    expect(await outcome("broken_off")).toBe(1);
  });

  test("that is fast enough, but not done by the deadline, is ended", async () => {
    await open({ pace: { leastBytesPerSecond: 1, windowMs: 10_000, deadlineMs: 300 } });
    const { path } = await signed(1_000_000);
    const line = await begin(path, 1_000_000);
    const steady = setInterval(() => line.send("x".repeat(100)), 20);
    await line.waitFor(/HTTP\/1\.1 408 .*body_timeout.*within 0\.3 s/s);
    clearInterval(steady);
    await line.closed;
    await noDrafts();
  });

  test("whose client hangs up leaves nothing", async () => {
    await open();
    const { path, key } = await signed(1_000);
    const line = await begin(path, 1_000);
    line.send("half");
    await until("a draft", () => drafts().length === 1 || undefined);
    line.hangUp();
    await noDrafts();
    expect(await store.storage.stat(key)).toBeUndefined();
    await until("it to be counted", async () => (await outcome("broken_off")) === 1 || undefined);
  });

  test("beyond the number accepted at once is asked to retry, and accepted then", async () => {
    const uploads = createShares({ ...few, atOnce: 1, waitingMost: 0 });
    await open({ uploads });
    const first = await signed(4);
    const line = await begin(first.path, 4);
    await until("the first to run", () => uploads.figures.running === 1 || undefined);
    const second = await signed(4);
    const send = () => fetch(second.url, { method: "PUT", body: "more", headers: { "content-type": type } });
    const busy = await send();
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([503, "5"]);
    line.send("four");
    await line.waitFor(/HTTP\/1\.1 201 /);
    expect((await send()).status).toBe(201);
    expect([await outcome("busy"), await outcome("stored")]).toEqual([1, 2]);
  });

  test("of one tenant that are slow leave a place for another tenant", async () => {
    const uploads = createShares({ ...few, atOnce: 4 });
    await open({ uploads });
    const slow = [];
    for (let n = 0; n < 8; n++) {
      const line = await dial(store.port);
      line.send(head((await signed(1_000)).path, "Content-Length: 1000"));
      line.send("slowly");
      slow.push(line);
    }
    await until(
      "all of them to run or wait",
      () => uploads.figures.running + uploads.figures.waiting === 8 || undefined,
    );
    const { url, key } = await signed(5);
    const id = key.slice("incoming/".length) as FileId;
    const row = store.rows.get(id);
    if (row) store.rows.set(id, { ...row, tenantId: newId("tenant", store.clock) });
    expect((await fetch(url, { method: "PUT", body: "quick", headers: { "content-type": type } })).status).toBe(201);
    expect(uploads.figures).toMatchObject({ running: 2, waiting: 6 });
    for (const line of slow) line.hangUp();
    await until("nobody to be left", () => uploads.figures.running + uploads.figures.waiting === 0 || undefined);
  });

  test("to an address whose file has arrived is refused, and says so", async () => {
    await open();
    const { url, key } = await signed(5);
    const send = (body: string) => fetch(url, { method: "PUT", body, headers: { "content-type": type } });
    expect((await send("first")).status).toBe(201);
    const again = await send("other");
    expect([again.status, await again.json()]).toMatchObject([409, { code: "upload_taken" }]);
    expect(Buffer.from(await store.storage.read(key, 0, 5)).toString()).toBe("first");
  });

  test("of many at once to one address is taken once: the others are refused before they are on the disk", async () => {
    await open();
    const { path, url, key } = await signed(5);
    const send = () => fetch(url, { method: "PUT", body: "other", headers: { "content-type": type } });
    const first = await begin(path, 5);
    await until("a draft", () => drafts().length === 1 || undefined);
    for (const reply of await Promise.all([send(), send(), send()])) {
      expect([reply.status, await reply.json()]).toMatchObject([409, { code: "upload_taken" }]);
      expect(reply.headers.get("retry-after")).toBe("5");
    }
    expect(drafts()).toHaveLength(1);
    expect(await counted('quicklink_upload_bytes_total{fate="thrown_away"}')).toBe(0);
    first.send("first");
    await first.waitFor(/HTTP\/1\.1 201 /);
    first.hangUp();
    expect(Buffer.from(await store.storage.read(key, 0, 5)).toString()).toBe("first");
  });

  test("that broke off does not block its address, and neither does a draft that a crash left", async () => {
    await open();
    const { path, url } = await signed(5);
    const broken = await begin(path, 5);
    await until("a draft", () => drafts().length === 1 || undefined);
    broken.hangUp();
    await noDrafts();
    writeFileSync(join(store.root, ".temp", "left"), "fir");
    expect((await fetch(url, { method: "PUT", body: "first", headers: { "content-type": type } })).status).toBe(201);
  });

  test("of two at once to one address on two servers is stored once, and the other is refused", async () => {
    await open();
    const { path, url, key } = await signed(5);
    const other = await openDiskStore({}, store.root);
    for (const [id, row] of store.rows) other.rows.set(id, row);
    const one = await begin(path, 5);
    await until("a draft", () => drafts().length === 1 || undefined);
    const elsewhere = url.replace(`:${store.port}/`, `:${other.port}/`);
    const send = () => fetch(elsewhere, { method: "PUT", body: "other", headers: { "content-type": type } });
    expect((await send()).status).toBe(201);
    one.send("first");
    await one.waitFor(/HTTP\/1\.1 409 .*upload_taken/s);
    expect(Buffer.from(await store.storage.read(key, 0, 5)).toString()).toBe("other");
    await noDrafts();
    await other.stop();
  });
});

describe("an upload whose file", () => {
  const send = (url: string, body: string) => fetch(url, { method: "PUT", body, headers: { "content-type": type } });
  const only = () => [...store.rows.keys()].slice(-1);
  const left = () =>
    readdirSync(store.root, { recursive: true }).filter((name) => !/^(?:\.temp|incoming)$/.test(`${name}`));

  test("was deleted is refused, and leaves nothing on the disk", async () => {
    await open();
    const { url } = await signed(5);
    store.rows.clear();
    const reply = await send(url, "first");
    expect([reply.status, await reply.json()]).toMatchObject([404, { code: "not_found" }]);
    expect(existsSync(store.root) ? left() : []).toEqual([]);
    expect(await outcome("refused")).toBe(1);
  });

  test("is complete already is refused, and leaves nothing on the disk", async () => {
    await open();
    const { url, key } = await signed(5);
    expect((await send(url, "first")).status).toBe(201);
    for (const id of only()) store.rows.set(id, { ...(store.rows.get(id) as TenantFile), state: "stored" });
    await store.storage.move(key, "stored/a");
    const again = await send(url, "other");
    expect([again.status, await again.json()]).toMatchObject([409, { code: "upload_taken" }]);
    expect(left()).toEqual(["stored", "stored/a"]);
  });

  test("was announced with another size or type is refused", async () => {
    await open();
    for (const other of [{ sizeBytes: 6 }, { type: "image/gif" }, { uploadUntil: 0 }]) {
      const { url } = await signed(5);
      for (const id of only()) store.rows.set(id, { ...(store.rows.get(id) as TenantFile), ...other });
      expect((await send(url, "first")).status).toBe(404);
    }
    expect(existsSync(store.root) ? left() : []).toEqual([]);
  });

  test("is deleted while it arrives is ended, and leaves nothing on the disk", async () => {
    await open({ lookMs: 20 });
    const { path } = await signed(1_000_000);
    const line = await begin(path, 1_000_000);
    line.send("x".repeat(500_000));
    await until("a draft", () => drafts().length === 1 || undefined);
    store.rows.clear();
    await line.waitFor(/HTTP\/1\.1 404 .*not_found/s);
    await line.closed;
    await noDrafts();
    expect(left()).toEqual([]);
  });

  test("is deleted just before it gets its name leaves nothing on the disk", async () => {
    let looks = 0;
    await open({ fileOf: async (id) => (++looks === 1 ? store.rows.get(id) : undefined) });
    const { url } = await signed(5);
    expect((await send(url, "first")).status).toBe(404);
    expect(looks).toBe(2);
    await noDrafts();
    expect(left()).toEqual([]);
  });

  test("is completed before its sender is answered has arrived", async () => {
    let looks = 0;
    const fileOf = async (id: FileId): Promise<TenantFile | undefined> => {
      const row = store.rows.get(id);
      if (++looks === 1 || row === undefined) return row;
      await store.storage.move(`incoming/${id}`, "stored/a");
      return { ...row, state: "stored" };
    };
    await open({ fileOf });
    const { url } = await signed(5);
    expect((await send(url, "first")).status).toBe(201);
    expect(left()).toEqual(["stored", "stored/a"]);
  });

  test("cannot be looked up is put off, and leaves nothing on the disk", async () => {
    let looks = 0;
    await open({
      fileOf: async (id) => {
        if (++looks === 2) throw new Error("the database is away");
        return store.rows.get(id);
      },
    });
    const { url } = await signed(5);
    const reply = await send(url, "first");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(left()).toEqual([]);
    expect((await send(url, "first")).status).toBe(201);
  });
});

test("drafts of processes that were killed are removed once they are old, and no others", async () => {
  await open();
  const { path } = await signed(10);
  const line = await begin(path, 10);
  await until("a draft", () => drafts().length === 1 || undefined);
  const old = join(store.root, ".temp", "left-behind");
  writeFileSync(old, "half");
  utimesSync(old, 1_000, 1_000);
  expect(await store.folder.clearDrafts(2_000_000)).toBe(1);
  expect(drafts().length).toBe(1);
  line.send("0123456789");
  await line.waitFor(/HTTP\/1\.1 201 /);
  line.hangUp();
});

describe("a download", () => {
  const bytes = randomBytes(50_000);
  const etag = `"${createHash("sha256").update(bytes).digest("hex")}"`;

  async function downloadable(name = "picture.png"): Promise<string> {
    await open();
    const { url, key } = await signed(bytes.length);
    await fetch(url, { method: "PUT", body: bytes, headers: { "content-type": type } });
    const until = store.clock.now() + 60_000;
    return store.storage.signDownload({ key, name, type, sha256: etag.slice(1, -1), until });
  }

  test("cannot run, be shown elsewhere, be guessed at or be kept by others", async () => {
    const { status, headers } = await fetch(await downloadable());
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "accept-ranges": "bytes",
      "cache-control": "private, no-cache",
      "content-disposition": 'attachment; filename="picture.png"',
      "content-length": String(bytes.length),
      "content-security-policy": "sandbox; default-src 'none'",
      "content-type": type,
      "cross-origin-resource-policy": "same-origin",
      etag,
      "last-modified": expect.stringMatching(/ GMT$/),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("by HEAD is the same without its bytes", async () => {
    const url = await downloadable();
    const [full, bare] = [await fetch(url), await fetch(url, { method: "HEAD" })];
    const shown = ({ status, headers }: Response) => {
      const { date, connection, ...rest } = Object.fromEntries(headers);
      return { status, ...rest };
    };
    expect(shown(bare)).toEqual(shown(full));
    expect((await bare.arrayBuffer()).byteLength).toBe(0);
    const part = await fetch(url, { method: "HEAD", headers: { range: "bytes=10-19" } });
    expect([part.status, part.headers.get("content-length")]).toEqual([206, "10"]);
  });

  test("of what the client has already is only said to be that", async () => {
    const reply = await fetch(await downloadable(), { headers: { "if-none-match": etag } });
    expect([reply.status, reply.headers.get("etag"), await reply.text()]).toEqual([304, etag, ""]);
    expect(await counted('quicklink_downloads_total{outcome="unchanged"}')).toBe(1);
  });

  test.each([
    ["bytes=0-", 206, 0, 50_000],
    ["bytes=0-9", 206, 0, 10],
    ["bytes=49990-99999", 206, 49_990, 50_000],
    ["bytes=-10", 206, 49_990, 50_000],
    ["bytes=0-1,5-6", 200, 0, 50_000],
    ["nonsense", 200, 0, 50_000],
  ])("of %s is %d with just those bytes", async (range, status, start, end) => {
    const reply = await fetch(await downloadable(), { headers: { range } });
    expect(reply.status).toBe(status);
    expect(Buffer.from(await reply.arrayBuffer()).equals(bytes.subarray(start, end))).toBe(true);
    expect(reply.headers.get("content-range")).toBe(status === 206 ? `bytes ${start}-${end - 1}/50000` : null);
    if (status === 206) expect(reply.headers.get("content-length")).toBe(String(end - start));
  });

  test("of a part beyond the end says how long the file is", async () => {
    const reply = await fetch(await downloadable(), { headers: { range: "bytes=50000-" } });
    expect([reply.status, reply.headers.get("content-range")]).toEqual([416, "bytes */50000"]);
  });

  test("of a part of something that the client has another version of is the whole", async () => {
    const url = await downloadable();
    const ask = (condition: string) => fetch(url, { headers: { range: "bytes=10-19", "if-range": condition } });
    expect((await ask(etag)).status).toBe(206);
    const other = await ask('"other"');
    expect([other.status, other.headers.get("content-range")]).toEqual([200, null]);
    expect(Buffer.from(await other.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test("that is over or gone is a page for people and a problem for programs", async () => {
    const url = await downloadable();
    const ask = async (accept: string) => {
      const reply = await fetch(url, { headers: { accept } });
      return [reply.status, reply.headers.get("content-type"), await reply.text()];
    };
    await store.storage.remove((await store.storage.list("incoming/", undefined, 1))[0]?.key ?? "none");
    expect(await ask("text/html")).toMatchObject([
      404,
      "text/html; charset=utf-8",
      expect.stringContaining("no longer exists"),
    ]);
    store.clock.advance(61_000);
    expect(await ask("application/json")).toMatchObject([
      403,
      "application/problem+json",
      expect.stringContaining("address_expired"),
    ]);
  });
});

test.each([
  ["GET", "/files/upload/x", 405, "PUT"],
  ["POST", "/files/download/x", 405, "GET, HEAD"],
  ["PUT", "/files/upload/", 403, null],
  ["GET", "/files/download/e30.e30", 403, null],
  ["GET", "/files/download/..%2f..%2fetc%2fpasswd", 403, null],
  ["GET", "/files/", 404, null],
  ["PUT", "/files/elsewhere", 404, null],
])("%s %s is %d", async (method, path, status, allow) => {
  await open();
  const line = await dial(store.port);
  line.send(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  const [answer] = await line.waitFor(/^HTTP\/1\.1 .*?\r\n\r\n/s);
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  if (allow !== null) expect(answer.toLowerCase()).toContain(`allow: ${allow.toLowerCase()}\r\n`);
  line.hangUp();
});
