import { describe, expect, test } from "bun:test";
import { freePort } from "../ground/ports.ts";
import { postgresAvailable } from "../ground/postgres.ts";
import { startSendgrid } from "../ground/sendgrid.ts";
import { cli } from "../ground/server.ts";
import { startSmtp } from "../ground/smtp.ts";
import { must, newDatabase, type ProblemBody, query, startSite } from "./servers.ts";

const credentials = { user: "links", password: "hunter2hunter2" };

describe("quicklink email test", () => {
  test("sends through the platform's mail server, says each step, and spends nothing", async () => {
    const smtp = await startSmtp({ credentials });
    const env = { ...(await newDatabase("SQLite")), SMTP_URL: smtp.url, QL_MAIL_FROM: "Links <links@example.com>" };
    must(await cli(["tenant", "create", "default"], { env }));
    const { code, stdout, stderr } = await cli(["email", "test", "ann@example.com"], { env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`Provider: the platform's mail server, 127.0.0.1:${smtp.port}`);
    expect(stdout).toContain("From: Links <links@example.com>\nTo: ann@example.com\nAccepted.");
    expect(smtp.taken).toMatchObject([{ to: "ann@example.com", from: "links@example.com" }]);
    expect(await query(env, "select * from emails")).toEqual([]);
    smtp.manners = { to: () => ({ code: 550, text: "5.1.1 nobody here" }) };
    const refused = await cli(["email", "test", "ann@example.com"], { env });
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("5.1.1 nobody here");
    expect(refused.stdout).toContain("The recipient does not exist.");
    const wrong = await cli(["email", "test", "ann@example.com"], {
      env: { ...env, SMTP_URL: smtp.url.replace("hunter2hunter2", "other") },
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain("535");
    await smtp.stop();
    const down = await cli(["email", "test", "ann@example.com"], { env });
    expect([down.code, down.stdout.includes("Check SMTP_URL")]).toEqual([1, true]);
    for (const { stdout, stderr } of [refused, wrong, down]) expect(stdout + stderr).not.toContain("hunter2");
  });

  test("sends through a tenant's own account, if it has one", async () => {
    const sendgrid = startSendgrid();
    sendgrid.keys.add("SG.a-key-that-works-well");
    const site = await startSite("SQLite", { QL_SENDGRID_URL: sendgrid.url });
    const body = { sendgridKey: "SG.a-key-that-works-well", sender: "links@acme.example" };
    expect((await site.call("PATCH", "/api/email/settings", { body })).status).toBe(200);
    const env = { ...site.env, QL_SENDGRID_URL: sendgrid.url };
    const printed = must(await cli(["email", "test", "ann@example.com"], { env }));
    expect(printed).toContain("Provider: the workspace's own SendGrid key");
    expect(printed).toMatch(/Accepted\. Message ID: sg/);
    expect(sendgrid.taken).toMatchObject([{ to: "ann@example.com", key: body.sendgridKey }]);
    sendgrid.keys.clear();
    const refused = await cli(["email", "test", "ann@example.com"], { env });
    expect([refused.code, refused.stdout.includes("Check the API key")]).toEqual([1, true]);
    expect(refused.stdout + refused.stderr).not.toContain(body.sendgridKey);
    expect(await site.server.stop()).toBe(0);
    await sendgrid.stop();
  });

  test("without a mail server says that nothing goes out; bad input is refused", async () => {
    const env = await newDatabase("SQLite");
    must(await cli(["tenant", "create", "default"], { env }));
    const nowhere = await cli(["email", "test", "ann@example.com"], { env });
    expect([nowhere.code, nowhere.stdout.includes("Set SMTP_URL")]).toEqual([1, true]);
    const bad = await cli(["email", "test", "ann"], { env });
    expect([bad.code, bad.stderr.includes("is not an email address")]).toEqual([1, true]);
    expect((await cli(["email", "test", "ann@example.com", "--tenant", "nobody"], { env })).code).toBe(1);
  });
});

test("quicklink email notices shows and switches the kinds of a tenant", async () => {
  const env = await newDatabase("SQLite");
  must(await cli(["tenant", "create", "default"], { env }));
  const notices = async (...more: string[]) =>
    JSON.parse(must(await cli(["email", "notices", "--json", ...more], { env }))) as unknown;
  const before = { firstClick: false, spike: true, drop: false, deadTarget: true, digest: true };
  expect(await notices()).toEqual({ contact: null, notices: before });
  const changed = { contact: null, notices: { ...before, firstClick: true, drop: true, digest: false } };
  expect(await notices("--on", "firstClick,drop", "--off", "digest")).toEqual(changed);
  expect(await notices()).toEqual(changed);
  for (const wrong of [
    ["--on", "digests"],
    ["--on", "drop", "--off", "drop"],
  ]) {
    expect((await cli(["email", "notices", ...wrong], { env })).code).not.toBe(0);
  }
});

describe("quicklink doctor", () => {
  const findings = async (env: Record<string, string>) => {
    const { stdout } = await cli(["doctor", "--json"], { env });
    return (JSON.parse(stdout) as { check: string }[]).filter(({ check }) => check === "email");
  };

  test("tests the mail server without sending, and finds nothing wrong without one", async () => {
    expect(await findings({})).toMatchObject([{ status: "ok", found: expect.stringContaining("SMTP_URL is not set") }]);
    const smtp = await startSmtp({ credentials });
    expect(await findings({ SMTP_URL: smtp.url })).toMatchObject([
      { status: "ok", found: `the mail server at 127.0.0.1:${smtp.port} accepts our login` },
    ]);
    const wrong = await findings({ SMTP_URL: smtp.url.replace("hunter2hunter2", "other-password") });
    expect(wrong).toMatchObject([{ status: "fail", advice: expect.stringContaining("Fix SMTP_URL") }]);
    expect(JSON.stringify(wrong)).not.toContain("other-password");
    expect(smtp.taken).toEqual([]);
    await smtp.stop();
    expect(await findings({ SMTP_URL: `smtp://127.0.0.1:${freePort()}` })).toMatchObject([{ status: "fail" }]);
  });
});

if (postgresAvailable()) {
  test("without keys to seal with, PostgreSQL keeps no tenant's key, and says what the operator must set", async () => {
    const site = await startSite("PostgreSQL");
    const body = { sendgridKey: "SG.a-key-that-works-well", sender: "links@acme.example" };
    const reply = await site.call("PATCH", "/api/email/settings", { body });
    expect([reply.status, reply.json<ProblemBody>().code]).toEqual([501, "not_set_up"]);
    expect(reply.json<ProblemBody>().detail).toContain("QL_SECRET_KEYS");
    expect(await query(site.env, "select * from email_settings")).toEqual([]);
    expect(await site.server.stop()).toBe(0);
  });
}
