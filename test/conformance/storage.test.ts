import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { newId } from "../../src/base/ids.ts";
import { NoObject, type SignedRequest, type Upload } from "../../src/files/storage/storage.ts";
import { type Store, stores } from "./stores.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const type = "image/png";

describe.each(Object.entries(stores))("storage on %s", (_, open) => {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.stop());

  const newKey = (place = "incoming") => `${place}/${newId("file", store.clock)}`;

  function upload(key: string, bytes: Uint8Array, more: Partial<Upload> = {}): Promise<SignedRequest> {
    const until = store.clock.now() + 60_000;
    return store.storage.signUpload({ key, sizeBytes: bytes.length, type, sha256: null, until, ...more });
  }

  const send = ({ method, url, headers }: SignedRequest, body: Uint8Array, more: Record<string, string> = {}) =>
    fetch(url, { method, body: body as Uint8Array<ArrayBuffer>, headers: { ...headers, ...more } });

  async function put(key: string, bytes: Uint8Array, more: Partial<Upload> = {}): Promise<number> {
    return (await send(await upload(key, bytes, more), bytes)).status;
  }

  async function stored(bytes: Uint8Array, key = newKey()): Promise<string> {
    const sent = newKey();
    expect(await put(sent, bytes)).toBeOneOf([200, 201]);
    await store.storage.move(sent, key);
    return key;
  }

  async function contentOf(key: string): Promise<Uint8Array | undefined> {
    const found = await store.storage.stat(key);
    return found && (await store.storage.read(key, 0, found.sizeBytes));
  }

  test("what was sent to a signed address is there, byte by byte", async () => {
    const bytes = randomBytes(700_000);
    const key = newKey();
    expect(await store.storage.stat(key)).toBeUndefined();
    expect(await put(key, bytes, { sha256: sha256(bytes) })).toBeOneOf([200, 201]);
    expect(await store.storage.stat(key)).toMatchObject({ key, sizeBytes: bytes.length });
    expect(await store.storage.sha256(key)).toBe(sha256(bytes));
    expect(sha256((await contentOf(key)) ?? new Uint8Array())).toBe(sha256(bytes));
  });

  test("a part is read from where it was asked for, and is shorter at the end", async () => {
    const key = await stored(Buffer.from("0123456789"));
    const part = async (start: number, length: number) =>
      Buffer.from(await store.storage.read(key, start, length)).toString();
    expect([await part(0, 3), await part(7, 2), await part(7, 100), await part(10, 5)]).toEqual([
      "012",
      "78",
      "789",
      "",
    ]);
  });

  test("an empty file can be kept", async () => {
    const key = await stored(new Uint8Array());
    expect(await store.storage.stat(key)).toMatchObject({ sizeBytes: 0 });
    expect(await contentOf(key)).toEqual(Buffer.alloc(0));
    expect(await store.storage.sha256(key)).toBe(sha256(new Uint8Array()));
  });

  test.each([
    ["more bytes than announced", 11],
    ["fewer bytes than announced", 9],
    ["no bytes at all", 0],
  ])("%s are refused, and nothing is kept", async (_, sent) => {
    const key = newKey();
    const reply = await send(await upload(key, new Uint8Array(10)), new Uint8Array(sent));
    expect(reply.status).toBeWithin(400, 500);
    expect(await store.storage.stat(key)).toBeUndefined();
  });

  test("another type than announced is refused, and nothing is kept", async () => {
    const key = newKey();
    const bytes = Buffer.from("<script>");
    const reply = await send(await upload(key, bytes), bytes, { "content-type": "text/html" });
    expect(reply.status).toBeWithin(400, 500);
    expect(await store.storage.stat(key)).toBeUndefined();
  });

  test("other bytes than those of the announced checksum are refused, and nothing is kept", async () => {
    const key = newKey();
    const signed = await upload(key, Buffer.from("right"), { sha256: sha256(Buffer.from("right")) });
    expect((await send(signed, Buffer.from("wrong"))).status).toBeWithin(400, 500);
    expect(await store.storage.stat(key)).toBeUndefined();
  });

  test("an expired URL is refused", async () => {
    const key = newKey();
    const signed = await upload(key, Buffer.from("late"), { until: store.clock.now() + 5_000 });
    store.clock.advance(6_000);
    const reply = await send(signed, Buffer.from("late"));
    store.clock.advance(-6_000);
    expect(reply.status).toBe(403);
    expect(await store.storage.stat(key)).toBeUndefined();
  });

  test("a URL that was changed anywhere is refused", async () => {
    const key = newKey();
    const bytes = Buffer.from("tampered");
    const signed = await upload(key, bytes);
    const places = [...signed.url].flatMap((character, place) =>
      place > signed.url.indexOf("/", 8) && /[A-Za-z0-9]/.test(character) ? [place] : [],
    );
    for (let n = 0; n < 40; n++) {
      const place = places[Math.floor((n * places.length) / 40)] ?? 0;
      const other = signed.url[place] === "7" ? "8" : "7";
      const url = signed.url.slice(0, place) + other + signed.url.slice(place + 1);
      expect((await send({ ...signed, url }, bytes)).status).toBeWithin(400, 500);
    }
    expect(await store.storage.list(key, undefined, 10)).toEqual([]);
  });

  test("an upload URL cannot be used to download", async () => {
    const bytes = Buffer.from("private");
    const signed = await upload(newKey(), bytes);
    await send(signed, bytes);
    const reply = await fetch(signed.url, { headers: signed.headers });
    expect(reply.status).toBeWithin(400, 500);
    expect(await reply.text()).not.toContain("private");
  });

  test("what is sent to an address again after its object was moved changes nothing that is stored", async () => {
    const [from, to] = [newKey(), newKey("files")];
    const signed = await upload(from, Buffer.from("first"));
    await send(signed, Buffer.from("first"));
    await store.storage.move(from, to);
    await send(signed, Buffer.from("other"));
    await store.storage.move(from, to);
    expect(await contentOf(to)).toEqual(Buffer.from("first"));
    expect(await store.storage.stat(from)).toBeUndefined();
  });

  test("of two uploads to one URL at once, one is stored, complete", async () => {
    const key = newKey();
    const bodies = [randomBytes(300_000), randomBytes(300_000)];
    const signed = await upload(key, new Uint8Array(300_000));
    const statuses = (await Promise.all(bodies.map((body) => send(signed, body)))).map(({ status }) => status);
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(0);
    const left = sha256((await contentOf(key)) ?? new Uint8Array());
    expect(bodies.map(sha256)).toContain(left);
  });

  test("moving twice and removing twice is no error; moving what never existed is one", async () => {
    const bytes = randomBytes(1_000);
    const [from, to] = [await stored(bytes), newKey("files")];
    await store.storage.move(from, to);
    await store.storage.move(from, to);
    expect(await store.storage.stat(from)).toBeUndefined();
    expect(sha256((await contentOf(to)) ?? new Uint8Array())).toBe(sha256(bytes));
    await store.storage.remove(to);
    await store.storage.remove(to);
    expect(await store.storage.stat(to)).toBeUndefined();
    await expect(store.storage.move(from, to)).rejects.toBeInstanceOf(NoObject);
  });

  test("a missing object cannot be read", async () => {
    await expect(store.storage.read(newKey(), 0, 10)).rejects.toBeInstanceOf(NoObject);
    await expect(store.storage.sha256(newKey())).rejects.toBeInstanceOf(NoObject);
  });

  test("pages list every key below a prefix once, in order, with its size", async () => {
    const base = `listed/${newId("tenant", store.clock)}`;
    const names = ["a", "a/b", "a0", "b/c", "b_", "c", "z/z"].filter((name) => name !== "a");
    for (const name of names) await stored(Buffer.from(name), `${base}/${name}`);
    await stored(Buffer.from("beside"), `${base}0/beside`);
    const pages: string[][] = [];
    let after: string | undefined;
    for (;;) {
      const page = await store.storage.list(`${base}/`, after, 2);
      if (page.length === 0) break;
      for (const { key, sizeBytes } of page) expect(sizeBytes).toBe(key.length - base.length - 1);
      pages.push(page.map(({ key }) => key.slice(base.length + 1)));
      after = page.at(-1)?.key;
    }
    expect(pages).toEqual([
      ["a/b", "a0"],
      ["b/c", "b_"],
      ["c", "z/z"],
    ]);
    expect((await store.storage.list(base, undefined, 100)).length).toBe(7);
    expect(await store.storage.list("nowhere/", undefined, 10)).toEqual([]);
  });

  test.each([
    "../secrets/QL_CODE_SALT",
    "files/../../x",
    "/etc/passwd",
    "a//b",
    "a/",
    ".temp/x",
    "a/.",
    "a\\b",
    "a\0b",
    "A",
    "",
    "a%2fb",
    "x".repeat(65),
  ])("%j is no key, for whatever it is used", async (key) => {
    const { storage } = store;
    const until = store.clock.now() + 60_000;
    const good = newKey();
    for (const use of [
      () => storage.signUpload({ key, sizeBytes: 1, type, sha256: null, until }),
      () => storage.signDownload({ key, name: "x", type, sha256: null, until }),
      () => storage.stat(key),
      () => storage.read(key, 0, 1),
      () => storage.sha256(key),
      () => storage.move(key, good),
      () => storage.move(good, key),
      () => storage.remove(key),
    ]) {
      await expect((async () => use())()).rejects.toThrow("not the key of a stored object");
    }
  });

  test("a download is saved under its name, whatever it is, in whole or in part", async () => {
    const page = Buffer.from("<script>alert(1)</script>");
    const key = await stored(page);
    const url = await store.storage.signDownload({
      key,
      name: 'Bericht "März" 🎉.html',
      type: "text/html",
      sha256: sha256(page),
      until: store.clock.now() + 60_000,
    });
    const whole = await fetch(url);
    expect([whole.status, await whole.text()]).toEqual([200, page.toString()]);
    expect(whole.headers.get("content-disposition")).toBe(
      "attachment; filename=\"Bericht _M_rz_ __.html\"; filename*=UTF-8''Bericht%20%22M%C3%A4rz%22%20%F0%9F%8E%89.html",
    );
    expect(whole.headers.get("content-type")).toBe("application/octet-stream");
    const part = await fetch(url, { headers: { range: "bytes=1-6" } });
    expect([part.status, await part.text(), part.headers.get("content-range")]).toEqual([
      206,
      "script",
      `bytes 1-6/${page.length}`,
    ]);
  });

  test("a download URL expires when it says so, and is good for nothing else", async () => {
    const key = await stored(Buffer.from("for a while"));
    const sign = (until: number) => store.storage.signDownload({ key, name: "a", type, sha256: null, until });
    const url = await sign(store.clock.now() + 5_000);
    expect((await fetch(url, { method: "PUT", body: "x", headers: { "content-type": type } })).status).toBeWithin(
      400,
      500,
    );
    store.clock.advance(6_000);
    const late = await fetch(url);
    store.clock.advance(-6_000);
    expect(late.status).toBe(403);
    expect(await contentOf(key)).toEqual(Buffer.from("for a while"));
  });

  test("it can be used", () => store.storage.ping());
});
