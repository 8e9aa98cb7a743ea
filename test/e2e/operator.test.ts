import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { makePerson, type TestPerson } from "../ground/people.ts";
import { until } from "../ground/process.ts";
import { databases, type ProblemBody, query, type Reply, type Site, startSite } from "./servers.ts";

type PersonBody = { id: string; email: string; operator: boolean; disabledAt: string | null };
type WorkspaceBody = { slug: string; plan: string; suspended: string | null; limits: Record<string, number | null> };

const codeOf = (reply: Reply) => reply.json<ProblemBody>().code;

for (const database of databases) {
  describe(`an operator on ${database}`, () => {
    let site: Site;
    let operator: TestPerson;

    beforeAll(async () => {
      site = await startSite(database);
      operator = await makePerson(site, { operator: true, name: "Root", email: "root@example.com" });
      await site.tenant("other");
    });

    afterAll(async () => {
      expect(await site.server.stop()).toBe(0);
    });

    const items = async <Item>(path: string) => (await operator.call("GET", path)).json<{ items: Item[] }>().items;

    test("lists and searches people, literally", async () => {
      const [ann] = [await makePerson(site, { email: "ann_100%@example.com" }), await makePerson(site)];
      const all = await items<PersonBody>("/api/operator/people");
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
      const search = async (text: string) =>
        (await items<PersonBody>(`/api/operator/people?search=${encodeURIComponent(text)}`)).map(({ id }) => id);
      expect(await search("ANN_100%")).toEqual([ann.id]);
      expect(await search("ann%")).toEqual([]);
      expect(await search("_00%")).toEqual([]);
      const shown = (await operator.call("GET", `/api/operator/people/${ann.id}`)).json<object>();
      expect(shown).toMatchObject({ email: "ann_100%@example.com", sessions: 1, workspaces: [] });
    });

    test("disables an account, which ends its sessions, and enables it", async () => {
      const ann = await makePerson(site, { roles: { default: "owner" } });
      const path = `/api/operator/people/${ann.id}`;
      expect((await ann.call("GET", "/api/account")).status).toBe(200);
      const off = await operator.call("PATCH", path, { body: { disabled: true } });
      expect(off.json<PersonBody>().disabledAt).not.toBeNull();
      expect((await ann.call("GET", "/api/account")).status).toBe(401);
      const on = await operator.call("PATCH", path, { body: { disabled: false } });
      expect(on.json<PersonBody>().disabledAt).toBeNull();
    });

    test("makes and unmakes operators, and the last one stays", async () => {
      const path = `/api/operator/people/${operator.id}`;
      for (const body of [{ operator: false }, { disabled: true }]) {
        expect(codeOf(await operator.call("PATCH", path, { body }))).toBe("last_operator");
      }
      const ann = await makePerson(site);
      expect((await ann.call("GET", "/api/operator/people")).status).toBe(403);
      await operator.call("PATCH", `/api/operator/people/${ann.id}`, { body: { operator: true } });
      expect((await ann.call("GET", "/api/operator/people")).status).toBe(200);
      // Both take it from each other at once.
      const replies = await Promise.all([
        ann.call("PATCH", path, { body: { operator: false } }),
        operator.call("PATCH", `/api/operator/people/${ann.id}`, { body: { operator: false } }),
      ]);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      const [row] = await query(site.env, "select count(*) as n from people where operator = 1");
      expect(Number((row as { n: number }).n)).toBe(1);
      await query(site.env, `update people set operator = 1 where id = '${operator.id}'`);
      await query(site.env, `update people set operator = 0 where id = '${ann.id}'`);
      operator = await makePerson(site, { operator: true });
    });

    test("changes plans and limits of workspaces", async () => {
      const plan = { hitsPerLinkPerMonth: 5, linksPerMonth: null, storageBytes: 10, emailsPerHourSmtp: 1 };
      const body = { ...plan, emailsPerHourSendgrid: 1, apiPerMinute: 60, eventDays: 7 };
      expect((await operator.call("PUT", "/api/operator/plans/team", { body })).status).toBe(200);
      expect((await items<{ name: string }>("/api/operator/plans")).map(({ name }) => name)).toEqual([
        ...["default", "unlimited", "team"],
      ]);
      const change = { plan: "team", limits: { linksPerMonth: 3 } };
      const path = "/api/operator/workspaces/other";
      const changed = (await operator.call("PATCH", path, { body: change })).json<WorkspaceBody>();
      expect(changed).toMatchObject({ plan: "team", limits: { linksPerMonth: 3, apiPerMinute: 60 } });
      const back = (
        await operator.call("PATCH", path, { body: { limits: { linksPerMonth: "plan" } } })
      ).json<WorkspaceBody>();
      expect(back.limits.linksPerMonth).toBeNull();
      expect((await operator.call("PATCH", path, { body: { plan: "gold" } })).status).toBe(422);
      expect((await operator.call("PUT", "/api/operator/plans/default", { body })).status).toBe(422);
      const detail = (await operator.call("GET", path)).json<{ usage: { limits: unknown[] } }>();
      expect(detail.usage.limits.length).toBeGreaterThan(3);
      expect((await items<WorkspaceBody>("/api/operator/workspaces?search=OTH")).map(({ slug }) => slug)).toEqual([
        "other",
      ]);
    });

    test("suspends, resumes, deletes and restores a workspace without being a member", async () => {
      const key = await site.tenant("stopped");
      const call = async () => (await site.call("GET", "/api/links", { key })).status;
      const path = "/api/operator/workspaces/stopped";
      expect(
        (await operator.call("PUT", `${path}/suspension`, { body: { reason: "spam" } })).json<WorkspaceBody>(),
      ).toMatchObject({
        suspended: "spam",
      });
      expect(await call()).toBe(403);
      expect((await operator.call("DELETE", `${path}/suspension`)).status).toBe(200);
      expect((await operator.call("DELETE", `${path}/suspension`)).status).toBe(404);
      expect(await call()).toBe(200);
      expect((await operator.call("DELETE", path)).status).toBe(200);
      expect(await call()).toBe(403);
      expect((await operator.call("POST", `${path}/restore`)).status).toBe(200);
      expect(await call()).toBe(200);
      expect((await operator.call("GET", "/api/operator/workspaces/nothing")).status).toBe(404);
    });

    test("decides about reports of abuse", async () => {
      const link = await site.create({ url: "https://example.com/bad" });
      const report = (id: string) =>
        query(
          site.env,
          `insert into abuse_reports (id, domain, code, reason, url, state, created_at)
           values ('${id}', '', '${link.code}', 'phishing', 'https://example.com/bad', 'open', 1)`,
        );
      const id = (n: number) => `rep_0000000000000000000000000${n}`;
      for (const n of [1, 2, 3]) await report(id(n));
      expect(await items<{ id: string }>("/api/operator/abuse")).toHaveLength(3);
      expect((await operator.call("POST", `/api/operator/abuse/${id(1)}/dismiss`)).status).toBe(204);
      expect((await operator.call("POST", `/api/operator/abuse/${id(1)}/dismiss`)).status).toBe(404);
      const closed = await operator.call("POST", `/api/operator/abuse/${id(2)}/suspend`, { body: {} });
      expect(closed.json<object>()).toEqual({ closed: 2 });
      await until("the link to stop", async () => (await site.visit(`/${link.code}`)).status === 451 || undefined);
    });

    test("sees emails, jobs and health", async () => {
      expect((await operator.call("GET", "/api/operator/email")).json<object>()).toMatchObject({
        used: 0,
        workspaces: [],
      });
      expect(Array.isArray(await items("/api/operator/jobs"))).toBe(true);
      const health = await operator.call("GET", "/api/operator/health");
      expect(health.json<object>()).toMatchObject({ status: "ready", dependencies: [{ name: "sql", ok: true }] });
      const { findings } = health.json<{ findings: { check: string }[] }>();
      expect(findings.map(({ check }) => check)).toContain("database");
    });
  });
}
