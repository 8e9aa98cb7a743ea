import { expect, test } from "bun:test";
import { createAgents } from "./user-agents.ts";

const agents: [string, string, string | undefined, string | undefined][] = [
  [
    "an iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
    "mobile",
    "ios",
  ],
  [
    "an old iPad",
    "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1 Mobile/15E148 Safari/604.1",
    "tablet",
    "ios",
  ],
  [
    "an Android phone",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
    "mobile",
    "android",
  ],
  [
    "an Android tablet",
    "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "tablet",
    "android",
  ],
  [
    "Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "desktop",
    "windows",
  ],
  [
    "a Mac",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
    "desktop",
    "macos",
  ],
  ["Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "desktop", "linux"],
  ["Ubuntu", "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "desktop", "linux"],
  [
    "a Chromebook",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "desktop",
    "chromeos",
  ],
  [
    "a television",
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/6.0 TV Safari/537.36",
    "other",
    "other",
  ],
  ["a program", "curl/8.5.0", undefined, undefined],
];

test.each(agents)("%s is known by its User-Agent", (_, userAgent, device, os) => {
  const agentOf = createAgents();
  expect(agentOf(userAgent)).toMatchObject({ device, os });
  expect(agentOf(userAgent)).toBe(agentOf(userAgent));
});

const onLinux = (browser: string) => `Mozilla/5.0 (X11; Linux x86_64) ${browser}`;

test.each([
  ["Safari", agents[0]?.[1] ?? ""],
  ["Chrome", agents[4]?.[1] ?? ""],
  ["Firefox", agents[6]?.[1] ?? ""],
  ["Edge", onLinux("AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0")],
  [
    "Samsung Internet",
    onLinux("AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0 Safari/537.36"),
  ],
  ["Instagram", `${agents[0]?.[1] ?? ""} Instagram 350.0.0`],
  ["Firefox", onLinux("fIrEfOx/143.0")],
  ["SeaMonkey", onLinux("sEaMoNkEy/2.53")],
  ["Tizen Browser", onLinux("tizen browser/4.0")],
  ["other", onLinux("zzzzz browser/4.0")],
  ["other", onLinux("aaaao browser/4.0")],
] as const)("the browser is %s, however it is spelled, or of no known name: %s", (browser, userAgent) => {
  expect(createAgents()(userAgent).browser).toBe(browser);
});

test("empty and meaningless ones are unknown, and cost no more the longer they are", () => {
  const agentOf = createAgents();
  for (const text of [null, "", "x", "(".repeat(1_000_000), "Mozilla/5.0 ".repeat(100_000)]) {
    expect(agentOf(text)).toEqual({ device: undefined, os: undefined, browser: undefined });
  }
});
