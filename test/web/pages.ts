/** All pages of the dashboard, for pictures and for checks that concern every page. */
import type { Page } from "playwright-core";
import type { DashboardPage } from "../ground/dashboard.ts";
import type { TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

export type DashboardAddress = {
  readonly name: string;
  /** Below `/app`. */
  readonly path: string;
  /** For people who are not signed in. */
  readonly isVisitor?: boolean;
};

const workspace = "demo";

/** The server has the workspace of `quicklink demo`, and the person is a member of it. */
export async function dashboardPages(person: TestPerson, slug = workspace): Promise<readonly DashboardAddress[]> {
  const busiest = await person.call("GET", "/api/links?sort=clicks&order=desc&limit=1", { workspace: slug });
  const link = busiest.json<{ items: { id: string }[] }>().items[0]?.id ?? "";
  const inWorkspace = (name: string, path: string) => ({ name, path: `/w/${slug}${path}` });
  return [
    { name: "sign-in", path: "/sign-in", isVisitor: true },
    { name: "sign-in-reset", path: "/reset", isVisitor: true },
    inWorkspace("start", "/start"),
    inWorkspace("overview", ""),
    inWorkspace("links", "/links?sort=clicks"),
    inWorkspace("links-create", "/links?drawer=new"),
    inWorkspace("links-edit", `/links?drawer=${link}`),
    inWorkspace("links-history", `/links?drawer=${link}&part=history`),
    inWorkspace("links-trash", "/links/trash"),
    inWorkspace("links-replace", "/links/replace"),
    inWorkspace("link", `/links/${link}`),
    inWorkspace("files", "/files"),
    inWorkspace("domains", "/domains"),
    inWorkspace("tags", "/tags"),
    inWorkspace("import", "/import"),
    inWorkspace("usage", "/usage"),
    inWorkspace("members", "/members"),
    inWorkspace("settings", "/settings"),
    inWorkspace("settings-keys", "/settings/keys"),
    inWorkspace("settings-email", "/settings/email"),
    inWorkspace("settings-shares", "/settings/shares"),
    inWorkspace("settings-log", "/settings/log"),
    { name: "account", path: "/account" },
    ...["workspaces", "people", "plans", "abuse", "email", "jobs", "health", "log"].map((section) => ({
      ...{ name: `operator-${section}`, path: `/operator/${section}` },
    })),
  ];
}

/** Shown, with its numbers: nothing says that it loads any more. */
export async function show(opened: DashboardPage, path: string): Promise<void> {
  await opened.goto(path);
  await opened.page.getByRole("heading").first().waitFor();
  await settled(opened.page);
}

export async function settled(page: Page): Promise<void> {
  const waiting = page.locator("[data-waiting], [aria-busy=true]");
  await until(`${page.url()} to be loaded`, async () => (await waiting.count()) === 0 || undefined);
}
