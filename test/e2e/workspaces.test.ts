import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { databases, must, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

type MemberBody = { id: string; name: string; email: string | null; role: string };
type InvitationBody = { id: string; email: string | null; role: string; url?: string | null };
type WorkspaceBody = { id: string; slug: string; name: string; role: string; deleteAt: string | null };

type KeyBody = { secret: string; createdBy: { id: string; name: string } | null };

const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;

for (const database of databases) {
  describe(`workspaces on ${database}`, () => {
    let site: Site;
    let workspaces = 0;

    beforeAll(async () => {
      site = await startSite(database, { QL_WORKSPACES: "everyone" });
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    async function workspace(): Promise<{ slug: string; key: string; owner: TestPerson }> {
      const slug = `w${++workspaces}`;
      const key = await site.tenant(slug);
      return { slug, key, owner: await makePerson(site, { roles: { [slug]: "owner" }, name: `Owner of ${slug}` }) };
    }

    const membersOf = async (person: TestPerson, slug: string) =>
      (await person.call("GET", "/api/members", { workspace: slug })).json<{ items: MemberBody[] }>().items;

    describe("a call whose body is held back", () => {
      /** Sends the headers and a part of the body, then what happens meanwhile, then the rest. */
      async function held(
        send: (text: ReadableStream<Uint8Array>) => Promise<Reply>,
        owner: TestPerson,
        meanwhile: () => Promise<unknown>,
      ): Promise<Reply> {
        let isBegun = false;
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            if (!isBegun) {
              isBegun = true;
              controller.enqueue(Buffer.from('{"url":'));
              return;
            }
            const begun = performance.now();
            // The server answers others, so it has received this call too; and time passes that a prompt client would not need.
            await until("some answers", async () => {
              await owner.call("GET", "/api/account");
              return performance.now() - begun > 300 || undefined;
            });
            await meanwhile();
            controller.enqueue(Buffer.from('"https://example.com/"}'));
            controller.close();
          },
        });
        return await send(body);
      }
      const headers = { "content-type": "application/json" };

      test("is that of a stranger once the member is removed, or the key revoked", async () => {
        const { slug, key, owner } = await workspace();
        const ann = await makePerson(site, { roles: { [slug]: "member" } });
        const byAnn = (text: ReadableStream<Uint8Array>) =>
          ann.call("POST", "/api/links", { workspace: slug, headers, text });
        expect((await held(byAnn, owner, async () => {})).status).toBe(201);
        const removed = await held(byAnn, owner, () =>
          owner.call("DELETE", `/api/members/${ann.id}`, { workspace: slug }),
        );
        expect([removed.status, codeOf(removed)]).toEqual([404, "not_found"]);
        const byKey = (text: ReadableStream<Uint8Array>) => site.call("POST", "/api/links", { key, headers, text });
        expect((await held(byKey, owner, async () => {})).status).toBe(201);
        const { items } = (await owner.call("GET", "/api/keys", { workspace: slug })).json<{
          items: { id: string }[];
        }>();
        const revoked = await held(byKey, owner, async () => {
          for (const { id } of items) await owner.call("DELETE", `/api/keys/${id}`, { workspace: slug });
        });
        expect([revoked.status, codeOf(revoked)]).toEqual([401, "unauthorized"]);
        const links = await owner.call("GET", "/api/links", { workspace: slug });
        expect(links.json<{ items: unknown[] }>().items).toHaveLength(2);
      });
    });

    describe("members", () => {
      test("are seen by all of them, addresses only by those who manage them", async () => {
        const { slug, owner } = await workspace();
        const viewer = await makePerson(site, { roles: { [slug]: "viewer" } });
        expect((await membersOf(owner, slug)).map(({ email }) => email).sort()).toEqual(
          [owner.email, viewer.email].sort(),
        );
        expect((await membersOf(viewer, slug)).map(({ email, role }) => [email, role]).sort()).toEqual([
          [null, "owner"],
          [null, "viewer"],
        ]);
      });

      test("get another role that counts for the next call", async () => {
        const { slug, owner } = await workspace();
        const ann = await makePerson(site, { roles: { [slug]: "viewer" } });
        const write = () => ann.call("POST", "/api/links", { workspace: slug, body: { url: "https://example.com/" } });
        expect((await write()).status).toBe(403);
        const changed = await owner.call("PATCH", `/api/members/${ann.id}`, {
          workspace: slug,
          body: { role: "member" },
        });
        expect([changed.status, changed.json<MemberBody>().role]).toEqual([200, "member"]);
        expect((await write()).status).toBe(201);
        expect((await owner.call("DELETE", `/api/members/${ann.id}`, { workspace: slug })).status).toBe(204);
        expect(codeOf(await write())).toBe("not_found");
      });

      test("of whom one is owner: the last one neither goes nor steps down", async () => {
        const { slug, owner } = await workspace();
        const admin = await makePerson(site, { roles: { [slug]: "admin" } });
        const own = `/api/members/${owner.id}`;
        expect(codeOf(await owner.call("DELETE", own, { workspace: slug }))).toBe("last_owner");
        expect(codeOf(await owner.call("PATCH", own, { workspace: slug, body: { role: "viewer" } }))).toBe(
          "last_owner",
        );
        expect(codeOf(await owner.call("DELETE", `/api/account/workspaces/${slug}`))).toBe("last_owner");
        expect(codeOf(await admin.call("DELETE", own, { workspace: slug }))).toBe("forbidden");
        const transfer = { workspace: slug, body: { person: admin.id } };
        expect((await owner.call("PUT", "/api/workspace/owner", transfer)).status).toBe(204);
        expect((await membersOf(admin, slug)).find(({ id }) => id === admin.id)?.role).toBe("owner");
        expect((await owner.call("DELETE", `/api/account/workspaces/${slug}`)).status).toBe(204);
      });

      test("who made keys are removed once it is said what becomes of them", async () => {
        const { slug, owner } = await workspace();
        const admin = await makePerson(site, { roles: { [slug]: "admin" }, name: "Key Maker" });
        const body = { name: "mine", scopes: ["links:read"] };
        const made = (await admin.call("POST", "/api/keys", { workspace: slug, body })).json<KeyBody>();
        expect(made.createdBy).toEqual({ id: admin.id, name: "Key Maker" });
        const listed = (await owner.call("GET", "/api/keys", { workspace: slug })).json<{ items: KeyBody[] }>().items;
        expect(listed.map(({ createdBy }) => createdBy?.name ?? null)).toEqual(["Key Maker", null]);
        const asked = await owner.call("DELETE", `/api/members/${admin.id}`, { workspace: slug });
        expect([asked.status, asked.json<ProblemBody & { keys: number }>().keys]).toEqual([409, 1]);
        const key = { key: made.secret };
        expect((await site.call("GET", "/api/workspace", key)).status).toBe(200);
        expect((await owner.call("DELETE", `/api/members/${admin.id}?keys=revoke`, { workspace: slug })).status).toBe(
          204,
        );
        expect((await site.call("GET", "/api/workspace", key)).status).toBe(401);
      });
    });

    describe("invitations", () => {
      test("without a mail server have a link to copy, for the inviter only", async () => {
        const { slug, owner } = await workspace();
        const invite = { workspace: slug, body: { email: "zoe@example.com", role: "member" } };
        const made = (await owner.call("POST", "/api/invitations", invite)).json<InvitationBody>();
        expect(made.url).toMatch(/^http:\/\/localhost:\d+\/app\/invitation#[\w-]{43}$/);
        const list = await owner.call("GET", "/api/invitations", { workspace: slug });
        expect(list.json<{ items: InvitationBody[] }>().items).toMatchObject([
          { id: made.id, email: "zoe@example.com" },
        ]);
        expect(list.text).not.toContain("#");
        const again = await owner.call("POST", `/api/invitations/${made.id}/resend`, { workspace: slug });
        expect(again.json<InvitationBody>().url).not.toBe(made.url ?? "");
        expect((await owner.call("DELETE", `/api/invitations/${made.id}`, { workspace: slug })).status).toBe(204);
        expect((await owner.call("DELETE", `/api/invitations/${made.id}`, { workspace: slug })).status).toBe(404);
      });

      test("with bad fields are refused by name", async () => {
        const { slug, owner } = await workspace();
        for (const [body, field] of [
          [{ email: "no address", role: "member" }, "email"],
          [{ email: `${"a".repeat(400)}@example.com`, role: "member" }, "email"],
          [{ role: "god" }, "role"],
          [{ role: "viewer", expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
          [{ role: "viewer", expiresAt: "2099-01-01T00:00:00Z" }, "expiresAt"],
          [{ role: "viewer", to: "x" }, ""],
        ] as const) {
          const reply = await owner.call("POST", "/api/invitations", { workspace: slug, body });
          expect([reply.status, reply.json<ProblemBody>().errors?.[0]?.field ?? ""]).toEqual([
            422,
            expect.stringContaining(field),
          ]);
        }
      });

      test("of somebody who is a member are a clear conflict, however the address is spelled", async () => {
        const { slug, owner } = await workspace();
        await makePerson(site, { roles: { [slug]: "viewer" }, email: `Member-${slug}@example.com` });
        for (const email of [`member-${slug}@EXAMPLE.com`, ` ｍember-${slug}@example.com `]) {
          const reply = await owner.call("POST", "/api/invitations", {
            workspace: slug,
            body: { email, role: "admin" },
          });
          expect([email, reply.status, codeOf(reply)]).toEqual([email, 409, "already_member"]);
        }
      });
    });

    describe("a person", () => {
      test("creates a workspace, switches to it and renames it", async () => {
        const ann = await makePerson(site);
        const slug = `made-${++workspaces}`;
        const made = await ann.call("POST", "/api/account/workspaces", { body: { slug, name: "Made" } });
        expect([made.status, made.json<WorkspaceBody>().role]).toEqual([201, "owner"]);
        const other = `made-${++workspaces}`;
        await ann.call("POST", "/api/account/workspaces", { body: { slug: other, name: "Other" } });
        expect(codeOf(await ann.call("GET", "/api/workspace"))).toBe("workspace_required");
        expect((await ann.call("PUT", "/api/account/workspace", { body: { workspace: slug } })).status).toBe(200);
        expect((await ann.call("GET", "/api/workspace")).json<WorkspaceBody>().slug).toBe(slug);
        const renamed = await ann.call("PATCH", "/api/workspace", { body: { name: "Renamed" } });
        expect(renamed.json<WorkspaceBody>().name).toBe("Renamed");
        const list = (await ann.call("GET", "/api/account/workspaces")).json<{
          items: WorkspaceBody[];
          current: string;
        }>();
        expect(list.items.map(({ name }) => name)).toEqual(["Other", "Renamed"]);
        expect(list.current).toBe(made.json<WorkspaceBody>().id);
        expect(codeOf(await ann.call("PUT", "/api/account/workspace", { body: { workspace: "default" } }))).toBe(
          "not_found",
        );
        expect(codeOf(await ann.call("POST", "/api/account/workspaces", { body: { slug, name: "Again" } }))).toBe(
          "name_taken",
        );
      });

      test("deletes a workspace: everything in it stops, and goes on when it is restored", async () => {
        const { slug, key, owner } = await workspace();
        const link = (await site.call("POST", "/api/links", { key, body: { url: "https://example.com/x" } })).json<{
          code: string;
        }>();
        const visit = async () => (await site.visit(`/${link.code}`)).status;
        expect(await visit()).toBe(302);
        const admin = await makePerson(site, { roles: { [slug]: "admin" } });
        expect(codeOf(await admin.call("DELETE", "/api/workspace", { workspace: slug }))).toBe("forbidden");
        const deleted = await owner.call("DELETE", "/api/workspace", { workspace: slug });
        expect(deleted.status).toBe(200);
        await until("the link to stop", async () => (await visit()) === 451 || undefined);
        expect([403, "suspended"]).toEqual([
          (await site.call("GET", "/api/links", { key })).status,
          codeOf(await site.call("GET", "/api/links", { key })),
        ]);
        expect((await owner.call("GET", "/api/links", { workspace: slug })).status).toBe(404);
        const list = (await owner.call("GET", "/api/account/workspaces")).json<{ items: WorkspaceBody[] }>();
        expect(list.items[0]?.deleteAt).toBe(deleted.json<{ deleteAt: string }>().deleteAt);

        expect(codeOf(await admin.call("POST", `/api/account/workspaces/${slug}/restore`))).toBe("forbidden");
        const stranger = await makePerson(site);
        expect(codeOf(await stranger.call("POST", `/api/account/workspaces/${slug}/restore`))).toBe("not_found");
        expect((await owner.call("POST", `/api/account/workspaces/${slug}/restore`)).status).toBe(200);
        await until("the link to work", async () => (await visit()) === 302 || undefined);
        expect((await site.call("GET", "/api/links", { key })).status).toBe(200);
      });

      test("who signed in long ago signs in again before deleting or handing over a workspace", async () => {
        const { slug, owner } = await workspace();
        const admin = await makePerson(site, { roles: { [slug]: "admin" } });
        await query(site.env, `update sessions set proved_at = proved_at - 3600000 where person_id = '${owner.id}'`);
        expect((await owner.call("DELETE", "/api/workspace", { workspace: slug })).status).toBe(403);
        const transfer = { workspace: slug, body: { person: admin.id } };
        expect((await owner.call("PUT", "/api/workspace/owner", transfer)).status).toBe(403);
      });
    });
  });
}

describe("by default", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite("SQLite");
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  test("only operators create workspaces", async () => {
    const [ann, operator] = [await makePerson(site), await makePerson(site, { operator: true })];
    const create = (person: TestPerson) =>
      person.call("POST", "/api/account/workspaces", { body: { slug: "new", name: "New" } });
    expect((await create(ann)).status).toBe(403);
    expect((await create(operator)).status).toBe(201);
    must(await site.cli("tenant", "list"));
  });
});
