/** What is proved by a link in a mailbox: sign-up, a reset, an address; and what people are told by mail. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import PostalMime from "postal-mime";
import { makePerson, openBrowser } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const password = "violet kettle 42 march";
const next = "slate harbour 77 pine";
const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;

for (const database of databases) {
  describe(`mails about accounts on ${database}`, () => {
    let site: Site;
    let smtp: SmtpServer;

    beforeAll(async () => {
      smtp = await startSmtp();
      site = await startSite(database, {
        ...{ SMTP_URL: smtp.url, QL_SIGN_UP: "example.com,bücher.example", QL_LOG_LEVEL: "trace" },
        ...{ QL_TRUSTED_PROXIES: "127.0.0.1" },
      });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await smtp.stop();
      expect(site.server.output()).not.toMatch(/app\/|violet|slate|@example\.com/);
    });

    let networks = 0;
    /** Every test has its own address, so that none uses up the limit of another. */
    const from = () => ({ "x-forwarded-for": `198.51.100.${++networks}` });

    /** The mails to an address, oldest first, once there are so many. */
    async function mailsTo(address: string, count: number) {
      const raw = await until(`${count} mails to ${address}`, () => {
        const found = smtp.taken.filter(({ to }) => to === address);
        return found.length >= count ? found : undefined;
      });
      expect(raw).toHaveLength(count);
      const parsed = await Promise.all(raw.map((mail) => PostalMime.parse(mail.raw)));
      return parsed.map(({ subject = "", text = "" }) => ({
        ...{ subject, text, token: /\/app\/[\w-]+#([\w-]{43})/.exec(text)?.[1] ?? "" },
      }));
    }

    test("an account from sign-up exists once its mailbox was proved", async () => {
      const email = "carol@example.com";
      const browser = openBrowser(site);
      const ask = (body: object) => browser.call("POST", "/api/auth/sign-up", { body, headers: from() });
      expect((await ask({ email })).status).toBe(202);
      const [mail] = await mailsTo(email, 1);
      expect(mail?.subject).toContain("Create your account");
      const isThere = async () => (await query(site.env, `select id from people where mailbox = '${email}'`)).length;
      expect(await isThere()).toBe(0);
      const complete = (body: object) => browser.call("POST", "/api/auth/sign-up/complete", { body });
      expect((await complete({ token: mail?.token, name: "Carol", password: "carol@example.com" })).status).toBe(422);
      const both = await Promise.all([1, 2].map(() => complete({ token: mail?.token, name: "Carol", password })));
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
      expect(await isThere()).toBe(1);
      const account = (await browser.call("GET", "/api/account")).json<Account>();
      expect(account).toMatchObject({ person: { email, emailVerified: true, operator: false }, workspaces: [] });
      // The same answer for an address that has an account: only its mailbox is told.
      expect((await ask({ email: "CAROL@example.com" })).status).toBe(202);
      const [, told] = await mailsTo(email, 2);
      expect(told?.subject).toContain("already have an account");
      expect(told?.token).toBe("");
    });

    test("addresses of other domains cannot sign up, whether or not they have an account", async () => {
      const dora = await makePerson(site, { email: "dora@elsewhere.example" });
      for (const email of [dora.email, "nobody@elsewhere.example", "x@sub.example.com", "x@example.com.evil.example"]) {
        const reply = await openBrowser(site).call("POST", "/api/auth/sign-up", { body: { email }, headers: from() });
        expect([email, reply.status, codeOf(reply)]).toEqual([email, 403, "sign_up_closed"]);
      }
      const idn = await openBrowser(site).call("POST", "/api/auth/sign-up", {
        ...{ body: { email: "x@BÜCHER.example" }, headers: from() },
      });
      expect(idn.status).toBe(202);
    });

    test("a reset goes to the stored address only, works once, and ends all other sessions", async () => {
      const ann = await makePerson(site, { password, email: "ann-reset@example.com", verified: false });
      const ask = (email: string) =>
        openBrowser(site).call("POST", "/api/auth/reset", { body: { email }, headers: from() });
      // Left by somebody who opened the account with an address that is not theirs.
      const left = "insert into identities (issuer, subject, person_id, created_at) values";
      await query(site.env, `${left} ('https://id.example', 'squatter-${database}', '${ann.id}', 1) returning subject`);
      expect((await ask("nobody-here@example.com")).status).toBe(202);
      expect((await ask("ａｎｎ-reset@EXAMPLE.com")).status).toBe(202);
      const [mail] = await mailsTo(ann.email, 1);
      expect(smtp.taken.some(({ to }) => to.includes("nobody-here") || to.includes("ａ"))).toBe(false);
      // A second request does not void the first link.
      expect((await ask(ann.email)).status).toBe(202);
      await mailsTo(ann.email, 2);
      const browser = openBrowser(site);
      const reply = await browser.call("POST", "/api/auth/reset/complete", {
        ...{ body: { token: mail?.token, password: next } },
      });
      expect([reply.status, reply.json<object>()]).toEqual([200, { result: "signed_in", token: null }]);
      expect((await browser.call("GET", "/api/account")).json<Account>().person.emailVerified).toBe(true);
      expect((await ann.call("GET", "/api/account")).status).toBe(401);
      expect(await query(site.env, `select subject from identities where person_id = '${ann.id}'`)).toEqual([]);
      const [, second, changed] = await mailsTo(ann.email, 3);
      expect(changed?.subject).toContain("Your password was changed");
      // A new password voids the other links.
      for (const token of [mail?.token, second?.token]) {
        const used = await openBrowser(site).call("POST", "/api/auth/reset/complete", { body: { token, password } });
        expect(codeOf(used)).toBe("token_invalid");
      }
    });

    test("an expired link and one of a disabled account are refused", async () => {
      const eve = await makePerson(site, { password, email: "eve@example.com" });
      const ask = () =>
        openBrowser(site).call("POST", "/api/auth/reset", { body: { email: eve.email }, headers: from() });
      await ask();
      const [old] = await mailsTo(eve.email, 1);
      await query(site.env, `update person_tokens set expires_at = created_at where person_id = '${eve.id}'`);
      const use = (token: string | undefined) =>
        openBrowser(site).call("POST", "/api/auth/reset/complete", { body: { token, password: next } });
      expect(codeOf(await use(old?.token))).toBe("token_invalid");
      await ask();
      const [, fresh] = await mailsTo(eve.email, 2);
      await query(site.env, `update people set disabled_at = 1 where id = '${eve.id}'`);
      expect(codeOf(await use(fresh?.token))).toBe("token_invalid");
    });

    test("a new address is used once its mailbox confirmed it in a session of the same person; the old one is told", async () => {
      const fred = await makePerson(site, { password, email: "fred@example.com" });
      const mallory = await makePerson(site, { password, email: "mallory@example.com" });
      const ask = (who: typeof fred, email: string) =>
        who.call("POST", "/api/account/email", { body: { email, password }, headers: from() });
      expect((await ask(fred, "fred.new@example.com")).status).toBe(202);
      const [mail] = await mailsTo("fred.new@example.com", 1);
      const confirm = (who: typeof fred, token: string | undefined) =>
        who.call("POST", "/api/account/email/confirm", { body: { token } });
      expect(codeOf(await confirm(mallory, mail?.token))).toBe("token_invalid");
      expect(
        (await openBrowser(site).call("POST", "/api/account/email/confirm", { body: { token: mail?.token } })).status,
      ).toBe(401);
      const person = async () => (await fred.call("GET", "/api/account")).json<Account>().person;
      expect((await person()).email).toBe("fred@example.com");
      const confirmed = await confirm(fred, mail?.token);
      expect([confirmed.status, confirmed.json<object>()]).toMatchObject([
        200,
        { email: "fred.new@example.com", emailVerified: true },
      ]);
      expect((await mailsTo("fred@example.com", 1))[0]?.subject).toContain("Your email address was changed");
      expect(codeOf(await confirm(fred, mail?.token))).toBe("token_invalid");
      // An address that has an account: the same answer, and only its mailbox is told.
      expect((await ask(mallory, "FRED.new@example.com")).status).toBe(202);
      const [, told] = await mailsTo("fred.new@example.com", 2);
      expect([told?.subject.includes("already have an account"), told?.token]).toEqual([true, ""]);
    });

    test("an address is verified by the link, once", async () => {
      const gina = await makePerson(site, { email: "gina@example.com", verified: false });
      expect((await gina.call("POST", "/api/account/verification", { headers: from() })).status).toBe(202);
      const [mail] = await mailsTo(gina.email, 1);
      const verify = () => openBrowser(site).call("POST", "/api/auth/verify", { body: { token: mail?.token } });
      expect([(await verify()).status, (await verify()).status]).toEqual([204, 410]);
      expect((await gina.call("GET", "/api/account")).json<Account>().person.emailVerified).toBe(true);
    });

    test("a sign-in with a new browser is told by mail, with one that is known it is not", async () => {
      const hans = await makePerson(site, { password, email: "hans@example.com" });
      const browser = openBrowser(site);
      const signIn = () => browser.call("POST", "/api/auth/sign-in", { body: { email: hans.email, password } });
      expect((await signIn()).status).toBe(200);
      const [mail] = await mailsTo(hans.email, 1);
      expect(mail?.subject).toContain("New sign-in");
      expect(mail?.text).toContain("Firefox on Linux");
      expect((await signIn()).status).toBe(200);
      // The entry of another person's browser is not one of theirs.
      const other = openBrowser(site);
      const carol = await makePerson(site, { password, email: "iris@example.com" });
      await other.call("POST", "/api/auth/sign-in", { body: { email: carol.email, password } });
      await other.call("POST", "/api/auth/sign-in", { body: { email: hans.email, password } });
      await mailsTo(hans.email, 2);
    });

    test("sign-ins without an end do not use up the mails of all people", async () => {
      const { email } = await makePerson(site, { email: "ida@example.com", password });
      for (let i = 0; i < 6; i++) {
        const reply = await openBrowser(site).call("POST", "/api/auth/sign-in", {
          body: { email, password },
          headers: from(),
        });
        expect(reply.status).toBe(200);
      }
      const queued = await query(
        site.env,
        "select id from emails where kind = 'signIn' and recipient = 'ida@example.com'",
      );
      expect(queued).toHaveLength(4);
    });

    test("a mailbox gets few mails however often they are asked for, and its owner is not told apart from nobody", async () => {
      const jane = await makePerson(site, { password, email: "jane@example.com" });
      const ask = (email: string) =>
        openBrowser(site).call("POST", "/api/auth/reset", { body: { email }, headers: from() });
      for (let i = 0; i < 8; i++) {
        expect([(await ask(jane.email)).status, (await ask("nobody-jane@example.com")).status]).toEqual([202, 202]);
      }
      const mails = await mailsTo(jane.email, 4);
      const reply = await openBrowser(site).call("POST", "/api/auth/reset/complete", {
        ...{ body: { token: mails[0]?.token, password: next } },
      });
      expect(reply.status).toBe(200);
    });

    test("one network cannot have mails sent without end", async () => {
      const headers = from();
      const statuses: number[] = [];
      for (let i = 0; i < 22; i++) {
        const body = { email: `unknown${i}@example.com` };
        statuses.push((await openBrowser(site).call("POST", "/api/auth/reset", { body, headers })).status);
      }
      expect(statuses).toEqual([...new Array<number>(20).fill(202), 429, 429]);
    });
  });
}

interface Account {
  person: { id: string; email: string; emailVerified: boolean };
  workspaces: unknown[];
}
