import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { databases, type LinkBody, type ProblemBody, type Site, startSite } from "./servers.ts";

type Preview = {
  changes: number;
  invalid: number;
  items: {
    id: string;
    fields: { field: string; before: string; after: string }[];
    problem?: ProblemBody;
  }[];
  token: string | null;
};
type Edited = { changed: number; failed: number; results: { id: string; state: string }[]; undo: unknown[] };

for (const database of databases) {
  describe(`find and replace in destinations on ${database}`, () => {
    let site: Site;
    let foreignKey: string;

    beforeAll(async () => {
      site = await startSite(database);
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const preview = async (body: object, key?: string): Promise<Preview> => {
      const reply = await site.call("POST", "/api/links/replace/preview", { body, ...(key !== undefined && { key }) });
      if (reply.status !== 200) throw new Error(reply.text);
      return reply.json<Preview>();
    };
    const apply = (body: object, key?: string) =>
      site.call("PATCH", "/api/links/replace", { body, ...(key !== undefined && { key }) });
    const read = async (id: string) => (await site.call("GET", `/api/links/${id}`)).json<LinkBody>();

    test("the preview shows every destination, and what is applied is what it showed; undo takes it back", async () => {
      const text = { find: "http://old.example.com/", replace: "https://new.example.com/%" };
      const plain = await site.create({ url: "http://old.example.com/a?b=http://old.example.com/c", title: "Plain" });
      const routed = await site.create({
        url: "https://example.com/",
        fallbackUrl: "http://old.example.com/over",
        rules: [{ when: { country: ["DE"] }, url: "http://old.example.com/de" }],
        split: [
          { url: "http://old.example.com/one", weight: 1 },
          { url: "https://example.com/two", weight: 1 },
        ],
      });
      const other = await site.create({ url: "https://example.com/", title: "http://old.example.com/" });
      const foreign = await site.call("POST", "/api/links", {
        key: foreignKey,
        body: { url: "http://old.example.com/a" },
      });
      const shown = await preview(text);
      expect([shown.changes, shown.invalid]).toEqual([2, 0]);
      expect(shown.items.find(({ id }) => id === routed.id)?.fields).toEqual([
        { field: "fallbackUrl", before: "http://old.example.com/over", after: "https://new.example.com/%over" },
        { field: "rules.0.url", before: "http://old.example.com/de", after: "https://new.example.com/%de" },
        { field: "split.0.url", before: "http://old.example.com/one", after: "https://new.example.com/%one" },
      ]);
      expect((await read(plain.id)).version).toBe(1);
      const done = (await apply({ ...text, token: shown.token })).json<Edited>();
      expect(done).toMatchObject({ changed: 2, failed: 0 });
      expect((await read(plain.id)).url).toBe("https://new.example.com/%a?b=https://new.example.com/%c");
      expect((await read(routed.id)).rules[0]?.url).toBe("https://new.example.com/%de");
      expect((await site.reach(`/${plain.code}`)).headers.get("location")).toStartWith("https://new.example.com/");
      expect((await read(other.id)).version).toBe(1);
      const theirs = foreign.json<LinkBody>();
      expect((await site.call("GET", `/api/links/${theirs.id}`, { key: foreignKey })).json()).toMatchObject({
        version: 1,
      });
      const undone = await site.call("PATCH", "/api/links/bulk", { body: { undo: done.undo } });
      expect(undone.json<Edited>()).toMatchObject({ changed: 2 });
      expect((await read(plain.id)).url).toBe(plain.url ?? "");
      expect((await read(routed.id)).split).toEqual(routed.split);
    });

    test("nothing is applied if a link changed, was added or was deleted since the preview, or the words differ", async () => {
      const text = { find: "guarded.example", replace: "other.example" };
      const one = await site.create({ url: "https://guarded.example/1" });
      const first = await preview(text);
      await site.call("PATCH", `/api/links/${one.id}`, { body: { title: "Edited" } });
      expect((await apply({ ...text, token: first.token })).json<ProblemBody>().code).toBe("version_conflict");
      const second = await preview(text);
      const two = await site.create({ url: "https://guarded.example/2" });
      expect((await apply({ ...text, token: second.token })).status).toBe(412);
      const third = await preview(text);
      await site.call("DELETE", `/api/links/${two.id}`);
      expect((await apply({ ...text, token: third.token })).status).toBe(412);
      const fourth = await preview(text);
      expect((await apply({ ...text, replace: "evil.example", token: fourth.token })).status).toBe(412);
      expect((await apply({ ...text, token: fourth.token }, foreignKey)).status).toBe(412);
      expect((await read(one.id)).url).toBe("https://guarded.example/1");
      expect((await apply({ ...text, token: fourth.token })).status).toBe(200);
      // Sent twice, it happens once.
      expect((await apply({ ...text, token: fourth.token })).status).toBe(412);
      expect((await read(one.id)).url).toBe("https://other.example/1");
    });

    test("links that would become invalid are named first and stay as they are", async () => {
      const text = { find: "https://breakable.example/", replace: "ftp://" };
      const long = await site.create({ url: "https://breakable.example/x" });
      const shown = await preview(text);
      expect(shown).toMatchObject({ changes: 0, invalid: 1, token: null });
      expect(shown.items[0]).toMatchObject({ id: long.id, problem: { errors: [{ field: "url" }] } });
      const mixed = { find: "breakable.example/x", replace: `good.example/${"y".repeat(2_000)}` };
      const short = await site.create({ url: "https://breakable.example/x" });
      await site.call("PATCH", `/api/links/${long.id}`, {
        body: { url: `https://breakable.example/x${"z".repeat(500)}` },
      });
      const half = await preview(mixed);
      expect(half).toMatchObject({ changes: 1, invalid: 1 });
      expect(half.items[0]?.id).toBe(long.id);
      const done = (await apply({ ...mixed, token: half.token })).json<Edited>();
      expect(done.results).toMatchObject([{ id: short.id, state: "changed" }]);
      expect((await read(long.id)).version).toBe(2);
    });

    test("a short text in many places that becomes a long one is refused without being built", async () => {
      const url = `https://grown.example/${"q".repeat(2_000)}`;
      const countries = ["AT", "CH", "DE", "ES", "FR", "IT", "PL"];
      const rules = countries.map((country) => ({ when: { country: [country] }, url }));
      const link = await site.create({ url, fallbackUrl: url, rules });
      const asked = { find: "q", replace: "r".repeat(2_048), filter: { search: "grown.example" } };
      const reply = await site.call("POST", "/api/links/replace/preview", { body: asked });
      const [item] = reply.json<Preview>().items;
      expect(item).toMatchObject({ id: link.id, problem: { errors: [{ field: "url", code: "too_long" }] } });
      expect(item?.fields).toHaveLength(9);
      expect(reply.text.length).toBeLessThan(50_000);
    });

    test("the search is exact, and a filter narrows it", async () => {
      await site.create({ url: "https://case.example/Path" });
      const tagged = await site.create({ url: "https://case.example/path", tags: ["this"] });
      expect((await preview({ find: "/path", replace: "/p" })).changes).toBe(1);
      expect((await preview({ find: "case.example", replace: "c.example" })).changes).toBe(2);
      const narrow = await preview({ find: "case.example", replace: "c.example", filter: { tags: ["this"] } });
      expect(narrow.items.map(({ id }) => id)).toEqual([tagged.id]);
      for (const find of ["%", "_", "'", '"', "\\"]) {
        expect((await preview({ find, replace: "x" })).items.every(({ fields }) => fields.length > 0)).toBe(true);
      }
      for (const [body, field] of [
        [{ replace: "x" }, "find"],
        [{ find: "", replace: "x" }, "find"],
        [{ find: "x", replace: "x" }, "replace"],
        [{ find: "a\0b", replace: "x" }, "find"],
        [{ find: "x", replace: "a\nb" }, "replace"],
        [{ find: "x", replace: "y", filter: { tags: ["a\0b"] } }, "filter.tags.0"],
        [{ find: "x" }, "replace"],
        [{ find: "x", replace: "y", filter: { bad: 1 } }, "filter.bad"],
      ] as const) {
        const reply = await site.call("POST", "/api/links/replace/preview", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
    });
  });
}
