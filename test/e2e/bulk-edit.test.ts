import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Names, startNames } from "./posts.ts";
import { databases, type LinkBody, must, type ProblemBody, query, type Site, startSite } from "./servers.ts";

type Edited = {
  changed: number;
  unchanged: number;
  failed: number;
  results: { id: string; state: string; version?: number; problem?: ProblemBody }[];
  undo: unknown[];
  nextCursor: string | null;
};

for (const database of databases) {
  describe(`edits of many links on ${database}`, () => {
    let site: Site;
    let names: Names;
    let foreignKey: string;
    let made = 0;

    beforeAll(async () => {
      names = await startNames();
      site = await startSite(database, { QL_DNS_SERVERS: names.address });
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
      names.stop();
    });

    const edit = async (body: unknown): Promise<Edited> => {
      const reply = await site.call("PATCH", "/api/links/bulk", { body });
      if (reply.status !== 200) throw new Error(reply.text);
      return reply.json<Edited>();
    };
    const read = async (id: string) => (await site.call("GET", `/api/links/${id}`)).json<LinkBody>();
    const create = async (count: number, fields: Record<string, unknown> = {}): Promise<LinkBody[]> => {
      const links = Array.from({ length: count }, () => ({ url: `https://example.com/${++made}`, ...fields }));
      const reply = await site.call("POST", "/api/links/bulk", { body: { links } });
      return reply.json<{ results: { link: LinkBody }[] }>().results.map(({ link }) => link);
    };
    const visited = async ({ code }: LinkBody) => (await site.reach(`/${code}`)).status;

    test("tags, status and expiry are set on all of them, with one row of history each, and undone in one call", async () => {
      const links = await create(120, { tags: ["old", "kept"] });
      const ids = links.map(({ id }) => id);
      const expiresAt = "2090-01-01T00:00:00.000Z";
      const edited = await edit({
        ids,
        action: "edit",
        addTags: ["new"],
        removeTags: ["old"],
        status: "disabled",
        expiresAt,
      });
      expect(edited).toMatchObject({ changed: 120, unchanged: 0, failed: 0, nextCursor: null });
      const [first] = links;
      if (first === undefined) throw new Error("no link");
      expect(await read(first.id)).toMatchObject({ tags: ["kept", "new"], status: "disabled", expiresAt, version: 2 });
      expect(await visited(first)).toBe(404);
      const history = (await site.call("GET", `/api/links/${first.id}/history`)).json<{
        items: { action: string }[];
      }>();
      expect(history.items.map(({ action }) => action)).toEqual(["link.update", "link.create"]);
      expect(await edit({ ids, action: "edit", addTags: ["new"] })).toMatchObject({
        changed: 0,
        unchanged: 120,
        undo: [],
      });
      const undone = await edit({ undo: edited.undo });
      expect(undone).toMatchObject({ changed: 120, failed: 0 });
      expect(await read(first.id)).toMatchObject({ tags: ["old", "kept"], status: "active", version: 3 });
      expect(await visited(first)).toBe(302);
      // And the undo can be undone.
      expect(await edit({ undo: undone.undo })).toMatchObject({ changed: 120 });
      expect(await read(first.id)).toMatchObject({ tags: ["kept", "new"], status: "disabled" });
    });

    test("an undo leaves alone what somebody changed meanwhile", async () => {
      const [one, two] = await create(2);
      if (one === undefined || two === undefined) throw new Error("no links");
      const { undo } = await edit({ ids: [one.id, two.id], action: "edit", addTags: ["x"] });
      await site.call("PATCH", `/api/links/${two.id}`, { body: { title: "Edited since" } });
      const undone = await edit({ undo });
      expect(undone).toMatchObject({ changed: 1, failed: 1 });
      expect(undone.results.find(({ id }) => id === two.id)?.problem?.code).toBe("version_conflict");
      expect(await read(two.id)).toMatchObject({ title: "Edited since", tags: ["x"] });
      expect((await read(one.id)).tags).toEqual([]);
    });

    test("deleted links are in the trash, answer 404 at once, and come back with one call", async () => {
      const links = await create(60);
      const [first] = links;
      if (first === undefined) throw new Error("no link");
      expect(await visited(first)).toBe(302);
      const removed = await edit({ ids: links.map(({ id }) => id), action: "delete" });
      expect(removed.changed).toBe(60);
      expect(await visited(first)).toBe(404);
      expect((await site.call("GET", `/api/links/${first.id}`)).status).toBe(404);
      const back = await edit({ undo: removed.undo });
      expect(back).toMatchObject({ changed: 60, failed: 0 });
      expect(await visited(first)).toBe(302);
      const ids = links.map(({ id }) => id);
      expect(await edit({ undo: back.undo })).toMatchObject({ changed: 60 });
      expect(await edit({ ids, action: "restore" })).toMatchObject({ changed: 60 });
    });

    test("each link is refused for its own reason, and the others are changed", async () => {
      const full = Array.from({ length: 20 }, (_, i) => `t${i}`);
      const [plain] = await create(1);
      const [tagged] = await create(1, { tags: full });
      const foreign = (
        await site.call("POST", "/api/links", { key: foreignKey, body: { url: "https://example.com" } })
      ).json<LinkBody>();
      if (plain === undefined || tagged === undefined) throw new Error("no links");
      const ids = [plain.id, tagged.id, foreign.id, "nonsense", plain.id];
      const edited = await edit({ ids, action: "edit", addTags: ["one-more"] });
      expect(edited.results).toMatchObject([
        { id: plain.id, state: "changed" },
        { id: tagged.id, state: "failed", problem: { code: "invalid_input", errors: [{ field: "tags" }] } },
        { id: foreign.id, state: "failed", problem: { code: "not_found" } },
        { id: "nonsense", state: "failed", problem: { code: "not_found" } },
      ]);
      const theirs = (await site.call("GET", `/api/links/${foreign.id}`, { key: foreignKey })).json<LinkBody>();
      expect([theirs.tags, theirs.version]).toEqual([[], 1]);
    });

    test("a filter reaches all that match, in pages", async () => {
      // Ten more than a page.
      for (const count of [500, 500, 10]) await create(count, { tags: ["campaign"] });
      const seen = new Set<string>();
      const undos: unknown[][] = [];
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const body = { filter: { tags: ["campaign"] }, action: "edit", status: "disabled", ...(cursor && { cursor }) };
        const edited: Edited = await edit(body);
        for (const { id } of edited.results) seen.add(id);
        undos.push(edited.undo);
        cursor = edited.nextCursor;
      }
      expect(seen.size).toBe(1_010);
      expect(undos).toHaveLength(2);
      const left = "select count(*) as n from links where tags like '%campaign%' and status = 'active'";
      expect(await query(site.env, left)).toEqual([{ n: database === "SQLite" ? 0 : expect.anything() }]);
      for (const undo of undos) await edit({ undo });
      const active = (await site.call("GET", "/api/links?tag=campaign&status=disabled")).json<{ items: unknown[] }>();
      expect(active.items).toEqual([]);
    }, 60_000);

    test("a move gives the link the same code on the other domain with its hits, and back", async () => {
      const host = `moved-${database.toLowerCase()}.example.com`;
      const claim = (await site.call("POST", "/api/domains", { body: { host } })).json<{
        proof: { txt: { name: string; value: string } };
      }>();
      names.published.set(claim.proof.txt.name, claim.proof.txt.value);
      expect((await site.call("POST", `/api/domains/${host}/verify`)).status).toBe(200);
      const [link] = await create(1, { hitsPerMonth: 2, expiresAt: null });
      const [other] = await create(1);
      if (link === undefined || other === undefined) throw new Error("no links");
      await site.call("PATCH", `/api/links/${link.id}`, { body: { title: "Moved" } });
      expect([await visited(link), await visited(link), await visited(link)]).toEqual([302, 302, 429]);
      const moved = await edit({ ids: [link.id, other.id], action: "move", domain: host });
      expect(moved).toMatchObject({ changed: 2, failed: 0 });
      const at = async (domain: string, one: LinkBody) => (await site.reach(`/${one.code}`, { host: domain })).status;
      expect(await visited(link)).toBe(404);
      // Its month is used there too.
      expect([await at(host, link), await at(host, other)]).toEqual([429, 302]);
      const now = await read(link.id);
      expect(now).toMatchObject({ domain: host, code: link.code, title: "Moved" });
      expect(now.version).toBeGreaterThan(2);
      const usage = (await site.call("GET", "/api/usage")).json<{ hitsPerLinkPerMonth: { link: string }[] }>();
      expect(usage.hitsPerLinkPerMonth.find((use) => use.link === link.id)).toMatchObject({
        ...{ domain: host, code: link.code, shortUrl: now.shortUrl },
      });
      const history = (await site.call("GET", `/api/links/${link.id}/history`)).json<{ items: { action: string }[] }>();
      expect(history.items.map(({ action }) => action)).toEqual(["link.move", "link.update", "link.create"]);
      expect(await edit({ ids: [link.id], action: "move", domain: host })).toMatchObject({ unchanged: 1 });
      const undone = await edit({ undo: moved.undo });
      expect(undone).toMatchObject({ changed: 2 });
      expect([await visited(link), await visited(other), await at(host, other)]).toEqual([429, 302, 404]);
      expect((await site.call("POST", `/api/links/${link.id}/undo`, { body: { version: 1 } })).json()).toMatchObject({
        title: null,
      });
      // The code is taken there, or the domain is not ours, or the link is suspended.
      const taken = await site.call("POST", "/api/links", {
        body: { url: "https://example.com", domain: host, code: link.code },
      });
      expect(taken.status).toBe(201);
      const refused = await edit({ ids: [link.id], action: "move", domain: host });
      expect(refused.results[0]?.problem?.code).toBe("code_taken");
      expect((await read(link.id)).domain).not.toBe(host);
      const strange = await edit({ ids: [link.id], action: "move", domain: "strange.example" });
      expect(strange.results[0]?.problem?.errors?.[0]?.field).toBe("domain");
      must(await site.cli("link", "suspend", other.code, "--reason", "test"));
      const held = await edit({ ids: [other.id], action: "move", domain: host });
      expect(held.results[0]?.problem?.code).toBe("link_suspended");
    });

    test("a bad request names the field and changes nothing", async () => {
      const [link] = await create(1);
      const ids = [link?.id];
      const before = await site.rows();
      for (const [body, field] of [
        [{}, "action"],
        [{ action: "edit" }, "ids"],
        [{ ids, filter: {}, action: "delete" }, "ids"],
        [{ ids, action: "edit" }, "action"],
        [{ ids, action: "explode" }, "action"],
        [{ ids: [], action: "delete" }, "ids"],
        [{ ids: Array.from({ length: 1_001 }, () => "x"), action: "delete" }, "ids"],
        [{ ids, action: "delete", addTags: ["x"] }, "addTags"],
        [{ ids, action: "edit", addTags: ["x"], removeTags: ["x"] }, "removeTags"],
        [{ ids, action: "edit", expiresAt: "tomorrow" }, "expiresAt"],
        [{ ids, action: "move" }, "domain"],
        [{ filter: {}, action: "restore" }, "filter"],
        [{ filter: { nothing: 1 }, action: "delete" }, "filter.nothing"],
        [{ filter: {}, action: "delete", cursor: "made up" }, "cursor"],
        [{ undo: [], action: "delete" }, "undo"],
        [{ undo: [{ id: "x", undo: "delete" }], ids }, "ids"],
        [{ undo: [{ id: "x" }] }, "undo.0.undo"],
      ] as const) {
        const reply = await site.call("PATCH", "/api/links/bulk", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
      const past = await edit({ ids, action: "edit", expiresAt: "2001-01-01T00:00:00Z" });
      expect(past.results[0]?.problem?.errors?.[0]?.field).toBe("expiresAt");
      expect(await site.rows()).toEqual(before);
    });
  });
}
