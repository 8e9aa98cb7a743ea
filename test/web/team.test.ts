/** A team in the dashboard: invite, accept with a limited role, keys, files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LinkBody, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard();
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
});

// On one database: what journeys need of the server is tested on both without a browser, which takes a tenth of the time.
describe("on SQLite", () => {
  let site: Site;
  let owner: TestPerson;

  beforeAll(async () => {
    site = await startSite("SQLite");
    owner = await makePerson(site, { name: "Ann Example", roles: { default: "owner" } });
  }, 60_000);

  afterAll(async () => {
    await site.server.stop();
  });

  test("a person who is invited as a viewer joins by the link, and can change nothing", async () => {
    const { page, goto, calm } = await dashboard.open(site, owner);
    await goto("/w/default/members");
    await page.getByRole("button", { name: "Invite people" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Viewer", { exact: true }).click();
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    const url = await page.getByRole("region", { name: "Invitation link" }).textContent();
    calm();

    // The page asks who is signed in, and browsers report every 401.
    const mayFail = (message: string) => message.includes("401") && message.includes("/api/account");
    const guest = await dashboard.open(site, undefined, { mayFail });
    await guest.page.goto(url ?? "");
    await guest.page.getByLabel("Name", { exact: true }).fill("Bob Example");
    await guest.page.getByLabel("Email", { exact: true }).fill("bob@example.com");
    await guest.page.getByLabel("Password", { exact: true }).fill("another sentence that works");
    await guest.page.getByRole("button", { name: /join|accept|create/i }).click();
    await guest.page.waitForURL("**/app/w/default*");
    await guest.page.getByRole("link", { name: "Members", exact: true }).click();
    await guest.page.getByText("Ann Example").first().waitFor();
    expect(await guest.page.getByRole("button", { name: "Invite people" }).count()).toBe(0);
    expect(await guest.page.getByRole("button", { name: "New link" }).count()).toBe(0);
    guest.calm();
  }, 60_000);

  test("a key is shown once, works, and is refused as soon as it is revoked", async () => {
    const { page, goto, calm } = await dashboard.open(site, owner);
    await goto("/w/default/settings/keys");
    await page.getByRole("button", { name: "Create a key" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Website");
    await page.getByRole("dialog").getByRole("button", { name: "Create a key" }).click();
    const key = (await page.getByRole("region", { name: "API key" }).textContent()) ?? "";
    expect(key).toStartWith("ql_");
    await page.getByRole("button", { name: "Done" }).click();
    expect((await site.call("GET", "/api/links", { key })).status).toBe(200);
    expect(await page.getByText(key).count()).toBe(0);

    await page.getByRole("button", { name: "Revoke: Website" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoked “Website”.").waitFor();
    expect((await site.call("GET", "/api/links", { key })).status).toBe(401);
    calm();
  }, 60_000);

  test("a file is uploaded, shared by a short link, downloaded by a visitor and by its owner, and deleted", async () => {
    const { page, goto, calm } = await dashboard.open(site, owner);
    await goto("/w/default/files");
    await page.getByLabel("Upload files").setInputFiles({
      ...{ name: "menu.txt", mimeType: "text/plain", buffer: Buffer.from("Soup of the day") },
    });
    await page.getByRole("row", { name: /menu\.txt/ }).waitFor();

    await page.getByRole("button", { name: "Actions for menu.txt" }).click();
    await page.getByRole("menuitem", { name: "Create a short link" }).click();
    const drawer = page.getByRole("dialog", { name: "New link" });
    await drawer.getByText("menu.txt").first().waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText(/^Created /).waitFor();
    const { items } = (await site.call("GET", "/api/links?limit=1")).json<{ items: LinkBody[] }>();
    const visited = await site.visit(`/${items[0]?.code}`);
    expect(visited.status).toBe(302);
    const seen = await fetch(new URL(visited.headers.get("location") ?? "", site.server.url));
    expect([await seen.text(), seen.headers.get("content-disposition")]).toEqual([
      "Soup of the day",
      expect.stringContaining("menu.txt"),
    ]);

    await page.getByRole("button", { name: "Actions for menu.txt" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Download" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("menu.txt");
    await page.getByRole("button", { name: "Actions for menu.txt" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Deleted menu.txt.").waitFor();
    expect((await site.visit(`/${items[0]?.code}`)).status).toBe(404);
    calm();
  }, 60_000);
});
