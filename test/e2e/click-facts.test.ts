import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";
import { metric, type Site, serveInVain, startSite } from "./servers.ts";

let site: Site;

beforeAll(async () => {
  site = await startSite("SQLite");
});

afterAll(async () => {
  expect(await site.server.stop()).toBe(0);
});

async function captured(): Promise<Record<string, number>> {
  const { text } = await site.visit("/metrics");
  const kept = (name: string) => metric(text, `quicklink_clicks_captured_total{kept="${name}"}`);
  return { facts: kept("facts"), excluded: kept("excluded"), bare: kept("bare"), dropped: kept("dropped") };
}

/** Clicks are read some milliseconds after the answer. */
async function untilCaptured(expected: Record<string, number>): Promise<void> {
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((left, right) => left + right, 0);
  const enough = async () => (sum(await captured()) >= sum(expected) ? true : undefined);
  await until("the clicks to be captured", enough);
  expect(await captured()).toEqual(expected);
}

test("each answered visit is captured once; excluded ones are only counted, and refusals are not", async () => {
  const link = await site.create({ url: "https://example.com/" });
  const path = `/${link.code}`;
  for (const [at, method] of [
    [path, "GET"],
    [path, "HEAD"],
    [`${path}+`, "GET"],
    [`${path}?qr`, "GET"],
  ] as const) {
    await site.reach(at, {}, method);
  }
  await site.reach("/no-such-code");
  await untilCaptured({ facts: 4, excluded: 0, bare: 0, dropped: 0 });

  const pressed = await site.visit("/clicks/exclude", { "sec-fetch-site": "same-origin" }, "POST");
  const [cookie = ""] = (pressed.headers.get("set-cookie") ?? "").split(";");
  expect([pressed.status, cookie]).toEqual([303, "ql_exclude=1"]);
  expect((await site.reach(path, { cookie })).status).toBe(302);
  await untilCaptured({ facts: 4, excluded: 1, bare: 0, dropped: 0 });
});

test("a city database that cannot be read stops the start, and says which file", async () => {
  const env = { QL_DATA: tempFolder("data"), QL_CITY_DATABASE: "/nonexistent/cities.mmdb" };
  const { code, output } = await serveInVain(env);
  expect(code).toBe(1);
  expect(output).toContain("QL_CITY_DATABASE: cannot read /nonexistent/cities.mmdb");
});
