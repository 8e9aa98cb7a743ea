/** The first five minutes: the printed address, an account, a link, and its first click without a reload. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases, must, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard();
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
});

describe.each(databases)("on %s", (database) => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite(database);
  }, 60_000);

  afterAll(async () => {
    await site.server.stop();
  });

  test("set-up, first link and first click happen on two pages, without a reload", async () => {
    const address = /https?:\/\/\S+\/app(\/setup#\S+)/.exec(must(await site.cli("setup")))?.[1] ?? "";
    const { page, goto, calm } = await dashboard.open(site);
    await goto(address);
    await page.getByLabel("Name", { exact: true }).fill("Ann Example");
    await page.getByLabel("Email", { exact: true }).fill("ann@example.com");
    await page.getByLabel("Password", { exact: true }).fill("a sentence works well");
    await page.getByRole("button", { name: "Create account" }).click();

    const field = page.getByRole("textbox", { name: "Long address" });
    // It has the focus by itself.
    await page.locator("input:focus").waitFor();
    await field.fill("https://example.com/a/long/address");
    await field.press("Enter");
    await page.getByText("Your short link is ready").waitFor();
    const [link] = (await listed()) as { code: string; url: string }[];
    expect(link?.url).toBe("https://example.com/a/long/address");

    await page.getByText("Waiting for the first click").waitFor();
    expect((await site.visit(`/${link?.code}`)).status).toBe(302);
    await page.getByText("The first click is here.").waitFor();
    calm();

    async function listed(): Promise<unknown[]> {
      return (await site.call("GET", "/api/links")).json<{ items: unknown[] }>().items;
    }
  }, 60_000);

  test("the door of the set-up is closed afterwards", async () => {
    const { page, goto, calm } = await dashboard.open(site);
    await goto("/setup#anything");
    await page.getByText("This server is set up").waitFor();
    await page.getByRole("link", { name: "Go to the sign-in" }).click();
    await page.getByLabel("Email", { exact: true }).fill("ann@example.com");
    await page.getByLabel("Password", { exact: true }).fill("a sentence works well");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL("**/app/w/default*");
    calm();
  }, 60_000);
});
