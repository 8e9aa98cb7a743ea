/**
 * What the dashboard costs the person who opens it.
 *
 * Method: a real Chromium opens the pages of a real server that has links and clicks. Script is what the page has loaded by then,
 * gzipped, by the names of the files. CPU is what Chromium's own accounting gives for the main thread of the page from a
 * blank one until it is shown and quiet, compared with a page on which React shows one word, in the same round. The time from a
 * click to what it shows is measured inside the page; it has no target, because this machine is shared.
 */
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { siteOf } from "../test/e2e/servers.ts";
import { type Dashboard, type DashboardPage, startDashboard } from "../test/ground/dashboard.ts";
import { makePerson, type TestPerson } from "../test/ground/people.ts";
import { tempFolder } from "../test/ground/temp.ts";
import type { Bench, Figure } from "./bench.ts";
import { median, progress, round, table } from "./show.ts";
import { createLinks, startSubject } from "./subject.ts";

const rounds = 7;
const links = 50;
const visits = 200;
const kilobyte = 1_000;
/** What a page still does after it is shown belongs to it. The stream of live clicks never ends, so the network is never idle. */
const quietMs = 700;

export const dashboard: Bench = {
  name: "dashboard",
  shows: "script of the first pages, CPU to show them in Chromium, and time from click to shown",
  needs: ["chromium"],
  run,
};

interface Shown {
  readonly name: string;
  readonly path: string;
  /** What is on the page once it is shown. */
  readonly until: string;
  readonly isSignedIn: boolean;
}

async function run(): Promise<readonly Figure[]> {
  const subject = await startSubject("sqlite");
  const chromium = await startDashboard();
  const empty = await serveEmptyPage();
  try {
    const site = siteOf(subject.server, { ...subject.env, QL_DATA: subject.server.dataDir });
    await createLinks(subject.server, links);
    const link = await site.create({ url: "https://example.com/report", code: "shown" });
    for (let i = 0; i < visits; i++) await site.visit("/shown");
    const person = await makePerson(site, { roles: { default: "owner" } });
    const shown: readonly Shown[] = [
      { name: "sign-in", path: "/sign-in", until: "form", isSignedIn: false },
      { name: "50 links", path: "/w/default/links", until: "tbody tr:nth-child(50)", isSignedIn: true },
      { name: "report of a link", path: `/w/default/links/${link.id}`, until: "main svg", isSignedIn: true },
    ];
    const open = (one: Shown) => chromium.open(site, one.isSignedIn ? person : undefined, { mayFail: () => true });
    const sizes = new Map<string, number>();
    for (const one of shown) sizes.set(one.name, await scriptBytes(await open(one), one));
    const cpu = await cpuOf(shown, open, empty.url);
    table([
      ["page", "script kB gzipped", "CPU ms", "× an empty React page"],
      ["empty React page", round(empty.bytes / kilobyte), round(median(cpu.get("empty") ?? [])), "1"],
      ...shown.map(({ name }) => [
        name,
        round((sizes.get(name) ?? 0) / kilobyte),
        round(median(cpu.get(name) ?? [])),
        round(median(cpu.get(name) ?? []) / median(cpu.get("empty") ?? [])),
      ]),
    ]);
    console.log(
      `  from a click on Links to 50 links on the screen: ${round(await clickToShown(chromium, site, person))} ms`,
    );
    return [
      figure("script of the sign-in in kB gzipped", sizes.get("sign-in"), 110),
      figure("script of the links in kB gzipped, all together", sizes.get("50 links"), 200),
    ];
  } finally {
    await chromium.stop();
    await empty.stop();
    await subject.stop();
  }
}

const figure = (name: string, bytes: number | undefined, most: number): Figure => ({
  name,
  figure: (bytes ?? Number.POSITIVE_INFINITY) / kilobyte,
  target: { most },
});

/** Everything that was loaded until the page is shown. Answers are decoded, so each is compressed here, as `web/bundle.ts` does. */
async function scriptBytes({ page, goto }: DashboardPage, { path, until }: Shown): Promise<number> {
  const bodies: Promise<Buffer>[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(".js")) bodies.push(response.body());
  });
  await goto(path);
  await page.locator(until).first().waitFor();
  await page.waitForTimeout(quietMs);
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body, { level: 9 }).length);
  await page.context().close();
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function cpuOf(
  shown: readonly Shown[],
  open: (one: Shown) => Promise<DashboardPage>,
  emptyUrl: string,
): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const bar = progress();
  const add = (name: string, milliseconds: number) => found.set(name, [...(found.get(name) ?? []), milliseconds]);
  for (let i = 0; i < rounds; i++) {
    bar.now(`round ${i + 1} of ${rounds}`);
    for (const one of shown) {
      const { page, goto } = await open(one);
      add(one.name, await taskMs(page, () => goto(one.path), one.until));
      if (one !== shown[0]) continue;
      add("empty", await taskMs(page, () => page.goto(emptyUrl).then(() => {}), "p"));
    }
  }
  bar.end();
  return found;
}

/** Of the main thread: parsing, script, layout and painting. */
async function taskMs(page: Page, go: () => Promise<void>, until: string): Promise<number> {
  await page.goto("about:blank");
  const protocol = await page.context().newCDPSession(page);
  await protocol.send("Performance.enable");
  const total = async () => {
    const { metrics } = await protocol.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  };
  const before = await total();
  await go();
  await page.locator(until).first().waitFor();
  await page.waitForTimeout(quietMs);
  return (await total()) - before;
}

async function clickToShown(
  chromium: Dashboard,
  site: Parameters<Dashboard["open"]>[0],
  person: TestPerson,
): Promise<number> {
  const { page, goto } = await chromium.open(site, person, { mayFail: () => true });
  await goto("/w/default/usage");
  await page.getByRole("link", { name: "Links", exact: true }).first().waitFor();
  await page.waitForTimeout(quietMs);
  return await page.evaluate<number>(`new Promise((resolve) => {
    const link = [...document.querySelectorAll("nav a")].find((one) => one.textContent === "Links");
    const started = performance.now();
    const observer = new MutationObserver(() => {
      if (document.querySelectorAll("tbody tr").length < ${links}) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(performance.now() - started));
    });
    observer.observe(document.body, { childList: true, subtree: true });
    link.click();
  })`);
}

/** The least that React can show. */
async function serveEmptyPage(): Promise<{ url: string; bytes: number; stop(): Promise<void> }> {
  const entry = join(tempFolder("empty"), "empty.tsx");
  const modules = join(import.meta.dir, "../node_modules");
  await Bun.write(
    entry,
    `import { createElement } from "${modules}/react"; import { createRoot } from "${modules}/react-dom/client";
     createRoot(document.getElementById("app")).render(createElement("p", null, "Hello"));`,
  );
  const define = { "process.env.NODE_ENV": '"production"' };
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "browser", minify: true, define });
  const script = (await outputs[0]?.text()) ?? "";
  const html =
    '<!doctype html><html><body><div id="app"></div><script type="module" src="/empty.js"></script></body></html>';
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith(".js")
        ? new Response(script, { headers: { "content-type": "text/javascript" } })
        : new Response(html, { headers: { "content-type": "text/html" } }),
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    bytes: gzipSync(script, { level: 9 }).length,
    stop: () => server.stop(true),
  };
}
