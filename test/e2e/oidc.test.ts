/** The company's sign-in against a real OpenID provider. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OidcAccount, type OidcManners, type OidcServer, startOidc } from "../ground/oidc.ts";
import { type Browser, makePerson, openBrowser } from "../ground/people.ts";
import { freePort } from "../ground/ports.ts";
import { until } from "../ground/process.ts";
import { cli } from "../ground/server.ts";
import { type DatabaseName, databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const codeOf = (reply: Reply) => [reply.status, reply.json<ProblemBody>().code];
const password = "correct horse battery";

/** A server with a provider that knows it. */
async function startBoth(database: DatabaseName, more: Record<string, string> = {}, running = true) {
  const port = freePort();
  const provider = await startOidc(`http://localhost:${port}/api/auth/oidc/callback`);
  if (!running) await provider.stop();
  const site = await startSite(database, {
    ...{ PORT: String(port), QL_OIDC_ISSUER: provider.issuer, QL_OIDC_CLIENT_ID: provider.clientId },
    ...{ QL_OIDC_CLIENT_SECRET: provider.clientSecret, QL_OIDC_DOMAINS: "example.com,sub.example.org" },
    ...{ QL_OIDC_NAME: "Example Inc.", QL_OIDC_SIGN_UP: "on", ...more },
  });
  return { site, provider };
}

for (const database of databases) {
  describe(`the company's sign-in on ${database}`, () => {
    let site: Site;
    let provider: OidcServer;

    beforeAll(async () => {
      ({ site, provider } = await startBoth(database));
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await provider.stop();
    });

    let last = 0;
    const account = (more: Partial<OidcAccount> = {}): OidcAccount => {
      const sub = `sub-${++last}`;
      return { sub, email: `${sub}@example.com`, email_verified: true, name: "Ann Example", ...more };
    };

    async function begin(browser: Browser, body: object = {}): Promise<string> {
      const reply = await browser.call("POST", "/api/auth/oidc/begin", { body });
      expect([reply.status, reply.text.slice(0, 200)]).toEqual([200, expect.stringContaining(provider.issuer)]);
      return reply.json<{ url: string }>().url;
    }

    const comeBack = (browser: Browser, callback: string) =>
      browser.call("GET", new URL(callback).pathname + new URL(callback).search, { origin: null });

    async function signIn(browser: Browser, who: OidcAccount, body?: object): Promise<Reply> {
      return await comeBack(browser, await provider.signIn(await begin(browser, body), who));
    }

    const accountOf = async (browser: Browser) =>
      (await browser.call("GET", "/api/account")).json<{ person: { id: string; email: string; name: string } }>()
        .person;

    test("somebody new gets an account, comes back to it, and goes where they wanted to", async () => {
      const who = account();
      const browser = openBrowser(site);
      const reply = await signIn(browser, who, { returnTo: "/app/links?tag=a", remember: true });
      expect([reply.status, reply.headers.get("location")]).toEqual([303, "/app/links?tag=a"]);
      expect(reply.headers.getSetCookie().find((set) => set.startsWith("quicklink-session="))).toContain("Max-Age=");
      expect(browser.cookies.has("quicklink-oidc")).toBe(false);
      const person = await accountOf(browser);
      expect(person).toMatchObject({ email: who.email, name: "Ann Example" });
      const again = openBrowser(site);
      expect((await signIn(again, { ...who, email: "renamed@example.com" })).status).toBe(303);
      expect((await accountOf(again)).id).toBe(person.id);
    });

    test("the options name the company's button", async () => {
      const options = await openBrowser(site).call("GET", "/api/auth/options");
      expect(options.json()).toMatchObject({ company: { name: "Example Inc." } });
    });

    test("the request has a state, a nonce and PKCE, and the exact address to come back to", async () => {
      const url = new URL(await begin(openBrowser(site), { email: "ann@example.com" }));
      const sent = Object.fromEntries(url.searchParams);
      expect(sent).toMatchObject({
        ...{ response_type: "code", code_challenge_method: "S256", login_hint: "ann@example.com" },
        redirect_uri: `http://localhost:${site.server.port}/api/auth/oidc/callback`,
      });
      for (const name of ["state", "nonce", "code_challenge"]) expect(sent[name]).toMatch(/^[\w-]{43}$/);
    });

    test("passwords and resets of the company's people are refused by their domain alone", async () => {
      const ann = await makePerson(site, { email: "with.password@example.com", password });
      const try_ = (email: string, with_ = password) =>
        openBrowser(site).call("POST", "/api/auth/sign-in", { body: { email, password: with_ } });
      const refused = await try_(ann.email);
      expect(codeOf(refused)).toEqual([403, "company_sign_in"]);
      const unknown = await try_("nobody.at.all@EXAMPLE.com", "another password");
      expect(unknown.json<ProblemBody>().detail).toBe(refused.json<ProblemBody>().detail);
      const other = await makePerson(site, { email: "someone@other.example", password });
      expect((await try_(other.email)).status).toBe(200);
      // Only the domains that are named.
      const sub = await makePerson(site, { email: "someone@not.example.com", password });
      expect((await try_(sub.email)).status).toBe(200);
    });

    test("nobody takes their account out of the company by changing its address", async () => {
      const browser = openBrowser(site);
      expect((await signIn(browser, account())).status).toBe(303);
      const change = (email: string) => browser.call("POST", "/api/account/email", { body: { email } });
      expect(codeOf(await change("private@other.example"))).toEqual([403, "company_sign_in"]);
      expect((await change("married.name@sub.example.org")).status).toBe(204);
      expect(await accountOf(browser)).toMatchObject({ email: "married.name@sub.example.org" });
    });

    test("an account whose mailbox is verified is linked and keeps its password", async () => {
      const who = account();
      const person = await makePerson(site, { email: who.email ?? "", password, roles: { default: "admin" } });
      const browser = openBrowser(site);
      expect((await signIn(browser, who)).status).toBe(303);
      expect((await accountOf(browser)).id).toBe(person.id);
      expect((await person.call("GET", "/api/account")).status).toBe(200);
      const rows = await query(site.env, `select password_hash from people where id = '${person.id}'`);
      expect((rows[0] as { password_hash: string }).password_hash).toStartWith("$argon2id");
    });

    test("whoever opened an account with somebody else's address is out of it once its owner comes", async () => {
      const who = account();
      const squatter = await makePerson(site, { email: who.email ?? "", password, verified: false });
      expect((await squatter.call("GET", "/api/account")).status).toBe(200);
      const owner = openBrowser(site);
      expect((await signIn(owner, who)).status).toBe(303);
      expect((await accountOf(owner)).id).toBe(squatter.id);
      expect((await squatter.call("GET", "/api/account")).status).toBe(401);
      const rows = await query(site.env, `select password_hash from people where id = '${squatter.id}'`);
      expect(rows).toEqual([{ password_hash: null }]);
    });

    test("an address that the company gave to somebody else does not open the account of the one before", async () => {
      const former = account();
      expect((await signIn(openBrowser(site), former)).status).toBe(303);
      const next = account({ email: former.email ?? "" });
      expect(codeOf(await signIn(openBrowser(site), next))).toEqual([403, "oidc_refused"]);
    });

    const lies: [string, OidcManners][] = [
      ["another issuer", { claims: { iss: "https://evil.example" } }],
      ["another audience", { claims: { aud: "another client" } }],
      ["several audiences without saying which is meant", { claims: { aud: ["quicklink", "another"] } }],
      ["another nonce", { claims: { nonce: "another" } }],
      ["no nonce", { claims: { nonce: undefined } }],
      ["an end in the past", { claims: { exp: 1 } }],
      ["another person", { claims: { sub: "somebody-else" } }],
      ["no subject", { claims: { sub: undefined } }],
      ["the signature of another key", { foreignKey: true }],
    ];
    test.each(lies)("an ID token with %s is refused", async (_, manners) => {
      const browser = openBrowser(site);
      const callback = await provider.signIn(await begin(browser), account());
      provider.manners = manners;
      const reply = await comeBack(browser, callback);
      provider.manners = {};
      expect(codeOf(reply)).toEqual([403, "oidc_refused"]);
      expect(browser.cookies.has("quicklink-session")).toBe(false);
    });

    test("an address that the provider did not verify, or that is not of the company, is refused", async () => {
      const strange: Partial<OidcAccount>[] = [
        { email_verified: false },
        { email: "ann@other.example" },
        { email: "ann@evil.example.com" },
        { email: "ann@example.com.evil.example" },
        { email: "ann@example.com, eve@evil.example" },
        { email: "ann@sub.example.org\u0000@evil.example" },
        { email: "" },
      ];
      for (const more of strange) {
        const reply = await signIn(openBrowser(site), account(more));
        expect([more, ...codeOf(reply)]).toEqual([more, 403, "oidc_refused"]);
      }
      const { email: _, ...without } = account();
      expect(codeOf(await signIn(openBrowser(site), without))).toEqual([403, "oidc_refused"]);
      expect((await signIn(openBrowser(site), account({ email: "Ann@Sub.Example.ORG" }))).status).toBe(303);
    });

    test("what comes back works in the browser that began, and once", async () => {
      const [ann, eve] = [openBrowser(site), openBrowser(site)];
      const callback = await provider.signIn(await begin(eve), account());
      await begin(ann);
      const exchanges = provider.exchanges();
      // Eve sends her own callback to Ann, who would be signed in as Eve.
      expect(codeOf(await comeBack(ann, callback))).toEqual([403, "oidc_refused"]);
      expect(codeOf(await comeBack(openBrowser(site), callback))).toEqual([403, "oidc_refused"]);
      expect(provider.exchanges()).toBe(exchanges);

      const bob = openBrowser(site);
      const own = await provider.signIn(await begin(bob), account());
      const cookie = bob.cookies.get("quicklink-oidc") ?? "";
      expect((await comeBack(bob, own)).status).toBe(303);
      bob.cookies.set("quicklink-oidc", cookie);
      expect(codeOf(await comeBack(bob, own))).toEqual([403, "oidc_refused"]);
      expect(provider.exchanges()).toBe(exchanges + 1);
    });

    test("a browser that is refused comes to the sign-in page, which says why", async () => {
      const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
      const comeAsPage = (browser: Browser, callback: string) =>
        browser.call("GET", new URL(callback).pathname + new URL(callback).search, { origin: null, headers });
      const whyOf = (reply: Reply) => [reply.status, reply.headers.get("location")];
      const own = await provider.signIn(await begin(openBrowser(site)), account());
      expect(whyOf(await comeAsPage(openBrowser(site), own))).toEqual([303, "/app/sign-in?company=foreign"]);
      const unsure = openBrowser(site);
      const unverified = await provider.signIn(await begin(unsure), account({ email_verified: false }));
      expect(whyOf(await comeAsPage(unsure, unverified))).toEqual([303, "/app/sign-in?company=unverified"]);
      const stranger = openBrowser(site);
      const outside = await provider.signIn(await begin(stranger), account({ email: "ann@elsewhere.example" }));
      expect(whyOf(await comeAsPage(stranger, outside))).toEqual([303, "/app/sign-in?company=outside"]);
      const ann = openBrowser(site);
      expect((await comeAsPage(ann, await provider.signIn(await begin(ann), account()))).headers.get("location")).toBe(
        "/app/",
      );
    });

    test("a code that was used before is refused by the provider, in a new sign-in too", async () => {
      const browser = openBrowser(site);
      const used = await provider.signIn(await begin(browser), account());
      expect((await comeBack(browser, used)).status).toBe(303);
      const callback = new URL(await provider.signIn(await begin(browser), account()));
      callback.searchParams.set("code", new URL(used).searchParams.get("code") ?? "");
      expect(codeOf(await comeBack(browser, callback.href))).toEqual([403, "oidc_refused"]);
    });

    test("a callback that was tampered with is refused", async () => {
      const changes: [string, string | null][] = [
        ["state", null],
        ["state", "x".repeat(43)],
        ["state", ""],
        ["code", null],
        ["code", "another"],
        ["iss", "https://evil.example"],
        ["iss", null],
        ["error", "access_denied"],
      ];
      for (const [name, value] of changes) {
        const browser = openBrowser(site);
        const callback = new URL(await provider.signIn(await begin(browser), account()));
        if (value === null) callback.searchParams.delete(name);
        else callback.searchParams.set(name, value);
        const reply = await comeBack(browser, callback.href);
        expect([name, value, ...codeOf(reply)]).toEqual([name, value, 403, "oidc_refused"]);
      }
      expect(codeOf(await openBrowser(site).call("GET", "/api/auth/oidc/callback"))).toEqual([403, "oidc_refused"]);
    });

    test("nobody is sent to another site afterwards", async () => {
      for (const returnTo of [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "app",
        "/a\r\nb",
        "/\t/evil",
      ]) {
        const reply = await openBrowser(site).call("POST", "/api/auth/oidc/begin", { body: { returnTo } });
        expect([returnTo, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([returnTo, "returnTo"]);
      }
      const foreign = await openBrowser(site).call("POST", "/api/auth/oidc/begin", {
        body: {},
        origin: "https://evil.example",
      });
      expect(codeOf(foreign)).toEqual([403, "wrong_origin"]);
    });

    test("a person who was disabled is not let in", async () => {
      const who = account();
      const browser = openBrowser(site);
      expect((await signIn(browser, who)).status).toBe(303);
      const { id } = await accountOf(browser);
      await query(site.env, `update people set disabled_at = 1 where id = '${id}'`);
      expect(codeOf(await signIn(openBrowser(site), who))).toEqual([401, "sign_in_failed"]);
    });

    test("nobody adds a passkey that would outlive their place in the company", async () => {
      const browser = openBrowser(site);
      expect((await signIn(browser, account())).status).toBe(303);
      const passkey = await browser.call("POST", "/api/account/passkeys/begin", { body: {} });
      expect(codeOf(passkey)).toEqual([403, "company_sign_in"]);
    });

    test("a session that the browser had before ends", async () => {
      const eve = await makePerson(site, { email: "eve@other.example" });
      const fixed = eve.cookies.get("quicklink-session");
      const browser = openBrowser(site);
      if (fixed !== undefined) browser.cookies.set("quicklink-session", fixed);
      expect((await signIn(browser, account())).status).toBe(303);
      expect(browser.cookies.get("quicklink-session")).not.toBe(fixed);
      expect((await eve.call("GET", "/api/account")).status).toBe(401);
    });

    test("what is refused is a row for the operator, of the person if there is one, and of nobody else", async () => {
      const refusals = async () => {
        const rows = "select subject_kind, subject_id, after_change from history";
        const found = await query(site.env, `${rows} where action = 'person.sign_in_refused' order by id`);
        return found.map((row) => Object.values(row as Record<string, string>).join(" "));
      };
      const known = await makePerson(site, { email: "known@example.com" });
      const before = (await refusals()).length;
      await signIn(openBrowser(site), account({ email: known.email, email_verified: false }));
      await signIn(openBrowser(site), account({ email: "unknown@elsewhere.example" }));
      // Nothing was begun: anybody could cause it.
      await openBrowser(site).call("GET", "/api/auth/oidc/callback?state=x&code=y");
      await comeBack(openBrowser(site), await provider.signIn(await begin(openBrowser(site)), account()));
      const rows = await until("three rows", async () => {
        const all = (await refusals()).slice(before);
        return all.length >= 3 ? all : undefined;
      });
      expect(rows.toSorted()).toEqual([
        `person ${known.id} {"method":"oidc","reason":"unverified"}`,
        `sign-in oidc {"method":"oidc","reason":"browser"}`,
        `sign-in oidc {"method":"oidc","reason":"domain"}`,
      ]);
    });

    test("doctor says whether the provider can be used", async () => {
      const { issuer, clientId } = provider;
      const env = { ...site.env, QL_OIDC_ISSUER: issuer, QL_OIDC_CLIENT_ID: clientId, QL_OIDC_DOMAINS: "example.com" };
      const examined = async () =>
        (await cli(["doctor"], { env })).stdout.match(/.*company sign-in.*(?:\n .*)*/)?.[0] ?? "";
      expect(await examined()).toContain("answers, and has keys");
      provider.manners = { answers: 500 };
      expect(await examined()).toContain("answered with 500");
      provider.manners = {};
    });

    test("while the provider fails, the answer is a 503, and everything else goes on", async () => {
      const waiting: [Browser, string][] = [];
      for (let i = 0; i < 2; i++) {
        const browser = openBrowser(site);
        waiting.push([browser, await provider.signIn(await begin(browser), account())]);
      }
      for (const [i, manners] of [{ answers: 500 }, { answers: "never" as const }].entries()) {
        const [browser, callback] = waiting[i] ?? [openBrowser(site), ""];
        provider.manners = manners;
        const reply = await comeBack(browser, callback);
        expect([...codeOf(reply), reply.headers.get("retry-after")]).toEqual([503, "unavailable", "10"]);
      }
      provider.manners = {};
      expect((await signIn(openBrowser(site), account())).status).toBe(303);
    }, 60_000);

    test("nothing that signs in is logged or stored", async () => {
      const browser = openBrowser(site);
      const url = await begin(browser);
      const cookie = browser.cookies.get("quicklink-oidc") ?? "";
      const callback = await provider.signIn(url, account());
      await comeBack(browser, callback);
      const [params, sent] = [new URL(callback).searchParams, new URL(url).searchParams];
      const secrets = [params.get("code"), params.get("state"), sent.get("nonce"), cookie, provider.clientSecret];
      const tables = await Promise.all(
        ["history", "person_tokens", "identities"].map((table) => query(site.env, `select * from ${table}`)),
      );
      const kept = JSON.stringify(tables) + site.server.output();
      expect(secrets.filter((secret) => secret === null || secret === "" || kept.includes(secret))).toEqual([]);
    });
  });
}

test("a provider that is down when the server starts is used once it is there", async () => {
  const { site, provider } = await startBoth("SQLite", {}, false);
  try {
    const begin = () => openBrowser(site).call("POST", "/api/auth/oidc/begin", { body: {} });
    expect(codeOf(await begin())).toEqual([503, "unavailable"]);
    expect(codeOf(await begin())).toEqual([503, "unavailable"]);
    const lines = site.server.output().match(/the OpenID provider does not answer/g) ?? [];
    expect(lines.length).toBe(1);
    await provider.restart();
    expect((await begin()).status).toBe(200);
  } finally {
    await site.server.stop();
    await provider.stop();
  }
});

test("a provider that calls itself otherwise is not trusted", async () => {
  const provider = await startOidc("http://localhost:1/callback");
  const site = await startSite("SQLite", {
    ...{ QL_OIDC_ISSUER: provider.issuer.replace("127.0.0.1", "localhost"), QL_OIDC_CLIENT_ID: "quicklink" },
    ...{ QL_OIDC_DOMAINS: "example.com" },
  });
  try {
    const reply = await openBrowser(site).call("POST", "/api/auth/oidc/begin", { body: {} });
    expect(codeOf(reply)).toEqual([503, "unavailable"]);
    await site.server.waitForOutput(/issuer/);
  } finally {
    await site.server.stop();
    await provider.stop();
  }
});

test("without sign-up only invited people get an account; for all people everybody must come this way", async () => {
  const { site, provider } = await startBoth("SQLite", { QL_OIDC_SIGN_UP: "off", QL_OIDC_DOMAINS: "all" });
  try {
    const who = { sub: "carl", email: "carl@anywhere.example", email_verified: true };
    const signIn = async () => {
      const browser = openBrowser(site);
      const { url } = (await browser.call("POST", "/api/auth/oidc/begin", { body: {} })).json<{ url: string }>();
      const callback = new URL(await provider.signIn(url, who));
      return await browser.call("GET", callback.pathname + callback.search);
    };
    expect(codeOf(await signIn())).toEqual([403, "oidc_refused"]);
    await query(
      site.env,
      `insert into invitations (id, tenant_id, hash, email, mailbox, role, created_at, expires_at)
       select 'inv_1', id, 'h', '${who.email}', '${who.email}', 'member', 1, 9000000000000 from tenants`,
    );
    expect((await signIn()).status).toBe(303);
    const body = { email: "anybody@elsewhere.example", password };
    const refused = await openBrowser(site).call("POST", "/api/auth/sign-in", { body });
    expect(codeOf(refused)).toEqual([403, "company_sign_in"]);
  } finally {
    await site.server.stop();
    await provider.stop();
  }
});

test("without a provider there is no such sign-in", async () => {
  const site = await startSite("SQLite");
  try {
    const browser = openBrowser(site);
    expect((await browser.call("GET", "/api/auth/options")).json()).toMatchObject({ company: null });
    expect(codeOf(await browser.call("POST", "/api/auth/oidc/begin", { body: {} }))).toEqual([501, "not_set_up"]);
    expect(codeOf(await browser.call("GET", "/api/auth/oidc/callback?code=a&state=b"))).toEqual([501, "not_set_up"]);
  } finally {
    await site.server.stop();
  }
});
