/** What holds for every page: no accessibility violation in either theme, no error, every text in one place, no overflow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page, ViewportSize } from "playwright-core";
import { type LinkBody, must, query, type Site, startSite } from "../e2e/servers.ts";
import {
  type AxeOnly,
  axeFile,
  type Dashboard,
  type DashboardPage,
  startDashboard,
  wide,
} from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { type DashboardAddress, dashboardPages, settled, show } from "./pages.ts";

let site: Site;
let dashboard: Dashboard;
let person: TestPerson;
let pages: readonly DashboardAddress[];
const pageMs = 600_000;
const narrowPx = 360;
/** So high that no page has to be scrolled. */
const tallPx = 6_000;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  must(await site.cli("demo", "--days", "14"));
  person = await makePerson(site, { name: "Ann Example", operator: true, roles: { demo: "owner", default: "owner" } });
  await keepOneOfEachKind();
  pages = await dashboardPages(person);
}, pageMs);

/** axe-core looks at every row of a list, and most links of the demo are alike, as are rows of the log about them. */
async function keepOneOfEachKind(): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    person.call(method, path, { workspace: "demo", ...(body !== undefined && { body }) });
  const busiestFirst = await call("GET", "/api/links?limit=100&sort=clicks&order=desc");
  const kinds = Map.groupBy(busiestFirst.json<{ items: LinkBody[] }>().items, kindOf);
  const alike = [...kinds.values()].flatMap((links) => links.slice(1).map(({ id }) => id));
  expect((await call("PATCH", "/api/links/bulk", { ids: alike, action: "delete" })).status).toBe(200);
  for (const id of alike) expect((await call("DELETE", `/api/trash/${id}`)).status).toBe(204);
  const ids = alike.map((id) => `'${id}'`).join(", ");
  await query(
    site.env,
    `delete from history where subject_id in (${ids}) and id not in (select max(id) from history group by action)`,
  );
}

/** By what its row shows. */
const kindOf = ({ status, target, suspended, ...link }: LinkBody): string =>
  JSON.stringify([
    ...[status, target?.state, suspended, link.password, link.file !== null, link.rules.length > 0],
    ...[link.split.length > 0, link.hitsPerMonth !== null, link.tags.length > 0, link.clicks > 0],
    ...[link.title !== null, Date.parse(String(link.expiresAt)) < Date.now()],
  ]);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

/** The same page with another size and theme, without loading it again, which takes the longest. */
async function turnInto({ page }: DashboardPage, size: ViewportSize, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(size);
  // Drawn once with the new width: what measures itself has done so.
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  await settled(page);
}

/**
 * Each page is loaded once, in the pseudo-language, whose texts are longer and disguised, on the narrowest phone in the dark theme.
 * There axe-core checks all that it knows, and again when the page is turned into a wide touch screen in the light theme, which hides
 * nothing until it is pointed at. By then its texts are readable: one rule compares a label with what is shown.
 */
test.concurrent(
  "no page has a violation that axe-core knows in either theme, an error, a request to another host, a text outside of web/texts, a width that a phone must scroll, or a button that a finger misses",
  async () => {
    const options = { isPhone: true };
    const [signedIn, visitor] = [
      await dashboard.open(site, person, options),
      await dashboard.open(site, undefined, options),
    ];
    for (const { page } of [signedIn, visitor]) {
      // Not in the frame of a mail, which has no storage.
      await page.addInitScript("if (window === top) localStorage.setItem('quicklink-language', 'pseudo')");
      await page.addInitScript({ path: axeFile });
    }
    const [wrong, scrolls, small]: [string[], string[], string[]] = [[], [], []];
    const plain = new Map<string, Set<string>>();
    for (const { name, path, isVisitor } of pages) {
      const opened = isVisitor ? visitor : signedIn;
      const { page } = opened;
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: narrowPx, height: tallPx });
      await show(opened, path);
      // What is behind a drawer is a page of its own.
      const found = (await opened.violations(path.includes("drawer=") ? { within: "[data-drawer]" } : {}))
        .filter((violation) => !violation.includes(labelRule))
        .map((violation) => `in the dark, ${violation}`);
      const widthPx = await page.evaluate<number>("document.documentElement.scrollWidth");
      if (widthPx > narrowPx) scrolls.push(`${name}: ${widthPx} px`);
      small.push(...(await page.evaluate<string[]>(smallTargets)).map((target) => `${name}: ${target}`));
      for (const text of await page.evaluate<string[]>(readableTexts)) {
        if (isOurs(text)) plain.set(text, (plain.get(text) ?? new Set()).add(name));
      }
      await turnInto(opened, wide, "light");
      await page.evaluate(undisguise);
      const shown = await opened.violations();
      if (shown.some((violation) => violation.includes(labelRule))) {
        // Unless a part of it was drawn again meanwhile, with disguised texts.
        await page.evaluate(undisguise);
        const labels = await opened.violations({ rules: [labelRule] });
        shown.splice(0, shown.length, ...shown.filter((violation) => !violation.includes(labelRule)), ...labels);
      }
      shown.push(...found);
      wrong.push(...shown.map((violation) => `${name}: ${violation}`));
    }
    expect(wrong).toEqual([]);
    expect(scrolls).toEqual([]);
    expect(small).toEqual([]);
    expect([...plain].map(([text, names]) => `${text} (${[...names].join(", ")})`)).toEqual([]);
    signedIn.calm();
    visitor.calm();
  },
  pageMs,
);

/** What opens above a page, by the page. Each is opened on what the one before it left, after Esc. */
const layers: Readonly<Record<string, readonly (readonly [name: string, open: (page: Page) => Promise<void>])[]>> = {
  links: [
    ["the palette", (page) => page.keyboard.press("Control+k")],
    ["shortcuts", (page) => page.keyboard.press("?")],
    ["the account", (page) => press(page, /^Account of/)],
    ["workspaces", (page) => press(page, /Switch workspace$/)],
    ["the order and columns", (page) => press(page, "Columns and order")],
    ["more actions", (page) => press(page, "More actions")],
    [
      "a filter",
      async (page) => {
        await press(page, "Filter");
        await press(page, "Tag");
        await page.getByPlaceholder("Choose tags").fill("s");
        await page.getByRole("option").first().waitFor();
      },
    ],
    [
      "tags for selected links",
      async (page) => {
        await page.keyboard.press("j");
        await page.keyboard.press("x");
        await page.getByRole("toolbar").getByRole("button", { name: "Tag" }).click();
      },
    ],
  ],
  "links-create": [
    ["expiry", (page) => press(page, /Choose a preset$/)],
    [
      "a rule",
      async (page) => {
        await press(page, "Add rule");
        await page.getByRole("menuitem", { name: "Country" }).click();
        await page.getByPlaceholder("Search countries").fill("Germ");
        await page.getByRole("option", { name: /^Germany/ }).waitFor();
      },
    ],
  ],
  link: [
    ["the share dialog", (page) => press(page, "Share report")],
    ["the period", (page) => press(page, /^Period: /)],
    ["a filter", (page) => press(page, "Filter")],
  ],
  "settings-keys": [["a new key", (page) => press(page, "Create a key")]],
  members: [["an invitation", (page) => press(page, "Invite people")]],
  domains: [["a new domain", (page) => press(page, "Add a domain")]],
  account: [["the last question", (page) => press(page, "Delete account")]],
  "operator-plans": [["a new plan", (page) => press(page, "New plan")]],
};

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page
    .getByRole("button", { name, ...(typeof name === "string" && { exact: true }) })
    .first()
    .click();

test.concurrent(
  "no dialog, drawer, menu, popover or palette has a violation that axe-core knows in either theme",
  async () => {
    const opened = await dashboard.open(site, person);
    const { page } = opened;
    const within = "[data-popup][data-open], [role=dialog][data-open]:not([data-drawer])";
    const popups = page.locator(within);
    const wrong: string[] = [];
    // Each layer is opened in the theme in which the one before it was closed.
    let theme: "light" | "dark" = "light";
    for (const [name, ways] of Object.entries(layers)) {
      await show(opened, pages.find((one) => one.name === name)?.path ?? name);
      for (const [layer, open] of ways) {
        await open(page);
        await popups.first().waitFor();
        const check = async (only: AxeOnly) => {
          const found = await opened.violations({ within, ...only });
          wrong.push(...found.map((violation) => `${name}, ${layer}, ${theme}: ${violation}`));
        };
        await check({});
        theme = theme === "light" ? "dark" : "light";
        await turnInto(opened, wide, theme);
        await check({ rules: colourRules });
        await until(`${layer} to be closed`, async () => {
          if ((await popups.count()) === 0) return true;
          await page.keyboard.press("Escape");
          return undefined;
        });
      }
    }
    expect(wrong).toEqual([]);
    opened.calm();
  },
  pageMs,
);

/** All that a theme changes. */
const colourRules = ["color-contrast", "link-in-text-block"];

/** It compares a label, which is disguised, with what is shown, which may be data and is not. */
const labelRule = "label-content-name-mismatch";

/** The letters of the pseudo-language in `web/texts/texts.ts`, from a to z. */
const disguised = "áƀçðéƒĝĥíĵķļɱñóþɋŕšţúṽŵẋýž";

const undisguise = `(() => {
  const letters = new Map([...${JSON.stringify(disguised)}].map((letter, place) => [letter, String.fromCharCode(97 + place)]));
  const plain = (text) => [...text].filter((letter) => !"⟦⟧".includes(letter)).map((letter) => letters.get(letter) ?? letter).join("");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.textContent = plain(walker.currentNode.textContent);
  for (const name of ["aria-label", "title"]) {
    for (const one of document.querySelectorAll("[" + name + "]")) one.setAttribute(name, plain(one.getAttribute(name)));
  }
})()`;

test.concurrent(
  "a number that is not exact says so beside its name, and a card that fails leaves the others alone",
  async () => {
    const { page, goto, calm } = await dashboard.open(site, person, { mayFail: (message) => message.includes("500") });
    await page.route(/\/stats\?/, async (route) => {
      const answer = await route.fetch();
      const report = (await answer.json()) as { breakdowns: Record<string, { notItemised: number }> };
      for (const one of Object.values(report.breakdowns)) one.notItemised = 228;
      const visitorsCapped = [{ from: "2026-11-10T00:00:00Z", to: "2026-11-10T04:00:00Z" }];
      await route.fulfill({
        response: answer,
        json: { ...report, sampled: { rate: 0.1, error: 0.021 }, visitorsCapped },
      });
    });
    await page.route(/\/clicks\?/, (route) => route.fulfill({ status: 500, body: "" }));
    await goto(pages.find(({ name }) => name === "link")?.path ?? "");
    const figures = page.getByRole("region", { name: "Clicks", exact: true });
    await figures.getByText("±2.1%", { exact: true }).waitFor();
    await figures.getByText("at least", { exact: true }).waitFor();
    await page.getByText("Estimated from 10.0% of the clicks").waitFor();
    await page.getByText("Details not kept").first().waitFor();
    await page.getByText(/^Could not load the clicks\./).waitFor();
    await page.getByText("Germany", { exact: true }).first().waitFor();
    calm();
  },
  pageMs,
);

/**
 * What a finger misses: what can be pressed reaches 20 px up and down from its middle, and 12 px to the sides. That is 44 px
 * less the line around it or what its neighbour takes, and the 24 px of WCAG 2.5.8. Links inside a sentence are exempt, as there.
 */
const smallTargets = `(() => {
  const found = [];
  const pressed = "a[href], button, input, select, textarea, summary, label:has(input), [role=button], [role=tab], [role=switch]";
  const seen = new Map();
  for (const one of document.querySelectorAll(pressed)) {
    // Rows of a list are alike.
    const kind = one.tagName + one.className;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) > 5) continue;
    if (one.disabled || one.closest("[inert], [aria-hidden=true], .sr-only") || (one.matches("input") && one.closest("label"))) continue;
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const isInSentence = getComputedStyle(one).display === "inline" && one.parentElement.textContent.trim() !== one.textContent.trim();
    if (one.matches("a") && isInSentence) continue;
    const hits = (right, down) => {
      const { left, top, width, height } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(left + width / 2 + right, top + height / 2 + down));
    };
    const isBig = () => hits(0, -20) && hits(0, 20) && hits(-12, 0) && hits(12, 0);
    if (!hits(0, 0) || isBig()) continue;
    // At the edge of a row that scrolls, only a part of it shows.
    one.scrollIntoView({ inline: "center", block: "nearest" });
    if (isBig()) continue;
    const { width, height } = one.getBoundingClientRect();
    const name = one.getAttribute("aria-label") ?? one.textContent.trim() ?? "";
    found.push(one.tagName.toLowerCase() + " " + name.slice(0, 60) + ", " + Math.round(width) + " × " + Math.round(height) + " px");
  }
  return found;
})()`;

/** Texts of elements and labels for screen readers. What data supplies is marked by where it is: see `isOurs`. */
const readableTexts = `(() => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent.closest("script, style, noscript, pre, code, kbd, svg, time, [data-value]")) continue;
    found.add(walker.currentNode.textContent.trim());
  }
  for (const one of document.querySelectorAll("[aria-label], [placeholder]")) {
    found.add(one.getAttribute("aria-label") ?? "");
    found.add(one.getAttribute("placeholder") ?? "");
  }
  return [...found];
})()`;

/** Sentences of ours begin like these; names, addresses and numbers come from data or Intl. */
const isOurs = (text: string): boolean =>
  /^(?:The|This|Your|You|No|Every|What|Add|Create|Delete|Remove|Save|Show|Search)\b/.test(text);
