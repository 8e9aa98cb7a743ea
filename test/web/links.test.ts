/** Links in the dashboard: edit, delete with undo, filters in the address, quota, share page, import, a phone in the dark. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { text as readText } from "node:stream/consumers";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard, tabTo } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { type SmtpServer, startSmtp } from "../ground/smtp.ts";

let dashboard: Dashboard;
const journeyMs = 60_000;

beforeAll(async () => {
  dashboard = await startDashboard();
}, journeyMs);

afterAll(async () => {
  await dashboard.stop();
});

// On one database: what journeys need of the server is tested on both without a browser, which takes a tenth of the time.
describe("on SQLite", () => {
  let site: Site;
  let smtp: SmtpServer;
  let owner: TestPerson;

  beforeAll(async () => {
    smtp = await startSmtp();
    site = await startSite("SQLite", { QL_CHECK_TARGETS: "none", SMTP_URL: smtp.url });
    owner = await makePerson(site, { name: "Ann Example", roles: { default: "owner" } });
  }, journeyMs);

  afterAll(async () => {
    await site.server.stop();
    await smtp.stop();
  });

  const destination = async (code: string) => (await site.visit(`/${code}`)).headers.get("location");

  test(
    "all links that match are exported, not only those of the page",
    async () => {
      const links = Array.from({ length: 120 }, (_, place) => ({
        url: `https://example.com/e${place}`,
        tags: ["all"],
      }));
      expect((await site.call("POST", "/api/links/bulk", { body: { links, atomic: true } })).status).toBe(200);
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/links?tag=all");
      await page.getByRole("button", { name: "More actions" }).first().click();
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "Export these links" }).click(),
      ]);
      expect(saved.suggestedFilename()).toBe("links.csv");
      const text = await readText(await saved.createReadStream());
      expect(text).toStartWith("shortUrl,url,");
      expect(text.split("\r\n").length).toBe(1 + links.length + 1);
      await page.getByText("Exported all links that match.").waitFor();
      calm();
    },
    journeyMs,
  );

  test(
    "an edited link leads to its new address, and to the old one after going back in its history",
    async () => {
      const link = await site.create({ url: "https://example.com/old", code: "edited" });
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto(`/w/default/links?drawer=${link.id}`);
      const field = page.getByRole("textbox", { name: "Destination" });
      await field.fill("https://example.com/new");
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.getByText(/^Saved /).waitFor();
      expect(await destination("edited")).toBe("https://example.com/new");
      await goto(`/w/default/links?drawer=${link.id}&part=history`);
      await page
        .getByRole("button", { name: /Back to this version/ })
        .first()
        .click();
      await until(
        "the old address",
        async () => (await destination("edited")) === "https://example.com/old" || undefined,
      );
      calm();
    },
    journeyMs,
  );

  test(
    "a deleted link is gone at once, and back after undo, with the keyboard alone",
    async () => {
      await site.create({ url: "https://example.com/deleted", code: "deleted-soon" });
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/links?q=deleted-soon");
      await page.getByRole("row", { name: /deleted-soon/ }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Delete");
      await until("the deletion", async () => (await site.visit("/deleted-soon")).status === 404 || undefined);
      await page.getByRole("button", { name: "Undo" }).click();
      await until("the link", async () => (await site.visit("/deleted-soon")).status === 302 || undefined);
      calm();
    },
    journeyMs,
  );

  test(
    "a spent quota shows in the list, on the link's page, to visitors, and in an email",
    async () => {
      const asked = await dashboard.open(site, owner);
      await asked.goto("/w/default/settings/email");
      await asked.page.getByLabel("Send notices to").fill("ann@example.com");
      await asked.page.getByRole("button", { name: "Save" }).first().click();
      await asked.page.getByText("Saved", { exact: true }).waitFor();
      asked.calm();
      const link = await site.create({ url: "https://example.com/spent", code: "spent", hitsPerMonth: 3 });
      for (let i = 0; i < 4; i++) await site.visit("/spent");
      await until("the hits", async () => {
        const shown = (await owner.call("GET", `/api/links/${link.id}`)).json<{ hitsUsed: number }>();
        return shown.hitsUsed === 3 || undefined;
      });
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/links?q=spent");
      await page.getByText("Quota full").first().waitFor();
      await goto(`/w/default/links/${link.id}`);
      await page.getByText("of 3 hits").waitFor();
      expect((await site.visit("/spent")).status).toBe(429);
      await until("the email", () => smtp.taken.some(({ raw }) => raw.includes("/spent")) || undefined);
      calm();
    },
    journeyMs,
  );

  test(
    "a file of links is checked first, then imported, and its bad rows are named",
    async () => {
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/import");
      const csv =
        "code,url\nimported-one,https://example.com/1\nimported-two,https://example.com/2\nbad-one,not an address\n";
      await page.getByLabel("Choose a file").setInputFiles({
        ...{ name: "links.csv", mimeType: "text/csv", buffer: Buffer.from(csv) },
      });
      await page.getByText("2 new links").waitFor();
      expect((await site.visit("/imported-one")).status).toBe(404);
      await page.getByText("1 bad row").waitFor();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("2 links created").waitFor();
      expect(await destination("imported-two")).toBe("https://example.com/2");
      calm();
    },
    journeyMs,
  );

  test(
    "a filter is part of the address, so that somebody else sees the same",
    async () => {
      await site.create({ url: "https://example.com/a", code: "filter-a", tags: ["spring"] });
      await site.create({ url: "https://example.com/b", code: "filter-b", tags: ["autumn"] });
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/links");
      await page.getByRole("row", { name: /filter-b/ }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("filter-a");
      await page.getByRole("row", { name: /filter-b/ }).waitFor({ state: "detached" });
      await page.waitForURL("**q=filter-a*");
      const other = await dashboard.open(site, owner);
      await other.page.goto(page.url());
      await other.page.getByRole("row", { name: /filter-a/ }).waitFor();
      expect(await other.page.getByRole("row", { name: /filter-b/ }).count()).toBe(0);
      calm();
      other.calm();
    },
    journeyMs,
  );

  test(
    "the keyboard alone sets a filter and a state, sees what they leave, and takes them back",
    async () => {
      await site.create({ url: "https://example.com/s", code: "keys-summer", tags: ["summer"] });
      await site.create({ url: "https://example.com/w", code: "keys-winter", tags: ["winter"] });
      const { page, goto, calm } = await dashboard.open(site, owner);
      const [summer, winter] = [/keys-summer/, /keys-winter/].map((name) => page.getByRole("row", { name }));
      const shows = async (isSummer: boolean, isWinter: boolean) => {
        await summer?.waitFor({ state: isSummer ? "visible" : "detached" });
        await winter?.waitFor({ state: isWinter ? "visible" : "detached" });
      };
      await goto("/w/default/links?q=keys-");
      await shows(true, true);

      await tabTo(page.getByRole("button", { name: "Filter", exact: true }));
      await page.keyboard.press("Enter");
      const picker = page.getByRole("dialog", { name: "Add a filter" });
      await tabTo(picker.getByRole("button", { name: "Tag", exact: true }));
      await page.keyboard.press("Enter");
      await picker.locator("input:focus").waitFor();
      await page.keyboard.type("summ");
      await page.locator("[role=option][data-highlighted]", { hasText: "summer" }).waitFor();
      await page.keyboard.press("Enter");
      await shows(true, false);
      await tabTo(picker.getByRole("button", { name: "Done" }));
      await page.keyboard.press("Enter");
      await picker.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Filter", exact: true }).and(page.locator(":focus")).waitFor();
      await tabTo(page.getByRole("button", { name: "Remove the filter Tag" }), "Shift+Tab");
      await page.keyboard.press("Enter");
      await shows(true, true);

      await tabTo(page.getByRole("button", { name: /^Disabled/ }));
      await page.keyboard.press("Space");
      await shows(false, false);
      await page.waitForURL("**state=disabled*");
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("state"));
      calm();
    },
    journeyMs,
  );

  test(
    "a link is created by keyboard alone, once, however often the form is sent",
    async () => {
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto("/w/default/links");
      await page.getByRole("heading", { name: "Links" }).waitFor();
      await page.keyboard.press("n");
      await page.getByRole("textbox", { name: "Destination" }).waitFor();
      await page.keyboard.type("https://example.com/by-keyboard");
      await page.keyboard.press("Control+Enter");
      await page.keyboard.press("Control+Enter");
      await page.getByText(/^Created /).waitFor();
      const found = await site.call("GET", "/api/links?search=by-keyboard");
      expect(found.json<{ items: unknown[] }>().items).toHaveLength(1);
      calm();
    },
    journeyMs,
  );

  test(
    "markup in a link is shown as text",
    async () => {
      const title = "<img src=x onerror=alert(1)> & <b>bold</b>";
      const link = await site.create({
        url: "https://example.com/?q=<script>",
        code: "markup",
        title,
        notes: title,
        tags: ["<i>tag</i>"],
      });
      const { page, goto, calm } = await dashboard.open(site, owner);
      await goto(`/w/default/links?q=markup`);
      await page.getByText("<i>tag</i>").first().waitFor();
      await goto(`/w/default/links?drawer=${link.id}`);
      await page.getByRole("textbox", { name: "Destination" }).waitFor();
      await goto(`/w/default/links/${link.id}`);
      await page.getByRole("heading").first().waitFor();
      expect(await page.locator("img[src=x], main i, main b:text('bold')").count()).toBe(0);
      calm();
    },
    journeyMs,
  );

  test(
    "on a phone in the dark a link is created and its report opens",
    async () => {
      const { page, goto, calm } = await dashboard.open(site, owner, { isDark: true, isPhone: true });
      await goto("/w/default/links");
      await page.getByRole("button", { name: "New link" }).click();
      await page.getByRole("textbox", { name: "Destination" }).fill("https://example.com/from-a-phone");
      await page.getByRole("button", { name: "Create link" }).click();
      await page.getByText(/^Created /).waitFor();
      const found = await site.call("GET", "/api/links?search=from-a-phone");
      const [link] = found.json<{ items: { id: string; code: string }[] }>().items;
      await goto(`/w/default/links/${link?.id}`);
      await page.getByRole("heading", { name: new RegExp(link?.code ?? "") }).waitFor();
      calm();
    },
    journeyMs,
  );
});
