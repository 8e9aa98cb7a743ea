/** What is signed outlives a change of the code salt, and one of the signing keys. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseSigningKeys } from "../../src/base/signing-keys.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { type Environment, until } from "../ground/process.ts";
import { cli, startServer } from "../ground/server.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import { databases, type FileBody, must, newDatabase, type Site, siteOf, type UploadBody } from "./servers.ts";

const key = (id: string, digit: string) => `${id}:${digit.repeat(64)}`;
const password = "a password of a link";
const form = { "content-type": "application/x-www-form-urlencoded" };

let smtp: SmtpServer;
beforeAll(async () => {
  smtp = await startSmtp();
});
afterAll(() => smtp.stop());

/** One of everything that is signed, or hashed under a key, as a visitor or a caller has it in hand. */
interface Signed {
  readonly cursor: string;
  readonly pass: { readonly path: string; readonly cookie: string };
  readonly upload: UploadBody;
  readonly download: string;
  readonly unsubscribe: string;
  readonly once: { readonly key: string; readonly id: string };
  readonly split: { readonly path: string; readonly places: readonly (string | null)[] };
}

let mails = 0;

async function unsubscribeUrl(site: Site): Promise<string> {
  const to = `reader${mails++}@example.com`;
  const { id } = await site.create({ url: "https://example.com/shared" });
  expect((await site.call("POST", `/api/links/${id}/share`, { body: { to } })).status).toBe(202);
  const { raw } = await until(`an email to ${to}`, () => smtp.taken.find((mail) => mail.to === to));
  const unfolded = raw.replaceAll(/\r?\n\s+/g, " ");
  const [, path = ""] = /List-Unsubscribe: <http:\/\/[^/]+(\/[^>]+)>/.exec(unfolded) ?? [];
  return path.replaceAll(" ", "");
}

const places = async (site: Site, path: string) => {
  const found: (string | null)[] = [];
  for (let i = 0; i < 16; i++) {
    found.push((await site.reach(path, { "user-agent": `Mozilla/5.0 Firefox/${i}` })).headers.get("location"));
  }
  return found;
};

async function signAll(site: Site): Promise<Signed> {
  for (let i = 0; i < 3; i++) await site.create({ url: `https://example.com/${i}` });
  const { nextCursor: cursor } = (await site.call("GET", "/api/links?limit=1")).json<{ nextCursor: string }>();

  const secret = `/${(await site.create({ url: "https://example.com/secret", password })).code}`;
  const text = new URLSearchParams({ password }).toString();
  // PostgreSQL has 100 ms to answer, which a busy machine may let pass.
  const opened = await until("an answer to the password", async () => {
    const reply = await site.call("POST", secret, { key: null, text, headers: form });
    return reply.status === 503 ? undefined : reply;
  });
  expect(opened.status).toBe(303);
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";

  const announced = { name: "a.txt", type: "text/plain", size: 5 };
  const upload = (await site.call("POST", "/api/files", { body: announced })).json<UploadBody>();
  const file = await site.store("hello");
  const download = (await site.reach(`/${(await site.create({ file: file.id })).code}`)).headers.get("location") ?? "";

  const once = { key: crypto.randomUUID(), body: { url: "https://example.com/once" } };
  const made = await site.call("POST", "/api/links", { body: once.body, headers: { "idempotency-key": once.key } });

  const split = ["a", "b"].map((name) => ({ url: `https://example.com/${name}`, weight: 1 }));
  const path = `/${(await site.create({ url: "https://example.com/", split })).code}`;
  return {
    cursor,
    pass: { path: secret, cookie },
    upload,
    download: new URL(download).pathname + new URL(download).search,
    unsubscribe: await unsubscribeUrl(site),
    once: { key: once.key, id: made.json<{ id: string }>().id },
    split: { path, places: await places(site, path) },
  };
}

/** Which of it is still good. */
async function good(site: Site, signed: Signed) {
  const { cursor, pass, upload, download, unsubscribe, once, split } = signed;
  const headers = { "idempotency-key": once.key };
  const again = await site.call("POST", "/api/links", { body: { url: "https://example.com/once" }, headers });
  const sent = (await site.send(upload.upload, "hello")).status;
  return {
    cursor: (await site.call("GET", `/api/links?limit=1&cursor=${cursor}`)).status === 200,
    pass: (await site.reach(pass.path, { cookie: pass.cookie })).status === 302,
    // Once sent, the same again is refused for another reason than its signature.
    upload: sent === 201 || sent === 409,
    download: (await site.visit(download)).text === "hello",
    unsubscribe: (await site.visit(unsubscribe)).status === 200,
    once: again.status === 201 && again.json<FileBody>().id === once.id,
    split: (await places(site, split.path)).join() === split.places.join(),
  };
}

const all = { cursor: true, pass: true, upload: true, download: true, unsubscribe: true, once: true, split: true };

/** Each start is another server on the same data. */
function starter(env: Environment) {
  const settings = { SMTP_URL: smtp.url, QL_GUESSES_PER_MINUTE: "none" };
  let place: { port: number; key: string } | undefined;
  return async (more: Environment = {}): Promise<Site> => {
    const own = { ...env, ...more };
    const server = await startServer({ dataDir: String(env.QL_DATA), env: { ...settings, ...own }, ...place });
    const site = siteOf(server, own);
    if (place === undefined) must(await site.cli("tenant", "update", "default", "--plan", "unlimited"));
    place = { port: server.port, key: server.key };
    return site;
  };
}

// They mostly wait for starts and emails: side by side that takes half the time.
describe.each([...databases])("on %s", (database) => {
  test.concurrent("after the code salt was changed all signatures are valid, and no visitor's split moves", async () => {
    const env = await newDatabase(database);
    if (env.DATABASE_URL !== undefined) env.QL_SIGNING_KEYS = key("k1", "1");
    const start = starter(env);
    const before = await start();
    const signed = await signAll(before);
    expect(await good(before, signed)).toEqual(all);
    await before.server.stop();
    const salt: Environment = env.DATABASE_URL === undefined ? {} : { QL_CODE_SALT: "quite another salt than before" };
    expect(must(await cli(["codes", "rotate"], { env: { ...env, ...salt } }))).toContain("Epoch 2");
    const after = await start(salt);
    expect(await good(after, signed)).toEqual(all);
    expect((await after.create({ url: "https://example.com/new" })).code).toHaveLength(7);
    await after.server.stop();
  }, 60_000);
});

test.concurrent("an embedded server's keys are changed while it runs: before and after its next start everything is good", async () => {
  const env = await newDatabase("SQLite");
  const start = starter(env);
  const before = await start();
  const signed = await signAll(before);
  expect(must(await before.cli("secrets", "rotate", "--signing"))).toMatch(
    /^Key "k\w{8}" signs after the next server start\.\nExisting signatures stay valid for 400 days: "k\w{8}" until 20\d\d-\d\d-\d\d\.\n$/,
  );
  expect(await good(before, signed)).toEqual(all);
  await before.server.stop();

  const after = await start();
  expect(await good(after, signed)).toEqual(all);
  const anew = await signAll(after);
  expect(await good(after, anew)).toEqual(all);
  expect(must(await after.cli("secrets", "rotate", "--signing", "--forget"))).toContain("Restart the server now");
  await after.server.stop();

  const leaked = await start();
  const none = { cursor: false, pass: false, upload: false, download: false, unsubscribe: false, once: false };
  for (const former of [signed, anew]) expect(await good(leaked, former)).toEqual({ ...none, split: true });
  expect(await good(leaked, await signAll(leaked))).toEqual(all);
  await leaked.server.stop();
}, 60_000);

test.concurrent("an embedded server that signed with its salt until now makes keys, and what it signed stays good", async () => {
  const salt = "a salt that signed everything";
  const env = { ...(await newDatabase("SQLite")), QL_CODE_SALT: salt };
  const start = starter(env);
  // What a server without keys did: src/base/signature.test.ts has a signature of one.
  const before = await start({ QL_SIGNING_KEYS: `salt:${Buffer.from(salt).toString("hex")}` });
  const signed = await signAll(before);
  await before.server.stop();
  const after = await start();
  expect(await good(after, signed)).toEqual(all);
  await after.server.stop();
}, 60_000);

if (postgresAvailable()) {
  test.concurrent("on PostgreSQL without keys the salt signs and stays; with those that the command prints it may go", async () => {
    const env = await newDatabase("PostgreSQL");
    const start = starter(env);
    const before = await start();
    const signed = await signAll(before);
    const doctor = JSON.parse((await before.cli("doctor", "--json")).stdout) as { check: string; status: string }[];
    expect(doctor).toContainEqual(expect.objectContaining({ check: "signing keys", status: "warn" }));
    const other = { QL_CODE_SALT: "quite another salt than before" };
    const refused = await cli(["codes", "rotate"], { env: { ...env, ...other } });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("secrets rotate --signing")]);
    const lines = must(await before.cli("secrets", "rotate", "--signing")).match(/^QL_SIGNING_KEYS=.*$/gm) ?? [];
    const [staged = "", final = ""] = lines.map((line) => line.slice("QL_SIGNING_KEYS=".length));
    await before.server.stop();

    const verifying = await start({ QL_SIGNING_KEYS: staged });
    expect(await good(verifying, signed)).toEqual(all);
    const inBetween = await signAll(verifying);
    await verifying.server.stop();

    const signing = await start({ QL_SIGNING_KEYS: final });
    for (const one of [signed, inBetween]) expect(await good(signing, one)).toEqual(all);
    const anew = await signAll(signing);
    await signing.server.stop();

    // A server that has not been restarted yet.
    const late = await start({ QL_SIGNING_KEYS: staged });
    expect(await good(late, anew)).toEqual(all);
    await late.server.stop();
    must(await cli(["codes", "rotate"], { env: { ...env, ...other, QL_SIGNING_KEYS: final } }));
    const salted = await start({ ...other, QL_SIGNING_KEYS: final });
    for (const one of [signed, inBetween, anew]) expect(await good(salted, one)).toEqual(all);
    const found = (await salted.cli("doctor", "--json")).stdout;
    expect(JSON.parse(found)).toContainEqual(expect.objectContaining({ check: "signing keys", status: "ok" }));
    await salted.server.stop();
  }, 90_000);
}

test.concurrent("the keys that the command prints can be set: those that are over are not among them", async () => {
  const over = Array.from({ length: 31 }, (_, i) => `${key(`k${i}`, "a")}@2020-01-01`);
  const env = { ...(await newDatabase("SQLite")), QL_SIGNING_KEYS: [key("now", "b"), ...over].join(",") };
  const printed = must(await cli(["secrets", "rotate", "--signing"], { env }));
  const lines = [...printed.matchAll(/^QL_SIGNING_KEYS=(.+)$/gm)].map(([, keys = ""]) => parseSigningKeys(keys));
  expect(lines.map((keys) => keys.length)).toEqual([2, 2]);
});
