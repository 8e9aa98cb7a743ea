import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../test/ground/temp.ts";
import type { MountTools } from "../http/mount.ts";
import { mountDashboard } from "./mount.ts";

let folder: string;

beforeAll(() => {
  folder = tempFolder("bundle");
  mkdirSync(join(folder, "assets"));
  const entry = (script: string) => ({ script, preload: ["shared-1.js"] });
  const entries = { main: entry("main-1.js"), visitor: entry("visitor-1.js") };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ style: "style-1.css", entries }));
  for (const [name, text] of [
    ["main-1.js", "plain"],
    ["main-1.js.br", "brotli"],
    ["main-1.js.gz", "gzip"],
    ["small-1.js", "small"],
  ] as const) {
    writeFileSync(join(folder, "assets", name), text);
  }
});

async function ask(
  path: string,
  headers: Record<string, string> = {},
  more: { baseUrl?: string; method?: string } = {},
) {
  const { baseUrl = "https://go.example.com", method = "GET" } = more;
  const mount = mountDashboard({ baseUrl, uploadOrigin: "https://s3.example.com", folders: [folder] });
  const tools = { path, file: (at: string) => Bun.file(at) } as unknown as MountTools;
  const response = await mount.handle(new Request(`${baseUrl}${path}`, { method, headers }), tools);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("a page runs scripts and styles of our own only, and no other site can show it in a frame", async () => {
  const { headers } = await ask("/app");
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain("frame-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("connect-src 'self' https://s3.example.com;");
  expect(policy).not.toContain("unsafe");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("strict-transport-security")).toStartWith("max-age=");
});

test("people who are not signed in get the small program, whatever follows in the path", async () => {
  for (const [path, script] of [
    ["/app", "main-1.js"],
    ["/app/w/default/links", "main-1.js"],
    ["/app/account", "main-1.js"],
    ["/app/sign-in", "visitor-1.js"],
    ["/app/setup", "visitor-1.js"],
    ["/app/invitation", "visitor-1.js"],
  ] as const) {
    const { status, text } = await ask(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text).toContain(`<script type="module" src="/app/assets/${script}"></script>`);
  }
});

test("a page is asked for again each time, and its files never", async () => {
  expect((await ask("/app")).headers.get("cache-control")).toBe("no-cache");
  expect((await ask("/app/assets/main-1.js")).headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
});

test("a browser gets the smallest form that it understands", async () => {
  for (const [accepts, encoding, text] of [
    ["gzip, deflate, br, zstd", "br", "brotli"],
    ["gzip", "gzip", "gzip"],
    ["", null, "plain"],
  ] as const) {
    const answer = await ask("/app/assets/main-1.js", { "accept-encoding": accepts });
    expect([answer.headers.get("content-encoding"), answer.text]).toEqual([encoding, text]);
    expect(answer.headers.get("vary")).toBe("accept-encoding");
  }
  expect((await ask("/app/assets/small-1.js", { "accept-encoding": "br" })).text).toBe("small");
});

test("only files of the bundle are sent", async () => {
  for (const name of ["../manifest.json", "..%2fmanifest.json", "manifest.json", "main-1.js.br", "", "nothing-1.js"]) {
    expect([name, (await ask(`/app/assets/${name}`)).status]).toEqual([name, 404]);
  }
});

test("the chosen theme is part of the page, and nothing else that a cookie says", async () => {
  const theme = async (cookie: string) => / data-theme="([^"]*)"/.exec((await ask("/app", { cookie })).text)?.[1];
  expect(await theme("a=b; quicklink-theme=dark; c=d")).toBe("dark");
  expect(await theme("quicklink-theme=light")).toBe("light");
  expect(await theme('quicklink-theme="><script>')).toBeUndefined();
  expect(await theme("not-quicklink-theme=dark")).toBeUndefined();
});

test("only reading is possible, and only below /app", async () => {
  expect((await ask("/app", {}, { method: "POST" })).status).toBe(405);
  expect((await ask("/application")).status).toBe(404);
});

test("without a bundle the page says how to make one", async () => {
  const mount = mountDashboard({
    baseUrl: "http://localhost:3000",
    uploadOrigin: undefined,
    folders: ["/nonexistent"],
  });
  const response = await mount.handle(new Request("http://localhost:3000/app"), { path: "/app" } as MountTools);
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("npm run build:web")]);
});
