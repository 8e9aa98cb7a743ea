import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../ground/server.ts";
import { tempFolder } from "../ground/temp.ts";
import { type LinkBody, must, type Site, startSite } from "./servers.ts";

const https = "https://example.com/";
const rules = [{ when: { country: ["DE"] }, url: `${https}de` }];

let site: Site;
let file: string;

beforeAll(async () => {
  site = await startSite("SQLite");
  file = join(tempFolder("rules"), "rules.json");
  writeFileSync(file, JSON.stringify(rules));
});

afterAll(async () => {
  await site.server.stop();
});

const json = async (...args: string[]) => JSON.parse(must(await site.cli("link", ...args, "--json"))) as LinkBody;

test("a link is made with rules from a file, a private code and forwarded parameters", async () => {
  const link = await json("create", https, "--rules", file, "--private", "--forward-query");
  expect(link).toMatchObject({ rules, forwardQuery: true });
  expect(link.code).toMatch(/^[0-9A-Za-z]{12}$/);
  expect(must(await site.cli("link", "get", link.code))).toContain('rules\t{"when":{"country":["DE"]}');
});

test("only the given fields of a link are changed", async () => {
  const { code } = await json("create", https, "--title", "stays", "--permanent", "--forward-query");
  const edited = await json("edit", code, "--url", `${https}new`, "--rules", file, "--no-forward-query");
  expect(edited).toMatchObject({ url: `${https}new`, title: "stays", permanent: true, rules, forwardQuery: false });
  const again = await json("edit", code, "--no-permanent", "--expires", "never");
  expect(again).toMatchObject({ url: `${https}new`, permanent: false, rules, expiresAt: null, version: 3 });
});

test("facts of clicks are switched off and on again, and are left as they are otherwise", async () => {
  expect((await json("create", https)).clickFacts).toBe(true);
  const { code, clickFacts } = await json("create", https, "--no-click-facts");
  expect(clickFacts).toBe(false);
  expect((await json("edit", code, "--title", "x")).clickFacts).toBe(false);
  expect((await json("edit", code, "--click-facts")).clickFacts).toBe(true);
  expect((await json("edit", code, "--title", "y")).clickFacts).toBe(true);
  expect((await json("edit", code, "--no-click-facts")).clickFacts).toBe(false);
});

test("a password is read from standard input, and removed with an option", async () => {
  const { code } = await json("create", https);
  const set = await cli(["link", "edit", code, "--password-stdin"], { env: site.env, input: "correct horse\nmore\n" });
  expect(must(set)).toBe(`Updated ${code}.\n`);
  expect((await json("get", code)).password).toBe(true);
  expect((await json("edit", code, "--title", "x")).password).toBe(true);
  expect((await json("edit", code, "--no-password")).password).toBe(false);
  const short = await cli(["link", "edit", code, "--password-stdin"], { env: site.env, input: "1234\n" });
  expect([short.code, short.stderr]).toEqual([1, expect.stringContaining("password: Must have at least 8 characters")]);
  const none = await cli(["link", "edit", code, "--password-stdin"], { env: site.env, input: "" });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("Standard input has no password")]);
});

test("bad rules, and an unreadable file, are refused by name", async () => {
  writeFileSync(file, JSON.stringify([...rules, ...rules]));
  const unreachable = await site.cli("link", "create", https, "--rules", file);
  expect([unreachable.code, unreachable.stderr]).toEqual([1, expect.stringContaining("rules.0")]);
  const missing = await site.cli("link", "create", https, "--rules", "/no/such/file");
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("as JSON")]);
});
