import { expect, test } from "bun:test";
import { Problem } from "../base/errors.ts";
import { createShares } from "../base/shares.ts";
import { createApi } from "../http/route.ts";
import type { Link } from "../links/link.ts";
import { qrRoutes } from "./api.ts";

test("a tenant that draws many codes waits its turn, and a client that has the picture does not", async () => {
  const large = createShares({
    ...{ resource: "work", what: "large requests", atOnce: 1, waitingMost: 0, waitMs: 1_000, retryAfterSeconds: 1 },
  });
  const api = createApi();
  api.use("*", async (c, next) => {
    c.set("caller", { tenant: { id: "ten_1" }, by: { kind: "key", key: { scopes: ["links:read"] } } } as never);
    await next();
  });
  api.onError((error) => new Response(error instanceof Problem ? error.code : String(error), { status: 503 }));
  const link = { domain: "", code: "poster" } as Link;
  qrRoutes(api, { get: async () => link }, large, "https://go.example.com", async () => undefined);
  const ask = (headers: Record<string, string> = {}) => {
    const env = { requestId: "req_1", address: undefined, headers: new Headers() };
    return api.request("/api/links/lnk_00000000000000000000000000/qr?format=png", { headers }, env);
  };
  const drawn = await ask();
  expect(drawn.status).toBe(200);
  const entered = await large.enter("another");
  const refused = await ask();
  expect([refused.status, await refused.text()]).toEqual([503, "busy"]);
  expect((await ask({ "if-none-match": drawn.headers.get("etag") ?? "" })).status).toBe(304);
  if (entered.kind === "entered") entered.leave();
  expect((await ask()).status).toBe(200);
});
