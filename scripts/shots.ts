/**
 * `npm run shots`: every page of the dashboard, light and dark, wide and on a phone, into docs/shots, and everything that opens
 * above them into docs/shots/layers. With words, only those whose names contain one of them, such as "links" or "layers/bulk".
 * The pages show the sample workspace of `quicklink demo`. Fails if a page reports an error, or if what opens above it makes it
 * wider than the screen; for the pages themselves, a test does.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { siteOf } from "../test/e2e/servers.ts";
import { startDashboard } from "../test/ground/dashboard.ts";
import { ensure } from "../test/ground/machine.ts";
import { makePerson } from "../test/ground/people.ts";
import { startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { dashboardLayers } from "../test/web/layers.ts";
import { dashboardPages, show } from "../test/web/pages.ts";

const folder = join(import.meta.dir, "../docs/shots");

const words = Bun.argv.slice(2);
const missing = await ensure(["chromium"]);
if (missing.length > 0) throw new Error(`Chromium is needed: ${missing[0]?.install}`);
mkdirSync(join(folder, "layers"), { recursive: true });
const dataDir = tempFolder("shots");
const server = await startServer({ dataDir });
const site = siteOf(server, { QL_DATA: dataDir, PORT: String(server.port) });
const made = await site.cli("demo");
if (made.code !== 0) throw new Error(made.stderr);
const person = await makePerson(site, {
  ...{ name: "Yara Olsen", email: "yara@alder.example", operator: true },
  roles: { demo: "owner", default: "owner" },
});
// Two windows ask more often than a person does.
const raised = await site.cli("tenant", "update", "demo", "--api", "6000");
if (raised.code !== 0) throw new Error(raised.stderr);
const isAsked = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
const pages = (await dashboardPages(person)).filter(({ name }) => isAsked(name));
const layers = (await dashboardLayers(person)).filter(({ name }) => isAsked(`layers/${name}`));
const chromium = await startDashboard();
const themes = ["light", "dark"] as const;
const sizes = ["wide", "phone"] as const;
let taken = 0;
let errors = 0;
const fail = (name: string, message: string) => {
  errors++;
  console.error(`${name}: ${message}`);
};

/** On a busy machine the server may ask to try again, which pages do. */
const mayFail = (message: string) => message.includes("503");

const beyondScreen = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

/** A window for all pages of one look: loading the script again for each would take most of the time. */
async function takePages(size: (typeof sizes)[number]): Promise<void> {
  for (const theme of themes) {
    const options = { isDark: theme === "dark", isPhone: size === "phone", mayFail };
    const signedIn = await chromium.open(site, person, options);
    const visitor = await chromium.open(site, undefined, options);
    for (const page of pages) {
      const name = `${page.name}-${theme}-${size}`;
      const opened = page.isVisitor ? visitor : signedIn;
      try {
        await show(opened, page.path);
        await opened.page.screenshot({ path: join(folder, `${name}.png`) });
        taken++;
      } catch (error) {
        fail(name, (error as Error).message);
      }
      for (const message of opened.wrong()) fail(name, message);
    }
    for (const { page } of [signedIn, visitor]) await page.context().close();
  }
}

/** Opened once for both themes, which have the same layout. */
async function takeLayers(size: (typeof sizes)[number]): Promise<void> {
  const opened = await chromium.open(site, person, { isPhone: size === "phone" });
  const { page } = opened;
  // Nothing that another layer left behind, such as a draft.
  await page.addInitScript("if (window === top) for (const one of [localStorage, sessionStorage]) one.clear()");
  for (const layer of layers) {
    if (layer.only !== undefined && layer.only !== size) continue;
    const name = `layers/${layer.name}-${size}`;
    try {
      await show(opened, layer.path);
      await layer.open(page);
      const overPx = await page.evaluate<number>(beyondScreen);
      if (overPx > 0) fail(name, `${overPx} px wider than the screen`);
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme });
        await page.screenshot({ path: join(folder, `layers/${layer.name}-${theme}-${size}.png`) });
        taken++;
      }
    } catch (error) {
      fail(name, (error as Error).message);
    }
    await layer.close?.(page).catch((error: Error) => fail(name, error.message));
    await page.emulateMedia({ colorScheme: "light" });
    for (const message of opened.wrong()) if (!mayFail(message) && !layer.mayFail?.test(message)) fail(name, message);
  }
  await page.context().close();
}

await Promise.all(sizes.map(takePages));
// Afterwards: some create or delete things.
await Promise.all(sizes.map(takeLayers));
await chromium.stop();
await server.stop();
console.log(`shots=${taken} errors=${errors}`);
process.exit(errors === 0 ? 0 : 1);
