/** What was typed survives a lost session, a reload and a closed dialog; secrets are never stored. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";

let site: Site;
let dashboard: Dashboard;
let owner: TestPerson;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  owner = await makePerson(site, { name: "Ann Example", roles: { default: "owner" } });
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

const drafts = (page: Page) =>
  page.evaluate<string[]>("Object.entries(sessionStorage).filter(([key]) => key.includes('draft')).map(String)");

test("settings come back after the session has ended, are saved, and leave no draft", async () => {
  const mayFail = (message: string) => message.includes("401");
  const { page, goto, calm } = await dashboard.open(site, owner, { mayFail });
  await goto("/w/default/settings");
  const name = page.getByLabel("Name", { exact: true });
  await name.fill("Renamed <b>workspace</b>");
  await page.getByLabel("Name for visitors").fill("Shown name");
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.waitForURL("**/app/sign-in?returnTo=*");
  await page.context().addCookies(cookies);
  await goto("/w/default/settings");
  expect(await name.inputValue()).toBe("Renamed <b>workspace</b>");
  expect(await page.getByLabel("Name for visitors").inputValue()).toBe("Shown name");
  await page.getByRole("button", { name: "Discard changes" }).nth(1).click();
  expect(await page.getByLabel("Name for visitors").inputValue()).toBe("");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
  expect(await name.inputValue()).toBe("Renamed <b>workspace</b>");
  expect(await drafts(page)).toEqual([]);
  calm();
});

test("the forms of keys, invitations and domains come back, and Cancel forgets them", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner);
  for (const [path, open, label] of [
    ["/settings/keys", "Create a key", "Name"],
    ["/members", "Invite people", "Email address"],
    ["/domains", "Add a domain", "Domain"],
  ] as const) {
    await goto(`/w/default${path}`);
    const opener = page.getByRole("button", { name: open }).first();
    const field = page.getByRole("dialog").getByLabel(label, { exact: true });
    await opener.click();
    await field.fill("typed.example.com");
    await page.reload();
    await opener.click();
    await field.waitFor();
    expect([path, await field.inputValue()]).toEqual([path, "typed.example.com"]);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await opener.click();
    await field.waitFor();
    expect([path, await field.inputValue()]).toEqual([path, ""]);
    expect(await drafts(page)).toEqual([]);
  }
  calm();
});

test("no draft has a password or a key, and what came back without its password is not sent", async () => {
  const secret = "correct horse battery";
  const link = await site.create({ url: "https://example.com/drafts" });
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/default/settings/email");
  await page.getByLabel("SendGrid API key").fill(secret);
  await page.getByLabel("Sender", { exact: true }).fill("links@example.com");

  await goto(`/w/default/links/${link.id}`);
  await page.getByRole("button", { name: "Share report" }).click();
  await page.getByRole("dialog").getByLabel("Password", { exact: true }).fill(secret);
  await page.reload();
  await page.getByRole("button", { name: "Share report" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Enter the password again: drafts do not keep it.").waitFor();
  await dialog.getByRole("button", { name: "Create page" }).click();
  await page.locator("input[type=password]:focus").waitFor();

  await goto("/w/default/links?drawer=new");
  const drawer = page.getByRole("dialog", { name: "New link" });
  await drawer.getByLabel("Destination", { exact: true }).fill("https://example.com/with-password");
  await drawer.getByText("Password and fallback").click();
  await drawer.getByLabel("Password", { exact: true }).fill(secret);
  const kept = await drafts(page);
  expect(kept.length).toBe(3);
  expect(kept.join()).not.toContain(secret);
  await page.reload();
  await drawer.getByText("Your draft is back.").waitFor();
  await drawer.getByText("Password and fallback").click();
  await drawer.getByText("Enter the password again: drafts do not keep it.").waitFor();
  await drawer.getByRole("button", { name: "Remove", exact: true }).click();
  expect((await site.call("GET", "/api/stats/shares")).json<{ items: unknown[] }>().items).toEqual([]);
  calm();
});
