import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson, openBrowser } from "../ground/people.ts";
import { databases, type ProblemBody, type Site, startSite } from "./servers.ts";

for (const database of databases) {
  describe(`people on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
      await site.tenant("other");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const link = { body: { url: "https://example.com/by-a-person" } };
    const codeOf = (reply: { json<Body>(): Body }) => reply.json<ProblemBody>().code;

    test("a person does what their role in the workspace allows", async () => {
      const ann = await makePerson(site, { roles: { default: "member", other: "viewer" } });
      expect((await ann.call("GET", "/api/links", { workspace: "other" })).status).toBe(200);
      expect((await ann.call("POST", "/api/links", { ...link, workspace: "default" })).status).toBe(201);
      expect((await ann.call("POST", "/api/links", { ...link, workspace: "other" })).status).toBe(403);
      expect(codeOf(await ann.call("GET", "/api/links"))).toBe("workspace_required");
    });

    test("a write with the cookie from a page of another site is refused", async () => {
      const ann = await makePerson(site, { roles: { default: "owner" } });
      for (const origin of ["https://evil.example", "null", null]) {
        const reply = await ann.call("POST", "/api/links", { ...link, origin });
        expect([origin, reply.status, codeOf(reply)]).toEqual([origin, 403, "wrong_origin"]);
      }
    });

    test("a browser without a session is asked to sign in", async () => {
      expect((await openBrowser(site).call("GET", "/api/links")).status).toBe(401);
    });
  });
}
