/** What emails look like: every one with sample values, as text and as a page for a frame. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { databases, type ProblemBody, type Site, startSite } from "./servers.ts";

type Sample = { name: string; to: string; subject: string; text: string };

const preview = "/api/email/templates/preview";

describe.each(databases)("on %s", (database) => {
  let site: Site;
  let otherKey: string;

  beforeAll(async () => {
    site = await startSite(database);
    otherKey = await site.tenant("other");
  }, 60_000);

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  test("every email is listed with the workspace's own name, and shown as the list says", async () => {
    expect((await site.call("PATCH", "/api/workspace", { body: { name: "Acme <b>Ltd</b>" } })).status).toBe(200);
    expect((await site.call("PATCH", "/api/workspace", { key: otherKey, body: { name: "Beta" } })).status).toBe(200);
    const { items } = (await site.call("GET", "/api/email/templates")).json<{ items: Sample[] }>();
    expect(items.find(({ name }) => name === "share")?.subject).toBe("Acme <b>Ltd</b> shared “Winter sale” with you");
    for (const { name } of items) {
      const reply = await site.call("GET", `${preview}?name=${name}`);
      expect(reply.status).toBe(200);
      expect(reply.headers.get("content-type")).toStartWith("text/html");
      expect(reply.text).not.toContain("<b>");
    }
    expect((await site.call("GET", `${preview}?name=share`, { key: otherKey })).text).toContain("Beta shared a link");
  });

  test("a preview runs and loads nothing, and only our own pages may frame it", async () => {
    const { headers, text } = await site.call("GET", `${preview}?name=digest&theme=dark`);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'",
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(text).toContain('<base target="_blank">');
    expect(text).toContain("color-scheme: dark }");
  });

  test("an unknown email, theme or parameter is named", async () => {
    const errors = async (query: string) =>
      (await site.call("GET", `${preview}?${query}`)).json<ProblemBody>().errors?.map(({ field }) => field);
    expect(await errors("")).toEqual(["name"]);
    expect(await errors("name=toString")).toEqual(["name"]);
    expect(await errors("name=digest&theme=blue")).toEqual(["theme"]);
    expect(await errors("name=digest&more=1")).toEqual(["more"]);
  });

  test("a frame names the workspace in its address: one of the person's, and a header counts more", async () => {
    const person = await makePerson(site, { roles: { default: "viewer", other: "viewer" } });
    const stranger = await makePerson(site, { roles: { default: "viewer" } });
    const read = async (query: string, workspace?: string) =>
      (await person.call("GET", `${preview}?name=share${query}`, workspace === undefined ? {} : { workspace })).text;
    expect(await read("&workspace=default")).toContain("Acme");
    expect(await read("&workspace=other")).toContain("Beta");
    expect(await read("&workspace=other", "default")).toContain("Acme");
    const refused = await stranger.call("GET", `${preview}?name=share&workspace=other`);
    expect([refused.status, refused.json<ProblemBody>().code]).toEqual([404, "not_found"]);
    // A write names it by the header only.
    const write = await person.call("PATCH", "/api/workspace?workspace=other", { body: { name: "Taken" } });
    expect(write.json<ProblemBody>().code).toBe("workspace_required");
  });
});
