/** Ways into an account, in the browser: app and recovery code, passkey, company; and the proof that changes of them need. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { systemClock } from "../../src/base/clock.ts";
import { newKey, writeKeys } from "../../src/base/seal.ts";
import { query, type Site, startSite } from "../e2e/servers.ts";
import { addAuthenticator } from "../ground/authenticators.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { startOidc } from "../ground/oidc.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { freePort } from "../ground/ports.ts";

const password = "correct horse battery";
let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard();
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
});

/** Browsers report every refusal that a test provokes. */
const mayFail = (message: string) => /status of 40[13]/.test(message);

async function enterPassword(page: Page, { email }: TestPerson): Promise<void> {
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}

// On one database: what journeys need of the server is tested on both without a browser, which takes a tenth of the time.
describe("on SQLite", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite("SQLite", { QL_SECRET_KEYS: writeKeys([newKey()]) });
  }, 60_000);

  afterAll(async () => {
    await site.server.stop();
  });

  test("with an authenticator app the password asks for a code, and a recovery code works once instead", async () => {
    const person = await makePerson(site, { password, roles: { default: "member" } });
    const { page, goto, calm } = await dashboard.open(site, person, { mayFail });
    await goto("/account#two-factor");
    await page.getByRole("button", { name: "Set up an app" }).click();
    const secret = (await page.getByRole("region", { name: "Key" }).textContent()) ?? "";
    await page.getByRole("img", { name: "QR code for the authenticator app" }).waitFor();
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    await page.getByLabel("Code that the app shows").fill(code);
    await page.getByRole("button", { name: "Turn on" }).click();
    const shown = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await shown.first().waitFor();
    const codes = await shown.allTextContents();
    expect(codes).toHaveLength(10);
    await page.getByRole("button", { name: "I have saved them" }).click();
    await page.getByText("10 recovery codes left").waitFor();
    await signOut(page);

    await goto("/w/default/links?search=menu");
    await enterPassword(page, person);
    await page.getByRole("heading", { name: "Enter your code" }).waitFor();
    // The code that turned it on was used.
    await page.getByLabel("Code", { exact: true }).fill(code);
    await page.getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code", { exact: true }).fill(codes[0] ?? "");
    await page.keyboard.press("Enter");
    // Back where the way to the sign-in began.
    await page.waitForURL("**/app/w/default/links?search=menu");
    calm();
  }, 60_000);

  test("a passkey that was created on the account page signs in", async () => {
    const person = await makePerson(site, { password, roles: { default: "member" } });
    const { page, goto, calm } = await dashboard.open(site, person);
    await goto("/account#passkeys");
    await addAuthenticator(page);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Passkey added").waitFor();
    // Else the browser suggests it by itself, and this device accepts at once.
    await page.evaluate(() => localStorage.clear());
    await signOut(page);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL("**/app/w/default*");
    await goto("/account#sessions");
    await page.getByText("Signed in with passkey").waitFor();
    calm();
  }, 60_000);

  test("somebody with an old session proves who they are before they add a passkey", async () => {
    const person = await makePerson(site, { password, roles: { default: "member" } });
    const old = systemClock.now() - 3_600_000;
    await query(site.env, `update sessions set proved_at = ${old} where person_id = '${person.id}'`);
    const { page, goto, calm } = await dashboard.open(site, person, { mayFail });
    await goto("/account#passkeys");
    await addAuthenticator(page);
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
    await dialog.getByLabel("Password", { exact: true }).fill("not the password");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("The password is wrong.").waitFor();
    await dialog.getByLabel("Password", { exact: true }).fill(password);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Passkey added").waitFor();
    calm();
  }, 60_000);

  test("nobody is sent to another site after the sign-in", async () => {
    const person = await makePerson(site, { password, roles: { default: "member" } });
    const { page, goto, calm } = await dashboard.open(site);
    await goto(`/sign-in?returnTo=${encodeURIComponent("//evil.example/app/")}`);
    await enterPassword(page, person);
    await page.waitForURL("**/app/w/default*");
    calm();
  }, 60_000);
});

test("a person of the company signs in there, and is told why not if they were not invited", async () => {
  const port = freePort();
  const provider = await startOidc(`http://localhost:${port}/api/auth/oidc/callback`);
  const site = await startSite("SQLite", {
    ...{ PORT: String(port), QL_OIDC_ISSUER: provider.issuer, QL_OIDC_CLIENT_ID: provider.clientId },
    ...{ QL_OIDC_CLIENT_SECRET: provider.clientSecret, QL_OIDC_DOMAINS: "example.com", QL_OIDC_NAME: "Example Inc." },
  });
  try {
    const { page, goto, calm } = await dashboard.open(site, undefined, {
      mayFail: (message) => mayFail(message) || message.includes(provider.issuer),
    });
    let account = { sub: "eve", email: "eve@example.com", email_verified: true };
    await page.route(`${provider.issuer}/**`, async (route) => {
      await route.fulfill({
        status: 302,
        headers: { location: await provider.signIn(route.request().url(), account) },
      });
    });
    await goto("/sign-in");
    await page.getByRole("button", { name: "Continue with Example Inc." }).click();
    await page.getByText("You have no account here.").waitFor();

    const ann = await makePerson(site, { email: "ann@example.com", password, roles: { default: "member" } });
    account = { ...account, sub: "ann", email: ann.email };
    await enterPassword(page, ann);
    await page.getByText("sign in with their company account").waitFor();
    await page.getByRole("button", { name: "Continue with Example Inc." }).first().click();
    await page.waitForURL("**/app/w/default*");
    calm();
  } finally {
    await site.server.stop();
    await provider.stop();
  }
}, 60_000);
