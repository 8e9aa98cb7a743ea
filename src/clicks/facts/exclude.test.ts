import { expect, test } from "bun:test";
import type { MountTools } from "../../http/mount.ts";
import { isExcluded, mountExclude } from "./exclude.ts";

const ask = async (method: string, headers: Record<string, string> = {}, path = "/clicks/exclude", secure = true) =>
  mountExclude(secure).handle(new Request(`http://localhost${path}`, { method, headers }), {
    path,
  } as unknown as MountTools);

test("one press excludes a browser, the next one includes it again, and a GET changes nothing", async () => {
  const page = await ask("GET");
  expect([page.status, page.headers.get("set-cookie")]).toEqual([200, null]);
  expect(await page.text()).toContain("Exclude my visits");
  const set = await ask("POST", { "sec-fetch-site": "same-origin" });
  expect([set.status, set.headers.get("location")]).toEqual([303, "/clicks/exclude"]);
  const cookie = set.headers.get("set-cookie") ?? "";
  expect(cookie).toBe("ql_exclude=1; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure");
  const [kept = ""] = cookie.split(";");
  expect(isExcluded(kept)).toBe(true);
  expect(await (await ask("GET", { cookie: kept })).text()).toContain("Include my visits again");
  expect((await ask("POST", { cookie: kept })).headers.get("set-cookie")).toStartWith(
    "ql_exclude=0; Path=/; Max-Age=0;",
  );
});

test("another site cannot decide for a visitor, and nothing else is below this path", async () => {
  const foreign = await ask("POST", { "sec-fetch-site": "cross-site" });
  expect([foreign.status, foreign.headers.get("set-cookie")]).toEqual([403, null]);
  expect((await ask("GET", {}, "/clicks/other")).status).toBe(404);
  expect((await ask("PUT")).status).toBe(405);
  expect((await ask("POST", {}, "/clicks/exclude", false)).headers.get("set-cookie")).not.toContain("Secure");
});
