import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { until } from "../ground/process.ts";
import { type Sendgrid, startSendgrid } from "../ground/sendgrid.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";
import {
  createExpired,
  databases,
  type LinkBody,
  must,
  type ProblemBody,
  query,
  type Site,
  startSite,
} from "./servers.ts";

type Settings = {
  contact: string | null;
  sender: string | null;
  sendgrid: { hint: string; checkedAt: string } | null;
  webhookUrl: string | null;
  webhookKey: string | null;
  notices: Record<string, boolean>;
};
type Stats = { current: string; providers: Record<string, unknown>[] };
type Mail = { id: string; state: string; provider_id: string | null; delivery: string | null; recipient: string };

const secretKeys = `k1:${"a1".repeat(32)}`;
const goodKey = "SG.a-key-that-works.with-a-secret-part";
const sender = "Acme <links@acme.example>";

const pair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const written = (key: KeyObject) => key.export({ format: "der", type: "spki" }).toString("base64");

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let smtp: SmtpServer;
    let sendgrid: Sendgrid;
    let link: LinkBody;

    beforeAll(async () => {
      [smtp, sendgrid] = [await startSmtp(), startSendgrid()];
      sendgrid.keys.add(goodKey);
      site = await startSite(database, {
        ...{ SMTP_URL: smtp.url, QL_MAIL_FROM: "QuickLink <links@platform.example>" },
        ...{ QL_SENDGRID_URL: sendgrid.url, QL_SECRET_KEYS: secretKeys, QL_LOG_LEVEL: "trace" },
      });
      link = await site.create({ url: "https://shop.example.com/autumn", title: "The autumn catalogue" });
    }, 60_000);

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      await Promise.all([smtp.stop(), sendgrid.stop()]);
    });

    const patch = (body: unknown, key?: string) =>
      site.call("PATCH", "/api/email/settings", { body, ...(key === undefined ? {} : { key }) });
    const settings = async (key?: string) =>
      (await site.call("GET", "/api/email/settings", key === undefined ? {} : { key })).json<Settings>();
    const share = (body: unknown, id = link.id, key?: string) =>
      site.call("POST", `/api/links/${id}/share`, { body, ...(key === undefined ? {} : { key }) });
    const bad = (fields: ProblemBody) => fields.errors?.map(({ field, code }) => [field, code]);
    const mailOf = async (id: string) =>
      (await query(site.env, `select * from emails where id = '${id}'`))[0] as Mail | undefined;
    const taken = (to: string) => until(`an email to ${to}`, () => smtp.taken.find((mail) => mail.to === to));

    /** A tenant with its own SendGrid account. */
    async function withAccount(slug: string) {
      const key = await site.tenant(slug);
      const { publicKey, privateKey } = pair();
      const change = { sendgridKey: goodKey, sender, webhookKey: written(publicKey) };
      const saved = await patch(change, key);
      expect(saved.status).toBe(200);
      const created = await site.call("POST", "/api/links", { key, body: { url: "https://example.com/" } });
      const { id } = created.json<LinkBody>();
      return {
        key,
        privateKey,
        webhook: new URL(saved.json<Settings>().webhookUrl ?? "").pathname,
        async send(to: string) {
          const email = (await share({ to }, id, key)).json<{ id: string }>().id;
          const row = await until("SendGrid to have it", async () => {
            const found = await mailOf(email);
            return found?.provider_id ? found : undefined;
          });
          return { email, providerId: String(row.provider_id) };
        },
        suppressions: async () =>
          (await site.call("GET", "/api/email/suppressions", { key })).json<{
            items: { address: string; reason: string }[];
          }>().items,
      };
    }

    describe("the settings", () => {
      test("are shown and changed, and omitted fields stay", async () => {
        const key = await site.tenant("settings");
        expect(await settings(key)).toEqual({
          ...{ contact: null, sender: null, sendgrid: null, webhookUrl: null, webhookKey: null },
          notices: { firstClick: false, spike: true, drop: false, deadTarget: true, digest: true },
        });
        const first = (await patch({ contact: "Ops@Example.COM" }, key)).json<Settings>();
        expect(first.contact).toBe("Ops@example.com");
        const { id } = (await site.call("GET", "/api/tenant", { key })).json<{ id: string }>();
        const events = `http://localhost:${site.server.port}/email/events/${id}/`;
        expect(first.webhookUrl?.startsWith(events)).toBe(true);
        expect(first.webhookUrl?.slice(events.length)).toMatch(/^[\w-]{32}$/);
        expect((await patch({ sender }, key)).json<Settings>()).toMatchObject({ contact: "Ops@example.com", sender });
        expect((await patch({ contact: null }, key)).json<Settings>()).toMatchObject({ contact: null, sender });
        expect((await settings(key)).webhookUrl).toBe(first.webhookUrl);
      });

      test("switch each kind of notice, and name a kind that does not exist", async () => {
        const key = await site.tenant("switching");
        const before = { firstClick: false, spike: true, drop: false, deadTarget: true, digest: true };
        expect(await settings(key)).toMatchObject({ notices: before });
        const changed = await patch({ notices: { firstClick: true, digest: false } }, key);
        expect([changed.status, changed.json<{ notices: unknown }>().notices]).toEqual([
          200,
          { ...before, firstClick: true, digest: false },
        ]);
        for (const notices of [{ digests: true }, { digest: "yes" }, { digest: null }]) {
          const refused = await patch({ notices }, key);
          expect([refused.status, bad(refused.json<ProblemBody>())?.[0]?.[0]]).toEqual([
            422,
            expect.stringMatching(/^notices/),
          ]);
        }
      });

      test("take a SendGrid key that SendGrid accepts, and show its end only", async () => {
        const key = await site.tenant("own-key");
        const saved = await patch({ sendgridKey: goodKey, sender }, key);
        expect(saved.json<Settings>().sendgrid).toEqual({ hint: "…part", checkedAt: expect.stringMatching(/^20/) });
        for (const text of [saved.text, JSON.stringify(await settings(key))]) expect(text).not.toContain(goodKey);
        expect((await patch({ sendgridKey: null }, key)).json<Settings>().sendgrid).toBeNull();
      });

      test("refuse a key that SendGrid does not know, one that may not send, and one without a sender", async () => {
        const key = await site.tenant("bad-keys");
        const unknown = await patch({ sendgridKey: "SG.nobody-knows-this-key", sender }, key);
        expect([unknown.status, bad(unknown.json())]).toEqual([422, [["sendgridKey", "key_refused"]]]);
        const senderless = await patch({ sendgridKey: goodKey }, key);
        expect([senderless.status, bad(senderless.json())]).toEqual([422, [["sender", "required"]]]);
        const before = sendgrid.scopes;
        sendgrid.scopes = ["stats.read"];
        const mute = await patch({ sendgridKey: goodKey, sender }, key);
        sendgrid.scopes = before;
        expect([mute.status, bad(mute.json())]).toEqual([422, [["sendgridKey", "key_lacks_scope"]]]);
        expect(await settings(key)).toMatchObject({ sendgrid: null, sender: null });
      });

      test("save nothing while SendGrid cannot be asked, and say so", async () => {
        const key = await site.tenant("no-sendgrid");
        for (const answer of [
          () => new Response("down", { status: 500 }),
          () => new Response("<html>", { status: 200 }),
          () => Response.json({ scopes: "all" }),
          () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } }),
        ]) {
          sendgrid.scopesManner = answer;
          const reply = await patch({ sendgridKey: goodKey, sender, contact: "ops@example.com" }, key);
          sendgrid.scopesManner = undefined;
          expect([reply.status, reply.json<ProblemBody>().code]).toEqual([503, "unavailable"]);
          expect(reply.headers.get("retry-after")).toBe("30");
        }
        expect(await settings(key)).toMatchObject({ sendgrid: null, sender: null, contact: null });
      });

      test.each<[string, string, unknown]>([
        ["contact", "bad_address", "nobody"],
        ["contact", "bad_address", ""],
        ["contact", "bad_address", "a@example.com\r\nBcc: b@example.com"],
        ["contact", "too_long", `${"x".repeat(10_000)}@example.com`],
        ["contact", "wrong_type", 7],
        ["sender", "bad_address", "Acme <a@example.com>\r\nBcc: b@example.com"],
        ["sender", "bad_address", "Ac\nme <a@example.com>"],
        ["sendgridKey", "bad_format", "SG.key\r\nHost: evil.example-with-more"],
        ["sendgridKey", "bad_format", ""],
        ["sendgridKey", "bad_format", "SG.schlüssel-der-zu-nichts-passt"],
        ["webhookKey", "bad_format", "MFkw"],
        ["webhookKey", "bad_format", "-----BEGIN PUBLIC KEY-----"],
        ["apiKey", "unknown_field", "x"],
      ])("refuse a bad %s as %s: %#", async (field, code, value) => {
        const before = await site.rows();
        const reply = await patch({ [field]: value });
        expect([reply.status, bad(reply.json())]).toEqual([422, [[field, code]]]);
        expect(await site.rows()).toEqual(before);
      });
    });

    describe("a share", () => {
      test("reaches its recipient, with what was written, and a way to get no more", async () => {
        const reply = await share({ to: "ann@example.com", message: "Have a look:\r\n<b>page 12</b>" });
        expect(reply.status).toBe(202);
        const { id, state } = reply.json<{ id: string; state: string }>();
        expect(state).toBe("queued");
        const { raw, from } = await taken("ann@example.com");
        expect(from).toBe("links@platform.example");
        expect(raw).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
        const text = raw.replaceAll(/=\r?\n/g, "");
        expect(text).toContain(link.shortUrl);
        expect(text).toContain("> Have a look:");
        expect(text).toContain("&#60;b&#62;page 12");
        await until("the row to be marked", async () => (await mailOf(id))?.state === "sent" || undefined);
      });

      test("goes through the tenant's own account if it has one", async () => {
        const account = await withAccount("shares-itself");
        await account.send("bob@example.com");
        const mail = sendgrid.taken.find(({ to }) => to === "bob@example.com");
        expect(mail).toMatchObject({ key: goodKey, body: { from: { email: "links@acme.example", name: "Acme" } } });
      });

      test("of a link that cannot be opened is refused", async () => {
        const disabled = await site.create({ url: "https://example.com/", status: "disabled" });
        const refused = await share({ to: "ann@example.com" }, disabled.id);
        expect([refused.status, bad(refused.json())]).toEqual([422, [["id", "not_active"]]]);
        const expired = await createExpired(site, { url: "https://example.com/" });
        const reply = await share({ to: "expired@example.com" }, expired.id);
        expect([reply.status, bad(reply.json())]).toEqual([422, [["id", "not_active"]]]);
        expect((await share({ to: "ann@example.com" }, "lnk_00000000000000000000000000")).status).toBe(404);
        expect((await share({ to: "ann@example.com" }, "nonsense")).status).toBe(404);
      });

      test("beyond the limit is refused, with when to come back, and nothing is written", async () => {
        const key = await site.tenant("limited", "default");
        must(await site.cli("tenant", "update", "limited", "--smtp-emails", "2"));
        const own = (
          await site.call("POST", "/api/links", { key, body: { url: "https://example.com/" } })
        ).json<LinkBody>();
        for (const to of ["one@example.com", "two@example.com"])
          expect((await share({ to }, own.id, key)).status).toBe(202);
        const before = await site.rows();
        const reply = await share({ to: "three@example.com" }, own.id, key);
        expect([reply.status, reply.json<ProblemBody>().code]).toEqual([429, "email_limited"]);
        expect(Number(reply.headers.get("retry-after"))).toBeWithin(1, 3_800);
        expect(await site.rows()).toEqual(before);
        const stats = (await site.call("GET", "/api/email/stats", { key })).json<Stats>();
        expect(stats.providers[0]).toMatchObject({ provider: "smtp", tier: 1, used: 2, limit: 2, remaining: 0 });
      });

      test.each<[string, string, object]>([
        ["to", "required", {}],
        ["to", "wrong_type", { to: 7 }],
        ["to", "wrong_type", { to: ["a@example.com"] }],
        ["to", "bad_address", { to: "nobody" }],
        ["to", "bad_address", { to: "" }],
        ["to", "bad_address", { to: "a@example.com, b@example.com" }],
        ["to", "control_characters", { to: "a@example.com\r\nBcc: b@example.com" }],
        ["to", "control_characters", { to: "a\u0000@example.com" }],
        ["to", "too_long", { to: `${"x".repeat(10_000)}@example.com` }],
        ["message", "too_long", { to: "a@example.com", message: "x".repeat(10_000) }],
        ["message", "control_characters", { to: "a@example.com", message: "a\u0000b" }],
        ["message", "blank", { to: "a@example.com", message: "  " }],
        ["message", "bad_unicode", { to: "a@example.com", message: "\ud800" }],
        ["subject", "unknown_field", { to: "a@example.com", subject: "x" }],
      ])("with %#: a bad %p is refused as %s, and nothing is written", async (field, code, body) => {
        const before = await site.rows();
        const reply = await share(body);
        expect([reply.status, bad(reply.json())]).toEqual([422, [[field, code]]]);
        expect(await site.rows()).toEqual(before);
      });

      test("takes addresses in any script", async () => {
        for (const to of ["jörg@example.com", "ann@bücher.example"]) expect((await share({ to })).status).toBe(202);
        await taken("ann@bücher.example"); // as the mail server writes it
      });

      test("of a link whose title is as long as may be has a subject that is not", async () => {
        const { id } = await site.create({ url: "https://example.com/", title: "ü".repeat(200) });
        expect((await share({ to: "long@example.com" }, id)).status).toBe(202);
        await taken("long@example.com");
      });
    });

    describe("a recipient who unsubscribes", () => {
      const stopUrl = async (to: string) => {
        expect((await share({ to })).status).toBe(202);
        const { raw } = await taken(to);
        const [, path = ""] =
          /List-Unsubscribe: <http:\/\/[^/]+(\/[^>]+)>/.exec(raw.replaceAll(/\r?\n\s+/g, " ")) ?? [];
        return path.replaceAll(" ", "");
      };

      test("is asked on the page, and unsubscribed by the button, however often it is pressed", async () => {
        const path = await stopUrl("stop@example.com");
        const asked = await site.visit(path);
        expect(asked.status).toBe(200);
        expect(asked.text).toContain('<form method="post"><button>Unsubscribe</button>');
        expect(asked.text).toContain("stop@example.com");
        expect(asked.headers.get("content-security-policy")).toContain("form-action 'self'");
        expect(asked.text).not.toContain("<script");
        expect((await site.visit(path, {}, "HEAD")).status).toBe(200);
        expect((await share({ to: "stop@example.com" })).status).toBe(202);
        for (const body of ["", "List-Unsubscribe=One-Click"]) {
          const headers = { "content-type": "application/x-www-form-urlencoded" };
          const done = await site.call("POST", path, { key: null, text: body, headers });
          expect(done.status).toBe(200);
          expect(done.text).toContain("You are unsubscribed");
        }
        for (const to of ["stop@example.com", "STOP@example.com"]) {
          const refused = await share({ to });
          expect([refused.status, refused.json<ProblemBody>().code]).toEqual([409, "email_suppressed"]);
          expect(refused.json<ProblemBody>().detail).toContain("the recipient unsubscribed");
        }
      });

      test("is in the tenant's list, and can be removed from it", async () => {
        const path = await stopUrl("again@example.com");
        await site.call("POST", path, { key: null });
        const list = () =>
          site
            .call("GET", "/api/email/suppressions?limit=100")
            .then((reply) => reply.json<{ items: { address: string }[] }>());
        expect((await list()).items).toContainEqual(
          expect.objectContaining({ address: "again@example.com", reason: "unsubscribed" }),
        );
        const address = "/api/email/suppressions/again%40example.com";
        expect((await site.call("DELETE", address)).status).toBe(204);
        expect((await site.call("DELETE", address)).status).toBe(404);
        expect((await share({ to: "again@example.com" })).status).toBe(202);
      });

      test("cannot be forged: a link that was tampered with is invalid", async () => {
        const path = await stopUrl("mine@example.com");
        const [payload = "", mac] = path.slice("/email/unsubscribe/".length).split(".");
        const text = Buffer.from(payload, "base64url").toString();
        const other = Buffer.from(text.replace("mine@", "yours@")).toString("base64url");
        const before = await site.rows();
        for (const token of [`${other}.${mac}`, payload, "", "%2e%2e", "x".repeat(5_000)]) {
          for (const method of ["GET", "POST"]) {
            const reply = await site.visit(`/email/unsubscribe/${token}`, {}, method);
            expect({ token, method, status: reply.status }).toEqual({ token, method, status: 404 });
          }
        }
        expect((await site.visit(path, {}, "DELETE")).status).toBe(405);
        expect((await site.visit("/email/")).status).toBe(404);
        expect(await site.rows()).toEqual(before);
      });
    });

    describe("SendGrid's events", () => {
      const now = () => String(Math.floor(Date.now() / 1_000));

      type Account = { webhook: string; privateKey: KeyObject };

      function tell(account: Account, events: unknown, timestamp = now(), body = JSON.stringify(events)) {
        const signature = sign("sha256", Buffer.from(timestamp + body), account.privateKey).toString("base64");
        return deliver(account, body, { signature, timestamp });
      }

      const deliver = (
        { webhook }: Pick<Account, "webhook">,
        text: string,
        { signature, timestamp }: { signature?: string; timestamp?: string },
      ) =>
        site.call("POST", webhook, {
          ...{ key: null, text },
          headers: {
            "content-type": "application/json",
            ...(signature === undefined ? {} : { "x-twilio-email-event-webhook-signature": signature }),
            ...(timestamp === undefined ? {} : { "x-twilio-email-event-webhook-timestamp": timestamp }),
          },
        });

      const event = (providerId: string, name: string, more: object = {}) => ({
        ...{ sg_message_id: `${providerId}.filter0001.16648.5515E0B88.0`, event: name, timestamp: Number(now()) },
        ...{ email: "victim@example.com", ...more },
      });

      test("that are signed are recorded on the email, and suppress a bounced address; a replay changes nothing", async () => {
        const account = await withAccount("events");
        const { email, providerId } = await account.send("gone@example.com");
        const events = [event(providerId, "processed"), event(providerId, "bounce", { type: "bounce", reason: "550" })];
        const [timestamp, body] = [now(), JSON.stringify(events)];
        const signature = sign("sha256", Buffer.from(timestamp + body), account.privateKey).toString("base64");
        expect((await deliver(account, body, { signature, timestamp })).status).toBe(204);
        expect((await mailOf(email))?.delivery).toBe("bounced");
        expect(await account.suppressions()).toMatchObject([{ address: "gone@example.com", reason: "bounced" }]);
        const { key } = account;
        await site.call("DELETE", "/api/email/suppressions/gone@example.com", { key });
        expect((await deliver(account, body, { signature, timestamp })).status).toBe(204);
        expect(await account.suppressions()).toEqual([]);
        expect((await tell(account, [event(providerId, "delivered")])).status).toBe(204);
        expect((await mailOf(email))?.delivery).toBe("bounced");
        const stats = (await site.call("GET", "/api/email/stats", { key })).json<Stats>();
        expect(stats).toMatchObject({
          current: "sendgrid",
          providers: [{}, { provider: "sendgrid", tier: 2, bounced: 1 }],
        });
      });

      test("with a NUL in them are taken as far as they can be kept", async () => {
        const account = await withAccount("nul");
        const { email, providerId } = await account.send("gone@example.com");
        const events = [
          event(`${providerId}\u0000`, "spamreport"),
          event(providerId, "bounce", { type: "bounce", reason: "550\u0000 no such user" }),
        ];
        expect((await tell(account, events)).status).toBe(204);
        expect((await mailOf(email))?.delivery).toBe("bounced");
      });

      test("that are not signed, or otherwise, or long ago, are refused without a reason", async () => {
        const account = await withAccount("forged");
        const { email, providerId } = await account.send("safe@example.com");
        const events = [event(providerId, "spamreport")];
        const body = JSON.stringify(events);
        const signature = sign("sha256", Buffer.from(now() + body), account.privateKey).toString("base64");
        const replies = [
          await deliver(account, body, {}),
          await deliver(account, body, { signature }),
          await deliver(account, body, { timestamp: now() }),
          await deliver(account, body, { signature: "AAAA", timestamp: now() }),
          await deliver(account, `${body} `, { signature, timestamp: now() }),
          await tell({ ...account, privateKey: pair().privateKey }, events),
          await tell(account, events, String(Number(now()) - 100_000)),
          await tell(account, events, String(Number(now()) + 3_600)),
        ];
        expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(403));
        expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
        expect((await mailOf(email))?.delivery).toBeNull();
        expect(await account.suppressions()).toEqual([]);
      });

      test("about another tenant's email are passed over, even in a body that is signed", async () => {
        const [mine, theirs] = [await withAccount("mine"), await withAccount("theirs")];
        const [own, foreign] = [await mine.send("own@example.com"), await theirs.send("foreign@example.com")];
        const both = [event(own.providerId, "delivered"), event(foreign.providerId, "spamreport")];
        expect((await tell(mine, both)).status).toBe(204);
        expect((await mailOf(own.email))?.delivery).toBe("delivered");
        expect((await mailOf(foreign.email))?.delivery).toBeNull();
        expect(await theirs.suppressions()).toEqual([]);
        // Neither key speaks at the other's address.
        for (const [webhook, privateKey] of [
          [mine.webhook, theirs.privateKey],
          [theirs.webhook, mine.privateKey],
        ] as const) {
          expect((await tell({ webhook, privateKey }, [event(foreign.providerId, "spamreport")])).status).toBe(403);
        }
        expect((await mailOf(foreign.email))?.delivery).toBeNull();
      });

      test("about unknown emails are accepted and ignored", async () => {
        const account = await withAccount("unknown");
        expect((await tell(account, [event("unknown", "bounce")])).status).toBe(204);
        expect((await tell(account, [])).status).toBe(204);
      });

      test("at an unknown URL are refused, whatever their signature", async () => {
        const account = await withAccount("misled");
        const { email, providerId } = await account.send("misled@example.com");
        const [, , , tenant = "", secret = ""] = account.webhook.split("/");
        const other = (await withAccount("misleading")).webhook.split("/").at(-1) ?? "";
        for (const place of [
          ...[
            "sendgrid",
            "",
            tenant,
            `${tenant}/`,
            `${tenant}/${other}`,
            `${tenant}/${secret}x`,
            `${tenant}/${secret}/x`,
          ],
          ...[
            `${tenant}/${secret.slice(1)}`,
            `ten_${"0".repeat(26)}/${secret}`,
            `x/${secret}`,
            `${tenant}/${"x".repeat(3_000)}`,
          ],
        ]) {
          const { privateKey } = account;
          const reply = await tell({ webhook: `/email/events/${place}`, privateKey }, [
            event(providerId, "spamreport"),
          ]);
          expect([place, reply.status, reply.json<ProblemBody>().code]).toEqual([place, 404, "not_found"]);
        }
        expect((await mailOf(email))?.delivery).toBeNull();
      });

      test("go to another URL after a rotation, and the previous one is unknown", async () => {
        const account = await withAccount("rotating");
        const { email, providerId } = await account.send("rotating@example.com");
        const { key, privateKey } = account;
        const once = { key, headers: { "idempotency-key": "rotate-once" } };
        const rotated = (await site.call("POST", "/api/email/webhook/rotate", once)).json<Settings>();
        expect(rotated).toEqual({ ...(await settings(key)), webhookUrl: expect.any(String) });
        expect((await site.call("POST", "/api/email/webhook/rotate", once)).json<Settings>()).toEqual(rotated);
        expect((await tell(account, [event(providerId, "delivered")])).status).toBe(404);
        const webhook = new URL(rotated.webhookUrl ?? "").pathname;
        expect((await tell({ webhook, privateKey }, [event(providerId, "delivered")])).status).toBe(204);
        expect((await mailOf(email))?.delivery).toBe("delivered");
        expect(must(await site.cli("email", "webhook", "--tenant", "rotating")).trim()).toEndWith(webhook);
        expect(must(await site.cli("email", "webhook", "--tenant", "rotating", "--rotate")).trim()).not.toEndWith(
          webhook,
        );
      });

      test("in a form that makes no sense, or too many at once, are refused", async () => {
        const account = await withAccount("nonsense");
        for (const body of ["", "not json", "{}", "null", '"x"']) {
          expect({ body, status: (await tell(account, undefined, now(), body)).status }).toEqual({ body, status: 400 });
        }
        expect((await tell(account, Array(5_001).fill({}))).status).toBe(413);
        expect((await tell(account, undefined, now(), " ".repeat(2_200_000))).status).toBe(413);
        expect((await tell(account, [null, 7, "x", [], {}])).status).toBe(204);
        expect((await site.call("GET", account.webhook, { key: null })).status).toBe(405);
      });
    });

    describe("notices about limits", () => {
      async function contacted(slug: string, ...limits: string[]) {
        const key = await site.tenant(slug, "default");
        must(await site.cli("tenant", "update", slug, ...limits));
        expect((await patch({ contact: `${slug}@example.com` }, key)).status).toBe(200);
        const make = async () =>
          (await site.call("POST", "/api/links", { key, body: { url: "https://example.com/" } })).json<LinkBody>();
        const subjects = async () =>
          (
            (await query(
              site.env,
              `select subject from emails where recipient = '${slug}@example.com' order by id`,
            )) as {
              subject: string;
            }[]
          ).map(({ subject }) => subject);
        return { make, subjects };
      }

      test("come when links are made, once at 80 % and once at 100 %", async () => {
        const { make, subjects } = await contacted("maker", "--links", "5");
        for (let i = 0; i < 4; i++) await make();
        await until("the first notice", async () => (await subjects()).length === 1 || undefined);
        await make();
        await until("the second", async () => (await subjects()).length === 2 || undefined);
        expect(await subjects()).toEqual([
          "You have created 80 % of your links for this month: maker",
          "You have created all your links for this month: maker",
        ]);
        await taken("maker@example.com");
      });

      test("come when a link is visited, without delaying the visitor", async () => {
        const { make, subjects } = await contacted("visited", "--hits", "5");
        const { code } = await make();
        for (let i = 0; i < 5; i++) expect((await site.reach(`/${code}`)).status).toBe(302);
        await until("the notice", async () => (await subjects()).some((one) => one.includes("used all")) || undefined);
        expect((await site.reach(`/${code}`)).status).toBe(429);
      });
    });

    test("no secret is in any table, any answer or any line of the log", async () => {
      const account = await withAccount("secretive");
      await account.send("secret@example.com");
      await patch({ sendgridKey: `${goodKey}-mistyped`, sender }, account.key);
      await patch({ sendgridKey: goodKey, nonsense: goodKey }, account.key);
      const tables = ["email_settings", "emails", "suppressions", "tenants", "jobs", "api_keys"];
      const rows = await Promise.all(tables.map((table) => query(site.env, `select * from ${table}`)));
      expect(JSON.stringify(rows)).toContain("v1.k1.");
      for (const text of [JSON.stringify(rows), site.server.output(), (await site.visit("/metrics")).text]) {
        expect(text).not.toContain(goodKey);
        expect(text).not.toContain("a1a1a1a1");
      }
      expect(site.server.output()).not.toContain("gone@example.com");
    });
  });
}
