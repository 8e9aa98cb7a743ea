import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson, openBrowser } from "../ground/people.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const password = "violet kettle 42 march";

const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;
const fieldOf = (reply: Reply) => {
  const { field, code } = reply.json<ProblemBody>().errors?.[0] ?? {};
  return [field, code];
};

for (const database of databases) {
  describe(`signing in on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database, { QL_LOG_LEVEL: "trace" });
      await site.tenant("other");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      expect(site.server.output()).not.toContain("violet");
    });

    const signIn = (body: Record<string, unknown>) => ({ body: { password, ...body } });

    test("the right password gives a session that works, until it is ended", async () => {
      const { email, id } = await makePerson(site, {
        password,
        name: "Ann",
        roles: { default: "owner", other: "viewer" },
      });
      const browser = openBrowser(site);
      const reply = await browser.call("POST", "/api/auth/sign-in", signIn({ email }));
      expect([reply.status, reply.json<object>()]).toEqual([200, { result: "signed_in", token: null }]);
      const [session = "", known = ""] = reply.headers.getSetCookie();
      expect(session).toMatch(/^quicklink-session=per_[0-9a-z]{26}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
      expect(known).toMatch(/^quicklink-browser=[\w.~-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/);
      const account = (await browser.call("GET", "/api/account")).json<Account>();
      expect(account.person).toMatchObject({ id, email, name: "Ann", operator: false, hasPassword: true });
      expect(account.session).toMatchObject({ device: "Firefox on Linux", method: "password", current: true });
      expect(account.workspaces.map(({ slug, role }) => [slug, role]).toSorted()).toEqual([
        ["default", "owner"],
        ["other", "viewer"],
      ]);
      expect((await browser.call("GET", "/api/links", { workspace: "other" })).status).toBe(200);
      const kept = browser.cookies.get("quicklink-session") ?? "";
      expect((await browser.call("DELETE", "/api/account/session")).status).toBe(204);
      expect(browser.cookies.has("quicklink-session")).toBe(false);
      browser.cookies.set("quicklink-session", kept);
      expect((await browser.call("GET", "/api/account")).status).toBe(401);
      const rows = await query(
        site.env,
        `select action, after_change from history where subject_id = '${id}' order by id`,
      );
      expect(rows).toEqual([
        { action: "person.sign_in", after_change: '{"method":"password","device":"Firefox on Linux"}' },
        { action: "person.sessions_end", after_change: '{"sessions":1}' },
      ]);
    });

    test("a lasting session has a cookie that outlives the browser", async () => {
      const { email } = await makePerson(site, { password });
      const reply = await openBrowser(site).call("POST", "/api/auth/sign-in", signIn({ email, remember: true }));
      expect(reply.headers.getSetCookie()[0]).toEndWith("; Max-Age=7776000");
    });

    test("no account, a disabled one, one without a password and a wrong password get the same answer", async () => {
      const ann = await makePerson(site, { password });
      const disabled = await makePerson(site, { password });
      await query(site.env, `update people set disabled_at = 1 where id = '${disabled.id}'`);
      const bare = await makePerson(site);
      const tries = [
        { email: ann.email, password: "not the password" },
        { email: disabled.email },
        { email: bare.email },
        { email: `nobody-${ann.email}` },
      ];
      const replies = await Promise.all(
        tries.map((one) => openBrowser(site).call("POST", "/api/auth/sign-in", signIn(one))),
      );
      const shown = replies.map((reply) => {
        const { requestId: _, ...problem } = reply.json<ProblemBody>();
        return { status: reply.status, problem, cookies: reply.headers.getSetCookie() };
      });
      for (const one of shown) expect(one).toEqual(shown[0] as never);
      expect(shown[0]).toMatchObject({ status: 401, problem: { code: "sign_in_failed" }, cookies: [] });
    });

    test("one mailbox has one account, however its address is disguised", async () => {
      const ann = await makePerson(site, { password, email: "Ann.Example@bücher.example" });
      for (const email of [
        "ann.example@bücher.example",
        "ANN.EXAMPLE@BÜCHER.EXAMPLE",
        " Ann.Example@xn--bcher-kva.example ",
        "ａｎｎ.ｅｘａｍｐｌｅ@bücher.example",
        "Ann.Example@bu\u0308cher.example",
        "ann.example@bücher。example",
      ]) {
        const browser = openBrowser(site);
        const reply = await browser.call("POST", "/api/auth/sign-in", signIn({ email }));
        expect([email, reply.status]).toEqual([email, 200]);
        expect((await browser.call("GET", "/api/account")).json<Account>().person.id).toBe(ann.id);
      }
      // Look-alikes that are other letters are other mailboxes.
      for (const email of ["аnn.example@bücher.example", "ann.example@bucher.example", "annexample@bücher.example"]) {
        expect([email, (await openBrowser(site).call("POST", "/api/auth/sign-in", signIn({ email }))).status]).toEqual([
          email,
          401,
        ]);
      }
    });

    test("bad input names its field, and a password of a megabyte is not hashed", async () => {
      const { email } = await makePerson(site, { password });
      const browser = openBrowser(site);
      const call = (body: unknown) => browser.call("POST", "/api/auth/sign-in", { body });
      for (const [body, field, code] of [
        [{ email, password: "x".repeat(1_025) }, "password", "too_long"],
        [{ email, password: "ü".repeat(600) }, "password", "too_long"],
        [{ email, password: "x".repeat(1_000_000) }, "password", "too_long"],
        [{ email: "ann", password }, "email", "bad_address"],
        [{ email: `${"a".repeat(400)}@example.com`, password }, "email", "too_long"],
        [{ email: "a@b@example.com", password }, "email", "bad_address"],
        [{ email: "a\u0000b@example.com", password }, "email", "bad_address"],
        [{ email, password: 7 }, "password", "wrong_type"],
        [{ email }, "password", "required"],
        [{ email, password, admin: true }, "admin", "unknown_field"],
      ] as const) {
        const reply = await call(body);
        expect([reply.status, ...fieldOf(reply)]).toEqual([422, field, code]);
      }
      expect((await call({ email, password })).status).toBe(200);
    });

    test("another site can neither sign a visitor in nor send a form", async () => {
      const { email } = await makePerson(site, { password });
      const browser = openBrowser(site);
      for (const origin of ["https://evil.example", "null", null, site.server.url.replace("http", "https")]) {
        const reply = await browser.call("POST", "/api/auth/sign-in", { ...signIn({ email }), origin });
        expect([origin, reply.status, codeOf(reply)]).toEqual([origin, 403, "wrong_origin"]);
      }
      const byAddress = { ...signIn({ email }), origin: site.server.url };
      expect((await openBrowser(site).call("POST", "/api/auth/sign-in", byAddress)).status).toBe(200);
      const form = await browser.call("POST", "/api/auth/sign-in", {
        text: `email=${email}&password=${password}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      expect(form.status).toBe(415);
      expect(browser.cookies.size).toBe(0);
    });

    test("a session that was in the browser before ends when somebody signs in", async () => {
      const mallory = await makePerson(site);
      const ann = await makePerson(site, { password });
      const planted = mallory.cookies.get("quicklink-session") ?? "";
      const browser = openBrowser(site);
      browser.cookies.set("quicklink-session", planted);
      expect((await browser.call("POST", "/api/auth/sign-in", signIn({ email: ann.email }))).status).toBe(200);
      expect(browser.cookies.get("quicklink-session")).not.toBe(planted);
      expect((await browser.call("GET", "/api/account")).json<Account>().person.id).toBe(ann.id);
      expect((await mallory.call("GET", "/api/account")).status).toBe(401);
    });

    test("a tampered cookie is no session", async () => {
      const ann = await makePerson(site);
      const bob = await makePerson(site);
      const [id, secret] = (ann.cookies.get("quicklink-session") ?? "").split(".");
      for (const value of [
        `${bob.id}.${secret}`,
        `${id}.${secret?.slice(0, -1)}${secret?.endsWith("A") ? "B" : "A"}`,
        `${id}.`,
        `${id}`,
        `${id}.${secret}x`,
        `${String(id).toUpperCase()}.${secret}`,
        `${id}.${"'".repeat(43)}`,
      ]) {
        const browser = openBrowser(site);
        browser.cookies.set("quicklink-session", value);
        expect([value, (await browser.call("GET", "/api/account")).status]).toEqual([value, 401]);
      }
    });

    test("a person lists and ends their own sessions, and nobody else's", async () => {
      const ann = await makePerson(site, { password });
      const bob = await makePerson(site);
      const phone = openBrowser(site);
      const headers = {
        "user-agent":
          "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
      };
      await phone.call("POST", "/api/auth/sign-in", { ...signIn({ email: ann.email }), headers });
      const third = openBrowser(site);
      await third.call("POST", "/api/auth/sign-in", signIn({ email: ann.email }));
      const { items } = (await ann.call("GET", "/api/account/sessions")).json<{ items: Account["session"][] }>();
      expect(items.map(({ device, current }) => [device, current])).toEqual([
        ["Firefox on Linux", false],
        ["Safari on iOS", false],
        ["Firefox on Linux", true],
      ]);
      const onPhone = String(items[1]?.id);
      expect((await bob.call("DELETE", `/api/account/sessions/${onPhone}`)).status).toBe(404);
      expect((await phone.call("GET", "/api/account")).status).toBe(200);
      expect((await ann.call("DELETE", `/api/account/sessions/${onPhone}`)).status).toBe(204);
      expect((await ann.call("DELETE", `/api/account/sessions/${onPhone}`)).status).toBe(404);
      expect((await phone.call("GET", "/api/account")).status).toBe(401);
      expect((await ann.call("DELETE", "/api/account/sessions")).json<object>()).toEqual({ ended: 1 });
      expect((await third.call("GET", "/api/account")).status).toBe(401);
      expect((await ann.call("GET", "/api/account")).status).toBe(200);
      expect((await bob.call("GET", "/api/account")).status).toBe(200);
    });

    test("a new password needs the old one, and ends all other sessions", async () => {
      const ann = await makePerson(site, { password, email: "ann-password@example.com", name: "Ann Marigold" });
      const other = openBrowser(site);
      await other.call("POST", "/api/auth/sign-in", signIn({ email: ann.email }));
      const change = (body: Record<string, unknown>) => ann.call("POST", "/api/account/password", { body });
      const next = "slate harbour 77 pine";
      expect(codeOf(await change({ password: next }))).toBe("proof_required");
      expect(codeOf(await change({ password: next, current: "wrong one here" }))).toBe("wrong_password");
      for (const [bad, code] of [
        ["short", "too_short"],
        ["ｓｈｏｒｔ", "too_short"],
        ["password123", "common_password"],
        ["P@ssw0rd2024!", "common_password"],
        ["qwertyuiop", "common_password"],
        ["1234567890", "common_password"],
        ["aaaaaaaaaaaa", "common_password"],
        ["ann-password@example.com", "own_data"],
        ["Ann-Password99", "own_data"],
        ["AnnMarigold1", "own_data"],
        ["x".repeat(1_025), "too_long"],
      ] as const) {
        expect([bad, ...fieldOf(await change({ current: password, password: bad }))]).toEqual([bad, "password", code]);
      }
      expect((await change({ current: password, password: next })).status).toBe(204);
      expect((await other.call("GET", "/api/account")).status).toBe(401);
      expect((await ann.call("GET", "/api/account")).status).toBe(200);
      const again = openBrowser(site);
      expect((await again.call("POST", "/api/auth/sign-in", signIn({ email: ann.email }))).status).toBe(401);
      const reply = await again.call("POST", "/api/auth/sign-in", { body: { email: ann.email, password: next } });
      expect(reply.status).toBe(200);
    });

    test("without a mail server an address changes at once, resets come from the operator, and nothing is logged", async () => {
      const ann = await makePerson(site, { password });
      const bob = await makePerson(site);
      const change = (body: Record<string, unknown>) => ann.call("POST", "/api/account/email", { body });
      expect(codeOf(await change({ email: "new@example.com" }))).toBe("proof_required");
      expect(codeOf(await change({ email: bob.email.toUpperCase(), password }))).toBe("email_taken");
      const email = `changed-${ann.email}`;
      expect((await change({ email, password })).status).toBe(204);
      expect((await ann.call("GET", "/api/account")).json<Account>().person).toMatchObject({
        email,
        emailVerified: false,
      });
      expect(codeOf(await ann.call("POST", "/api/account/verification"))).toBe("not_set_up");
      const browser = openBrowser(site);
      expect(codeOf(await browser.call("POST", "/api/auth/reset", { body: { email } }))).toBe("not_set_up");
      expect(codeOf(await browser.call("POST", "/api/auth/sign-up", { body: { email } }))).toBe("sign_up_closed");
      expect(await query(site.env, "select id from emails")).toEqual([]);
    });

    test("a person can change their name, and nothing else, that way", async () => {
      const ann = await makePerson(site, { name: "Ann" });
      const reply = await ann.call("PATCH", "/api/account", { body: { name: "Ann B. <b>" } });
      expect([reply.status, reply.json<Account["person"]>().name]).toEqual([200, "Ann B. <b>"]);
      expect(fieldOf(await ann.call("PATCH", "/api/account", { body: { operator: true } }))[1]).toBe("required");
      expect((await ann.call("PATCH", "/api/account", { body: { name: "x\u0000" } })).status).toBe(422);
    });

    test("calls of a person about their account are limited", async () => {
      const ann = await makePerson(site);
      const replies = await Promise.all(Array.from({ length: 310 }, () => ann.call("GET", "/api/account")));
      const granted = replies.filter(({ status }) => status === 200);
      expect(granted.length).toBe(300);
      expect(replies.filter(({ status }) => status === 429).length).toBe(10);
      expect(granted[0]?.headers.get("ratelimit-policy")).toBe('"person";q=300;w=60');
    });
  });
}

interface Account {
  person: { id: string; email: string; name: string };
  session: { id: string; device: string; current: boolean };
  workspaces: { slug: string; role: string }[];
}
