/** Without a connection: what asks the server says at once why it cannot, and nothing is sent later by itself. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type LinkBody, must, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";

let site: Site;
let dashboard: Dashboard;
let owner: TestPerson;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  must(await site.cli("plan", "set", "small", "--links", "10"));
  owner = await makePerson(site, { name: "Ann Example", operator: true, roles: { default: "owner" } });
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

const mayFail = (message: string) => message.includes("ERR_INTERNET_DISCONNECTED");
const reason = "You are offline. This works again when you reconnect.";

/** Everything that would change something. */
function writesOf(page: Page): string[] {
  const writes: string[] = [];
  page.on("request", (request) => {
    if (request.method() !== "GET") writes.push(`${request.method()} ${request.url()}`);
  });
  return writes;
}

test("every button that submits is disabled and says why, on press too", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner, { mayFail });
  const writes = writesOf(page);
  const forms: readonly (readonly [path: string, opener?: string])[] = [
    ["/w/default/settings"],
    ["/w/default/settings/email"],
    ["/w/default/settings/keys", "Create a key"],
    ["/w/default/members", "Invite people"],
    ["/w/default/domains", "Add a domain"],
    ["/w/default/links?drawer=new"],
    ["/w/default/links/replace"],
    ["/account"],
    ["/operator/plans", "New plan"],
  ];
  for (const [path, opener] of forms) {
    await goto(path);
    if (opener !== undefined) {
      await page.getByRole("button", { name: opener }).first().click();
      await page.getByRole("dialog").waitFor();
    }
    await page.locator("button[type=submit], [role=dialog] footer button").first().waitFor();
    await page.context().setOffline(true);
    await page.getByText("You are offline. Changes are disabled until you reconnect.").waitFor();
    await page.locator(`button[aria-description="${reason}"]`).first().waitFor();
    const open = await page.evaluate<string[]>(
      `[...document.querySelectorAll("button[type=submit]")].filter((one) => !one.disabled && one.ariaDisabled !== "true").map((one) => one.textContent)`,
    );
    expect([path, ...open]).toEqual([path]);
    // On a page there may be nothing to save.
    if (opener !== undefined) {
      const blocked = page.getByRole("dialog").locator(`button[aria-description="${reason}"]`);
      await blocked.click({ force: true });
      await page.locator("[data-tooltip]", { hasText: reason }).waitFor();
    }
    await page.context().setOffline(false);
    await page.locator(`button[aria-description="${reason}"]`).first().waitFor({ state: "detached" });
  }
  expect(writes).toEqual([]);
  calm();
}, 120_000);

test("keys and menus are refused in words, and nothing happens when the connection is back", async () => {
  const link = await site.create({ url: "https://example.com/stays", tags: ["winter"] });
  const { page, goto, calm } = await dashboard.open(site, owner, { mayFail });
  const refusal = page.getByText("You are offline. Nothing was sent: try again when you are connected.");
  await goto(`/w/default/links?drawer=${link.id}`);
  await page.getByRole("dialog").getByLabel("Destination", { exact: true }).fill("https://example.com/changed");
  const writes = writesOf(page);
  await page.context().setOffline(true);
  await page.keyboard.press("Control+Enter");
  await page.getByRole("dialog").getByText("You are offline. Nothing was sent").waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline. Changes are disabled").waitFor({ state: "detached" });

  await goto("/w/default/tags");
  await page.getByRole("button", { name: "Actions for winter" }).click();
  const remove = page.getByRole("menuitem", { name: /^(?:Remove|Delete)/ });
  await remove.waitFor();
  await page.context().setOffline(true);
  await remove.click();
  await refusal.first().waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline. Changes are disabled").waitFor({ state: "detached" });

  await goto("/w/default/files");
  await page.getByLabel("Upload files").waitFor({ state: "attached" });
  await page.context().setOffline(true);
  await page.getByText("You are offline. Changes are disabled").waitFor();
  await page.getByLabel("Upload files").setInputFiles({
    ...{ name: "menu.txt", mimeType: "text/plain", buffer: Buffer.from("Soup of the day") },
  });
  await refusal.first().waitFor();
  await page.context().setOffline(false);
  await page.getByText("You are offline. Changes are disabled").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /retry|try again/i }).waitFor();

  expect(writes).toEqual([]);
  const stored = (await site.call("GET", `/api/links/${link.id}`)).json<LinkBody>();
  expect([stored.url, stored.tags]).toEqual(["https://example.com/stays", ["winter"]]);
  calm();
}, 60_000);

test("the bar that says so is seen on a phone too, below what stays at the top", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner, { mayFail, isPhone: true });
  for (const path of ["/w/default/usage", "/w/default/start", "/account"]) {
    await goto(path);
    await page.getByRole("heading").first().waitFor();
    await page.context().setOffline(true);
    // A click arrives only where nothing lies above it.
    await page.getByText("You are offline. Changes are disabled until you reconnect.").click();
    await page.context().setOffline(false);
  }
  calm();
});
