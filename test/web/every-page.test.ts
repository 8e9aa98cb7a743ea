/** What holds for every page: no accessibility violation in either theme, no error, every text in one place, no overflow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { must, type Site, startSite } from "../e2e/servers.ts";
import { type Dashboard, startDashboard } from "../ground/dashboard.ts";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { type DashboardAddress, dashboardPages, show } from "./pages.ts";

let site: Site;
let dashboard: Dashboard;
let person: TestPerson;
let pages: readonly DashboardAddress[];
const pageMs = 240_000;
const narrowPx = 360;

beforeAll(async () => {
  [site, dashboard] = await Promise.all([startSite("SQLite"), startDashboard()]);
  must(await site.cli("demo", "--days", "40"));
  person = await makePerson(site, { name: "Ann Example", operator: true, roles: { demo: "owner", default: "owner" } });
  pages = await dashboardPages(person);
}, pageMs);

afterAll(async () => {
  await dashboard.stop();
  await site.server.stop();
});

test(
  "no page has a violation that axe-core knows, an error, or a request to another host",
  async () => {
    const found: string[] = [];
    const signedIn = await dashboard.open(site, person);
    const visitor = await dashboard.open(site);
    for (const { name, path, isVisitor } of pages) {
      const opened = isVisitor ? visitor : signedIn;
      await show(opened, path);
      found.push(...(await opened.violations()).map((violation) => `${name}: ${violation}`));
    }
    expect(found).toEqual([]);
    signedIn.calm();
    visitor.calm();
  },
  pageMs,
);

/**
 * In one go, because opening a page takes the longest: the dark theme, which has other colours and nothing else that axe-core
 * looks at; the narrowest phone; and the pseudo-language, whose texts are longer and disguised.
 */
test(
  "dark, on the narrowest phone and in the pseudo-language, no page has too little contrast, scrolls sideways, or has a text outside of web/texts",
  async () => {
    const options = { isDark: true, isPhone: true };
    const [signedIn, visitor] = [
      await dashboard.open(site, person, options),
      await dashboard.open(site, undefined, options),
    ];
    for (const { page, goto } of [signedIn, visitor]) {
      await page.setViewportSize({ width: narrowPx, height: 740 });
      await goto("/sign-in");
      await page.evaluate("localStorage.setItem('quicklink-language', 'pseudo')");
    }
    const [faint, wide, plain]: [string[], string[], Map<string, Set<string>>] = [[], [], new Map()];
    for (const { name, path, isVisitor } of pages) {
      const opened = isVisitor ? visitor : signedIn;
      await show(opened, path);
      faint.push(...(await opened.violations(["color-contrast"])).map((violation) => `${name}: ${violation}`));
      const widthPx = await opened.page.evaluate<number>("document.documentElement.scrollWidth");
      if (widthPx > narrowPx) wide.push(`${name}: ${widthPx} px`);
      for (const text of await opened.page.evaluate<string[]>(readableTexts)) {
        if (isOurs(text)) plain.set(text, (plain.get(text) ?? new Set()).add(name));
      }
    }
    expect(faint).toEqual([]);
    expect(wide).toEqual([]);
    expect([...plain].map(([text, names]) => `${text} (${[...names].join(", ")})`)).toEqual([]);
    signedIn.calm();
    visitor.calm();
  },
  pageMs,
);

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
