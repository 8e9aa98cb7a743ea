/** The frame around all pages: navigation, workspace, theme, palette, shortcuts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { must, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { show } from "./pages.ts";

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

test("a person who is not signed in is asked to, and comes back to the same page", async () => {
  const { page, goto, calm } = await dashboard.open(site, undefined, { mayFail: (message) => message.includes("401") });
  await goto("/w/default/usage");
  await page.waitForURL("**/app/sign-in?returnTo=*");
  expect(new URL(page.url()).searchParams.get("returnTo")).toBe("/app/w/default/usage");
  calm();
});

test("the sidebar leads to every page, and marks the current one", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("");
  await page.waitForURL("**/app/w/default");
  const navigation = page.getByRole("navigation", { name: "Main" }).first();
  for (const name of ["Links", "Files", "Domains", "Tags", "Usage", "Members", "Import", "Settings", "Overview"]) {
    await navigation.getByRole("link", { name, exact: true }).click();
    await page.waitForURL(name === "Overview" ? "**/app/w/default" : `**/app/w/default/${name.toLowerCase()}*`);
    const current = navigation.locator("[aria-current=page]");
    expect(await current.textContent()).toBe(name);
  }
  calm();
});

test("the sidebar says how many links there are, and counts a new one at once", async () => {
  const key = await site.tenant("counted");
  expect((await site.call("POST", "/api/links", { key, body: { url: "https://example.com/one" } })).status).toBe(201);
  const person = await makePerson(site, { roles: { counted: "owner" } });
  const { page, goto, calm } = await dashboard.open(site, person);
  await goto("/w/counted/domains");
  const links = (count: number) => page.locator(`nav a[title=Links][aria-description="${count}"]`).waitFor();
  await links(1);
  await page.keyboard.press("n");
  await page.getByRole("textbox", { name: "Destination" }).fill("https://example.com/two");
  await page.keyboard.press("Control+Enter");
  await page.getByText(/^Created /).waitFor();
  await links(2);
  calm();
});

test("a viewer sees only what a viewer may do", async () => {
  const viewer = await makePerson(site, { roles: { default: "viewer" } });
  const { page, goto, calm } = await dashboard.open(site, viewer);
  await goto("/w/default/usage");
  await page.getByRole("link", { name: "Usage", exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "New link" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Settings", exact: true }).count()).toBe(0);
  calm();
});

test("no page offers a viewer anything that changes something, by button, menu or key", async () => {
  const { id } = await site.create({ url: "https://example.com/seen", code: "seen", tags: ["seen"] });
  await site.store("Some bytes");
  const viewer = await makePerson(site, { roles: { default: "viewer" } });
  const opened = await dashboard.open(site, viewer);
  const { page, goto, calm } = opened;
  const writes =
    /^(?:new|create|add|edit|save|delete|remove|rename|merge|move|invite|upload|import|share|disable|enable|duplicate|verify|check now|empty|restore)\b/i;
  const offered = async () =>
    (await page.locator("button:visible, [role=menuitem]:visible").allTextContents()).filter((name) =>
      writes.test(name),
    );
  const places = ["", "/links", `/links/${id}`, "/links/trash", "/tags", "/files", "/domains", "/usage", "/members"];
  for (const place of [...places, `/links?drawer=${id}`]) {
    await show(opened, `/w/default${place}`);
    expect([place, ...(await offered())]).toEqual([place]);
  }
  await goto(`/w/default/links/${id}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem").first().waitFor();
  expect(await offered()).toEqual([]);
  await goto("/w/default/links");
  await page.getByText("/seen").first().waitFor();
  for (const key of ["j", "x", "Backspace", "n"]) await page.keyboard.press(key);
  expect(await page.locator("[role=dialog], [data-bulk-bar]").count()).toBe(0);
  expect((await site.call("GET", `/api/links/${id}`)).status).toBe(200);
  calm();
}, 60_000);

test("a page that a role does not open says so, and sends nothing", async () => {
  const viewer = await makePerson(site, { roles: { default: "viewer" } });
  const { page, goto, calm } = await dashboard.open(site, viewer);
  for (const place of ["settings", "settings/keys", "settings/log", "import", "links/replace"]) {
    await goto(`/w/default/${place}`);
    await page.getByText("Your role in this workspace does not open this page.").waitFor();
  }
  // Not by `goto`, which waits for the drawer.
  await page.goto(new URL("/app/w/default/links?drawer=new", page.url()).href);
  await page.getByRole("heading", { name: "Links" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  calm();
});

test("a suspended workspace says so once, instead of in every card", async () => {
  must(await site.cli("tenant", "create", "closed"));
  const member = await makePerson(site, { roles: { closed: "owner" } });
  must(await site.cli("tenant", "suspend", "closed", "--reason", "phishing"));
  const { page, goto, calm } = await dashboard.open(site, member, { mayFail: (message) => message.includes("403") });
  for (const place of ["", "/links", "/settings"]) {
    await goto(`/w/closed${place}`);
    const said = page.getByText("The operator of this server has suspended your workspace.");
    await page.getByRole("heading", { name: "This workspace is closed" }).waitFor();
    expect(await said.count()).toBe(1);
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
  }
  calm();
}, 60_000);

test("who could not be signed out is told so, and drafts go with the session", async () => {
  const person = await makePerson(site, { roles: { default: "member" } });
  const { page, goto, calm } = await dashboard.open(site, person, {
    mayFail: (message) => message.includes("ERR_FAILED"),
  });
  await goto("/w/default/links?drawer=new");
  await page.getByLabel("Destination", { exact: true }).fill("https://example.com/secret");
  await page.keyboard.press("Escape");
  const signOut = async () => {
    await page.getByRole("button", { name: /^Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
  };
  await page.route("**/api/account/session", (route) => route.abort());
  await signOut();
  await page
    .getByRole("alert")
    .getByText(/^You are still signed in/)
    .waitFor({ state: "attached" });
  await page.unroute("**/api/account/session");
  await signOut();
  await page.waitForURL("**/app/sign-in");
  const kept = await page.evaluate(
    "Object.keys(sessionStorage).filter((key) => key.startsWith('quicklink-draft:link'))",
  );
  expect(kept).toEqual([]);
  calm();
});

test("the keyboard opens a menu at its first item the first time too, and Esc returns to its button", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner);
  for (const key of ["Enter", "ArrowDown"]) {
    await goto("/w/default/usage");
    const button = page.getByRole("button", { name: /^Account of/ });
    await button.press(key);
    await page.locator(":focus", { hasText: /^Account$/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("button:focus", { hasText: "Account of" }).waitFor();
  }
  calm();
});

test("a part that an update of the server took away comes with the page of the new version", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner, { mayFail: (message) => message.includes("404") });
  await goto("/w/default/usage");
  const button = page.getByRole("button", { name: /^Account of/ });
  await button.waitFor();
  let isGone = true;
  await page.route("**/app/assets/*.js", (route) => (isGone ? route.fulfill({ status: 404 }) : route.continue()));
  page.once("framenavigated", () => {
    isGone = false;
  });
  const renewed = page.waitForEvent("load");
  await button.click();
  await renewed;
  await button.click();
  await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  calm();
});

test("a workspace of somebody else cannot be opened", async () => {
  await site.tenant("other");
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/other/links");
  await page.getByText("You are not a member of this workspace, or it does not exist.").waitFor();
  calm();
});

test("the palette finds links and pages by keyboard alone", async () => {
  await site.create({ url: "https://example.com/palette", code: "palette", title: "A link to find" });
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/default/usage");
  await page.getByRole("link", { name: "Usage", exact: true }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search and commands" }).waitFor();
  await page.keyboard.type("palett");
  await page
    .getByRole("option", { name: /palette/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/app/w/default/links/lnk_*");
  calm();
});

test("the chosen theme stays, and the server sends it with the page", async () => {
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto("/w/default/usage");
  await page.getByRole("button", { name: "Account of Ann Example" }).first().click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  await page.reload();
  expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
  calm();
});
