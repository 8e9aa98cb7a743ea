import { expect, test } from "bun:test";
import { createEvidence, type EvidenceSettings } from "./verify.ts";

const host = "links.example.com";
const text = "quicklink-domain=abc";
const nothing: EvidenceSettings = { texts: async () => [], page: async () => undefined };

test.each<[string, Partial<EvidenceSettings>, boolean]>([
  ["one of several records", { texts: async () => ["v=spf1 -all", ` ${text} `] }, true],
  ["a record of another name", { texts: async (name) => (name === host ? [text] : []) }, false],
  ["a record that only begins so", { texts: async () => [`${text}d`] }, false],
  ["the file", { page: async () => `${text}\n` }, true],
  ["another file", { page: async (url) => (url.endsWith("/other.txt") ? text : undefined) }, false],
  ["a page that only holds it", { page: async () => `<html>${text}</html>` }, false],
  ["nothing at all", {}, false],
])("%s", async (_, found, shown) => {
  expect(await createEvidence({ ...nothing, ...found }).shows(host, text)).toBe(shown);
});

test("DNS is queried under its own name, and the file is fetched where no other tenant decides", async () => {
  const asked: string[] = [];
  const evidence = createEvidence({
    async texts(name) {
      asked.push(name);
      return [];
    },
    async page(url) {
      asked.push(url);
      return undefined;
    },
  });
  await evidence.shows(host, text);
  expect(asked).toEqual([`_quicklink.${host}`, `http://${host}/.well-known/quicklink-domain.txt`]);
});
