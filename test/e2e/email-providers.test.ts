/** The two ways out, against servers that answer as the real ones do. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import PostalMime from "postal-mime";
import { createLog } from "../../src/base/log.ts";
import type { Message, Provider } from "../../src/email/providers/provider.ts";
import { createSendgrid } from "../../src/email/providers/sendgrid.ts";
import { createSmtp } from "../../src/email/providers/smtp.ts";
import { freePort } from "../ground/ports.ts";
import { problem, startSendgrid } from "../ground/sendgrid.ts";
import { type SmtpManners, startSmtp } from "../ground/smtp.ts";

let last = 0;
function newMessage(more: Partial<Message> = {}): Message {
  const id = `eml_${++last}`;
  return {
    ...{ id, messageId: `<${id}@go.example.com>`, from: { name: "Links & Söhne", address: "links@example.com" } },
    ...{
      to: "ann@example.com",
      replyTo: "bob@example.com",
      subject: 'Über "links"',
      text: "Hello ✓",
      html: "<p>✓</p>",
    },
    unsubscribeUrl: "https://go.example.com/stop/1",
    ...more,
  };
}

const deadlineMs = 10_000;

describe("SMTP", async () => {
  const smtp = await startSmtp();
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) }, false, Date.now);
  const provider = createSmtp({ url: smtp.url, connections: 2, log });
  afterAll(async () => {
    await provider.close();
    await smtp.stop();
  });
  beforeEach(() => {
    smtp.manners = {};
  });

  test("a mail arrives as it was written, with the headers that stop further ones", async () => {
    const message = newMessage();
    expect(await provider.send(message, deadlineMs)).toEqual({ kind: "accepted", providerId: null });
    const taken = smtp.taken.at(-1);
    const mail = await PostalMime.parse(taken?.raw ?? "");
    expect(taken).toMatchObject({ from: "links@example.com", to: "ann@example.com", messageId: message.messageId });
    expect(mail).toMatchObject({
      ...{ from: { name: "Links & Söhne", address: "links@example.com" }, subject: 'Über "links"' },
      ...{ to: [{ address: "ann@example.com" }], replyTo: [{ address: "bob@example.com" }] },
    });
    expect([mail.text?.trim(), mail.html?.trim()]).toEqual(["Hello ✓", "<p>✓</p>"]);
    const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
    expect(headers["list-unsubscribe"]).toBe("<https://go.example.com/stop/1>");
    expect(headers["list-unsubscribe-post"]).toBe("List-Unsubscribe=One-Click");
  });

  test("connections are kept", async () => {
    const before = smtp.connections();
    for (let i = 0; i < 5; i++) await provider.send(newMessage(), deadlineMs);
    expect(smtp.connections()).toBeLessThanOrEqual(before + 1);
  });

  test.each<[string, SmtpManners, object]>([
    [
      "an unknown recipient",
      { to: () => ({ code: 550, text: "5.1.1 no such user" }) },
      { kind: "rejected", reason: "address" },
    ],
    [
      "a recipient refused by policy",
      { to: () => ({ code: 550, text: "5.7.1 listed" }) },
      { kind: "rejected", reason: "message" },
    ],
    [
      "a recipient refused without a reason",
      { to: () => ({ code: 550, text: "no" }) },
      { kind: "rejected", reason: "message" },
    ],
    ["a full mailbox, for now", { to: () => ({ code: 452, text: "4.2.2 full" }) }, { kind: "deferred" }],
    ["a message refused", { data: () => ({ code: 554, text: "5.6.0 no" }) }, { kind: "rejected", reason: "message" }],
    ["a message for later", { data: () => ({ code: 451, text: "4.3.0 later" }) }, { kind: "deferred" }],
    ["a line that breaks after the message", { data: () => "drop" }, { kind: "unsure" }],
    ["a line that breaks before it was taken, which looks the same", { data: () => "lose" }, { kind: "unsure" }],
  ])("%s is distinguished", async (_, manners, outcome) => {
    smtp.manners = manners;
    expect(await provider.send(newMessage(), deadlineMs)).toMatchObject(outcome);
    smtp.manners = {};
    expect(await provider.send(newMessage(), deadlineMs)).toMatchObject({ kind: "accepted" });
  });

  test("no answer to the message by the deadline is unsure", async () => {
    smtp.manners = { data: () => "hang" };
    expect(await provider.send(newMessage(), 300)).toMatchObject({ kind: "unsure" });
  });

  test("a sender that is refused is our own trouble: it waits, and the log says so once", async () => {
    smtp.manners = { from: () => ({ code: 550, text: "5.7.1 not you" }) };
    lines.length = 0;
    for (let i = 0; i < 3; i++)
      expect(await provider.send(newMessage(), deadlineMs)).toMatchObject({ kind: "deferred" });
    expect(lines.filter((line) => line.includes("rejects us"))).toHaveLength(1);
  });

  test("a server that was restarted is found again, and nothing is sent twice on the way", async () => {
    const before = smtp.taken.length;
    await provider.send(newMessage(), deadlineMs);
    await smtp.stop();
    expect(await provider.send(newMessage(), deadlineMs)).toMatchObject({ kind: "deferred" });
    await smtp.restart();
    expect(await provider.send(newMessage(), deadlineMs)).toMatchObject({ kind: "accepted" });
    expect(smtp.taken).toHaveLength(before + 2);
  });

  test("wrong credentials wait for the operator", async () => {
    const strict = await startSmtp({ credentials: { user: "links", password: "right" } });
    const [wrong, right] = ["wrong", "right"].map((password) =>
      createSmtp({ url: `smtp://links:${password}@127.0.0.1:${strict.port}`, connections: 1, log }),
    ) as [Provider, Provider];
    lines.length = 0;
    expect(await wrong.send(newMessage(), deadlineMs)).toMatchObject({ kind: "deferred" });
    expect(lines.join()).toContain("check SMTP_URL");
    expect(lines.join()).not.toContain("wrong");
    expect(await right.send(newMessage(), deadlineMs)).toMatchObject({ kind: "accepted" });
    await Promise.all([wrong.close(), right.close()]);
    await strict.stop();
  });

  test("a server that greets with no, or not at all in time, has taken nothing", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const busy = await startSmtp();
    busy.manners = { connect: () => ({ code: 421, text: "4.3.2 busy" }) };
    for (const port of [busy.port, silent.port, freePort()]) {
      const one = createSmtp({ url: `smtp://127.0.0.1:${port}`, connections: 1, log });
      expect(await one.send(newMessage(), 500)).toMatchObject({ kind: "deferred" });
      await one.close();
    }
    silent.stop(true);
    await busy.stop();
  });

  test("what was given up is not sent later by a connection that comes after all", async () => {
    const late = await startSmtp();
    const greeting = Promise.withResolvers<void>();
    const gate = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket, bytes) => void (socket as { other?: { write(bytes: Uint8Array): void } }).other?.write(bytes),
        async open(socket) {
          await greeting.promise;
          const other = await Bun.connect({
            ...{ hostname: "127.0.0.1", port: late.port },
            socket: { data: (_, bytes) => void socket.write(bytes) },
          });
          Object.assign(socket, { other });
        },
      },
    });
    const one = createSmtp({ url: `smtp://127.0.0.1:${gate.port}`, connections: 1, log });
    expect(await one.send(newMessage({ to: "first@example.com" }), 300)).toMatchObject({ kind: "deferred" });
    greeting.resolve();
    // Behind the first on the same connection, or on one after it: when this one has arrived, the first has had its turn.
    expect(await one.send(newMessage({ to: "second@example.com" }), deadlineMs)).toMatchObject({ kind: "accepted" });
    expect(late.taken.map(({ to }) => to)).toEqual(["second@example.com"]);
    await one.close();
    gate.stop(true);
    await late.stop();
  });
});

describe("SendGrid", () => {
  const sendgrid = startSendgrid();
  sendgrid.keys.add("SG.right");
  const provider = createSendgrid({ url: sendgrid.url, key: "SG.right", now: Date.now });
  afterAll(() => sendgrid.stop());
  beforeEach(() => {
    sendgrid.manner = undefined;
  });

  test("a mail arrives as it was written, under our id and with the headers that stop further ones", async () => {
    const message = newMessage();
    const outcome = await provider.send(message, deadlineMs);
    expect(outcome).toMatchObject({ kind: "accepted", providerId: expect.stringMatching(/^sg/) });
    expect(sendgrid.taken.at(-1)).toMatchObject({ to: message.to, emailId: message.id, messageId: message.messageId });
    expect(sendgrid.taken.at(-1)?.body).toMatchObject({
      ...{ from: { email: "links@example.com", name: "Links & Söhne" }, reply_to: { email: "bob@example.com" } },
      ...{ subject: 'Über "links"', headers: { "List-Unsubscribe": "<https://go.example.com/stop/1>" } },
      content: [
        { type: "text/plain", value: "Hello ✓" },
        { type: "text/html", value: "<p>✓</p>" },
      ],
    });
  });

  test.each<[string, () => Response | "drop", object]>([
    ["a server error, which took nothing", () => problem(500, "oops"), { kind: "deferred", retryAfterMs: null }],
    ["a service that is away", () => problem(503, "away"), { kind: "deferred" }],
    [
      "a gateway's error, behind which it may have been taken",
      () => new Response("", { status: 502 }),
      { kind: "unsure" },
    ],
    ["a message that is refused", () => problem(400, "bad"), { kind: "rejected", reason: "message" }],
    ["a sender that is not verified", () => problem(403, "not verified"), { kind: "rejected", reason: "credentials" }],
    ["a redirect, which is not followed", () => Response.redirect("http://127.0.0.1:1/", 307), { kind: "deferred" }],
  ])("%s is distinguished", async (_, manner, outcome) => {
    sendgrid.manner = manner;
    expect(await provider.send(newMessage(), deadlineMs)).toMatchObject(outcome);
  });

  test("too many requests wait as long as SendGrid says", async () => {
    const reset = Math.floor(Date.now() / 1_000) + 120;
    sendgrid.manner = () => problem(429, "too many", { "x-ratelimit-reset": String(reset) });
    const outcome = await provider.send(newMessage(), deadlineMs);
    if (outcome.kind !== "deferred") throw new Error(outcome.kind);
    expect(outcome.retryAfterMs).toBeGreaterThan(60_000);
    expect(outcome.retryAfterMs).toBeLessThanOrEqual(120_000);
  });

  test("no answer by the deadline is unsure, and asked once", async () => {
    const before = sendgrid.requests();
    sendgrid.manner = () => "drop";
    expect(await provider.send(newMessage(), 300)).toMatchObject({ kind: "unsure" });
    expect(sendgrid.requests()).toBe(before + 1);
  });

  test("a line that breaks after the request was read is unsure, and nothing is sent again behind our back", async () => {
    let requests = 0;
    const rude = Bun.listen({
      ...{ hostname: "127.0.0.1", port: 0 },
      socket: {
        data(socket) {
          requests++;
          socket.terminate();
        },
      },
    });
    const one = createSendgrid({ url: `http://127.0.0.1:${rude.port}`, key: "SG.right", now: Date.now });
    expect(await one.send(newMessage(), deadlineMs)).toMatchObject({ kind: "unsure" });
    expect(requests).toBe(1);
    rude.stop(true);
  });

  test("without a listener, or without such a host, nothing is accepted", async () => {
    for (const url of [`http://127.0.0.1:${freePort()}`, "http://nowhere.invalid"]) {
      const one = createSendgrid({ url, key: "SG.right", now: Date.now });
      expect(await one.send(newMessage(), deadlineMs)).toMatchObject({ kind: "deferred" });
    }
  });

  test("a key that is not known is rejected, and is in no answer", async () => {
    const one = createSendgrid({ url: sendgrid.url, key: "SG.wrong", now: Date.now });
    const outcome = await one.send(newMessage(), deadlineMs);
    expect(outcome).toMatchObject({ kind: "rejected", reason: "credentials" });
    expect(JSON.stringify(outcome)).not.toContain("SG.wrong");
  });
});
