/** What opens above the pages of the dashboard: dialogs, drawers, menus, popovers, toasts; and pages that wait or fail. */
import type { Locator, Page } from "playwright-core";
import type { LinkBody } from "../e2e/servers.ts";
import type { TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";

export type DashboardLayer = {
  readonly name: string;
  /** Below `/app`. */
  readonly path: string;
  /** On the page at `path`. Afterwards everything is shown. */
  open(page: Page): Promise<void>;
  /** Takes back what others would see. */
  close?(page: Page): Promise<void>;
  /** What the layer provokes: a refused or failed call. */
  readonly mayFail?: RegExp;
  /** Where there is room for it or a pointer that hovers, or where its button is. */
  readonly only?: "wide" | "phone";
};

const workspace = "demo";

/** The server has the workspace of `quicklink demo`, and the person owns it. */
export async function dashboardLayers(person: TestPerson): Promise<readonly DashboardLayer[]> {
  const call = (method: string, path: string, body?: unknown) =>
    person.call(method, path, { workspace, ...(body !== undefined && { body }) });
  const busiest = (await call("GET", "/api/links?sort=clicks&order=desc&limit=100")).json<{ items: LinkBody[] }>();
  const link = busiest.items[0]?.id ?? "";
  const ruled = busiest.items.find(({ rules }) => rules.length > 0)?.id ?? link;
  const split = busiest.items.find(({ split }) => split.length > 0)?.id ?? link;
  const taken = busiest.items.find(({ domain }) => domain.includes("localhost"))?.code ?? "";
  const at = (path: string) => `/w/${workspace}${path}`;
  const links = at("/links?sort=clicks");
  const report = at(`/links/${link}`);

  return [
    // The frame.
    {
      name: "palette",
      path: links,
      open: (page) => page.keyboard.press("Control+k").then(() => shown(page, "dialog")),
    },
    {
      ...{ name: "palette-found", path: links },
      async open(page) {
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Search and commands" }).fill("sp");
        await page
          .getByRole("option", { name: /spring/ })
          .first()
          .waitFor();
      },
    },
    {
      ...{ name: "palette-nothing", path: links },
      async open(page) {
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Search and commands" }).fill("zzzzzz");
        await page.getByText("Nothing found for").waitFor();
      },
    },
    { name: "shortcuts", path: links, open: (page) => page.keyboard.press("?").then(() => shown(page, "dialog")) },
    { name: "account-menu", path: links, open: (page) => menu(page, /^Account of/) },
    { name: "workspace-menu", path: links, open: (page) => menu(page, /Switch workspace$/) },
    { name: "more-menu", path: links, only: "phone", open: (page) => menu(page, "More") },
    {
      ...{ name: "tooltip", path: links, only: "wide" },
      async open(page) {
        await page.getByRole("button", { name: "Keyboard shortcuts" }).hover();
        await page.locator("[data-tooltip]").waitFor();
      },
    },
    {
      ...{ name: "offline", path: links, mayFail: /ERR_INTERNET_DISCONNECTED/ },
      async open(page) {
        await page.context().setOffline(true);
        await page.getByText("You are offline.").first().waitFor();
      },
      close: (page) => page.context().setOffline(false),
    },
    {
      ...{ name: "offline-drawer", path: at("/links?drawer=new"), mayFail: /ERR_INTERNET_DISCONNECTED/ },
      async open(page) {
        await page.context().setOffline(true);
        await page.getByText("You are offline.").first().waitFor();
        // Disabled, and says why when it is pressed.
        await page.getByRole("button", { name: "Create link" }).click({ force: true });
        await page.locator("[data-tooltip]").waitFor();
      },
      close: (page) => page.context().setOffline(false),
    },
    failing("error-links", links, /\/api\/links\?/, /^Could not load the links/),
    failing("error-report", report, /\/stats\?/, /^Could not load/),
    failing("error-members", at("/members"), /\/api\/members/, /^Could not load the members/),
    failing("error-drawer", at(`/links?drawer=${link}`), new RegExp(`/api/links(?:/${link}|\\?)`), "Try again"),
    {
      name: "error-not-found",
      path: at("/nowhere"),
      open: (page) => page.getByText("This page does not exist").waitFor(),
    },
    waiting("waiting-overview", at(""), /\/api\/(?!account|workspace|usage)/),
    waiting("waiting-links", links, /\/api\/links\?/),
    waiting("waiting-report", report, /\/stats/),
    waiting("waiting-members", at("/members"), /\/api\/(?:members|invitations)/),
    waiting("waiting-usage", at("/usage"), /\/api\/usage/),
    waiting("waiting-drawer", at(`/links?drawer=${link}&part=history`), /\/history/),

    // Links.
    { name: "links-menu", path: links, open: (page) => menu(page, "More actions") },
    { name: "links-columns", path: links, open: (page) => menu(page, "Columns and order") },
    { name: "links-period", path: links, only: "wide", open: (page) => menu(page, "This month") },
    { name: "links-filter", path: links, open: (page) => popover(page, "Filter") },
    {
      ...{ name: "links-filter-tags", path: links },
      async open(page) {
        await popover(page, "Filter");
        await page.getByRole("button", { name: "Tag", exact: true }).click();
        await page.getByPlaceholder("Choose tags").click();
        await page.getByRole("option").first().waitFor();
      },
    },
    {
      ...{ name: "links-filter-created", path: links },
      async open(page) {
        await popover(page, "Filter");
        await page.getByRole("button", { name: "Created", exact: true }).last().click();
        await page.getByLabel("Created").selectOption("own");
        await page.getByLabel("From").waitFor();
      },
    },
    {
      ...{ name: "links-views", path: at("/links?sort=clicks&tag=spring&created=90d") },
      async open(page) {
        await menu(page, "More actions");
        await page.getByRole("menuitem", { name: "Save this view" }).click();
        await page.getByRole("dialog").getByLabel("Name").fill("Spring campaign");
      },
    },
    {
      ...{ name: "links-view-saved", path: at("/links?sort=clicks&tag=spring&created=90d") },
      async open(page) {
        await menu(page, "More actions");
        await page.getByRole("menuitem", { name: "Save this view" }).click();
        await page.getByRole("dialog").getByLabel("Name").fill("Spring campaign");
        await page.getByRole("button", { name: "Save", exact: true }).click();
        await page.getByText("Saved the view").waitFor();
      },
    },
    { name: "links-nothing", path: at("/links?q=zzzzzz"), open: (page) => page.getByText("No link matches").waitFor() },
    { name: "bulk", path: links, open: (page) => select(page) },
    {
      ...{ name: "bulk-tags", path: links },
      async open(page) {
        await select(page);
        await page.getByRole("toolbar").getByRole("button", { name: "Tag", exact: true }).click();
        await page.getByLabel("Remove tags").waitFor();
      },
    },
    {
      ...{ name: "bulk-expiry", path: links },
      async open(page) {
        await select(page);
        await page.getByRole("toolbar").getByRole("button", { name: "Expiry" }).click();
        await page.getByRole("button", { name: "Set expiry" }).click();
      },
    },
    {
      ...{ name: "bulk-move", path: links, only: "wide" },
      async open(page) {
        await select(page);
        await page.getByRole("toolbar").getByRole("button", { name: "Move" }).click();
        await page.getByLabel("Move to").waitFor();
      },
    },
    {
      ...{ name: "bulk-undo", path: at("/links?tag=guide") },
      async open(page) {
        await select(page);
        await page.getByRole("toolbar").getByRole("button", { name: "Delete" }).click();
        await page.getByText(/^Deleted 2 links/).waitFor();
      },
      async close(page) {
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByText(/^Undid/).waitFor();
      },
    },
    {
      ...{ name: "replace-preview", path: at("/links/replace") },
      async open(page) {
        await page.getByLabel("Find", { exact: true }).fill("alder.example/");
        await page.getByLabel("Replace with").fill("alder-shop.example/");
        await page.getByRole("button", { name: "Preview" }).click();
        await page.getByText(/will change\./).waitFor();
      },
    },
    {
      ...{ name: "trash-empty", path: at("/links/trash") },
      async open(page) {
        await page.getByRole("button", { name: "Empty trash" }).click();
        await shown(page, "dialog");
      },
    },

    // The drawer.
    {
      ...{ name: "drawer-new", path: at("/links?drawer=new") },
      async open(page) {
        await page.getByLabel("Destination", { exact: true }).fill("https://shop.alder.example/spring");
        await page.getByRole("textbox", { name: "Short link" }).fill("spring-2027");
        await page.getByText("spring-2027 is free.").waitFor();
      },
    },
    {
      ...{ name: "drawer-errors", path: at("/links?drawer=new"), mayFail: /422/ },
      async open(page) {
        await page.getByLabel("Destination", { exact: true }).fill("nowhere at all");
        await page.getByRole("textbox", { name: "Short link" }).fill(taken);
        await page.getByText("Free:").waitFor();
        await page.getByRole("button", { name: "Create link" }).click();
        await page.getByRole("dialog").locator("[aria-invalid=true]").first().waitFor();
      },
    },
    {
      ...{ name: "drawer-expiry", path: at("/links?drawer=new") },
      open: (page) => menu(page, /Choose a preset$/),
    },
    {
      ...{ name: "drawer-rules", path: at(`/links?drawer=${ruled}`) },
      open: (page) => into(page.getByText("Routing rules").first()),
    },
    {
      ...{ name: "drawer-rule-country", path: at(`/links?drawer=${ruled}`) },
      async open(page) {
        await page.getByRole("button", { name: "Add rule" }).click();
        await page.getByRole("menuitem", { name: "Country" }).click();
        await page.getByPlaceholder("Search countries").fill("ger");
        await page.getByRole("option", { name: /^Germany/ }).waitFor();
      },
    },
    {
      ...{ name: "drawer-rule-hours", path: at(`/links?drawer=${ruled}`) },
      async open(page) {
        await page.getByRole("button", { name: "Add rule" }).click();
        await page.getByRole("menuitem", { name: "Time of day" }).click();
        await page.getByRole("combobox", { name: "Time zone" }).waitFor();
      },
    },
    fold("drawer-about", at(`/links?drawer=${link}`), "Tags, title and notes"),
    {
      ...{ name: "drawer-utm", path: at(`/links?drawer=${link}`) },
      async open(page) {
        await page.getByText("UTM parameters").click();
        await page.getByLabel("Source").fill("newsletter");
        await page.getByLabel("Campaign").fill("spring-sale");
        await into(page.getByLabel("Final address"));
      },
    },
    fold("drawer-split", at(`/links?drawer=${split}`), "A/B split"),
    fold("drawer-protect", at(`/links?drawer=${link}`), "Password and fallback"),
    fold("drawer-behaviour", at(`/links?drawer=${link}`), "Redirect and privacy"),
    {
      ...{ name: "drawer-qr", path: at(`/links?drawer=${link}&part=qr`) },
      open: (page) =>
        page
          .getByRole("img", { name: /^QR code of/ })
          .first()
          .waitFor(),
    },
    {
      ...{ name: "drawer-history", path: at(`/links?drawer=${link}&part=history`) },
      open: (page) => page.getByText("created the link").first().waitFor(),
    },
    {
      name: "drawer-menu",
      path: at(`/links?drawer=${link}`),
      open: (page) => menu(page, "More actions", page.locator("[data-drawer]")),
    },
    {
      ...{ name: "drawer-conflict", path: at(`/links?drawer=${ruled}`), mayFail: /412/ },
      async open(page) {
        const drawer = page.getByRole("dialog");
        await drawer.getByLabel("Destination", { exact: true }).fill("https://shop.alder.example/spring/mine");
        await drawer.getByText("Tags, title and notes").click();
        await drawer.getByLabel("Title").fill("Spring sale, my title");
        await call("PATCH", `/api/links/${ruled}`, {
          title: `Spring sale of the team ${Date.now() % 1000}`,
          notes: "For the newsletter.",
        });
        await drawer.getByRole("button", { name: "Save changes" }).click();
        await drawer.getByText("Somebody else changed this link meanwhile").waitFor();
      },
    },

    // One link.
    { name: "report-menu", path: report, open: (page) => menu(page, "More") },
    { name: "report-period", path: report, open: (page) => popover(page, /^Period:/) },
    { name: "report-compare", path: report, open: (page) => menu(page, /compared with/) },
    { name: "report-traffic", path: report, open: (page) => menu(page, /^Traffic/) },
    {
      ...{ name: "report-filter", path: report },
      async open(page) {
        await popover(page, "Filter");
        await page.getByRole("combobox", { name: "Values" }).click();
        await page.getByRole("option").first().waitFor();
      },
    },
    {
      name: "report-filtered",
      path: `${report}?filter=country%3DDE`,
      open: (page) => page.getByRole("heading").first().waitFor(),
    },
    { name: "report-export", path: report, open: (page) => menu(page, "Export") },
    { name: "report-note", path: report, open: (page) => popover(page, "Add a note") },
    { name: "report-reasons", path: report, open: (page) => popover(page, /Show why these were not counted/) },
    { name: "report-visitors", path: report, open: (page) => popover(page, "What is a daily visitor?") },
    {
      ...{ name: "report-values", path: report },
      async open(page) {
        await page
          .getByRole("button", { name: /^Other/ })
          .first()
          .click();
        await shown(page, "dialog");
      },
    },
    {
      ...{ name: "report-hover", path: report, only: "wide" },
      async open(page) {
        const chart = page.getByRole("group", { name: /^Clicks,/ }).first();
        const box = await chart.boundingBox();
        await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) * 0.6, (box?.y ?? 0) + (box?.height ?? 0) * 0.5);
      },
    },
    {
      ...{ name: "report-map", path: report },
      async open(page) {
        await page.getByText("Map", { exact: true }).first().click();
        await page.getByRole("img", { name: "Clicks by country" }).waitFor();
      },
    },
    { name: "share-new", path: report, open: (page) => dialog(page, "Share report") },

    // The workspace.
    { name: "key-new", path: at("/settings/keys"), open: (page) => dialog(page, "Create a key") },
    {
      ...{ name: "key-shown", path: at("/settings/keys") },
      async open(page) {
        await dialog(page, "Create a key");
        await page.getByRole("dialog").getByLabel("Name").fill("Website");
        await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Create a key" }).click();
        await page.getByText("Copy your key now").waitFor();
      },
    },
    { name: "key-revoke", path: at("/settings/keys"), open: (page) => dialog(page, /^Revoke/) },
    { name: "invite", path: at("/members"), open: (page) => dialog(page, "Invite people") },
    {
      ...{ name: "invite-link", path: at("/members") },
      async open(page) {
        await dialog(page, "Invite people");
        await page.getByRole("dialog").getByRole("button", { name: "Invite", exact: true }).click();
        await page.getByText("Pass this link on").waitFor();
      },
    },
    { name: "member-menu", path: at("/members"), open: (page) => menu(page, /^Actions for/) },
    {
      ...{ name: "domain-new", path: at("/domains"), mayFail: /422/ },
      async open(page) {
        await dialog(page, "Add a domain");
        await page.getByRole("dialog").getByLabel("Domain").fill("go.alder.example/path");
        await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Add a domain" }).click();
        await page.getByRole("dialog").locator("[aria-invalid=true]").waitFor();
      },
    },
    {
      ...{ name: "domain-record", path: at("/domains") },
      async open(page) {
        await dialog(page, "Add a domain");
        await page.getByRole("dialog").getByLabel("Domain").fill("new.alder.example");
        await page.getByRole("dialog").locator("footer").getByRole("button", { name: "Add a domain" }).click();
        await page.getByText(/^Added new\.alder\.example/).waitFor();
        await into(page.getByRole("heading", { name: "new.alder.example" }));
      },
      async close() {
        await call("DELETE", "/api/domains/new.alder.example");
      },
    },
    {
      ...{ name: "domain-remove", path: at("/domains") },
      async open(page) {
        await menu(page, /^Actions for/);
        await page.getByRole("menuitem", { name: "Remove" }).click();
        await shown(page, "dialog");
      },
    },
    { name: "tag-menu", path: at("/tags"), open: (page) => menu(page, /^Actions for/) },
    {
      ...{ name: "tag-rename", path: at("/tags") },
      async open(page) {
        await menu(page, /^Actions for/);
        await page.getByRole("menuitem", { name: "Rename or merge" }).click();
        await shown(page, "dialog");
      },
    },
    {
      ...{ name: "file-menu", path: at("/files") },
      async open(page) {
        const buffer = Buffer.from("Prices of the spring collection");
        await page.locator("input[type=file]").setInputFiles({ name: "prices.txt", mimeType: "text/plain", buffer });
        await menu(page, /^Actions for/);
      },
    },
    {
      ...{ name: "import-checked", path: at("/import") },
      async open(page) {
        const csv =
          "code,url\nimported-one,https://example.com/1\nimported-two,https://example.com/2\nbad-one,not an address\n";
        await page
          .getByLabel("Choose a file")
          .setInputFiles({ name: "links.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
        await page.getByText("1 bad row").first().waitFor();
      },
    },
    {
      ...{ name: "settings-zone", path: at("/settings") },
      async open(page) {
        await page.getByRole("combobox", { name: "Time zone" }).fill("Ber");
        await page.getByRole("option").first().waitFor();
      },
    },
    { name: "settings-delete", path: at("/settings"), open: (page) => dialog(page, "Delete the workspace") },

    // The account.
    { name: "account-totp", path: "/account", open: (page) => dialog(page, "Set up an app") },
    {
      ...{ name: "account-recovery", path: "/account" },
      async open(page) {
        const recoveryCodes = Array.from({ length: 10 }, (_, place) => `k7dm-${place}2vq-x8hn`);
        await page.route("**/api/account/totp/confirm", (route) => route.fulfill({ json: { recoveryCodes } }));
        await dialog(page, "Set up an app");
        await page.getByLabel("Code that the app shows").fill("123456");
        await page.getByRole("button", { name: "Turn on" }).click();
        await page.getByText("Save your recovery codes").waitFor();
      },
      close: (page) => page.unrouteAll(),
    },
    {
      ...{ name: "account-proof", path: "/account", mayFail: /403/ },
      async open(page) {
        const problem = {
          type: "about:blank",
          title: "Proof needed",
          status: 403,
          code: "proof_required",
          detail: "Confirm that it is you.",
        };
        await page.route("**/api/account/totp", (route) =>
          route.request().method() === "POST"
            ? route.fulfill({ status: 403, contentType: "application/problem+json", json: problem })
            : route.continue(),
        );
        await dialog(page, "Set up an app");
      },
      close: (page) => page.unrouteAll(),
    },
    {
      name: "account-passkeys",
      path: "/account",
      open: (page) => into(page.getByRole("button", { name: "Add a passkey" })),
    },
    { name: "account-workspace", path: "/account?new=workspace", open: (page) => shown(page, "dialog") },
    { name: "account-delete", path: "/account", open: (page) => dialog(page, "Delete account") },

    // The operator.
    { name: "operator-menu", path: "/operator/workspaces", open: (page) => menu(page, /^Actions for/) },
    {
      ...{ name: "operator-limits", path: "/operator/workspaces" },
      async open(page) {
        await menu(page, /^Actions for/);
        await page.getByRole("menuitem", { name: "Plan and limits" }).click();
        await shown(page, "dialog");
      },
    },
    {
      ...{ name: "operator-suspend", path: "/operator/workspaces" },
      async open(page) {
        await menu(page, /^Actions for/);
        await page.getByRole("menuitem", { name: "Suspend" }).click();
        await shown(page, "dialog");
      },
    },
    { name: "operator-plan", path: "/operator/plans", open: (page) => dialog(page, "New plan") },
  ];
}

type Name = string | RegExp;

const buttonOf = (where: Page | Locator, name: Name): Locator =>
  where.getByRole("button", { name, exact: typeof name === "string" }).first();

const shown = (page: Page, role: "dialog" | "menu"): Promise<void> => page.getByRole(role).last().waitFor();

async function menu(page: Page, name: Name, where: Page | Locator = page): Promise<void> {
  await buttonOf(where, name).click();
  await shown(page, "menu");
}

async function popover(page: Page, name: Name): Promise<void> {
  await buttonOf(page, name).click();
  await page.locator("[data-popup][data-open]").first().waitFor();
}

async function dialog(page: Page, name: Name): Promise<void> {
  await buttonOf(page, name).click();
  await shown(page, "dialog");
}

async function into(what: Locator): Promise<void> {
  await what.waitFor();
  await what.evaluate((one) => one.scrollIntoView({ block: "center" }));
}

const fold = (name: string, path: string, title: string): DashboardLayer => ({
  ...{ name, path },
  async open(page) {
    await page.getByText(title).click();
    await page
      .locator("details[open], [data-open] summary")
      .first()
      .evaluate((one) => one.scrollIntoView({ block: "start" }));
  },
});

/** Two rows of the list: with the keyboard, which has the same keys on a phone. */
async function select(page: Page): Promise<void> {
  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").waitFor();
}

const failing = (name: string, path: string, request: RegExp, text: Name): DashboardLayer => ({
  ...{ name, path, mayFail: /500/ },
  async open(page) {
    await page.route(request, (route) =>
      route.fulfill({ status: 500, json: { status: 500, code: "internal", title: "Internal error" } }),
    );
    await page.reload();
    await page.getByText(text).first().waitFor();
  },
  close: (page) => page.unrouteAll(),
});

const waiting = (name: string, path: string, request: RegExp): DashboardLayer => ({
  ...{ name, path },
  async open(page) {
    await page.route(request, () => {});
    await page.reload();
    // It appears after 200 ms.
    const isShown = "getComputedStyle(document.querySelector('[data-waiting]') ?? document.body).opacity === '1'";
    await page.locator("[data-waiting]").first().waitFor();
    await until("the skeleton", async () => (await page.evaluate<boolean>(isShown)) || undefined);
  },
  close: (page) => page.unrouteAll({ behavior: "ignoreErrors" }),
});
