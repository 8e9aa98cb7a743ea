import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { databases, type LinkBody, must, type ProblemBody, type Site, startSite } from "./servers.ts";

type Page<Item> = { items: Item[]; nextCursor: string | null };
type Entry = { id: string | null; action: string; version: number; by: { kind: string; name: string | null } };

const url = "https://example.com/";

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let foreignKey: string;
    let names = 0;
    const fresh = (label: string) => `${label}-${++names}`;

    beforeAll(async () => {
      site = await startSite(database);
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const remove = async ({ id }: LinkBody) => expect((await site.call("DELETE", `/api/links/${id}`)).status).toBe(204);
    const statusOf = async (code: string) => (await site.reach(`/${code}`)).status;

    test("a deleted link answers 404, is in the trash, and redirects again at once when restored", async () => {
      const link = await site.create({ url, code: fresh("back"), title: "T", password: "a password" });
      await remove(link);
      expect(await statusOf(link.code)).toBe(404);
      expect((await site.call("GET", `/api/links/${link.id}`)).status).toBe(404);
      const page = (await site.call("GET", "/api/trash")).json<
        Page<LinkBody & { deletedAt: string; eraseAt: string }>
      >();
      const [trashed] = page.items;
      expect(trashed).toMatchObject({ id: link.id, code: link.code, title: "T", password: true, version: 2 });
      expect(Date.parse(trashed?.eraseAt ?? "") - Date.parse(trashed?.deletedAt ?? "")).toBe(30 * 86_400_000);
      const restored = await site.call("POST", `/api/trash/${link.id}/restore`);
      expect(restored.status).toBe(200);
      expect(restored.headers.get("etag")).toBe('"3"');
      expect(restored.json()).toMatchObject({ id: link.id, title: "T", version: 3, password: true });
      expect(await statusOf(link.code)).toBe(401);
      expect((await site.call("POST", `/api/trash/${link.id}/restore`)).status).toBe(404);
    });

    test("the code of a deleted link is taken, and its workspace is offered to restore it", async () => {
      const link = await site.create({ url, code: fresh("taken") });
      await remove(link);
      const mine = await site.call("POST", "/api/links", { body: { url, code: link.code } });
      expect(mine.status).toBe(409);
      expect(mine.json<ProblemBody & { trashedLink: string }>()).toMatchObject({
        code: "code_taken",
        trashedLink: link.id,
        errors: [{ field: "code", code: "in_trash" }],
      });
      const theirs = await site.call("POST", "/api/links", { body: { url, code: link.code }, key: foreignKey });
      expect(theirs.status).toBe(409);
      expect(theirs.text).not.toContain(link.id);
      const bulk = await site.call("POST", "/api/links/bulk", { body: { links: [{ url, code: link.code }] } });
      expect(bulk.json()).toMatchObject({ created: 0, results: [{ problem: { trashedLink: link.id } }] });
      expect((await site.call("DELETE", `/api/trash/${link.id}`)).status).toBe(204);
      expect((await site.call("POST", "/api/links", { body: { url, code: link.code } })).status).toBe(201);
    });

    test("the trash of another workspace cannot be seen, restored or emptied", async () => {
      const link = await site.create({ url });
      await remove(link);
      const foreign = { key: foreignKey };
      expect((await site.call("GET", "/api/trash", foreign)).json()).toEqual({ items: [], nextCursor: null });
      expect((await site.call("POST", `/api/trash/${link.id}/restore`, foreign)).status).toBe(404);
      expect((await site.call("DELETE", `/api/trash/${link.id}`, foreign)).status).toBe(404);
      expect((await site.call("DELETE", "/api/trash", foreign)).json()).toEqual({ deleted: 0, isEmpty: true });
      expect((await site.call("GET", `/api/links/${link.id}/history`, foreign)).status).toBe(404);
      const undone = await site.call("POST", `/api/links/${link.id}/undo`, { ...foreign, body: { version: 1 } });
      expect(undone.status).toBe(404);
      expect((await site.call("POST", `/api/trash/${link.id}/restore`)).status).toBe(200);
    });

    test("it can be emptied, also beyond one transaction", async () => {
      const links = Array.from({ length: 130 }, () => ({ url }));
      const made = (await site.call("POST", "/api/links/bulk", { body: { links } })).json<{
        results: { link: LinkBody }[];
      }>();
      // A hundred at once would wait for each other, and be refused on a busy machine.
      for (const { link } of made.results) await remove(link);
      const emptied = (await site.call("DELETE", "/api/trash")).json<{ deleted: number; isEmpty: boolean }>();
      expect(emptied.isEmpty).toBe(true);
      expect(emptied.deleted).toBeGreaterThanOrEqual(130);
      expect((await site.call("GET", "/api/trash")).json()).toEqual({ items: [], nextCursor: null });
    });

    test("edits, deletions, restores and creations of one code at the same time leave one link or none", async () => {
      for (let round = 0; round < 5; round++) {
        const link = await site.create({ url, code: fresh("raced") });
        const patch = (title: string) => site.call("PATCH", `/api/links/${link.id}`, { body: { title } });
        await Promise.all([
          ...[patch("one"), patch("two"), site.call("DELETE", `/api/links/${link.id}`)],
          site.call("POST", "/api/links", { body: { url, code: link.code } }),
        ]);
        const replies = await Promise.all([
          site.call("POST", `/api/trash/${link.id}/restore`),
          site.call("POST", `/api/trash/${link.id}/restore`),
          site.call("DELETE", `/api/trash/${link.id}`),
          site.call("POST", "/api/links", { body: { url, code: link.code } }),
        ]);
        expect(replies.every(({ status }) => [200, 201, 204, 404, 409].includes(status))).toBe(true);
        expect(replies.filter(({ status }) => status === 200 || status === 201).length).toBeLessThanOrEqual(1);
        const found = (await site.call("GET", `/api/links?search=${link.code}`)).json<Page<LinkBody>>();
        expect(found.items.length).toBe(replies.filter(({ status }) => status === 200 || status === 201).length);
        expect(await statusOf(link.code)).toBe(found.items.length === 1 ? 302 : 404);
      }
    });

    test("undo sets a link back in one call, and the redirect follows", async () => {
      const link = await site.create({ url, code: fresh("undone"), title: "One" });
      const patch = (body: object) => site.call("PATCH", `/api/links/${link.id}`, { body });
      await patch({ url: "https://example.org/", title: "Two" });
      await patch({ notes: "N" });
      expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe("https://example.org/");
      const stale = { body: { version: 1 }, headers: { "if-match": '"2"' } };
      expect((await site.call("POST", `/api/links/${link.id}/undo`, stale)).status).toBe(412);
      const undone = await site.call("POST", `/api/links/${link.id}/undo`, { body: { version: 1 } });
      expect(undone.json()).toMatchObject({ url, title: "One", notes: null, version: 4 });
      expect((await site.reach(`/${link.code}`)).headers.get("location")).toBe(url);
      const bad = await site.call("POST", `/api/links/${link.id}/undo`, { body: { version: 99 } });
      expect(bad.json<ProblemBody>()).toMatchObject({ code: "invalid_input", errors: [{ field: "version" }] });
      for (const version of [0, -1, 1.5, "1", null]) {
        expect((await site.call("POST", `/api/links/${link.id}/undo`, { body: { version } })).status).toBe(422);
      }
    });

    test("the history of a link is paged, newest first, with times as text, and its creation at the end", async () => {
      const expiresAt = "2030-01-01T00:00:00.000Z";
      const rules = [{ when: { hours: { zone: "UTC", from: "09:00", until: "17:00" } }, url: "https://example.com/a" }];
      const link = await site.create({ url });
      for (const body of [{ expiresAt }, { rules }, { title: "T" }]) {
        expect((await site.call("PATCH", `/api/links/${link.id}`, { body })).status).toBe(200);
      }
      const entries: Entry[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const path: string = `/api/links/${link.id}/history?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const page = (await site.call("GET", path)).json<Page<Entry>>();
        expect(page.items.length).toBeLessThanOrEqual(2);
        entries.push(...page.items);
        cursor = page.nextCursor;
      }
      expect(entries).toMatchObject([
        { version: 4, after: { title: "T" } },
        { version: 3, before: { rules: [] }, after: { rules } },
        { version: 2, after: { expiresAt } },
        { version: 1, action: "link.create", by: { kind: "key", name: "first key" } },
      ]);
    });

    test("the log is for admins, can be filtered, and exported as CSV and JSON lines", async () => {
      const person = await makePerson(site, { name: "=Ann", roles: { default: "admin" } });
      const viewer = await makePerson(site, { roles: { default: "viewer" } });
      const link = await site.create({ url, title: "One" });
      expect((await person.call("PATCH", `/api/links/${link.id}`, { body: { title: "=1+1" } })).status).toBe(200);
      expect((await viewer.call("GET", "/api/history")).status).toBe(403);
      const mine = (await person.call("GET", `/api/history?actor=${person.id}`)).json<Page<Entry>>();
      expect(mine).toMatchObject({ items: [{ action: "link.update", by: { name: "=Ann" } }], nextCursor: null });
      const csv = await site.call("GET", `/api/history?actor=${person.id}&format=csv`);
      expect(csv.headers.get("content-type")).toBe("text/csv;charset=utf-8");
      const [title, row] = csv.text.split("\r\n");
      expect(title).toBe("at,action,byKind,byId,byName,subjectKind,subjectId,subjectName,version,before,after");
      expect(row).toContain(",'=Ann,link,");
      const lines = (await site.call("GET", "/api/history?format=jsonl")).text.trimEnd().split("\n");
      const all = (await site.call("GET", "/api/history?limit=100")).json<Page<Entry>>();
      expect(lines.slice(0, all.items.length).map((line) => JSON.parse(line))).toEqual(all.items);
      const later = (await site.call("GET", "/api/history?since=2100-01-01T00:00:00Z")).json<Page<Entry>>();
      expect(later.items).toEqual([]);
      expect((await site.call("GET", "/api/history?since=yesterday")).status).toBe(422);
      const foreign = (await site.call("GET", `/api/history?subject=${link.id}`, { key: foreignKey })).json<
        Page<Entry>
      >();
      expect(foreign.items).toEqual([]);
    });

    test("the operator's log has what belongs to no workspace, and is for operators", async () => {
      must(await site.cli("plan", "set", fresh("team"), "--links", "7"));
      const operator = await makePerson(site, { operator: true });
      const found = (await operator.call("GET", "/api/operator/history?action=plan.create")).json<Page<Entry>>();
      expect(found.items).toMatchObject([{ action: "plan.create", by: { kind: "command" } }]);
      const person = await makePerson(site, { roles: { default: "owner" } });
      expect((await person.call("GET", "/api/operator/history")).status).toBe(403);
    });

    test("the command line deletes, restores, shows and empties", async () => {
      const code = fresh("cli");
      must(await site.cli("link", "create", url, "--code", code));
      expect(must(await site.cli("link", "delete", code))).toContain(`quicklink link restore ${code}`);
      expect(must(await site.cli("trash", "list"))).toContain(code);
      expect(must(await site.cli("link", "restore", code))).toBe(`Restored ${code} from the trash.\n`);
      expect((await site.cli("link", "restore", code)).code).toBe(1);
      expect(await statusOf(code)).toBe(302);
      const history = JSON.parse(must(await site.cli("link", "history", code, "--json"))) as Entry[];
      expect(history.map(({ action }) => action)).toEqual(["link.restore", "link.delete", "link.create"]);
      expect(must(await site.cli("link", "history", code))).toContain("link.restore");
      must(await site.cli("link", "delete", code));
      expect(must(await site.cli("trash", "delete", code))).toBe(`Deleted ${code} for good.\n`);
      expect((await site.cli("trash", "delete", code)).code).toBe(1);
      expect(must(await site.cli("trash", "empty", "--json"))).toContain("deleted");
    });
  });
}
