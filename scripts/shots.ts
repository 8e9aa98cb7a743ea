/**
 * `npm run shots`: every page of the dashboard, light and dark, wide and on a phone, into docs/shots. With words, only the pages
 * whose names contain one of them. The pages show the sample workspace of `quicklink demo`. Fails if a page reports an error.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { siteOf } from "../test/e2e/servers.ts";
import { startDashboard } from "../test/ground/dashboard.ts";
import { ensure } from "../test/ground/machine.ts";
import { makePerson } from "../test/ground/people.ts";
import { startServer } from "../test/ground/server.ts";
import { tempFolder } from "../test/ground/temp.ts";
import { dashboardPages, show } from "../test/web/pages.ts";

const folder = join(import.meta.dir, "../docs/shots");

const words = Bun.argv.slice(2);
const missing = await ensure(["chromium"]);
if (missing.length > 0) throw new Error(`Chromium is needed: ${missing[0]?.install}`);
mkdirSync(folder, { recursive: true });
const dataDir = tempFolder("shots");
const server = await startServer({ dataDir });
const site = siteOf(server, { QL_DATA: dataDir, PORT: String(server.port) });
const made = await site.cli("demo");
if (made.code !== 0) throw new Error(made.stderr);
const person = await makePerson(site, {
  ...{ name: "Yara Olsen", email: "yara@alder.example", operator: true },
  roles: { demo: "owner", default: "owner" },
});
const pages = (await dashboardPages(person)).filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
const chromium = await startDashboard();
const wrong: string[] = [];
let taken = 0;
// A window for all pages of one look: loading the script again for each would take most of the time.
for (const isDark of [false, true]) {
  for (const isPhone of [false, true]) {
    // On a busy machine the server may ask to try again, which pages do.
    const options = { isDark, isPhone, mayFail: (message: string) => message.includes("503") };
    const signedIn = await chromium.open(site, person, options);
    const visitor = await chromium.open(site, undefined, options);
    for (const page of pages) {
      const name = `${page.name}-${isDark ? "dark" : "light"}-${isPhone ? "phone" : "wide"}`;
      const opened = page.isVisitor ? visitor : signedIn;
      try {
        await show(opened, page.path);
        await opened.page.screenshot({ path: join(folder, `${name}.png`) });
        taken++;
        wrong.push(...opened.wrong().map((message) => `${name}: ${message}`));
      } catch (error) {
        wrong.push(`${name}: ${(error as Error).message}`);
      }
    }
    for (const { page } of [signedIn, visitor]) await page.context().close();
  }
}
await chromium.stop();
await server.stop();
console.log(`shots=${taken} errors=${wrong.length}`);
for (const line of wrong) console.error(line);
process.exit(wrong.length === 0 ? 0 : 1);
