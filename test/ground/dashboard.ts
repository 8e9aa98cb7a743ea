/**
 * The dashboard in a real Chromium. A page remembers every error of its console, every violation of the content policy and
 * every request to another host: a test ends with `calm()`, which fails if there was one.
 */
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import type { Site } from "../e2e/servers.ts";
import { openChromium } from "./chromium.ts";
import { type Browser, originOf } from "./people.ts";
import { runProcess } from "./process.ts";
import { programVariable } from "./server.ts";

export type Dashboard = {
  /** A page of somebody who is signed in, or of nobody. */
  open(site: Site, person?: Pick<Browser, "cookies">, options?: PageOptions): Promise<DashboardPage>;
  stop(): Promise<void>;
};

export type PageOptions = {
  readonly isDark?: boolean;
  readonly isPhone?: boolean;
  /** For an error that the test provokes, such as a refused call. */
  readonly mayFail?: (message: string) => boolean;
  readonly language?: string;
  /** Of the browser. */
  readonly zone?: string;
};

export type DashboardPage = {
  readonly page: Page;
  /** Opens `/app` and what follows it. A drawer in it has the focus then, as it has before a person can type. */
  goto(path: string): Promise<void>;
  /** At the end: throws what went wrong in the page since it was opened, and closes it. An open one keeps on asking. */
  calm(): void;
  /** What went wrong since the last call. */
  wrong(): string[];
  /** What axe-core finds wrong, one line each. */
  violations(only?: AxeOnly): Promise<string[]>;
};

export type AxeOnly = {
  readonly rules?: readonly string[];
  /** Selector. What is around it is left out, which takes most of the time. */
  readonly within?: string;
};

const root = join(import.meta.dir, "../..");
const bundleMs = 120_000;
/** A page that loads it as an init script gets it in a fraction of the time. */
export const axeFile = join(root, "node_modules/axe-core/axe.min.js");
const actionMs = 45_000;
/** More than any page has controls before its content. */
const tabsMost = 80;

export const wide = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

export async function startDashboard(): Promise<Dashboard> {
  await bundled();
  const browser = await openChromium();
  return {
    async open(site, person, options = {}) {
      const context = await browser.newContext(contextOptions(options));
      context.setDefaultTimeout(actionMs);
      const origin = originOf(site);
      const cookies = [...(person?.cookies ?? [])].map(([name, value]) => ({ name, value, url: origin }));
      if (cookies.length > 0) await context.addCookies(cookies);
      const page = await context.newPage();
      const wrong = watch(page, origin, options.mayFail ?? (() => false));
      return {
        page,
        async goto(path) {
          await page.goto(`${origin}/app${path}`);
          if (path.includes("drawer=")) await page.locator("[data-drawer]:focus-within").waitFor();
        },
        calm() {
          context.close().catch(() => {}); // unless the browser is closed by then
          if (wrong.length > 0) throw new Error(`the page is not calm:\n${wrong.join("\n")}`);
        },
        wrong: () => wrong.splice(0),
        violations: (only) => violationsIn(page, only),
      };
    },
    stop: () => browser.close(),
  };
}

/** Presses Tab until it has the focus, as somebody without a mouse does. */
export async function tabTo(target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  const page = target.page();
  await target.waitFor();
  for (let pressed = 0; pressed < tabsMost; pressed++) {
    await page.keyboard.press(key);
    if ((await target.and(page.locator(":focus")).count()) === 1) return;
  }
  throw new Error(`${tabsMost} times ${key} did not reach ${target}`);
}

function contextOptions({
  isDark,
  isPhone,
  language = "en-GB",
  zone = "Europe/Berlin",
}: PageOptions): BrowserContextOptions {
  return {
    viewport: isPhone ? phone : wide,
    ...(isPhone && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
    colorScheme: isDark ? "dark" : "light",
    locale: language,
    timezoneId: zone,
    reducedMotion: "reduce",
  };
}

/** Violations of the content policy are errors of the console too. */
function watch(page: Page, origin: string, mayFail: (message: string) => boolean): string[] {
  const wrong: string[] = [];
  const add = (message: string) => {
    if (!mayFail(message)) wrong.push(message);
  };
  page.on("console", (message) => {
    if (message.type() === "error") add(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => add(`page: ${error.stack ?? error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    const isOurs = url.startsWith(`${origin}/`) || /^(?:data|blob):/.test(url);
    if (!isOurs) add(`request to another host: ${url}`);
  });
  return wrong;
}

/** The executable of a whole run has it inside. */
async function bundled(): Promise<void> {
  if (process.env[programVariable] !== undefined) return;
  const command = [process.execPath, "--no-env-file", "web/bundle.ts", "--if-changed"];
  const { code, stderr } = await runProcess(command, { cwd: root, timeoutMs: bundleMs });
  if (code !== 0 || stderr !== "") throw new Error(`the dashboard could not be bundled\n${stderr}`);
}

/** Run as a script of the debugging protocol, which the content policy does not concern. */
async function violationsIn(page: Page, { rules, within }: AxeOnly = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await Bun.file(axeFile).text());
  // It would wait half a second for an answer from each frame, where it does not run.
  const options = { resultTypes: ["violations"], iframes: false, ...(rules && { runOnly: rules }) };
  const context = within === undefined ? "document" : JSON.stringify(within);
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${context}, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`));
}
