/**
 * A real Chromium without a window, which reaches this machine only.
 *
 * All files of a run share one: starting it takes seconds of both cores. Each opens its own contexts in it, and a context shares
 * no cookie, no storage and no cache with another one.
 */
import type { Browser, BrowserType } from "playwright-core";
import { keep } from "./keeper.ts";
import { find } from "./machine.ts";

/** Where the runner tells the test processes the address of the one that they share. */
export const chromiumVariable = "QL_TEST_CHROMIUM";

/** That of this test run; a test file that runs alone starts its own. Closing it closes the contexts that were opened here. */
export async function openChromium(): Promise<Browser> {
  const chromium = await driver();
  const address = Bun.env[chromiumVariable];
  return address === undefined ? await chromium.launch(launching()) : await chromium.connect(address);
}

export type SharedChromium = { readonly address: string; stop(): Promise<void> };

export const chromiumAvailable = (): boolean => find("chromium") !== undefined;

/** For the runner. */
export async function shareChromium(): Promise<SharedChromium> {
  const chromium = await driver();
  const server = await chromium.launchServer({ ...launching(), host: "127.0.0.1" });
  const { pid } = server.process();
  const forget = pid === undefined ? () => {} : keep({ pid, signal: "KILL" });
  return {
    address: server.wsEndpoint(),
    async stop() {
      await server.close();
      forget();
    },
  };
}

/** Loaded when it is needed, which takes half a second. */
const driver = async (): Promise<BrowserType> => (await import("playwright-core")).chromium;

/** Pages of Chromium's own that it loads for each window, shown or not, which takes as long as the page of a test. */
const omnibox = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup"];

/** What Playwright turns off, which the list above would replace. */
const playwrights = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"],
  ...["HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled"],
  "PreconnectToSearch",
];

function launching() {
  const tool = find("chromium");
  if (tool === undefined) throw new Error("Chromium is not installed: run npm test, which installs it or says how");
  return {
    executablePath: tool.path,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
      ...["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
      // Its optimising compilers take longer than the pages of a test live.
      "--js-flags=--no-maglev,--no-turbofan",
      `--disable-features=${[...playwrights, ...omnibox].join(",")}`,
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  };
}
