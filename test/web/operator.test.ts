/** The operator's pages. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";

let site: Site;
let dashboard: Dashboard;
let operator: TestPerson;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  operator = await makePerson(site, { name: "Ann Example", operator: true, roles: { default: "owner" } });
}, 60_000);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

type Workspace = { overrides: Record<string, number | null> };

test("no limit, the plan's limit and a limit of its own are three things", async () => {
  const address = "/api/operator/workspaces/default";
  const overrides = async () => (await operator.call("GET", address)).json<Workspace>().overrides;
  await operator.call("PATCH", address, { body: { limits: { linksPerMonth: null, apiPerMinute: 50 } } });
  expect(await overrides()).toEqual({ linksPerMonth: null, apiPerMinute: 50 });

  const { page, goto, calm, violations } = await dashboard.open(site, operator, {
    mayFail: (message) => message.includes("422"),
  });
  const dialog = page.getByRole("dialog");
  const open = async () => {
    await goto("/operator/workspaces");
    await page.getByRole("button", { name: "Actions for default" }).click();
    await page.getByRole("menuitem", { name: "Plan and limits" }).click();
    await dialog
      .getByText(/^As the plan: /)
      .first()
      .waitFor({ state: "attached" });
  };
  await open();
  const [links, calls, hits] = ["New links a month", "API calls a minute", "Hits per link and month"] as const;
  const select = (label: string) => dialog.getByLabel(label, { exact: true });
  expect(await select(links).inputValue()).toBe("none");
  expect(await select(calls).inputValue()).toBe("own");
  expect(await dialog.getByLabel(`${calls}, for this workspace`).inputValue()).toBe("50");
  expect(await select(hits).inputValue()).toBe("plan");
  expect(await violations()).toEqual([]);

  // An own limit that is empty is refused at its field.
  await select(links).selectOption("own");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").first().waitFor();
  await dialog.getByLabel(`${links}, for this workspace`).fill("12,000");
  await select(calls).selectOption("none");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await overrides()).toEqual({ linksPerMonth: 12_000, apiPerMinute: null });

  await open();
  await select(links).selectOption("plan");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await overrides()).toEqual({ apiPerMinute: null });
  calm();
}, 60_000);
