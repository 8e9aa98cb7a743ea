/** What was typed survives a lost session, a reload and a closed dialog; secrets are never stored. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

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
  await until("no draft to be left", async () => (await drafts(page)).length === 0 || undefined);
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

test("what was typed about the account comes back after the session has ended, without passwords, and leaves no draft", async () => {
  const secret = "correct horse battery";
  const person = await makePerson(site, { name: "Ben Example", roles: { default: "member" } });
  const { page, goto, calm } = await dashboard.open(site, person, { mayFail: (message) => message.includes("401") });
  await goto("/account");
  const [name, email] = [page.getByLabel("Name", { exact: true }), page.getByLabel("New address", { exact: true })];
  await page.getByLabel("New password", { exact: true }).fill(secret);
  await email.fill("ben.new@example.com");
  await name.fill("Benjamin Example");
  const cookies = await page.context().cookies();
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.waitForURL("**/app/sign-in?returnTo=*");
  expect((await drafts(page)).join()).not.toContain(secret);
  await page.context().addCookies(cookies);
  await goto("/account");
  await name.waitFor();
  expect([await name.inputValue(), await email.inputValue()]).toEqual(["Benjamin Example", "ben.new@example.com"]);
  await email.fill("");
  await page.getByRole("button", { name: "Discard changes" }).click();
  expect(await name.inputValue()).toBe("Ben Example");
  await name.fill("Benjamin Example");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" });
  expect(await name.inputValue()).toBe("Benjamin Example");
  expect(await drafts(page)).toEqual([]);
  calm();
});

test("the forms of a new workspace, a plan, the limits of a workspace and a tag come back, and Cancel forgets them", async () => {
  const operator = await makePerson(site, { name: "Cleo Example", operator: true, roles: { default: "owner" } });
  await site.create({ url: "https://example.com/tagged", tags: ["spring"] });
  const { page, goto, calm } = await dashboard.open(site, operator);
  const press = (name: string) => page.getByRole("button", { name }).first().click();
  /** Of the first row. */
  const choose = async (item: string) => {
    await press("Actions for");
    await page.getByRole("menuitem", { name: item }).click();
  };
  const dialog = page.getByRole("dialog");
  const forms: readonly (readonly [path: string, open: () => Promise<void>, label: string, typed: string])[] = [
    ["/account", () => press("New workspace"), "Name", "Typed workspace"],
    ["/operator/plans", () => press("New plan"), "New links a month", "4,321"],
    ["/operator/workspaces", () => choose("Plan and limits"), "New links a month", "none"],
    ["/w/default/tags", () => choose("Rename"), "New name", "typed"],
  ];
  for (const [path, open, label, typed] of forms) {
    await goto(path);
    await open();
    const field = dialog.getByLabel(label, { exact: true });
    await field.waitFor();
    const before = await field.inputValue();
    if (typed === "none") await field.selectOption(typed);
    else await field.fill(typed);
    await goto(path);
    await open();
    await field.waitFor();
    expect([path, await field.inputValue()]).toEqual([path, typed]);
    // Where it would pass for what is stored.
    if (path.startsWith("/operator")) await dialog.getByText("Your draft is back.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await open();
    await field.waitFor();
    expect([path, await field.inputValue()]).toEqual([path, before]);
    expect(await drafts(page)).toEqual([]);
  }
  calm();
}, 60_000);

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
