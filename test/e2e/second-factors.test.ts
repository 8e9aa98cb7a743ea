import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { systemClock } from "../../src/base/clock.ts";
import { newKey, writeKeys } from "../../src/base/seal.ts";
import { recoveryCodesCount } from "../../src/people/factors/recovery-codes.ts";
import { periodMs } from "../../src/people/factors/totp.ts";
import { type Browser, makePerson, openBrowser, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import { databases, must, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const password = "correct horse battery";
/** Steps ahead of the clock that tests may use: a code of the next step is accepted too. */
const codeAt = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: systemClock.now() + steps * periodMs });
const codeOf = (reply: Reply) => [reply.status, reply.json<ProblemBody>().code];
const wrongCode = "000000";

for (const database of databases) {
  describe(`second factors on ${database}`, () => {
    let site: Site;
    let smtp: SmtpServer;

    beforeAll(async () => {
      smtp = await startSmtp();
      site = await startSite(database, { SMTP_URL: smtp.url, QL_SECRET_KEYS: writeKeys([newKey()]) });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await smtp.stop();
    });

    type WithApp = TestPerson & { readonly secret: string; readonly recoveryCodes: string[] };

    /** A person with an app. The step before now is used, so that a test has two codes: that of now and the next. */
    async function withApp(): Promise<WithApp> {
      const person = await makePerson(site, { password, roles: { default: "member" } });
      const begun = await person.call("POST", "/api/account/totp", { body: { password } });
      expect(begun.status).toBe(200);
      const { secret } = begun.json<{ secret: string }>();
      const confirm = () => person.call("POST", "/api/account/totp/confirm", { body: { code: codeAt(secret, -1) } });
      const first = await confirm();
      // A step that ended on the way made the code too old.
      const confirmed = first.status === 200 ? first : await confirm();
      expect([confirmed.status, confirmed.text.length > 100]).toEqual([200, true]);
      return { ...person, secret, ...confirmed.json<{ recoveryCodes: string[] }>() };
    }

    async function firstStep(browser: Browser, { email }: TestPerson): Promise<string> {
      const reply = await browser.call("POST", "/api/auth/sign-in", { body: { email, password } });
      const { result, token } = reply.json<{ result: string; token: string }>();
      expect([reply.status, result]).toEqual([200, "second_factor"]);
      expect(browser.cookies.has("quicklink-session")).toBe(false);
      return token;
    }

    const answer = (browser: Browser, body: object) => browser.call("POST", "/api/auth/second-factor", { body });
    const isSignedIn = async (browser: Browser) => (await browser.call("GET", "/api/account")).status === 200;

    test("signing in needs the password and then a code, which works once", async () => {
      const ann = await withApp();
      const browser = openBrowser(site);
      const token = await firstStep(browser, ann);
      expect(codeOf(await answer(browser, { token, code: wrongCode }))).toEqual([403, "wrong_code"]);
      const code = codeAt(ann.secret);
      const signedIn = await answer(browser, { token, code });
      expect([signedIn.status, signedIn.json()]).toEqual([200, { result: "signed_in", token: null }]);
      expect(await isSignedIn(browser)).toBe(true);

      const another = openBrowser(site);
      const again = await firstStep(another, ann);
      expect(codeOf(await answer(another, { token: again, code }))).toEqual([403, "wrong_code"]);
      expect(codeOf(await answer(another, { token, code: codeAt(ann.secret, 1) }))).toEqual([410, "token_invalid"]);
      expect((await answer(another, { token: again, code: codeAt(ann.secret, 1) })).status).toBe(200);
    });

    test("a code sent twice at once signs in once", async () => {
      const ann = await withApp();
      const browsers = [openBrowser(site), openBrowser(site)];
      const tokens = [await firstStep(openBrowser(site), ann), await firstStep(openBrowser(site), ann)];
      const code = codeAt(ann.secret);
      const replies = await Promise.all(browsers.map((browser, i) => answer(browser, { token: tokens[i], code })));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 403]);
    });

    test("a token sent twice at once signs in once", async () => {
      const ann = await withApp();
      const token = await firstStep(openBrowser(site), ann);
      const codes = [codeAt(ann.secret), ann.recoveryCodes[0]];
      const replies = await Promise.all(codes.map((code) => answer(openBrowser(site), { token, code })));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
      // The code of the loser was not used up.
      const again = await firstStep(openBrowser(site), ann);
      const loser = codes[replies.findIndex(({ status }) => status === 410)];
      expect((await answer(openBrowser(site), { token: again, code: loser })).status).toBe(200);
    });

    test("the token of one account does not take the code of another", async () => {
      const [ann, bob] = [await withApp(), await withApp()];
      const token = await firstStep(openBrowser(site), ann);
      for (const code of [codeAt(bob.secret), bob.recoveryCodes[0]]) {
        expect(codeOf(await answer(openBrowser(site), { token, code }))).toEqual([403, "wrong_code"]);
      }
      expect((await answer(openBrowser(site), { token, code: codeAt(ann.secret) })).status).toBe(200);
    });

    test("a token that is tampered with, too old or of another kind is refused", async () => {
      const ann = await withApp();
      const token = await firstStep(openBrowser(site), ann);
      const code = codeAt(ann.secret);
      for (const bad of ["", "x", `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`, "é".repeat(43)]) {
        expect(codeOf(await answer(openBrowser(site), { token: bad, code }))).toEqual([410, "token_invalid"]);
      }
      await query(site.env, `update person_tokens set expires_at = ${systemClock.now()} where person_id = '${ann.id}'`);
      expect(codeOf(await answer(openBrowser(site), { token, code }))).toEqual([410, "token_invalid"]);
      const other = await firstStep(openBrowser(site), ann);
      await query(site.env, `update person_tokens set kind = 'reset' where person_id = '${ann.id}'`);
      expect(codeOf(await answer(openBrowser(site), { token: other, code }))).toEqual([410, "token_invalid"]);
    });

    test("a recovery code signs in once, and is counted", async () => {
      const ann = await withApp();
      const [code = ""] = ann.recoveryCodes;
      expect(ann.recoveryCodes.length).toBe(recoveryCodesCount);
      const browser = openBrowser(site);
      expect((await answer(browser, { token: await firstStep(browser, ann), code })).status).toBe(200);
      const second = openBrowser(site);
      const token = await firstStep(second, ann);
      expect(codeOf(await answer(second, { token, code }))).toEqual([403, "wrong_code"]);
      const left = await browser.call("GET", "/api/account/totp");
      expect(left.json()).toEqual({ enabled: true, recoveryCodesLeft: recoveryCodesCount - 1 });

      const renewed = await browser.call("POST", "/api/account/recovery-codes", { body: { password } });
      const [fresh] = renewed.json<{ recoveryCodes: string[] }>().recoveryCodes;
      expect(codeOf(await answer(second, { token, code: ann.recoveryCodes[1] }))).toEqual([403, "wrong_code"]);
      expect((await answer(second, { token, code: fresh })).status).toBe(200);
    });

    test("a remembered device is asked for no code, until the password changes", async () => {
      const ann = await withApp();
      const browser = openBrowser(site);
      const body = { token: await firstStep(browser, ann), code: codeAt(ann.secret), rememberDevice: true };
      const reply = await answer(browser, body);
      const cookie = reply.headers.getSetCookie().find((set) => set.startsWith("quicklink-device="));
      expect(cookie).toMatch(/^quicklink-device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
      const signIn = () => browser.call("POST", "/api/auth/sign-in", { body: { email: ann.email, password } });
      expect((await signIn()).json<{ result: string }>().result).toBe("signed_in");

      const { items } = (await browser.call("GET", "/api/account/devices")).json<{ items: { id: string }[] }>();
      expect(items).toMatchObject([{ device: "Firefox on Linux" }]);
      const other = await withApp();
      const path = `/api/account/devices/${items[0]?.id}`;
      expect((await other.call("DELETE", path)).status).toBe(404);
      expect((await browser.call("DELETE", path)).status).toBe(204);
      expect((await signIn()).json<{ result: string }>().result).toBe("second_factor");
    });

    test("a remembered device of one person is none of another", async () => {
      const [ann, bob] = [await withApp(), await withApp()];
      const browser = openBrowser(site);
      const body = { token: await firstStep(browser, ann), code: codeAt(ann.secret), rememberDevice: true };
      expect((await answer(browser, body)).status).toBe(200);
      const reply = await browser.call("POST", "/api/auth/sign-in", { body: { email: bob.email, password } });
      expect(reply.json<{ result: string }>().result).toBe("second_factor");
    });

    test("the app is removed with a code or the password, never by the session alone, and its person is told", async () => {
      const ann = await withApp();
      const remove = (body: object) => ann.call("POST", "/api/account/totp/remove", { body });
      expect(codeOf(await remove({}))).toEqual([403, "proof_required"]);
      expect(codeOf(await remove({ password: "another password" }))).toEqual([403, "wrong_password"]);
      expect(codeOf(await remove({ code: wrongCode }))).toEqual([403, "wrong_code"]);
      expect((await remove({ code: codeAt(ann.secret) })).status).toBe(204);
      expect(codeOf(await remove({ password }))).toEqual([404, "not_found"]);
      const browser = openBrowser(site);
      const signedIn = await browser.call("POST", "/api/auth/sign-in", { body: { email: ann.email, password } });
      expect(signedIn.json<{ result: string }>().result).toBe("signed_in");
      expect((await browser.call("GET", "/api/account/totp")).json()).toEqual({ enabled: false, recoveryCodesLeft: 0 });
      const mail = await until("a mail", () =>
        smtp.taken.find(({ to, raw }) => to === ann.email && /removed/.test(raw)),
      );
      expect(mail.raw).toContain("second factor was removed");
    });

    test("somebody with an old session cannot add an app", async () => {
      const ann = await makePerson(site, { password });
      const old = systemClock.now() - 3_600_000;
      await query(site.env, `update sessions set proved_at = ${old} where person_id = '${ann.id}'`);
      expect(codeOf(await ann.call("POST", "/api/account/totp", { body: {} }))).toEqual([403, "proof_required"]);
      const wrong = { body: { password: "another password" } };
      expect(codeOf(await ann.call("POST", "/api/account/totp", wrong))).toEqual([403, "wrong_password"]);
      expect((await ann.call("POST", "/api/account/totp", { body: { password } })).status).toBe(200);
    });

    test("an app that was not confirmed is not asked for, and cannot be confirmed by another person", async () => {
      const [ann, bob] = [await makePerson(site, { password }), await makePerson(site, { password })];
      const { secret } = (await ann.call("POST", "/api/account/totp", { body: {} })).json<{ secret: string }>();
      const confirm = (person: Browser, code: string) =>
        person.call("POST", "/api/account/totp/confirm", { body: { code } });
      expect(codeOf(await confirm(ann, wrongCode))).toEqual([403, "wrong_code"]);
      expect(codeOf(await confirm(bob, codeAt(secret)))).toEqual([404, "not_found"]);
      const browser = openBrowser(site);
      const signedIn = await browser.call("POST", "/api/auth/sign-in", { body: { email: ann.email, password } });
      expect(signedIn.json<{ result: string }>().result).toBe("signed_in");
      expect((await confirm(ann, codeAt(secret))).status).toBe(200);
      expect(codeOf(await confirm(ann, codeAt(secret, 1)))).toEqual([404, "not_found"]);
      expect(codeOf(await ann.call("POST", "/api/account/totp", { body: {} }))).toEqual([409, "name_taken"]);
    });

    test("wrong codes are limited, and the owner's browser gets in meanwhile", async () => {
      const ann = await withApp();
      const owner = openBrowser(site);
      expect((await answer(owner, { token: await firstStep(owner, ann), code: codeAt(ann.secret) })).status).toBe(200);
      const token = await firstStep(openBrowser(site), ann);
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++) statuses.push((await answer(openBrowser(site), { token, code: wrongCode })).status);
      expect(statuses.filter((status) => status === 403).length).toBe(5);
      expect(new Set(statuses.slice(5))).toEqual(new Set([429]));
      const late = await answer(openBrowser(site), { token, code: wrongCode });
      expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
      owner.cookies.delete("quicklink-session");
      const again = await firstStep(owner, ann);
      expect((await answer(owner, { token: again, code: codeAt(ann.secret, 1) })).status).toBe(200);
    });

    test("long and strange codes are refused by name", async () => {
      const ann = await withApp();
      const token = await firstStep(openBrowser(site), ann);
      for (const code of ["", "1".repeat(41), 123456, null, ["123456"]]) {
        const reply = await answer(openBrowser(site), { token, code });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, "code"]);
      }
    });

    test("another site cannot complete a sign-in", async () => {
      const ann = await withApp();
      const browser = openBrowser(site);
      const body = { token: await firstStep(browser, ann), code: codeAt(ann.secret) };
      const reply = await browser.call("POST", "/api/auth/second-factor", { body, origin: "https://evil.example" });
      expect(codeOf(reply)).toEqual([403, "wrong_origin"]);
      expect((await answer(browser, body)).status).toBe(200);
    });

    test("nothing secret is in the history, the log or the tables", async () => {
      const ann = await withApp();
      const browser = openBrowser(site);
      const token = await firstStep(browser, ann);
      await answer(browser, { token, code: wrongCode });
      await answer(browser, { token, code: codeAt(ann.secret), rememberDevice: true });
      const tables = ["history", "people", "person_tokens", "recovery_codes", "known_devices", "sessions"];
      const rows = await Promise.all(tables.map((table) => query(site.env, `select * from ${table}`)));
      const kept = JSON.stringify(rows) + site.server.output();
      const secrets = [token, ann.secret, ...ann.recoveryCodes, browser.cookies.get("quicklink-device") ?? "?"];
      expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
      // A refusal is written after its answer.
      const actions = await until("all rows", async () => {
        const rows = await query(site.env, `select action from history where subject_id = '${ann.id}' order by id`);
        return rows.length >= 3 ? rows : undefined;
      });
      expect(actions.map((row) => (row as { action: string }).action)).toEqual([
        ...["person.totp_on", "person.sign_in_refused", "person.sign_in"],
      ]);
    });

    test("a code ends the account, like the password; an old session alone does not", async () => {
      const ann = await withApp();
      const old = systemClock.now() - 3_600_000;
      await query(site.env, `update sessions set proved_at = ${old} where person_id = '${ann.id}'`);
      // Raises the version, so that the server reads it.
      expect((await ann.call("PATCH", "/api/account", { body: { name: "Older" } })).status).toBe(200);
      const end = (body: object) => ann.call("DELETE", "/api/account", { body });
      expect(codeOf(await end({}))).toEqual([403, "proof_required"]);
      expect(codeOf(await end({ code: wrongCode }))).toEqual([403, "wrong_code"]);
      expect(codeOf(await end({ password: "not the password" }))).toEqual([403, "wrong_password"]);
      expect((await end({ code: codeAt(ann.secret) })).status).toBe(204);
      expect(await isSignedIn(ann)).toBe(false);
    });

    test("an operator takes a lost app from a person", async () => {
      const ann = await withApp();
      expect(must(await site.cli("user", "reset-2fa", ann.email))).toContain(ann.id);
      expect(must(await site.cli("user", "reset-2fa", ann.email))).toContain("no second factor");
      const reply = await openBrowser(site).call("POST", "/api/auth/sign-in", { body: { email: ann.email, password } });
      expect(reply.json<{ result: string }>().result).toBe("signed_in");
    });
  });
}
