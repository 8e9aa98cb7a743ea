/** Passkeys in a real Chromium, whose virtual authenticator signs like a phone. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser as Chromium, Page } from "playwright-core";
import { systemClock } from "../../src/base/clock.ts";
import { passkeysMost } from "../../src/people/factors/passkey-rows.ts";
import { type Authenticator, addAuthenticator } from "../ground/authenticators.ts";
import { openChromium } from "../ground/chromium.ts";
import { type Browser, makePerson, openBrowser, originOf, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

type Answer = {
  id: string;
  rawId: string;
  type: string;
  clientExtensionResults: object;
  response: Record<string, string | null>;
};

const codeOf = (reply: Reply) => [reply.status, reply.json<ProblemBody>().code];

/** What the dashboard does with the options. */
const create = (page: Page, options: unknown): Promise<Answer> =>
  page.evaluate(`navigator.credentials
    .create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}) })
    .then((made) => made.toJSON())`);
const get = (page: Page, options: unknown): Promise<Answer> =>
  page.evaluate(`navigator.credentials
    .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) })
    .then((got) => got.toJSON())`);

let chromium: Chromium;
/** A page of another origin on the same host: for browsers, passkeys of "localhost" are passkeys of both. */
let elsewhere: ReturnType<typeof Bun.serve>;

/** Pages are used again: to open one takes longer than most cases. All that a case leaves behind is its device. */
const free: Page[] = [];
const inUse: { page: Page; device: Authenticator }[] = [];

afterEach(async () => {
  for (const { page, device } of inUse.splice(0)) {
    await device.remove();
    free.push(page);
  }
});

beforeAll(async () => {
  chromium = await openChromium();
  elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("another site") });
});

afterAll(async () => {
  await chromium.close();
  await elsewhere.stop(true);
});

for (const database of databases) {
  describe(`passkeys on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    async function openPage(origin = originOf(site), device = {}): Promise<{ page: Page; device: Authenticator }> {
      const page = free.pop() ?? (await chromium.newPage());
      await page.goto(`${origin}/healthz`);
      const opened = { page, device: await addAuthenticator(page, device) };
      inUse.push(opened);
      return opened;
    }

    const begin = async (person: Browser): Promise<unknown> => {
      const reply = await person.call("POST", "/api/account/passkeys/begin", { body: {} });
      expect(reply.status).toBe(200);
      return reply.json();
    };
    const save = (person: Browser, credential: unknown, name?: string) =>
      person.call("POST", "/api/account/passkeys", { body: { credential, ...(name && { name }) } });
    const beginSignIn = async (browser: Browser): Promise<{ challenge: string }> =>
      (await browser.call("POST", "/api/auth/passkey/begin")).json();
    const finish = (browser: Browser, credential: unknown) =>
      browser.call("POST", "/api/auth/passkey/finish", { body: { credential } });

    async function withPasskey(): Promise<{ person: TestPerson; page: Page; device: Authenticator }> {
      const person = await makePerson(site, { password: "correct horse battery" });
      const { page, device } = await openPage();
      const saved = await save(person, await create(page, await begin(person)), "My phone");
      expect([saved.status, saved.text]).toEqual([201, expect.stringContaining("My phone")]);
      return { person, page, device };
    }

    test("a passkey signs its person in, without an address and without a code", async () => {
      const { person, page } = await withPasskey();
      await query(site.env, `update people set totp = 'somebody has an app' where id = '${person.id}'`);
      const browser = openBrowser(site);
      const options = await beginSignIn(browser);
      expect(options).toMatchObject({ rpId: "localhost", userVerification: "required" });
      expect(options).not.toHaveProperty("allowCredentials.0");
      const reply = await finish(browser, await get(page, options));
      expect([reply.status, reply.json()]).toEqual([200, { result: "signed_in", token: null }]);
      const account = await browser.call("GET", "/api/account");
      expect(account.json<{ person: { id: string } }>().person.id).toBe(person.id);
      const sessions = (await browser.call("GET", "/api/account/sessions")).json<{ items: { method: string }[] }>();
      expect(sessions.items.map(({ method }) => method)).toContain("passkey");
    });

    test("people list, rename and remove their own passkeys only", async () => {
      const { person, page } = await withPasskey();
      const other = await makePerson(site);
      type Items = { items: { id: string; name: string; lastUsedAt: string | null }[] };
      const { items } = (await person.call("GET", "/api/account/passkeys")).json<Items>();
      expect(items).toMatchObject([{ name: "My phone", lastUsedAt: null }]);
      const path = `/api/account/passkeys/${items[0]?.id}`;
      expect((await other.call("GET", "/api/account/passkeys")).json<Items>().items).toEqual([]);
      expect((await other.call("PATCH", path, { body: { name: "mine" } })).status).toBe(404);
      expect((await other.call("DELETE", path)).status).toBe(404);
      expect((await person.call("PATCH", path, { body: { name: "Old phone" } })).json()).toMatchObject({
        name: "Old phone",
      });
      const browser = openBrowser(site);
      expect((await finish(browser, await get(page, await beginSignIn(browser)))).status).toBe(200);
      expect((await person.call("GET", "/api/account/passkeys")).json<Items>().items[0]?.lastUsedAt).toBeString();
      expect((await person.call("DELETE", path)).status).toBe(204);
      const late = await finish(openBrowser(site), await get(page, await beginSignIn(openBrowser(site))));
      expect(codeOf(late)).toEqual([403, "passkey_refused"]);
    });

    test("an answer made on a page of another origin is refused", async () => {
      const { person, device } = await withPasskey();
      const { page: foreign, device: copy } = await openPage(`http://localhost:${elsewhere.port}`);
      for (const credential of await device.credentials()) await copy.addCredential(credential);
      const browser = openBrowser(site);
      expect(codeOf(await finish(browser, await get(foreign, await beginSignIn(browser))))).toEqual([
        ...[403, "passkey_refused"],
      ]);
      const { page: empty } = await openPage(`http://localhost:${elsewhere.port}`);
      expect(codeOf(await save(person, await create(empty, await begin(person))))).toEqual([403, "passkey_refused"]);
    });

    test("an answer works once, also when it is sent twice at once", async () => {
      const { page } = await withPasskey();
      const answer = await get(page, await beginSignIn(openBrowser(site)));
      const both = await Promise.all([finish(openBrowser(site), answer), finish(openBrowser(site), answer)]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
      expect(codeOf(await finish(openBrowser(site), answer))).toEqual([403, "passkey_refused"]);
    });

    test("a challenge that is too old, of another purpose or of our own making is refused", async () => {
      const { person, page } = await withPasskey();
      const old = await get(page, await beginSignIn(openBrowser(site)));
      const now = systemClock.now();
      await query(site.env, `update person_tokens set expires_at = ${now} where kind = 'passkey-sign-in'`);
      expect(codeOf(await finish(openBrowser(site), old))).toEqual([403, "passkey_refused"]);

      const made = (await begin(person)) as { challenge: string };
      const options = await beginSignIn(openBrowser(site));
      const ofAnother = await get(page, { ...options, challenge: made.challenge });
      expect(codeOf(await finish(openBrowser(site), ofAnother))).toEqual([403, "passkey_refused"]);
      const invented = await get(page, { ...options, challenge: Buffer.alloc(32, 7).toString("base64url") });
      expect(codeOf(await finish(openBrowser(site), invented))).toEqual([403, "passkey_refused"]);
    });

    test("a person cannot finish what another one began", async () => {
      const [ann, bob] = [await makePerson(site), await makePerson(site)];
      const { page } = await openPage();
      expect(codeOf(await save(bob, await create(page, await begin(ann))))).toEqual([403, "passkey_refused"]);
    });

    test("an answer that was changed is refused", async () => {
      const { page } = await withPasskey();
      const { page: other } = await openPage();
      const bob = await makePerson(site);
      const ofBob = await create(other, await begin(bob));
      expect((await save(bob, ofBob)).status).toBe(201);
      const flip = (text: string | null = "") => `${text?.startsWith("A") ? "B" : "A"}${text?.slice(1)}`;
      const changes: ((answer: Answer) => Answer)[] = [
        (answer) => ({ ...answer, response: { ...answer.response, signature: `${answer.response.signature}AA` } }),
        (answer) => ({
          ...answer,
          response: { ...answer.response, authenticatorData: flip(answer.response.authenticatorData) },
        }),
        (answer) => ({ ...answer, response: { ...answer.response, clientDataJSON: "e30" } }),
        (answer) => ({ ...answer, response: { ...answer.response, clientDataJSON: "not json" } }),
        // The signature of one passkey with the ID of another person's.
        (answer) => ({ ...answer, id: ofBob.id, rawId: ofBob.rawId }),
        (answer) => {
          const { userHandle: _, ...rest } = answer.response;
          return { ...answer, id: ofBob.id, rawId: ofBob.rawId, response: rest };
        },
        (answer) => ({ ...answer, id: "unknown", rawId: "unknown" }),
        (answer) => ({
          ...answer,
          id: ofBob.id,
          rawId: ofBob.rawId,
          response: { ...answer.response, userHandle: null },
        }),
      ];
      for (const change of changes) {
        const answer = await get(page, await beginSignIn(openBrowser(site)));
        const reply = await finish(openBrowser(site), change(answer));
        expect([String(change), ...codeOf(reply)]).toEqual([String(change), 403, "passkey_refused"]);
      }
    });

    test("a device that counts backwards is a copy", async () => {
      const { person, page, device } = await withPasskey();
      const [credential] = await device.credentials();
      if (credential === undefined) throw new Error("no credential");
      const signIn = async (on: Page) =>
        await finish(openBrowser(site), await get(on, await beginSignIn(openBrowser(site))));
      expect((await signIn(page)).status).toBe(200);
      expect((await signIn(page)).status).toBe(200);
      const { page: copied, device: copy } = await openPage();
      await copy.addCredential(credential);
      expect(codeOf(await signIn(copied))).toEqual([403, "passkey_refused"]);
      expect((await signIn(page)).status).toBe(200);
      const rows = await query(site.env, `select counter from passkeys where person_id = '${person.id}'`);
      expect(Number((rows[0] as { counter: number }).counter)).toBeGreaterThan(credential.signCount);
    });

    test("a device that does not verify its person is not enough", async () => {
      const { person, device } = await withPasskey();
      const [credential] = await device.credentials();
      const { page: weak, device: unverified } = await openPage(originOf(site), { verifiesUser: false });
      if (credential !== undefined) await unverified.addCredential({ ...credential, signCount: 1_000 });
      const options = await beginSignIn(openBrowser(site));
      const id = Buffer.from(credential?.credentialId ?? "", "base64").toString("base64url");
      const allowCredentials = [{ id, type: "public-key" }];
      const answer = await get(weak, { ...options, allowCredentials, userVerification: "discouraged" });
      expect(codeOf(await finish(openBrowser(site), answer))).toEqual([403, "passkey_refused"]);
      const created = await create(weak, {
        ...{ ...((await begin(person)) as object), excludeCredentials: [] },
        authenticatorSelection: { userVerification: "discouraged", residentKey: "discouraged" },
      });
      expect(codeOf(await save(person, created))).toEqual([403, "passkey_refused"]);
    });

    test("a statement of the maker is refused before it is looked at", async () => {
      const person = await makePerson(site);
      const { page } = await openPage();
      const options = { ...((await begin(person)) as object), attestation: "direct" };
      const created = await create(page, options);
      expect(Buffer.from(created.response.attestationObject ?? "", "base64url").toString("latin1")).toContain("x5c");
      expect(codeOf(await save(person, created))).toEqual([403, "passkey_refused"]);
    });

    test("the same passkey is not saved twice, and there is an end to their number", async () => {
      const { person, page } = await withPasskey();
      // The browser refuses by itself: the options name the passkeys that there are.
      await expect(create(page, await begin(person))).rejects.toThrow("InvalidStateError");
      const now = systemClock.now();
      for (let i = 1; i < passkeysMost; i++) {
        await query(
          site.env,
          `insert into passkeys (id, person_id, name, public_key, counter, transports, created_at)
           values ('${person.id}-${i}', '${person.id}', 'key', 'k', 0, '[]', ${now})`,
        );
      }
      const { page: fresh } = await openPage();
      const full = await save(
        person,
        await create(fresh, { ...((await begin(person)) as object), excludeCredentials: [] }),
      );
      expect(codeOf(full)).toEqual([409, "collection_full"]);
    });

    test("a person who was disabled is not let in", async () => {
      const { person, page } = await withPasskey();
      await query(site.env, `update people set disabled_at = 1 where id = '${person.id}'`);
      const answer = await get(page, await beginSignIn(openBrowser(site)));
      expect(codeOf(await finish(openBrowser(site), answer))).toEqual([401, "sign_in_failed"]);
    });

    test("somebody with an old session cannot add a passkey", async () => {
      const ann = await makePerson(site, { password: "correct horse battery" });
      const old = systemClock.now() - 3_600_000;
      await query(site.env, `update sessions set proved_at = ${old} where person_id = '${ann.id}'`);
      const refused = await ann.call("POST", "/api/account/passkeys/begin", { body: {} });
      expect(codeOf(refused)).toEqual([403, "proof_required"]);
      const body = { password: "correct horse battery" };
      expect((await ann.call("POST", "/api/account/passkeys/begin", { body })).status).toBe(200);
    });

    test("somebody with an old session cannot remove one, and people without a password sign in again first", async () => {
      const { person, page } = await withPasskey();
      const { items } = (await person.call("GET", "/api/account/passkeys")).json<{ items: { id: string }[] }>();
      const remove = (by: Browser, body?: object) =>
        by.call("DELETE", `/api/account/passkeys/${items[0]?.id}`, { body });
      const { id } = person;
      const old = systemClock.now() - 3_600_000;
      await query(site.env, `update sessions set proved_at = ${old} where person_id = '${id}'`);
      // Raises the version, so that the server reads it.
      expect((await person.call("PATCH", "/api/account", { body: { name: "Older" } })).status).toBe(200);
      expect(codeOf(await remove(person))).toEqual([403, "proof_required"]);
      expect(codeOf(await remove(person, { password: "not the password" }))).toEqual([403, "wrong_password"]);
      await query(site.env, `update people set password_hash = null where id = '${id}'`);
      const again = openBrowser(site);
      expect((await finish(again, await get(page, await beginSignIn(again)))).status).toBe(200);
      expect((await remove(again)).status).toBe(204);
      const end = await again.call("DELETE", "/api/account", { body: {} });
      expect([end.status, end.text]).toEqual([204, ""]);
    });

    test("what is refused is a row for the operator, of the person whose passkey it is", async () => {
      const { person, page } = await withPasskey();
      const answer: Answer = await get(page, await beginSignIn(openBrowser(site)));
      const tampered = { ...answer, response: { ...answer.response, signature: `${answer.response.signature}AA` } };
      expect(codeOf(await finish(openBrowser(site), tampered))).toEqual([403, "passkey_refused"]);
      const row = await until("the row", async () => {
        const rows = `select action, after_change from history where tenant_id = '' and subject_id = '${person.id}'`;
        return (await query(site.env, `${rows} and actor_kind = 'nobody'`))[0];
      });
      expect(row).toEqual({
        ...{ action: "person.sign_in_refused", after_change: '{"method":"passkey","reason":"passkey"}' },
      });
    });

    test("what is no answer of a browser is refused by name", async () => {
      const bad: [object, string][] = [
        [{}, "credential"],
        [{ credential: { id: "a" } }, "credential.rawId"],
        [{ credential: [] }, "credential"],
        [{ credential: { id: "x".repeat(1_401), rawId: "a", type: "public-key" } }, "credential.id"],
      ];
      for (const [body, field] of bad) {
        const reply = await openBrowser(site).call("POST", "/api/auth/passkey/finish", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
    });
  });
}

test("over plain http, and on an address without a name, passkeys are hidden", async () => {
  for (const base of ["http://go.example.com", "https://192.0.2.7"]) {
    const site = await startSite("SQLite", { QL_BASE_URL: base });
    try {
      const options = await openBrowser(site).call("GET", "/api/auth/options");
      expect(options.json()).toMatchObject({ passkeys: false, company: null });
      const reply = await openBrowser(site).call("POST", "/api/auth/passkey/begin", { origin: base });
      expect(codeOf(reply)).toEqual([501, "not_set_up"]);
    } finally {
      await site.server.stop();
    }
  }
});
