import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { databases, type ProblemBody, query, type Site, startSite } from "./servers.ts";

type Annotation = {
  id: string;
  link: string | null;
  at: string;
  text: string;
  createdBy: { id: string; name: string } | null;
};
type Page<Item> = { items: Item[]; nextCursor: string | null };
type Template = { id: string; name: string; utm: Record<string, string> };

for (const database of databases) {
  describe(`on ${database}`, () => {
    let site: Site;
    let foreignKey: string;

    beforeAll(async () => {
      site = await startSite(database);
      foreignKey = await site.tenant("foreign");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const note = async (body: object): Promise<Annotation> => {
      const reply = await site.call("POST", "/api/annotations", { body });
      if (reply.status !== 201) throw new Error(reply.text);
      return reply.json<Annotation>();
    };
    const list = async (rest = "") => (await site.call("GET", `/api/annotations${rest}`)).json<Page<Annotation>>();

    test("annotations are listed by link and range, the latest first, in pages", async () => {
      const [one, two] = [
        await site.create({ url: "https://example.com" }),
        await site.create({ url: "https://example.com" }),
      ];
      const at = (day: number) => `2026-03-0${day}T10:00:00.000Z`;
      await note({ text: "All", at: at(1) });
      await note({ text: "One", at: at(2), link: one.id });
      await note({ text: "Two", at: at(3), link: two.id });
      await note({ text: "<b>Later</b>", at: at(4), link: one.id });
      const texts = (page: Page<Annotation>) => page.items.map(({ text }) => text);
      expect(texts(await list())).toEqual(["<b>Later</b>", "Two", "One", "All"]);
      expect(texts(await list(`?link=${one.id}`))).toEqual(["<b>Later</b>", "One", "All"]);
      expect(texts(await list(`?link=${one.id}&from=${at(2)}&to=${at(4)}`))).toEqual(["One"]);
      const first = await list("?limit=3");
      expect(texts(await list(`?limit=3&cursor=${first.nextCursor}`))).toEqual(["All"]);
      const foreign = await site.call("GET", "/api/annotations", { key: foreignKey });
      expect(foreign.json<Page<Annotation>>().items).toEqual([]);
    });

    test("an annotation names its author, and its changes are in the log", async () => {
      const ann = await makePerson(site, { name: "Ann", roles: { default: "member" } });
      const made = (await ann.call("POST", "/api/annotations", { body: { text: "Sent" } })).json<Annotation>();
      expect(made.createdBy).toEqual({ id: ann.id, name: "Ann" });
      const changed = await site.call("PATCH", `/api/annotations/${made.id}`, { body: { text: "Sent twice" } });
      expect(changed.json<Annotation>()).toMatchObject({ text: "Sent twice", at: made.at, createdBy: { name: "Ann" } });
      expect((await site.call("DELETE", `/api/annotations/${made.id}`)).status).toBe(204);
      expect((await site.call("DELETE", `/api/annotations/${made.id}`)).status).toBe(404);
      const log = (await site.call("GET", `/api/history?subject=${made.id}`)).json<Page<{ action: string }>>();
      expect(log.items.map(({ action }) => action)).toEqual([
        "annotation.delete",
        "annotation.update",
        "annotation.create",
      ]);
      const viewer = await makePerson(site, { roles: { default: "viewer" } });
      expect((await viewer.call("GET", "/api/annotations")).status).toBe(200);
      expect((await viewer.call("POST", "/api/annotations", { body: { text: "No" } })).status).toBe(403);
    });

    test("annotations stay with a link in the trash, and go with it for good", async () => {
      const link = await site.create({ url: "https://example.com" });
      await note({ text: "Kept", link: link.id });
      await site.call("DELETE", `/api/links/${link.id}`);
      const rows = () => query(site.env, `select text from annotations where link_id = '${link.id}'`);
      expect(await rows()).toEqual([{ text: "Kept" }]);
      await site.call("DELETE", `/api/trash/${link.id}`);
      expect(await rows()).toEqual([]);
    });

    test("bad annotations name the field; foreign links do not exist", async () => {
      const theirs = await site.call("POST", "/api/links", { key: foreignKey, body: { url: "https://example.com" } });
      const link = theirs.json<{ id: string }>().id;
      expect((await site.call("POST", "/api/annotations", { body: { text: "Mine", link } })).status).toBe(404);
      for (const [body, field] of [
        [{}, "text"],
        [{ text: "  " }, "text"],
        [{ text: "x".repeat(201) }, "text"],
        [{ text: "a\nb" }, "text"],
        [{ text: "x", at: "yesterday" }, "at"],
        [{ text: "x", link: "winter" }, "link"],
        [{ text: "x", colour: "red" }, "colour"],
      ] as const) {
        const reply = await site.call("POST", "/api/annotations", { body });
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
    });

    test("a workspace has at most 2,000 annotations", async () => {
      const key = await site.tenant(`noted-${database.toLowerCase()}`);
      const [row] = (await query(
        site.env,
        `select id from tenants where slug = 'noted-${database.toLowerCase()}'`,
      )) as [{ id: string }];
      const values = Array.from(
        { length: 2_000 },
        (_, i) => `('ann_${String(i).padStart(26, "0")}', '${row.id}', 1, 'x', 1)`,
      );
      await query(site.env, `insert into annotations (id, tenant_id, at, text, created_at) values ${values.join(",")}`);
      const reply = await site.call("POST", "/api/annotations", { key, body: { text: "One more" } });
      expect(reply.json<ProblemBody>().code).toBe("collection_full");
    });

    test("UTM templates are kept by name, changed and deleted, and only your own", async () => {
      const post = (body: object, key?: string) =>
        site.call("POST", "/api/utm-templates", { body, ...(key !== undefined && { key }) });
      const utm = { source: "newsletter", medium: "email" };
      const made = (await post({ name: "Newsletter", utm })).json<Template>();
      expect(made).toMatchObject({ name: "Newsletter", utm });
      expect((await post({ name: "Newsletter", utm })).json<ProblemBody>()).toMatchObject({
        ...{ code: "name_taken", errors: [{ field: "name" }] },
      });
      expect((await post({ name: "Newsletter", utm }, foreignKey)).status).toBe(201);
      const other = (await post({ name: "Ads", utm: { source: "ads" } })).json<Template>();
      const all = (await site.call("GET", "/api/utm-templates")).json<Page<Template>>();
      expect(all.items.map(({ name }) => name)).toEqual(["Ads", "Newsletter"]);
      const path = `/api/utm-templates/${other.id}`;
      expect((await site.call("PATCH", path, { body: { name: "Newsletter" } })).json<ProblemBody>().code).toBe(
        "name_taken",
      );
      const changed = await site.call("PATCH", path, { body: { utm: { campaign: "spring" } } });
      expect(changed.json<Template>()).toMatchObject({ name: "Ads", utm: { campaign: "spring" } });
      expect((await site.call("DELETE", path, { key: foreignKey })).status).toBe(404);
      expect((await site.call("DELETE", path)).status).toBe(204);
      const log = (await site.call("GET", `/api/history?subject=${other.id}`)).json<Page<{ action: string }>>();
      expect(log.items.map(({ action }) => action)).toEqual([
        ...["utm-template.delete", "utm-template.update", "utm-template.create"],
      ]);
      for (const [body, field] of [
        [{ name: "x" }, "utm"],
        [{ name: "x", utm: {} }, "utm"],
        [{ name: "x", utm: { sauce: "y" } }, "utm.sauce"],
        [{ name: "", utm }, "name"],
        [{ name: "x", utm: { source: 1 } }, "utm.source"],
      ] as const) {
        const reply = await post(body);
        expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field]).toEqual([422, field]);
      }
    });
  });
}
