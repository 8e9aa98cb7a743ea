/** The email page: what emails look like. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";

let site: Site;
let dashboard: Dashboard;
let owner: TestPerson;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  await site.tenant("other");
  owner = await makePerson(site, { name: "Ann Example", roles: { default: "owner", other: "owner" } });
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

test("every email is shown with its styles, light, dark and as text, and the address keeps which", async () => {
  await site.call("PATCH", "/api/workspace", { body: { name: "Acme <i>Ltd</i>" } });
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/default/settings/email");
  const chosen = page.getByLabel("Email", { exact: true });
  await chosen.scrollIntoViewIfNeeded();
  const shownIn = async (theme: string, heading: RegExp | string) => {
    const mail = page.frameLocator(`iframe[src*="theme=${theme}"]`);
    await mail.getByRole("heading", { name: heading }).waitFor();
    return await mail.locator("body").evaluate("getComputedStyle(document.body).backgroundColor");
  };
  expect(await shownIn("light", /^Your week/)).toBe("rgb(246, 247, 249)");
  await page.getByText("Dark", { exact: true }).click();
  expect(await shownIn("dark", /^Your week/)).toBe("rgb(16, 21, 28)");
  await chosen.selectOption({ label: "Link shared by email" });
  await shownIn("dark", "Acme <i>Ltd</i> shared a link with you");
  await page.getByText("Acme <i>Ltd</i> shared “Winter sale” with you").waitFor();
  await page.getByText("Plain text", { exact: true }).click();
  await page.reload();
  await page.locator("pre", { hasText: "> it starts on Monday." }).waitFor();
  expect(await page.locator("iframe").count()).toBe(0);
  calm();
});

test("the frame shows the workspace of its page, whatever another tab opened last", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/default/settings");
  await page.getByRole("heading", { name: "Settings" }).first().waitFor();
  await goto("/w/other/settings/email?email=roleRemoved");
  await page.getByLabel("Email", { exact: true }).scrollIntoViewIfNeeded();
  await page.frameLocator("iframe").getByRole("heading", { name: "You are no longer a member of other" }).waitFor();
  calm();
});
