import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Browser, makePerson, openBrowser, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

type Made = { id: string; url: string | null };
type AccountBody = {
  person: { email: string; name: string; emailVerified: boolean };
  workspaces: { slug: string; role: string; chosen: boolean }[];
};

const password = "violet kettle 42 march";
const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;
const tokenIn = (url: string | null | undefined) => url?.split("#")[1] ?? "";
let names = 0;
const newAddress = () => `guest-${++names}@example.com`;

const show = (browser: Browser, token: string) => browser.call("GET", `/api/auth/invitations/${token}`);
const accept = (person: Browser, token: string) => person.call("POST", `/api/account/invitations/${token}/accept`);
const join = (browser: Browser, token: string, body: Record<string, unknown>) =>
  browser.call("POST", `/api/auth/invitations/${token}/accept`, { body: { name: "New Person", password, ...body } });

async function invite(owner: TestPerson, body: Record<string, unknown>): Promise<Made> {
  const made = await owner.call("POST", "/api/invitations", { body: { role: "member", ...body } });
  expect(made.status).toBe(201);
  return made.json<Made>();
}

for (const database of databases) {
  describe(`an invitation without a mail server on ${database}`, () => {
    let site: Site;
    let owner: TestPerson;

    beforeAll(async () => {
      site = await startSite(database, { QL_LOG_LEVEL: "trace" });
      owner = await makePerson(site, { roles: { default: "owner" }, name: "Olga Owner" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    test("says what it is for to whoever has it", async () => {
      const token = tokenIn((await invite(owner, { email: "Zoe@example.com" })).url);
      expect((await show(openBrowser(site), token)).json<object>()).toEqual({
        ...{ workspace: "Default", inviter: "Olga Owner", role: "member", email: "Zoe@example.com" },
        expiresAt: expect.any(String),
      });
      expect(codeOf(await show(openBrowser(site), `${token.slice(0, -2)}xx`))).toBe("token_invalid");
    });

    test("to be owner is not given to an admin who repeats the owner's request with its Idempotency-Key", async () => {
      const admin = await makePerson(site, { roles: { default: "admin" } });
      const headers = { "idempotency-key": "the next number of a program: 1".replaceAll(" ", "-") };
      const ask = (by: TestPerson) => by.call("POST", "/api/invitations", { headers, body: { role: "owner" } });
      const made = await ask(owner);
      expect(made.status).toBe(201);
      expect((await ask(owner)).json<Made>()).toEqual(made.json<Made>());
      expect(codeOf(await ask(admin))).toBe("forbidden");
    });

    test("lets a person in who is signed in with that address, once", async () => {
      const [ann, ben] = [await makePerson(site), await makePerson(site)];
      const token = tokenIn((await invite(owner, { email: ann.email.toUpperCase() })).url);
      expect(codeOf(await accept(ben, token))).toBe("forbidden");
      expect((await accept(ann, token)).status).toBe(200);
      const { workspaces } = (await ann.call("GET", "/api/account")).json<AccountBody>();
      expect(workspaces).toMatchObject([{ slug: "default", role: "member", chosen: true }]);
      expect(codeOf(await accept(ann, token))).toBe("token_invalid");
      expect((await openBrowser(site).call("POST", `/api/account/invitations/${token}/accept`)).status).toBe(401);
    });

    test("makes an account and signs in", async () => {
      const email = newAddress();
      const token = tokenIn((await invite(owner, { email, role: "admin" })).url);
      const browser = openBrowser(site);
      expect(codeOf(await join(browser, token, { password: "password" }))).toBe("invalid_input");
      const reply = await join(browser, token, { name: "Zoë" });
      expect([reply.status, reply.json<{ result: string }>().result]).toEqual([200, "signed_in"]);
      const account = (await browser.call("GET", "/api/account")).json<AccountBody>();
      expect(account).toMatchObject({
        person: { email, name: "Zoë" },
        workspaces: [{ slug: "default", role: "admin" }],
      });
      expect(codeOf(await join(openBrowser(site), token, {}))).toBe("token_invalid");
      const again = await openBrowser(site).call("POST", "/api/auth/sign-in", { body: { email, password } });
      expect(again.status).toBe(200);
    });

    test("of one link lets exactly one of several new people in, and makes no account for the others", async () => {
      const token = tokenIn((await invite(owner, {})).url);
      const addresses = Array.from({ length: 3 }, newAddress);
      const replies = await Promise.all(addresses.map((email) => join(openBrowser(site), token, { email })));
      const outcomes = replies.map((reply) => (reply.status === 200 ? "joined" : codeOf(reply)));
      expect(outcomes.toSorted()).toEqual(["joined", "token_invalid", "token_invalid"]);
      const rows = await query(
        site.env,
        `select mailbox from people where mailbox in (${addresses.map((a) => `'${a}'`).join()})`,
      );
      expect(rows).toHaveLength(1);
    });

    test("for an address with an account asks to sign in", async () => {
      const ann = await makePerson(site);
      const token = tokenIn((await invite(owner, { email: ann.email })).url);
      expect(codeOf(await join(openBrowser(site), token, {}))).toBe("email_taken");
      expect((await accept(ann, token)).status).toBe(200);
    });

    test("that a removed person made with their API key does not let them in again", async () => {
      const eve = await makePerson(site, { roles: { default: "admin" }, name: "Eve" });
      const scopes = ["admin"];
      const made = await eve.call("POST", "/api/keys", { body: { name: "eve", scopes } });
      const key = made.json<{ secret: string }>().secret;
      const child = await site.call("POST", "/api/keys", { key, body: { name: "of eve's key", scopes } });
      const invited: string[] = [];
      for (const one of [key, child.json<{ secret: string }>().secret]) {
        const reply = await site.call("POST", "/api/invitations", { key: one, body: { role: "admin" } });
        expect(reply.json<object>()).toMatchObject({ inviter: { id: eve.id } });
        invited.push(tokenIn(reply.json<Made>().url));
      }
      expect((await owner.call("DELETE", `/api/members/${eve.id}?keys=revoke`)).status).toBe(204);
      for (const token of invited) expect(codeOf(await accept(eve, token))).toBe("token_invalid");
    });

    test("goes with the key or the person that made it or sent it again", async () => {
      const eve = await makePerson(site, { roles: { default: "admin" } });
      const resend = async (reply: Promise<Reply>) => tokenIn((await reply).json<Made>().url);
      const [first, second, third] = [await invite(owner, {}), await invite(owner, {}), await invite(owner, {})];
      const byEve = await resend(eve.call("POST", `/api/invitations/${first.id}/resend`));
      const made = await owner.call("POST", "/api/keys", { body: { name: "leaked", scopes: ["admin"] } });
      const { id, secret: key } = made.json<{ id: string; secret: string }>();
      const byKey = [
        await resend(site.call("POST", `/api/invitations/${second.id}/resend`, { key })),
        await resend(site.call("POST", "/api/invitations", { key, body: { role: "admin" } })),
      ];
      for (const token of [byEve, ...byKey]) expect((await show(openBrowser(site), token)).status).toBe(200);
      expect((await owner.call("DELETE", `/api/members/${eve.id}`)).status).toBe(204);
      expect((await owner.call("DELETE", `/api/keys/${id}`)).status).toBe(204);
      for (const token of [byEve, ...byKey]) expect(codeOf(await show(openBrowser(site), token))).toBe("token_invalid");
      expect((await show(openBrowser(site), tokenIn(third.url))).status).toBe(200);
    });

    test("is never in the log", async () => {
      const token = tokenIn((await invite(owner, {})).url);
      await show(openBrowser(site), token);
      await accept(await makePerson(site), token);
      const mark = (await site.call("GET", "/api/workspace")).headers.get("x-request-id") ?? "";
      await until("the log", () => site.server.output().includes(mark) || undefined);
      expect(site.server.output()).not.toContain(token);
    });

    test("from a page of another site is refused", async () => {
      const token = tokenIn((await invite(owner, {})).url);
      const body = { name: "x", password, email: newAddress() };
      const path = `/api/auth/invitations/${token}/accept`;
      const reply = await openBrowser(site).call("POST", path, { body, origin: "https://evil.example" });
      expect(codeOf(reply)).toBe("wrong_origin");
    });
  });
}

describe("an invitation with a mail server", () => {
  let site: Site;
  let smtp: SmtpServer;
  let owner: TestPerson;

  beforeAll(async () => {
    smtp = await startSmtp();
    site = await startSite("SQLite", { SMTP_URL: smtp.url });
    owner = await makePerson(site, { roles: { default: "owner" }, name: "Olga Owner" });
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
    await smtp.stop();
  });

  const mailTo = (address: string, place = 0) =>
    until(`a mail to ${address}`, () => smtp.taken.filter(({ to }) => to === address)[place]?.raw);
  const plain = (raw: string) => raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const tokenOf = (raw: string) => /\/app\/invitation#([\w-]{43})/.exec(plain(raw))?.[1] ?? "";

  test("for an address is mailed, and its link is in no answer", async () => {
    const email = newAddress();
    const made = await owner.call("POST", "/api/invitations", { body: { email, role: "viewer" } });
    expect(made.json<Made>().url).toBeNull();
    expect(made.text).not.toContain("#");
    const raw = await mailTo(email);
    expect(plain(raw)).toContain("Olga Owner");
    const browser = openBrowser(site);
    expect((await join(browser, tokenOf(raw), {})).json<{ result: string }>().result).toBe("signed_in");
    const account = (await browser.call("GET", "/api/account")).json<AccountBody>();
    expect(account).toMatchObject({ person: { email, emailVerified: true }, workspaces: [{ role: "viewer" }] });
  });

  test("as a link asks the mailbox first, and answers the same for one that has an account", async () => {
    const { url } = await invite(owner, {});
    const token = tokenIn(url);
    const [fresh, ann] = [newAddress(), await makePerson(site)];
    const replies = [
      await join(openBrowser(site), token, { email: ann.email }),
      await join(openBrowser(site), token, { email: fresh }),
    ];
    for (const reply of replies) {
      expect([reply.status, reply.json<object>()]).toEqual([200, { result: "mailed", token: null }]);
    }
    expect(plain(await mailTo(ann.email))).toContain("already have an account");
    const own = tokenOf(await mailTo(fresh));
    expect(own).not.toBe(token);
    expect((await show(openBrowser(site), own)).json<{ email: string }>().email).toBe(fresh);
    const browser = openBrowser(site);
    expect((await join(browser, own, { email: "other@example.com" })).json<{ result: string }>().result).toBe(
      "signed_in",
    );
    const account = (await browser.call("GET", "/api/account")).json<AccountBody>();
    expect(account).toMatchObject({ person: { email: fresh, emailVerified: true }, workspaces: [{ role: "member" }] });
    // Both are used up.
    expect(codeOf(await show(browser, token))).toBe("token_invalid");
    expect(codeOf(await show(browser, own))).toBe("token_invalid");
  });

  test("that was sent again lets nobody in who had asked with its old link", async () => {
    const { id, url } = await invite(owner, { role: "admin" });
    const email = newAddress();
    expect((await join(openBrowser(site), tokenIn(url), { email })).status).toBe(200);
    const asked = tokenOf(await mailTo(email));
    expect((await show(openBrowser(site), asked)).status).toBe(200);
    expect((await owner.call("POST", `/api/invitations/${id}/resend`)).status).toBe(200);
    expect(codeOf(await show(openBrowser(site), asked))).toBe("token_invalid");
    expect(codeOf(await join(openBrowser(site), asked, {}))).toBe("token_invalid");
    expect(codeOf(await accept(await makePerson(site), asked))).toBe("token_invalid");
  });

  test("and a changed role are told to the person by mail, not what they did themselves", async () => {
    const ann = await makePerson(site, { roles: { default: "viewer" } });
    await owner.call("PATCH", `/api/members/${ann.id}`, { body: { role: "admin" } });
    expect(plain(await mailTo(ann.email))).toContain("is now admin");
    await ann.call("PATCH", `/api/members/${ann.id}`, { body: { role: "viewer" } });
    await owner.call("DELETE", `/api/members/${ann.id}`);
    expect(plain(await mailTo(ann.email, 1))).toContain("no longer a member");
  });
});
