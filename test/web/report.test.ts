/** Reports in the dashboard, where the workspace and the browser are in zones that never have the same date. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { text as readText } from "node:stream/consumers";
import { createExpired, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

let site: Site;
let dashboard: Dashboard;
let owner: TestPerson;

/** 14 hours ahead of UTC; the browser is 11 behind. */
const workspaceZone = "Pacific/Kiritimati";
const browser = { zone: "Pacific/Pago_Pago" } as const;
const journeyMs = 60_000;
const bot = { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" };

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  owner = await makePerson(site, { roles: { default: "owner" } });
  const changed = await site.call("PATCH", "/api/stats/settings", { body: { timeZone: workspaceZone } });
  expect(changed.status).toBe(200);
}, journeyMs);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

interface Figures {
  readonly totals: { readonly clicks: number; readonly bots: number };
}

/** A link with these visits, of which its report knows. */
async function visited(code: string, people: number, bots = 0): Promise<{ readonly id: string }> {
  const link = await site.create({ url: "https://example.com/", code });
  for (let i = 0; i < people; i++) await site.visit(`/${code}`);
  for (let i = 0; i < bots; i++) await site.visit(`/${code}`, bot);
  await until(`the clicks on ${code}`, async () => {
    const { totals } = (await site.call("GET", `/api/links/${link.id}/stats`)).json<Figures>();
    return (totals.clicks === people && totals.bots === bots) || undefined;
  });
  return link;
}

test(
  "the Live card keeps its clicks when a new one arrives, in a zone east of UTC",
  async () => {
    const { id } = await visited("east", 4);
    const { page, goto, calm } = await dashboard.open(site, owner, browser);
    await goto(`/w/default/links/${id}`);
    const card = page.getByRole("region", { name: "Live" }).or(page.locator("[aria-label=Live]"));
    const lines = card.getByRole("listitem");
    await until("the listed clicks", async () => (await lines.count()) === 4 || undefined);
    await site.visit("/east");
    // New clicks wait behind a button, because the browser asks for reduced motion.
    await card.getByRole("button", { name: "1 new" }).click();
    await until("the new click", async () => (await lines.count()) === 5 || undefined);
    calm();
  },
  journeyMs,
);

test(
  "the Live card does not say of a new stream what was missing in the last one",
  async () => {
    const { id } = await visited("again", 1);
    const { page, goto, calm } = await dashboard.open(site, owner, browser);
    const notice = 'id: 1\nevent: notice\ndata: {"code":"this_server_only","message":"Redis is unavailable."}\n\n';
    let streams = 0;
    await page.route(/\/api\/live$/, async (route) => {
      streams++;
      // The first one ends at once; the second one waits until the card was seen, and comes from the server.
      if (streams === 1) return route.fulfill({ contentType: "text/event-stream", body: notice });
      await card.getByText(missing).waitFor();
      return route.continue();
    });
    const missing = "Clicks of other servers are missing at the moment.";
    const card = page.locator("[aria-label=Live]");
    await goto(`/w/default/links/${id}`);
    await until("a second stream", () => streams > 1 || undefined);
    await card.getByText(missing).waitFor({ state: "detached" });
    calm();
  },
  journeyMs,
);

test(
  "trends begin by the date of the workspace, and not of the browser",
  async () => {
    await visited("dated", 1);
    const { page, goto, calm } = await dashboard.open(site, owner, browser);
    const asked = page.waitForRequest(/\/api\/links\/trends\?/);
    await goto("/w/default/links?period=7d");
    const day = Number(new URL((await asked).url()).searchParams.get("from")?.slice(8));
    const inZone = new Intl.DateTimeFormat("en", { timeZone: workspaceZone, day: "numeric" });
    expect(day).toBe(Number(inZone.format(Date.now() - 6 * 86_400_000)));
    await page.getByText("dated").first().waitFor();
    calm();
  },
  journeyMs,
);

test(
  "single clicks on the page and in the export are those of the chosen traffic",
  async () => {
    const { id } = await visited("mixed", 3, 2);
    const { page, goto, calm } = await dashboard.open(site, owner, browser);
    const list = page.locator("[aria-label='Single clicks']").getByRole("listitem");
    for (const [traffic, count] of [
      ["people", 3],
      ["bots", 2],
      ["all", 5],
    ] as const) {
      await goto(`/w/default/links/${id}?traffic=${traffic}`);
      await until(`${count} single clicks of ${traffic}`, async () => (await list.count()) === count || undefined);
      await page.getByRole("button", { name: "Export" }).click();
      const [saved] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "Single clicks (CSV)" }).click(),
      ]);
      const lines = (await readText(await saved.createReadStream())).trim().split(/\r?\n/);
      expect([traffic, lines.length - 1]).toEqual([traffic, count]);
    }
    calm();
  },
  journeyMs,
);

test(
  "visitors of an expired link with a fallback address are not shown as bots",
  async () => {
    const fields = { url: "https://example.com/", code: "over", fallbackUrl: "https://example.com/instead" };
    const { id } = await createExpired(site, fields);
    for (let i = 0; i < 3; i++) expect((await site.visit("/over")).status).toBe(302);
    await until("the visits", async () => {
      const { totals } = (await site.call("GET", `/api/links/${id}/stats`)).json<Figures>();
      return totals.bots === 3 || undefined;
    });
    const { page, goto, calm } = await dashboard.open(site, owner);
    await goto(`/w/default/links/${id}`);
    await page.getByText("Also not counted: 3 visits sent to the fallback address.").waitFor();
    await page.getByRole("button", { name: "0. Show why these were not counted" }).waitFor();
    await page.getByText("Visitors go to your fallback address.").waitFor();
    await goto(`/w/default/links/${id}?traffic=bots`);
    await page.getByText("Also part of the clicks: 3 visits sent to the fallback address.").waitFor();
    expect(await page.getByText("bots and previews", { exact: true }).count()).toBe(0);
    calm();
  },
  journeyMs,
);

test(
  "the period before today is yesterday, and the one after it is today again",
  async () => {
    const { page, goto, calm } = await dashboard.open(site, owner, browser);
    const inAddress = () => Object.fromEntries(new URL(page.url()).searchParams);
    const dateOf = (at: number) => new Intl.DateTimeFormat("en-CA", { timeZone: workspaceZone }).format(at);
    await goto("/w/default?period=today");
    await page.getByRole("button", { name: "Previous period", exact: true }).click();
    const yesterday = dateOf(Date.now() - 86_400_000);
    await until("yesterday", () => inAddress().from === yesterday || undefined);
    expect(inAddress()).toEqual({ from: yesterday, to: yesterday });
    await page.getByRole("button", { name: "Next period", exact: true }).click();
    await until("today", () => inAddress().period === "today" || undefined);
    expect(inAddress()).toEqual({ period: "today" });
    calm();
  },
  journeyMs,
);
