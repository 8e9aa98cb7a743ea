/** The examples of docs/links.md do what the page says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Site, startSite } from "./servers.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/links.md"), "utf8");
const examples = [...page.matchAll(/```json link\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));

let site: Site;

beforeAll(async () => {
  site = await startSite("SQLite");
});

afterAll(async () => {
  await site.server.stop();
});

test("every example makes a link, which answers", async () => {
  expect(examples.length).toBeGreaterThan(4);
  for (const example of examples) {
    const { code } = await site.create(example);
    expect((await site.visit(`/${code}`)).status).toBe("password" in example ? 401 : 302);
  }
});

test("the parameters come out as the page says", async () => {
  const { code } = await site.create(examples.find((example) => "utm" in example));
  const said = /`\/\{code\}(\?\S+)` then leads to\n`(\S+)`/.exec(page);
  expect((await site.visit(`/${code}${said?.[1]}`)).headers.get("location")).toBe(said?.[2] ?? "nothing");
});
