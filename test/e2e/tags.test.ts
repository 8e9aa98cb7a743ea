import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases, type LinkBody, type ProblemBody, type Site, startSite } from "./servers.ts";

type Tag = { tag: string; links: number };
type Page = { items: Tag[]; nextCursor: string | null };
type Changed = { changed: number; unchanged: number; failed: number; undo: unknown[]; isComplete: boolean };

for (const database of databases) {
  describe(`tags on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const make = async (key: string, ...lists: string[][]): Promise<LinkBody[]> => {
      const links = lists.map((tags, i) => ({ url: `https://example.com/${i}`, tags }));
      const reply = await site.call("POST", "/api/links/bulk", { key, body: { links } });
      return reply.json<{ results: { link: LinkBody }[] }>().results.map(({ link }) => link);
    };
    const list = async (key: string, rest = "") => (await site.call("GET", `/api/tags${rest}`, { key })).json<Page>();

    test("are listed with the number of their links, the most used first, and only your own", async () => {
      const [key, other] = [await site.tenant("lists"), await site.tenant("lists-other")];
      await make(other, ["spring", "other"]);
      await make(key, ["spring", 'quoted "tag"'], ["spring", "Sprint"], ["Ümlaut", "100%", "100x"], []);
      expect(await list(key)).toEqual({
        items: [
          { tag: "spring", links: 2 },
          ...["100%", "100x", "Sprint", 'quoted "tag"', "Ümlaut"].map((tag) => ({ tag, links: 1 })),
        ],
        nextCursor: null,
      });
      expect((await list(key, "?prefix=SPR")).items.map(({ tag }) => tag)).toEqual(["spring", "Sprint"]);
      expect((await list(key, `?prefix=${encodeURIComponent("100%")}`)).items).toEqual([{ tag: "100%", links: 1 }]);
      expect((await list(key, "?sort=tag")).items.map(({ tag }) => tag).at(-1)).toBe("Ümlaut");
      const seen: string[] = [];
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const page = await list(key, `?limit=2&sort=tag${cursor === null ? "" : `&cursor=${cursor}`}`);
        seen.push(...page.items.map(({ tag }) => tag));
        cursor = page.nextCursor;
      }
      expect(seen).toEqual((await list(key, "?sort=tag")).items.map(({ tag }) => tag));
    });

    test("are renamed on all links, merged with the other name, and taken back", async () => {
      const [key, other] = [await site.tenant("renames"), await site.tenant("renames-other")];
      const [theirs] = await make(other, ["old"]);
      const [one, two, three] = await make(key, ["a", "old", "b"], ["old", "new"], ["older"]);
      const rename = { tag: "old", name: "new" };
      const done = (await site.call("PATCH", "/api/tags", { key, body: rename })).json<Changed>();
      expect(done).toMatchObject({ changed: 2, failed: 0, isComplete: true });
      const read = async (link: LinkBody | undefined, by = key) =>
        (await site.call("GET", `/api/links/${link?.id}`, { key: by })).json<LinkBody>().tags;
      expect([await read(one), await read(two), await read(three)]).toEqual([["a", "new", "b"], ["new"], ["older"]]);
      expect(await read(theirs, other)).toEqual(["old"]);
      expect((await list(key, "?prefix=old")).items).toEqual([{ tag: "older", links: 1 }]);
      expect((await site.call("PATCH", "/api/tags", { key, body: rename })).status).toBe(404);
      await site.call("PATCH", "/api/links/bulk", { key, body: { undo: done.undo } });
      expect([await read(one), await read(two)]).toEqual([
        ["a", "old", "b"],
        ["old", "new"],
      ]);
    });

    test("are removed from all links, however many", async () => {
      const key = await site.tenant("removes");
      // Ten more than are changed at a time.
      await make(key, ...Array.from({ length: 510 }, () => ["gone", "kept"]));
      const done = (await site.call("DELETE", "/api/tags?tag=gone", { key })).json<Changed>();
      expect(done).toMatchObject({ changed: 510, failed: 0, isComplete: true });
      expect(await list(key)).toEqual({ items: [{ tag: "kept", links: 510 }], nextCursor: null });
      const undone = (await site.call("PATCH", "/api/links/bulk", { key, body: { undo: done.undo } })).json<Changed>();
      expect(undone).toMatchObject({ changed: 510, failed: 0 });
    }, 60_000);

    test("5,000 of them fit on the list", async () => {
      const key = await site.tenant("many");
      const names = Array.from({ length: 5_000 }, (_, i) => `tag-${i}`);
      const lists = Array.from({ length: 250 }, (_, i) => names.slice(i * 20, i * 20 + 20));
      await make(key, ...lists);
      expect((await list(key, "?limit=100&prefix=tag-4999")).items).toEqual([{ tag: "tag-4999", links: 1 }]);
      expect((await list(key, "?limit=100")).nextCursor).not.toBeNull();
    }, 60_000);

    test("bad requests name the field", async () => {
      for (const [body, field] of [
        [{ tag: "a" }, "name"],
        [{ tag: "a", name: " " }, "name"],
        [{ tag: "a", name: "a" }, "name"],
        [{ tag: "a", name: "x".repeat(51) }, "name"],
      ] as const) {
        const reply = await site.call("PATCH", "/api/tags", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
      expect((await site.call("DELETE", "/api/tags")).json<ProblemBody>().errors?.[0]?.field).toBe("tag");
      const prefix = await site.call("GET", "/api/tags?prefix=a%00b");
      expect([prefix.status, prefix.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, "prefix"]);
    });
  });
}
