import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson } from "../ground/people.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

const password = "violet kettle 42 march";
const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;

for (const database of databases) {
  describe(`a person's data on ${database}`, () => {
    let site: Site;

    beforeAll(async () => {
      site = await startSite(database);
      await site.tenant("other");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    test("is exported whole, without a secret and without other people's", async () => {
      const ann = await makePerson(site, { roles: { default: "admin" }, password, name: "Ann" });
      const ben = await makePerson(site, { roles: { default: "admin" } });
      for (const person of [ann, ben]) {
        const body = { name: `key of ${person.id}`, scopes: ["links:read"] };
        expect((await person.call("POST", "/api/keys", { body })).status).toBe(201);
      }
      await ann.call("PATCH", "/api/account", { body: { name: "Anna" } });
      const reply = await ann.call("GET", "/api/account/export");
      expect(reply.headers.get("content-disposition")).toContain("attachment");
      expect(reply.json<object>()).toMatchObject({
        person: { id: ann.id, email: ann.email, name: "Anna" },
        sessions: [{ id: ann.session, current: true }],
        workspaces: [{ slug: "default", role: "admin" }],
        keys: [{ name: `key of ${ann.id}` }],
        changesOfYourAccount: [{ action: "person.update", before: { name: "Ann" }, after: { name: "Anna" } }],
      });
      const { changesByYou } = reply.json<{ changesByYou: { action: string }[] }>();
      expect(changesByYou.map(({ action }) => action).toSorted()).toEqual(["key.create", "person.update"]);
      expect(reply.text).not.toContain(ben.id);
      expect(reply.text).not.toMatch(/argon2|hash|ql_\w{20}/);
    });

    test("is deleted with the account: the name goes, links and the workspace stay", async () => {
      const ann = await makePerson(site, { roles: { other: "admin" }, password, name: "Gone Girl" });
      const owner = await makePerson(site, { roles: { other: "owner" } });
      const made = await ann.call("POST", "/api/links", { body: { url: "https://example.com/stays" } });
      const { code } = made.json<{ code: string }>();
      await ann.call("POST", "/api/keys", { body: { name: "mine", scopes: ["links:read"] } });
      await ann.call("PATCH", "/api/account", { body: { name: "Gone Girl II" } });
      const remove = (body: Record<string, unknown>) => ann.call("DELETE", "/api/account", { body });
      expect(codeOf(await remove({}))).toBe("proof_required");
      expect(codeOf(await remove({ password: "not my password" }))).toBe("wrong_password");
      expect(codeOf(await remove({ password }))).toBe("keys_undecided");
      const done = await remove({ password, keys: "keep" });
      expect([done.status, done.text]).toEqual([204, ""]);
      expect((await ann.call("GET", "/api/account")).status).toBe(401);
      expect((await site.visit(`/${code}`)).status).toBe(302);
      const keys = (await owner.call("GET", "/api/keys")).json<{ items: { name: string; createdBy: unknown }[] }>();
      expect(keys.items.find(({ name }) => name === "mine")?.createdBy).toBeNull();
      const rows = JSON.stringify(await site.rows());
      expect(rows).not.toContain("Gone Girl");
      expect(rows).not.toContain(ann.email);
      const [last] = await query(
        site.env,
        `select action from history where tenant_id = '' and subject_id = '${ann.id}' order by id desc limit 1`,
      );
      expect(last).toEqual({ action: "person.delete" });
    });

    test("is not deleted while others depend on it", async () => {
      await site.tenant(`third-${database.toLowerCase()}`);
      const slug = `third-${database.toLowerCase()}`;
      const owner = await makePerson(site, { roles: { [slug]: "owner" } });
      const other = await makePerson(site, { roles: { [slug]: "admin" } });
      expect(codeOf(await owner.call("DELETE", "/api/account", { body: {} }))).toBe("last_owner");
      await owner.call("PUT", "/api/workspace/owner", { body: { person: other.id } });
      expect((await owner.call("DELETE", "/api/account", { body: {} })).status).toBe(204);
      // Alone in it: nobody is left behind.
      expect((await other.call("DELETE", "/api/account", { body: {} })).status).toBe(204);
      const root = await makePerson(site, { operator: true });
      expect(codeOf(await root.call("DELETE", "/api/account", { body: {} }))).toBe("last_operator");
    });
  });
}
