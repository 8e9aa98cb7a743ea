/** What the S3 adapter does beyond what all storage does: what it signs, and how it fares with a store that fails. */
import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openCore } from "../../src/core.ts";
import { createS3 } from "../../src/files/storage/s3.ts";
import { StorageUnavailable } from "../../src/files/storage/storage.ts";
import { freePort } from "../ground/ports.ts";
import { until } from "../ground/process.ts";
import { startProxy, type TcpProxy } from "../ground/proxy.ts";
import type { S3Options, S3Server } from "../ground/s3.ts";
import { tempFolder } from "../ground/temp.ts";
import { openS3Store, type Store } from "./stores.ts";

const bytes = Buffer.from("0123456789");
const sha256 = createHash("sha256").update(bytes).digest("hex");
const [key, type] = ["incoming/fil_1", "image/png"];

let store: Store & { readonly server: S3Server };
let proxy: TcpProxy | undefined;
afterEach(async () => {
  proxy?.stop();
  proxy = undefined;
  await store.stop();
});

async function open(options: S3Options = {}): Promise<Store["storage"]> {
  store = await openS3Store(options);
  return store.storage;
}

const upload = (checksum: string | null) =>
  store.storage.signUpload({ key, sizeBytes: 10, type, sha256: checksum, until: store.clock.now() + 900_000 });

function plant(name: string, checksum?: string): void {
  store.server.objects.set(name, { bytes, type, modifiedAt: store.clock.now(), checksum });
}

test("S3_URL leads to the bucket, with its key and region", async () => {
  await open();
  const config = loadConfig({ QL_DATA: tempFolder("data"), S3_URL: store.server.url }, tempFolder());
  const core = await openCore(config, { log: createLog("silent", { write() {} }, false, () => 0) });
  const until = core.clock.now() + 60_000;
  const { url, headers } = await core.storage.signUpload({ key, sizeBytes: 10, type, sha256, until });
  expect((await fetch(url, { method: "PUT", body: bytes, headers })).status).toBe(200);
  expect(await core.storage.list("incoming/", undefined, 5)).toMatchObject([{ key, sizeBytes: 10 }]);
  await core.close();
});

describe("an address to write", () => {
  test("is signed with length, type and checksum, for as long as it is good", async () => {
    await open();
    const { url, headers } = await upload(sha256);
    const { searchParams } = new URL(url);
    expect(searchParams.get("X-Amz-SignedHeaders")).toBe("content-length;content-type;host;x-amz-checksum-sha256");
    expect(searchParams.get("X-Amz-Expires")).toBe("900");
    expect(headers).toEqual({
      "content-type": type,
      "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
    });
    const plain = new URL((await upload(null)).url);
    expect(plain.searchParams.get("X-Amz-SignedHeaders")).toBe("content-length;content-type;host");
  });

  test("takes no body without a length, no other checksum, and nothing more to say", async () => {
    await open();
    const { url, headers } = await upload(sha256);
    const put = async (more: Record<string, string>, body: Buffer | ReadableStream = bytes) =>
      (await fetch(url, { method: "PUT", body, headers: { ...headers, ...more } })).status;
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    });
    expect(await put({}, stream)).toBe(403);
    expect(await put({ "x-amz-checksum-sha256": "AAAA" })).toBe(403);
    expect(await put({ "x-amz-acl": "public-read" })).toBe(403);
    expect(store.server.objects.size).toBe(0);
    expect(await put({})).toBe(200);
  });

  test("of a store of another key is refused", async () => {
    await open();
    const bucket = { endpoint: store.server.endpoint, ...store.server.account, secret: "another" };
    const other = createS3({ bucket, clock: store.clock });
    const signed = await other.signUpload({ key, sizeBytes: 10, type, sha256: null, until: store.clock.now() + 9_000 });
    expect((await fetch(signed.url, { method: "PUT", body: bytes, headers: signed.headers })).status).toBe(403);
  });
});

test("an address to read whose query was changed is refused, so that nothing is shown inline", async () => {
  const storage = await open();
  plant("files/a");
  const until = store.clock.now() + 60_000;
  const url = await storage.signDownload({ key: "files/a", name: "a b+c.svg", type: "image/svg+xml", sha256, until });
  expect((await fetch(url)).headers.get("content-disposition")).toBe('attachment; filename="a b+c.svg"');
  for (const changed of [
    url.replace("attachment", "inline"),
    url.replace("octet-stream", "xml"),
    `${url}&versionId=1`,
  ]) {
    expect((await fetch(changed)).status).toBe(403);
  }
  expect(url).not.toContain("+");
});

describe("a checksum", () => {
  test("that the store knows is asked for, without reading the object", async () => {
    const storage = await open();
    plant("files/a", Buffer.from(sha256, "hex").toString("base64"));
    expect(await storage.sha256("files/a")).toBe(sha256);
    expect(store.server.log).toEqual(["HEAD files/a 200"]);
  });

  test.each([
    ["the store does not know", undefined],
    ["is made of parts' checksums", `${Buffer.from(sha256, "hex").toString("base64")}-2`],
  ])("that %s is computed from the bytes", async (_, checksum) => {
    const storage = await open();
    plant("files/a", checksum);
    expect(await storage.sha256("files/a")).toBe(sha256);
    expect(store.server.log).toEqual(["HEAD files/a 200", "GET files/a 200"]);
  });
});

test("a part can be read where the store sends the whole", async () => {
  const storage = await open({ knowsRanges: false });
  plant("files/a");
  expect(Buffer.from(await storage.read("files/a", 3, 4)).toString()).toBe("3456");
});

test("a list longer than the store's own page is whole, and what is not ours is not in it", async () => {
  const storage = await open();
  for (let n = 0; n < 1_500; n++) plant(`files/f${String(n).padStart(5, "0")}`);
  plant("files/Holiday & more.jpg");
  plant("files/f00000x.jpg");
  const listed = await storage.list("files/", undefined, 2_000);
  expect(listed.map(({ key }) => key)).toEqual(
    Array.from({ length: 1_500 }, (_, n) => `files/f${String(n).padStart(5, "0")}`),
  );
});

describe("a store that fails", () => {
  test("twice is asked a third time", async () => {
    const storage = await open();
    plant("files/a");
    store.server.failNext(2, 503);
    expect(await storage.stat("files/a")).toMatchObject({ sizeBytes: 10 });
    expect(store.server.log).toEqual(["HEAD files/a 503", "HEAD files/a 503", "HEAD files/a 200"]);
  });

  test("three times is reported as unavailable", async () => {
    const storage = await open();
    store.server.failNext(3, 500);
    await expect(storage.stat("files/a")).rejects.toThrow(StorageUnavailable);
  });

  test("all the time is soon asked only once for each call, and three times again when it has been well", async () => {
    const storage = await open();
    const asked = async () => {
      const before = store.server.log.length;
      await storage.stat("files/a").catch(() => {});
      return store.server.log.length - before;
    };
    store.server.failNext(1_000, 503);
    const first = [];
    for (let n = 0; n < 15; n++) first.push(await asked());
    expect([first[0], first.at(-1), first.reduce((sum, n) => sum + n)]).toEqual([3, 1, 35]);
    store.server.failNext(0, 503);
    for (let n = 0; n < 25; n++) await asked();
    store.server.failNext(1_000, 503);
    expect(await asked()).toBe(3);
  });

  test("in the middle of a copy has copied nothing, and the original is still there", async () => {
    const storage = await open();
    plant(key);
    store.server.failNextCopy();
    await expect(storage.move(key, "files/a")).rejects.toThrow(StorageUnavailable);
    expect([...store.server.objects.keys()]).toEqual([key]);
    await storage.move(key, "files/a");
    expect([...store.server.objects.keys()]).toEqual(["files/a"]);
  });

  test("to answer is given up after the deadline, and used again when it does", async () => {
    await open();
    proxy = await startProxy(store.server.port);
    const bucket = { endpoint: proxy.url(store.server.endpoint), ...store.server.account };
    const storage = createS3({ bucket, clock: store.clock, deadlineMs: 200, pauseMs: 1 });
    // A busy machine may take longer than the deadline.
    const answers = () =>
      until("an answer", () =>
        storage.ping().then(
          () => true,
          () => undefined,
        ),
      );
    await answers();
    proxy.drop("back");
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable);
    proxy.pass();
    await answers();
  });

  test("because it is missing is unavailable", async () => {
    await open();
    const bucket = { endpoint: `http://127.0.0.1:${freePort()}/quicklink`, ...store.server.account };
    await expect(createS3({ bucket, clock: store.clock, pauseMs: 1 }).ping()).rejects.toThrow(StorageUnavailable);
  });

  test.each([
    ["of another key", { keyId: "OTHER" }, "the key is invalid"],
    ["of another secret", { secret: "other secret" }, "the key is invalid"],
    ["of another region", { region: "us-east-1" }, "the key is invalid"],
  ])("because it is %s says so, and nothing secret", async (_, wrong, reason) => {
    await open();
    const bucket = { endpoint: store.server.endpoint, ...store.server.account, ...wrong };
    const error = await createS3({ bucket, clock: store.clock })
      .ping()
      .catch((caught: Error) => caught);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });
});
