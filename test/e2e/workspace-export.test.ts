import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { tempFolder } from "../ground/temp.ts";
import { databases, type LinkBody, must, type Reply, type Site, startSite } from "./servers.ts";

interface Line {
  readonly record: string;
  readonly [field: string]: unknown;
}

const linesOf = ({ text }: Pick<Reply, "text">): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

describe.each([...databases])("the export of a workspace on %s", (database) => {
  let site: Site;
  const some = 620; // more than a part has

  beforeAll(async () => {
    site = await startSite(database);
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  /** Two with the same names: what belongs to the other must not be in it. */
  async function fill(slug: string) {
    const key = await site.tenant(slug);
    const call = (method: string, path: string, body?: unknown) => site.call(method, path, { key, body });
    const owner = await makePerson(site, { roles: { [slug]: "owner" }, name: `Owner of ${slug}` });
    const links = Array.from({ length: some }, (_, i) => ({ url: `https://example.com/${i}`, title: `${slug} ${i}` }));
    expect((await call("POST", "/api/links/bulk", { links })).status).toBe(200);
    const fields = { title: "Spring, sale", tags: ["a", "b"], permanent: true, notes: `of ${slug}`, expiresAt: null };
    const full = (await call("POST", "/api/links", { url: "https://example.org/", ...fields })).json<LinkBody>();
    const trashed = (await call("POST", "/api/links", { url: "https://example.org/gone" })).json<LinkBody>();
    expect((await call("DELETE", `/api/links/${trashed.id}`)).status).toBe(204);
    expect((await call("POST", "/api/domains", { host: "go.example.net" })).status).toBe(201);
    expect((await call("PATCH", "/api/email/settings", { contact: `${slug}@example.com` })).status).toBe(200);
    const file = { name: "a.txt", type: "text/plain", size: 3 };
    expect((await call("POST", "/api/files", file)).status).toBe(201);
    return { key, owner, full, trashed };
  }

  test("has everything of it and nothing of another, can be imported again, and is for those who manage it", async () => {
    const { key, owner, full, trashed } = await fill("mine");
    await fill("theirs");
    for (let i = 0; i < 3; i++) await site.reach(`/${full.code}`);
    await until("the clicks", async () => {
      const { clicks } = (await site.call("GET", `/api/links/${full.id}`, { key })).json<LinkBody>();
      return clicks === 3 || undefined;
    });

    const reply = await owner.call("GET", "/api/workspace/export", { workspace: "mine" });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/jsonl"]);
    expect(reply.headers.get("content-disposition")).toBe('attachment; filename="mine.jsonl"');
    const lines = linesOf(reply);
    const of = (record: string) => lines.filter((line) => line.record === record);
    expect(lines.at(-1)).toEqual({ record: "end" });
    expect(of("workspace")).toMatchObject([
      { slug: "mine", settings: { email: { contact: "mine@example.com" }, clicks: { timeZone: "UTC" } } },
    ]);
    expect(of("member")).toMatchObject([{ id: owner.id, email: owner.email, role: "owner" }]);
    expect(of("domain")).toMatchObject([{ host: "go.example.net", state: "pending" }]);
    expect(of("file")).toMatchObject([{ name: "a.txt", sizeBytes: 3 }]);
    const links = of("link");
    expect(new Set(links.map(({ id }) => id)).size).toBe(some + 1);
    expect(links.find(({ id }) => id === full.id)).toMatchObject({
      ...{ code: full.code, url: "https://example.org/", title: "Spring, sale", tags: ["a", "b"], permanent: true },
      ...{ notes: "of mine", expiresAt: null, clicks: 3, version: 1 },
    });
    expect(of("trashed_link")).toMatchObject([{ id: trashed.id, code: trashed.code }]);
    const days = of("clicks");
    expect(days.reduce((sum, { clicks }) => sum + Number(clicks), 0)).toBe(3);
    expect(reply.text).not.toContain("theirs");
    expect(reply.text).not.toContain(key.slice(8));

    expect(linesOf({ text: must(await site.cli("export", "--tenant", "mine", "--all")) }).length).toBe(lines.length);
    const viewer = await makePerson(site, { roles: { mine: "member" } });
    expect((await viewer.call("GET", "/api/workspace/export", { workspace: "mine" })).status).toBe(403);

    for (const path of [`/api/links/${full.id}`, `/api/trash/${full.id}`]) {
      expect((await site.call("DELETE", path, { key })).status).toBe(204);
    }
    const path = join(tempFolder("export"), "mine.jsonl");
    writeFileSync(path, reply.text);
    const imported = must(await site.cli("import", path, "--tenant", "mine", "--json"));
    expect(JSON.parse(imported)).toMatchObject({ rows: some + 1, made: 1, present: some, refused: 0 });
    const again = (await site.call("GET", `/api/links?search=${full.code}`, { key })).json<{ items: LinkBody[] }>();
    const { code, title, tags, notes, permanent, expiresAt, createdAt } = full;
    expect(again.items).toMatchObject([{ code, title, tags, notes, permanent, expiresAt, createdAt }]);
  });
});
