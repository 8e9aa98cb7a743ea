/** Creating and editing a link in the drawer. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LinkBody, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard, tabTo } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

let site: Site;
let dashboard: Dashboard;
let member: TestPerson;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  member = await makePerson(site, { name: "Ann Example", roles: { default: "member" } });
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

const stored = async (id: string): Promise<LinkBody> => (await site.call("GET", `/api/links/${id}`)).json<LinkBody>();
const refused = (status: number) => (message: string) => message.includes(String(status));

test("the keyboard alone creates a link with a rule, and pressing twice creates one", async () => {
  const { page, goto, calm, violations } = await dashboard.open(site, member);
  await goto("/w/default/links?drawer=new");
  const drawer = page.getByRole("dialog", { name: "New link" });
  const destination = drawer.getByLabel("Destination", { exact: true });
  await destination.waitFor();
  await page.locator("input[type=url]:focus").waitFor();
  await page.keyboard.type("example.com/winter");
  await page.keyboard.press("Tab");
  await page.keyboard.type("by-keyboard");
  await drawer.getByText("by-keyboard is free.").waitFor();
  await drawer.getByRole("button", { name: "Add rule" }).press("Enter");
  await page.getByRole("menuitem", { name: "Country" }).press("Enter");
  const countries = page.getByPlaceholder("Search countries");
  await countries.fill("Germ");
  await page.getByRole("option", { name: /^Germany/ }).waitFor();
  await countries.press("Enter");
  await page.getByRole("button", { name: "Done" }).press("Enter");
  await drawer.getByRole("button", { name: "country is Germany" }).waitFor();
  await drawer.getByLabel("Destination of rule 1").fill("example.com/de");
  await drawer.getByText("Rule 1 matches.").waitFor();
  expect(await violations()).toEqual([]);
  await Promise.all([page.keyboard.press("Control+Enter"), page.keyboard.press("Control+Enter")]);
  await page.getByText(/^Created .*by-keyboard$/).waitFor();
  const { items } = (await site.call("GET", "/api/links?search=winter")).json<{ items: LinkBody[] }>();
  expect(items.map(({ code, url, rules }) => ({ code, url, rules }))).toEqual([
    {
      ...{ code: "by-keyboard", url: "https://example.com/winter" },
      rules: [{ when: { country: ["DE"] }, url: "https://example.com/de" }],
    },
  ]);
  calm();
});

test("the keyboard alone edits a link: the list shows it, the old target is gone, and the row has the focus again", async () => {
  await site.create({ url: "https://example.com/other", code: "by-keys-a" });
  const link = await site.create({ url: "https://example.com/before", code: "by-keys-b" });
  await site.create({ url: "https://example.com/another", code: "by-keys-c" });
  const { page, goto, calm } = await dashboard.open(site, member);
  await goto("/w/default/links?q=by-keys&sort=code&order=asc");
  await page.getByRole("row", { name: /by-keys-c/ }).waitFor();
  for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
  const row = page.locator("tr:focus", { hasText: "by-keys-b" });
  await row.waitFor();
  await page.keyboard.press("e");
  await page.locator("[data-drawer]:focus-within").waitFor();
  const drawer = page.getByRole("dialog", { name: /by-keys-b$/ });
  await tabTo(drawer.getByLabel("Destination", { exact: true }));
  await page.keyboard.press("Control+A");
  await page.keyboard.type("example.com/after");
  await tabTo(drawer.locator("summary", { hasText: "Tags, title and notes" }));
  await page.keyboard.press("Enter");
  await tabTo(drawer.getByLabel("Title"));
  await page.keyboard.type("Changed by keys");
  await page.keyboard.press("Control+Enter");
  await drawer.waitFor({ state: "detached" });
  await row.getByText("example.com/after").waitFor();
  expect(await stored(link.id)).toMatchObject({ url: "https://example.com/after", title: "Changed by keys" });
  expect((await site.visit("/by-keys-b")).headers.get("location")).toBe("https://example.com/after");
  // From there the keys go on.
  await page.keyboard.press("j");
  await page.locator("tr:focus", { hasText: "by-keys-c" }).waitFor();
  calm();
});

test("an expiry that the server says late changes nothing else, and nobody who types loses the focus", async () => {
  const { page, goto, calm } = await dashboard.open(site, member);
  const { promise: isTyping, resolve: type } = Promise.withResolvers<void>();
  await page.route(/\/api\/tenant$/, async (route) => {
    const answer = await route.fetch();
    await isTyping;
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), linkDays: 30 } });
  });
  await goto("/w/default/links?drawer=new");
  const drawer = page.getByRole("dialog", { name: "New link" });
  const expiry = drawer.getByLabel("Expires", { exact: true });
  await page.locator("input[type=url]:focus").waitFor();
  await page.keyboard.type("example.com/late");
  await page.keyboard.press("Tab");
  await page.keyboard.type("first-half-");
  const before = await expiry.inputValue();
  type();
  await until("the expiry", async () => (await expiry.inputValue()) !== before || undefined);
  await page.keyboard.type("second-half");
  await drawer.getByText("first-half-second-half is free.").waitFor();
  expect(await drawer.getByText("Your draft is back.").count()).toBe(0);
  calm();
});

test("what was typed is there again after the drawer was closed, and errors stand at their fields", async () => {
  const { page, goto, calm } = await dashboard.open(site, member, { mayFail: refused(422) });
  await goto("/w/default/links?drawer=new");
  const drawer = page.getByRole("dialog", { name: "New link" });
  await drawer.getByLabel("Destination", { exact: true }).fill("https://example.com/draft");
  await drawer.getByText("Password and fallback").click();
  await drawer.getByLabel("Fallback address").fill("nowhere");
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  await page.keyboard.press("n");
  await drawer.getByText("Your draft is back.").waitFor();
  await page.keyboard.press("Control+Enter");
  await drawer.getByText("Must be a complete URL, such as https://example.com/page.").waitFor();
  const focused = () => page.evaluate<unknown>("document.activeElement?.value");
  await until("the focus", async () => (await focused()) === "nowhere" || undefined);
  calm();
});

test("when the session ends, signing in again returns to the same page and what was typed", async () => {
  const password = "slate harbour 77 pine";
  const person = await makePerson(site, { password, roles: { default: "member" } });
  const { page, goto, calm } = await dashboard.open(site, person, { mayFail: refused(401) });
  await goto("/w/default/links?drawer=new");
  const destination = page.getByRole("dialog").getByLabel("Destination", { exact: true });
  await destination.waitFor();
  await page.context().clearCookies();
  await destination.fill("https://example.com/typed-before");
  await page.getByText("Your session has ended.").waitFor();
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByText("Your draft is back.").waitFor();
  expect(await destination.inputValue()).toBe("https://example.com/typed-before");
  expect(new URL(page.url()).pathname).toBe("/app/w/default/links");
  calm();
}, 60_000);

test("two people edit one link: the second sees both versions and chooses", async () => {
  const link = await site.create({ url: "https://example.com/a", title: "First" });
  const { page, goto, calm, violations } = await dashboard.open(site, member, { mayFail: refused(412) });
  await goto(`/w/default/links?drawer=${link.id}`);
  const drawer = page.getByRole("dialog");
  await drawer.getByLabel("Destination", { exact: true }).fill("https://example.com/mine");
  await drawer.getByText("Tags, title and notes").click();
  await drawer.getByLabel("Title").fill("Mine");
  await site.call("PATCH", `/api/links/${link.id}`, { body: { title: "Theirs", notes: "Read me" } });
  await page.keyboard.press("Control+Enter");
  await drawer.getByText("Somebody else changed this link meanwhile").waitFor();
  expect(await violations()).toEqual([]);
  await drawer
    .getByRole("group", { name: /^Title/ })
    .getByRole("radio", { name: /Theirs/ })
    .check();
  await drawer.getByRole("button", { name: "Save the chosen version" }).click();
  await page.getByText(/^Saved /).waitFor();
  expect(await stored(link.id)).toMatchObject({ url: "https://example.com/mine", title: "Theirs", notes: "Read me" });
  calm();
});

test("the history shows what changed, goes back to a version, and takes that back", async () => {
  const link = await site.create({ url: "https://example.com/old", title: "<b>Old</b>" });
  await site.call("PATCH", `/api/links/${link.id}`, { body: { url: "https://example.com/new" } });
  const { page, goto, calm, violations } = await dashboard.open(site, member);
  await goto(`/w/default/links?drawer=${link.id}&part=history`);
  const drawer = page.getByRole("dialog");
  await drawer.getByText("Before: https://example.com/old").waitFor();
  expect(await violations()).toEqual([]);
  await drawer.getByRole("button", { name: "Back to this version" }).click();
  await page.getByText("Restored an older version").waitFor();
  expect(await stored(link.id)).toMatchObject({ url: "https://example.com/old" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Took the restore back").waitFor();
  expect(await stored(link.id)).toMatchObject({ url: "https://example.com/new" });
  calm();
});

test("on a dark phone the drawer fills the screen, and nothing leaves it", async () => {
  const link = await site.create({ url: `https://example.com/${"long".repeat(400)}`, code: "x".repeat(64) });
  const { page, goto, calm, violations } = await dashboard.open(site, member, { isDark: true, isPhone: true });
  await goto(`/w/default/links?drawer=${link.id}`);
  await page.getByRole("dialog").getByLabel("Destination", { exact: true }).waitFor();
  const width = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  expect(width).toBeLessThanOrEqual(0);
  expect(await violations()).toEqual([]);
  calm();
});

test("Esc closes a menu that the keyboard opened in the drawer, and not the drawer", async () => {
  const { page, goto, calm } = await dashboard.open(site, member);
  await goto("/w/default/links?drawer=new");
  const presets = page.getByRole("button", { name: /Choose a preset$/ });
  await presets.press("Enter");
  await page.locator("[role=menuitem]:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[role=dialog] button:focus").waitFor();
  expect(await page.getByRole("dialog", { name: "New link" }).count()).toBe(1);
  calm();
});

test("the first press of a menu in the drawer opens it for good, however late the browser draws", async () => {
  for (const isKey of [true, false]) {
    const { page, goto, calm } = await dashboard.open(site, member);
    await page.addInitScript(lateFrames);
    await goto("/w/default/links?drawer=new");
    const presets = page.getByRole("button", { name: /Choose a preset$/ });
    if (isKey) await presets.press("Enter");
    else await presets.click();
    await page.getByRole("menuitem").first().waitFor();
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    expect([isKey, await page.locator("[role=menu]:focus-within").count()]).toEqual([isKey, 1]);
    calm();
  }
});

/** As on a busy machine: what waits for the next picture comes after everything else. */
const lateFrames = `
  const soon = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) => soon(() => setTimeout(() => run(performance.now()), 150));
`;

test("Esc closes the layer on top only, whatever it is and however it was opened", async () => {
  const { page, goto, calm } = await dashboard.open(site, member);
  await goto("/w/default/links?drawer=new");
  const drawer = page.getByRole("dialog", { name: "New link" });
  const popups = page.locator("[role=menu], [role=listbox]:visible, [role=dialog]:not([data-drawer])");
  /** Each Esc closes one layer; afterwards the drawer is as it was. */
  const closes = async (what: string, ...left: readonly number[]) => {
    for (const count of left) {
      await page.keyboard.press("Escape");
      await until(`${what}: ${count} layers`, async () => (await popups.count()) === count);
      expect([what, count, await page.locator("[data-drawer][data-open]").count()]).toEqual([what, count, 1]);
    }
  };
  const press = async (isKey: boolean, button: ReturnType<typeof page.getByRole>) =>
    isKey ? await button.press("Enter") : await button.click();

  for (const isKey of [false, true]) {
    const by = isKey ? "by key" : "by mouse";
    await press(isKey, drawer.getByRole("button", { name: /Choose a preset$/ }));
    await page.getByRole("menuitem").first().waitFor();
    await closes(`menu ${by}`, 0);

    await press(isKey, drawer.getByRole("button", { name: "Add rule" }));
    await press(isKey, page.getByRole("menuitem", { name: "Country" }));
    const countries = page.getByPlaceholder("Search countries");
    await countries.fill("Germ");
    await page.getByRole("option", { name: /^Germany/ }).waitFor();
    await closes(`list in a popover ${by}`, 1, 0);
    await press(isKey, drawer.getByRole("button", { name: /^country is/ }));
    await countries.waitFor();
    await closes(`popover ${by}`, 0);
    await drawer.getByRole("button", { name: "Remove rule 1" }).click();

    await press(isKey, drawer.getByRole("button", { name: "Add rule" }));
    await press(isKey, page.getByRole("menuitem", { name: "Device" }));
    await page.getByRole("checkbox", { name: "phone" }).click();
    await closes(`popover with a checkbox ${by}`, 0);
    await drawer.getByRole("button", { name: "Remove rule 1" }).click();
  }
  await drawer.getByText("Tags, title and notes").click();
  await drawer.getByLabel("Tags").fill("new");
  await page.getByRole("option").first().waitFor();
  await closes("suggestions", 0);
  await drawer.getByLabel("Title").focus();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "detached" });
  calm();
}, 90_000);
