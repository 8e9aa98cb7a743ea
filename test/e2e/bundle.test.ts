/** The bundle that `npm start` and the container run. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProcess, until } from "../ground/process.ts";
import { startServer } from "../ground/server.ts";

const root = join(import.meta.dir, "../..");

test("the bundled server has its threads, its API and what it loads later", async () => {
  const bundled = await runProcess([process.execPath, "--no-env-file", "scripts/bundle.ts", "--if-changed"], {
    cwd: root,
  });
  expect([bundled.code, bundled.stderr]).toEqual([0, ""]);
  const server = await startServer({
    ...{ source: join(root, "dist/server"), env: { QL_TRUSTED_PROXIES: "127.0.0.1" } },
  });
  try {
    const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
    const rules = [{ when: { country: ["US"] }, url: "https://example.com/us" }];
    const body = JSON.stringify({ links: [{ url: "https://example.com/", code: "bundled", tags: ["one"], rules }] });
    // In the background thread.
    const made = await fetch(`${server.url}/api/links/bulk`, { method: "POST", headers, body });
    expect(await made.json()).toMatchObject({ created: 1 });
    expect((await fetch(`${server.url}/bundled`, { redirect: "manual" })).status).toBe(302);
    // The table of countries is a file beside the bundle.
    const fromUs = { redirect: "manual", headers: { "x-forwarded-for": "8.8.8.8" } } as const;
    await until("the country to be known", async () => {
      const { headers: sent } = await fetch(`${server.url}/bundled`, fromUs);
      return sent.get("location") === "https://example.com/us" || undefined;
    });
    const recorded = async () =>
      /^quicklink_clicks_recorded_total\{as="event"\} [1-9]/m.test(await metrics()) || undefined;
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    await until("the thread of clicks to record it", recorded, 20_000);
    for (const [path, status] of [
      ["/openapi.json", 200],
      ["/docs", 200],
      ["/api/links/bundled/qr", 404], // by id
    ] as const) {
      expect([path, (await fetch(server.url + path, { headers })).status]).toEqual([path, status]);
    }
  } finally {
    await server.stop();
  }
  expect(server.output()).not.toMatch(/"level":"(?:error|fatal)"/);
}, 120_000);
