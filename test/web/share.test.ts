/** A report that is shared: made on the link's page, read by anybody without an account or a script, gone once revoked. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

let site: Site;
let dashboard: Dashboard;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

test("a shared report shows the clicks to everybody, and nothing after it is revoked", async () => {
  const owner = await makePerson(site, { roles: { default: "owner" } });
  const link = await site.create({ url: "https://example.com/shared", code: "shared", title: "Our spring sale" });
  for (let i = 0; i < 7; i++) await site.visit("/shared");
  await until("the clicks", async () => {
    const report = (await site.call("GET", `/api/links/${link.id}/stats`)).json<{ totals: { clicks: number } }>();
    return report.totals.clicks === 7 || undefined;
  });
  const { page, goto, calm } = await dashboard.open(site, owner);
  await goto(`/w/default/links/${link.id}`);
  await page.getByRole("button", { name: "Share report" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create page" }).click();
  await until("the share", async () => (await shares()).length === 1 || undefined);
  const [made] = await shares();
  const path = new URL(made?.url ?? "").pathname;

  const shown = await site.visit(path);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining("Our spring sale")]);
  expect(shown.text).toMatch(/>\s*7\s*</);
  expect(shown.text).not.toContain("<script");

  await page
    .getByRole("button", { name: /^Revoke/ })
    .first()
    .click();
  await until("the end of the page", async () => (await site.visit(path)).status === 404 || undefined);
  calm();

  async function shares(): Promise<{ url: string }[]> {
    return (await site.call("GET", "/api/stats/shares")).json<{ items: { url: string }[] }>().items;
  }
}, 60_000);
