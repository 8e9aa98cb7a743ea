/** The first person of an installation, and accounts on the command line. */
import { describe, expect, test } from "bun:test";
import { makePerson, openBrowser } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { serveOnTerminal } from "../ground/terminal.ts";
import { databases, must, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const password = "violet kettle 42 march";
const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;
const tokenIn = (text: string) => /\/app\/\w+#([\w-]{43})/.exec(text)?.[1] ?? "";
const first = (token: string, more: object = {}) => ({
  body: { token, email: "ann@example.com", name: "Ann", password, ...more },
});

describe.each([...databases])("on %s", (database) => {
  async function withSite(work: (site: Site) => Promise<void>): Promise<void> {
    const site = await startSite(database, { QL_LOG_LEVEL: "info" });
    try {
      await work(site);
    } finally {
      expect(await site.server.stop()).toBe(0);
      expect(site.server.output()).not.toMatch(/app\/|violet/);
    }
  }

  test("the first person becomes operator and owner of default, signed in; then the door is closed", async () => {
    await withSite(async (site) => {
      await until("the log", () => site.server.output().includes("quicklink setup") || undefined);
      const browser = openBrowser(site);
      const options = async () => (await browser.call("GET", "/api/auth/options")).json<object>();
      expect(await options()).toMatchObject({ setUp: true, signUp: "invitation", mail: false });
      const token = tokenIn(must(await site.cli("setup")));
      const other = tokenIn(must(await site.cli("setup")));
      for (const wrong of [
        `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
        "",
        "x".repeat(43),
        token.toLowerCase(),
      ]) {
        expect([wrong, codeOf(await browser.call("POST", "/api/auth/setup", first(wrong)))]).toEqual([
          wrong,
          "token_invalid",
        ]);
      }
      for (const [more, code] of [
        [{ password: "short" }, "too_short"],
        [{ password: "ann@example.com" }, "own_data"],
        [{ email: "ann" }, "bad_address"],
        [{ name: " " }, "blank"],
      ] as const) {
        const reply = await browser.call("POST", "/api/auth/setup", first(token, more));
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.code]).toEqual([422, code]);
      }
      expect(
        (await browser.call("POST", "/api/auth/setup", { ...first(token), origin: "https://evil.example" })).status,
      ).toBe(403);
      expect((await browser.call("POST", "/api/auth/setup", first(token))).status).toBe(200);
      const account = (await browser.call("GET", "/api/account")).json<Account>();
      expect(account.person).toMatchObject({ email: "ann@example.com", operator: true, emailVerified: false });
      expect(account.workspaces).toMatchObject([{ slug: "default", role: "owner" }]);
      expect((await browser.call("GET", "/api/keys")).status).toBe(200);
      expect(await options()).toMatchObject({ setUp: false });
      for (const used of [token, other]) {
        const reply = await openBrowser(site).call(
          "POST",
          "/api/auth/setup",
          first(used, { email: "bob@example.com" }),
        );
        expect(codeOf(reply)).toBe("set_up_already");
      }
      const closed = await site.cli("setup");
      expect([closed.code, closed.stderr]).toEqual([1, expect.stringContaining("set up already")]);
    });
  }, 60_000);

  test("of requests at the same time, with the same or other tokens, one gets in", async () => {
    await withSite(async (site) => {
      const tokens: string[] = [];
      for (let i = 0; i < 3; i++) tokens.push(tokenIn(must(await site.cli("setup"))));
      const replies = await Promise.all(
        [...tokens, ...tokens].map((token, i) =>
          openBrowser(site).call("POST", "/api/auth/setup", first(token, { email: `ann${i}@example.com` })),
        ),
      );
      const statuses = replies.map(({ status }) => status).toSorted();
      expect(statuses[0]).toBe(200);
      for (const status of statuses.slice(1)) expect([409, 410, 503]).toContain(status);
      expect(await query(site.env, "select operator from people")).toHaveLength(1);
      expect(await query(site.env, "select role from members")).toHaveLength(1);
    });
  }, 60_000);

  test("an expired token is refused, and a new one can be had", async () => {
    await withSite(async (site) => {
      const token = tokenIn(must(await site.cli("setup")));
      await query(site.env, "update person_tokens set expires_at = created_at");
      expect(codeOf(await openBrowser(site).call("POST", "/api/auth/setup", first(token)))).toBe("token_invalid");
      const next = tokenIn(must(await site.cli("setup")));
      expect((await openBrowser(site).call("POST", "/api/auth/setup", first(next))).status).toBe(200);
    });
  }, 60_000);

  test("the command line creates, lists, disables and resets accounts, and a running server sees it", async () => {
    await withSite(async (site) => {
      const made = JSON.parse(
        must(
          await site.cli("user", "create", "Bob@Example.com", "--workspace", "default", "--role", "admin", "--json"),
        ),
      ) as { id: string; link: string };
      const browser = openBrowser(site);
      const choose = { body: { token: tokenIn(made.link), password } };
      const chosen = await browser.call("POST", "/api/auth/reset/complete", choose);
      expect([chosen.status, chosen.json<object>()]).toEqual([200, { result: "signed_in", token: null }]);
      expect(codeOf(await openBrowser(site).call("POST", "/api/auth/reset/complete", choose))).toBe("token_invalid");
      const account = (await browser.call("GET", "/api/account")).json<Account>();
      expect(account).toMatchObject({
        person: { id: made.id, email: "Bob@example.com", name: "Bob", operator: false, emailVerified: false },
        workspaces: [{ slug: "default", role: "admin" }],
      });
      expect((await site.cli("user", "create", "ｂｏｂ@example.com")).stderr).toContain("already has an account");
      const listed = JSON.parse(must(await site.cli("user", "list", "--json"))) as { id: string }[];
      expect(listed.map(({ id }) => id)).toEqual([made.id]);
      expect(must(await site.cli("user", "sessions", "BOB@example.com"))).toContain("Firefox on Linux");

      const ended = (status: number) =>
        until(`status ${status}`, async () =>
          (await browser.call("GET", "/api/account")).status === status ? true : undefined,
        );
      must(await site.cli("user", "disable", made.id));
      await ended(401);
      expect(
        (await browser.call("POST", "/api/auth/sign-in", { body: { email: "bob@example.com", password } })).status,
      ).toBe(401);
      expect((await site.cli("user", "reset-password", made.id)).stderr).toContain("disabled");
      must(await site.cli("user", "enable", "bob@example.com"));
      const again = () => browser.call("POST", "/api/auth/sign-in", { body: { email: "bob@example.com", password } });
      await until("the account to be enabled", async () => (await again()).status === 200 || undefined);
      expect(must(await site.cli("user", "sessions", made.id, "--end"))).toContain("Ended");
      await ended(401);

      expect((await again()).status).toBe(200);
      const link = tokenIn(must(await site.cli("user", "reset-password", "bob@example.com")));
      const next = "slate harbour 77 pine";
      const elsewhere = openBrowser(site);
      expect(
        (await elsewhere.call("POST", "/api/auth/reset/complete", { body: { token: link, password: next } })).status,
      ).toBe(200);
      await ended(401);
      expect((await elsewhere.call("GET", "/api/account")).status).toBe(200);

      expect(must(await site.cli("user", "reset-2fa", made.id))).toContain("no second factor");
      await query(site.env, `update people set totp = 'x', totp_step = 7 where id = '${made.id}'`);
      expect(must(await site.cli("user", "reset-2fa", made.id))).toContain("Removed");
      expect(await query(site.env, "select totp, totp_step from people")).toEqual([{ totp: null, totp_step: null }]);
      expect((await site.cli("user", "disable", "nobody@example.com")).stderr).toContain("no account");
      const actions = (await query(
        site.env,
        "select action from history where actor_kind = 'command' and action like 'person.%' order by id",
      )) as { action: string }[];
      expect(actions.map(({ action }) => action)).toEqual([
        ...["person.create", "person.disable", "person.enable", "person.sessions_end", "person.second_factor_reset"],
      ]);
    });
  }, 60_000);

  test("a token of one account, or of another kind, opens nothing else", async () => {
    await withSite(async (site) => {
      const ann = await makePerson(site, { password });
      const link = tokenIn(must(await site.cli("user", "reset-password", ann.email)));
      const browser = openBrowser(site);
      expect(codeOf(await browser.call("POST", "/api/auth/setup", first(link)))).toBe("token_invalid");
      expect(codeOf(await browser.call("POST", "/api/auth/verify", { body: { token: link } }))).toBe("token_invalid");
      const complete = { body: { token: link, name: "Ann", password } };
      expect(codeOf(await browser.call("POST", "/api/auth/sign-up/complete", complete))).toBe("token_invalid");
      expect(codeOf(await ann.call("POST", "/api/account/email/confirm", { body: { token: link } }))).toBe(
        "token_invalid",
      );
      const weak = { body: { token: link, password: "1234567890" } };
      expect((await browser.call("POST", "/api/auth/reset/complete", weak)).status).toBe(422);
      // None of it used the token up.
      const next = { body: { token: link, password: "slate harbour 77 pine" } };
      const both = await Promise.all(
        [1, 2].map(() => openBrowser(site).call("POST", "/api/auth/reset/complete", next)),
      );
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
      expect((await ann.call("GET", "/api/account")).status).toBe(401);
    });
  }, 60_000);
});

test("a terminal shows the address once the server runs, next to the API key", async () => {
  const { port, shown, stop } = serveOnTerminal();
  try {
    const token = await until("the address", () => tokenIn(shown()) || undefined);
    await until("the API key", () => shown().includes("API key (shown only once):") || undefined);
    const reply = await fetch(`http://127.0.0.1:${port}/api/auth/setup`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: `http://localhost:${port}` },
      body: JSON.stringify(first(token).body),
    });
    expect(reply.status).toBe(200);
  } finally {
    await stop();
  }
}, 60_000);

interface Account {
  person: { id: string };
  workspaces: { slug: string; role: string }[];
}
