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
/** So high that no page has to be scrolled. */
const tallPx = 6_000;

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
  "dark, on the narrowest phone and in the pseudo-language, no page has too little contrast, scrolls sideways, is hard to press, or has a text outside of web/texts",
  async () => {
    const options = { isDark: true, isPhone: true };
    const [signedIn, visitor] = [
      await dashboard.open(site, person, options),
      await dashboard.open(site, undefined, options),
    ];
    for (const { page, goto } of [signedIn, visitor]) {
      await page.setViewportSize({ width: narrowPx, height: tallPx });
      await goto("/sign-in");
      await page.evaluate("localStorage.setItem('quicklink-language', 'pseudo')");
    }
    const [faint, wide, small, plain]: [string[], string[], string[], Map<string, Set<string>>] = [
      [],
      [],
      [],
      new Map(),
    ];
    for (const { name, path, isVisitor } of pages) {
      const opened = isVisitor ? visitor : signedIn;
      await show(opened, path);
      faint.push(...(await opened.violations(["color-contrast"])).map((violation) => `${name}: ${violation}`));
      const widthPx = await opened.page.evaluate<number>("document.documentElement.scrollWidth");
      if (widthPx > narrowPx) wide.push(`${name}: ${widthPx} px`);
      small.push(...(await opened.page.evaluate<string[]>(smallTargets)).map((target) => `${name}: ${target}`));
      for (const text of await opened.page.evaluate<string[]>(readableTexts)) {
        if (isOurs(text)) plain.set(text, (plain.get(text) ?? new Set()).add(name));
      }
    }
    expect(faint).toEqual([]);
    expect(wide).toEqual([]);
    expect(small).toEqual([]);
    expect([...plain].map(([text, names]) => `${text} (${[...names].join(", ")})`)).toEqual([]);
    signedIn.calm();
    visitor.calm();
  },
  pageMs,
);

test(
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
