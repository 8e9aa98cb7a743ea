/** Every list of the API, found in its own document: it comes in pages, and what it lists has an end. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { annotationsMost } from "../../src/annotations/annotations.ts";
import { domainsMost } from "../../src/domains/domains.ts";
import { filesMost } from "../../src/files/files.ts";
import { runsMost } from "../../src/import-export/runs/import-runs.ts";
import { templatesMost } from "../../src/links/utm-templates/utm-templates.ts";
import { invitationsMost } from "../../src/people/workspaces/invitations.ts";
import { sharesMost } from "../../src/share-pages/shares.ts";
import { factColumns } from "../../src/sql/schema.ts";
import { keysMost } from "../../src/tenants/keys.ts";
import {
  type DatabaseName,
  databases,
  must,
  type ProblemBody,
  query,
  type Reply,
  type Site,
  startSite,
} from "./servers.ts";

type Schema = { $ref?: string; type?: string; properties?: Record<string, Schema>; items?: Schema };
type Parameter = { name: string; in: string; schema?: { minimum?: number; maximum?: number; default?: number } };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } };

/** Arrays in responses that clients cannot make longer: what they hold, and why they are bounded. */
const fixed: Readonly<Record<string, string>> = {
  "getUsage.limits": "one for each limit that there is",
  "getUsage.hitsPerLinkPerMonth": "the ten links nearest to their limit",
  "getEmailStats.providers": "one for each provider that there is",
  "listEmailTemplates.items": "one for each email that there is",
  "getStats.series": "as many intervals as a report may have",
  "getLinkStats.series": "as many intervals as a report may have",
  "getLinkTrends.items": "one for each link that is asked for, at most 100",
  "getLinkTrends.days": "at most 100 days",
  "listLinkClicks.items": "the pages of listClicks, of one link",
  "listLinkHistory.items": "the pages of a link's history, at most 10,000 changes; `test/e2e/trash.test.ts` reads them",
  "listServerHistory.items": "the pages of listHistory, of no tenant",
  "getClickSettings.tags": "at most 50 of a tenant",
  "listOwnWorkspaces.items": "at most 100 of a person",
  "listPlans.items": "only operators add plans",
  "listAbuseReports.items": "the oldest 200",
  "listJobs.items": "one for each job that there is",
  "getPlatformEmails.kinds": "one for each kind of email that there is",
  "getPlatformEmails.workspaces": "the 20 that sent most",
  "getHealth.dependencies": "one for each dependency that there is",
  "getHealth.findings": "as many as there are checks",
  "exportAccount.sessions": "at most 50 of a person",
  "exportAccount.workspaces": "at most 100 of a person",
  "exportAccount.keys": "at most 1,000",
  "exportAccount.passkeys": "as many as a person may have",
  "exportAccount.identities": "one for each provider that there is",
  "exportAccount.devices": "as many as a person may have",
  "exportAccount.changesByYou": "at most 10,000",
  "exportAccount.changesOfYourAccount": "at most 10,000",
  "listPeople.items": "pages for operators: test/e2e/operator.test.ts",
  "listWorkspaces.items": "pages for operators: test/e2e/operator.test.ts",
  "checkCode.suggestions": "at most three",
  "checkDestination.errors": "one for each rule that there is",
  "listImportRows.items": "pages of at most 1,000 rows of one import: test/e2e/import-api.test.ts",
  "getLink.tags": "at most 20 of a link",
  "getLink.rules": "at most 20 of a link",
  "getLink.split": "at most 10 of a link",
  "getAccount.workspaces": "of one person: every call needs all of them",
  "listSessions.items": "at most 50 of a person",
  "listDevices.items": "at most 20 of a person",
  "listPasskeys.items": "at most 20 of a person",
};

interface Listed {
  /** Makes this many items of the tenant; `first` is the number of the first one. */
  fill(site: Site, slug: string, count: number, first: number): Promise<unknown>;
  /** How many a tenant may have, and what asks for one more; or why no cap is needed. */
  readonly cap: Cap | string;
}

interface Cap {
  readonly most: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly problem: string;
  /** Where the cap is the plan's: what sets it to `most`. */
  readonly plan?: readonly string[];
}

const padded = (place: string) => `substr('000000' || ${place}, length('000000' || ${place}) - 5)`;

/** Rows of the tenant by one statement; `row` is what they have besides its id, by their number. */
async function insert(
  site: Site,
  slug: string,
  table: string,
  row: Readonly<Record<string, string>>,
  count: number,
  first: number,
) {
  const [columns, values] = [Object.keys(row).join(", "), Object.values(row).join(", ")];
  await query(
    site.env,
    `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${first + count - 1})
     insert into ${table} (tenant_id, ${columns}) select t.id, ${values} from n, tenants t where t.slug = '${slug}'`,
  );
}

const id = (prefix: string, slug: string) =>
  `'${prefix}_00000' || '${slug.slice(0, 5).padEnd(5, "0")}' || '0000000000' || ${padded("i")}`;

/** Each list that the document has. A new one needs a line here. */
const lists: Readonly<Record<string, Listed>> = {
  listLinks: {
    async fill(site, slug, count, first) {
      for (let i = first; i < first + count; i++) {
        must(await site.cli("link", "create", `https://example.com/${i}`, "--tenant", slug));
      }
    },
    cap: {
      ...{ most: 0, method: "POST", path: "/api/links", body: { url: "https://example.com/" } },
      ...{ problem: "limit_reached", plan: ["--links", "0"] },
    },
  },
  listKeys: {
    fill: (site, slug, count, first) => {
      const row = {
        id: id("key", slug),
        hash: `'${slug}' || i`,
        name: "'n' || i",
        hint: "'h'",
        scopes: "'[]'",
        created_at: "i",
      };
      return insert(site, slug, "api_keys", row, count, first);
    },
    cap: {
      ...{ most: keysMost, method: "POST", path: "/api/keys", body: { name: "one more", scopes: ["admin"] } },
      problem: "collection_full",
    },
  },
  listDomains: {
    fill: (site, slug, count, first) => {
      const row = {
        host: `'${slug}' || i || '.example.com'`,
        state: "'pending'",
        token: "'t'",
        is_default: "0",
        created_at: "i / 3",
      };
      return insert(site, slug, "domains", row, count, first);
    },
    cap: {
      ...{ most: domainsMost, method: "POST", path: "/api/domains", body: { host: "one-more.example.com" } },
      problem: "collection_full",
    },
  },
  listFiles: {
    fill: async (site, slug, count, first) => {
      const row = {
        ...{ id: id("fil", slug), name: "'n'", size_bytes: "1", type: "'text/plain'", state: "'stored'", settled: "1" },
        ...{ created_at: "1", upload_until: "2", stored_at: "2" },
      };
      await insert(site, slug, "files", row, count, first);
      must(await site.cli("sync", "quotas", "--tenant", slug));
    },
    cap: {
      ...{ most: filesMost, method: "POST", path: "/api/files", body: { name: "a", size: 1, type: "text/plain" } },
      problem: "collection_full",
    },
  },
  listClicks: {
    fill: (site, slug, count, first) => {
      const now = Date.now() - 60_000;
      const facts = factColumns.map(() => "0").join(", ");
      return query(
        site.env,
        `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${first + count - 1})
         insert into clicks (day, tenant, level, link, at, seq, domain, tags, reason, first, ${factColumns.join(", ")})
         select ${Math.floor(now / 86_400_000)}, t.number, i % 3, i, ${now}, i % 2, -1, 0, 0, 0, ${facts}
         from n, tenants t where t.slug = '${slug}'`,
      );
    },
    cap: "visitors add to it; events have a cap for each link and quarter hour, and end after some days",
  },
  listMembers: {
    fill: async (site, slug, count, first) => {
      const person = id("per", slug);
      await query(
        site.env,
        `with recursive n(i) as (select ${first} union all select i + 1 from n where i < ${first + count - 1})
         insert into people (id, email, mailbox, name, created_at)
         select ${person}, ${person} || '@example.com', ${person} || '@example.com', 'n', 1 from n`,
      );
      await insert(site, slug, "members", { person_id: person, role: "'viewer'", created_at: "i" }, count, first);
    },
    cap: "people join by invitation: test/conformance/invitations.test.ts",
  },
  listInvitations: {
    fill: (site, slug, count, first) => {
      const row = {
        ...{ id: id("inv", slug), hash: `'${slug}' || i`, role: "'viewer'", created_at: "i" },
        expires_at: String(Date.now() + 3_600_000),
      };
      return insert(site, slug, "invitations", row, count, first);
    },
    cap: {
      ...{ most: invitationsMost, method: "POST", path: "/api/invitations", body: { role: "viewer" } },
      problem: "collection_full",
    },
  },
  listTrash: {
    async fill(site, slug, count, first) {
      for (let i = first; i < first + count; i++) {
        const code = `${slug}-trashed-${i}`;
        must(await site.cli("link", "create", `https://example.com/${i}`, "--tenant", slug, "--code", code));
        must(await site.cli("link", "delete", code, "--tenant", slug));
      }
    },
    cap: "it has no more than the links that were created, and each is gone after 30 days",
  },
  listHistory: {
    fill: (site, slug, count, first) => {
      const row = {
        ...{ id: id("his", slug), at: "1", actor_kind: "'job'", actor_name: "'j'", action: "'a.b'" },
        ...{ subject_kind: "'thing'", subject_id: "'t'", after_change: "'{}'" },
      };
      return insert(site, slug, "history", row, count, first);
    },
    cap: "the limit on API calls bounds it, and each row is gone after QL_HISTORY_DAYS",
  },
  listAnnotations: {
    fill: (site, slug, count, first) =>
      insert(
        site,
        slug,
        "annotations",
        { id: id("ann", slug), at: "i", text: "'Sent'", created_at: "1" },
        count,
        first,
      ),
    cap: {
      ...{ most: annotationsMost, method: "POST", path: "/api/annotations", body: { text: "One more" } },
      problem: "collection_full",
    },
  },
  listUtmTemplates: {
    fill: (site, slug, count, first) => {
      const row = {
        id: id("utm", slug),
        name: `'name-' || ${padded("i")}`,
        utm: "'{}'",
        created_at: "1",
        updated_at: "1",
      };
      return insert(site, slug, "utm_templates", row, count, first);
    },
    cap: {
      ...{ most: templatesMost, method: "POST", path: "/api/utm-templates" },
      ...{ body: { name: "one more", utm: { source: "newsletter" } }, problem: "collection_full" },
    },
  },
  listStatsShares: {
    fill: (site, slug, count, first) => {
      const row = {
        ...{ id: id("shr", slug), token: `'${slug}-' || i`, tag: "'spring'", days: "30", filters: "'[]'" },
        ...{ breakdowns: "'[]'", created_at: "1" },
      };
      return insert(site, slug, "stats_shares", row, count, first);
    },
    cap: {
      ...{ most: sharesMost, method: "POST", path: "/api/stats/shares", body: { tag: "spring" } },
      problem: "collection_full",
    },
  },
  listImports: {
    fill: (site, slug, count, first) => {
      const row = {
        ...{ id: id("imp", slug), file_id: "'file_1'", name: "'links.csv'", size_bytes: "10", state: "'done'" },
        ...{ actor: `'{"kind":"job","name":"j"}'`, created_at: "1", updated_at: "1" },
      };
      return insert(site, slug, "link_imports", row, count, first);
    },
    cap: `at most ${runsMost}: test/e2e/import-api.test.ts`,
  },
  listTags: {
    async fill(site, slug, count, first) {
      for (let i = first; i < first + count; i++) {
        const code = `${slug}-tagged-${i}`;
        must(await site.cli("link", "create", `https://example.com/${i}`, "--tenant", slug, "--code", code));
        await query(site.env, `update links set tags = '["tag-${i}"]' where code = '${code}'`);
      }
    },
    cap: "it has no more than the tags of the links, and lists 5,000 of them",
  },
  listSuppressions: {
    fill: (site, slug, count, first) => {
      const row = { address: `'a' || ${padded("i")} || '@example.com'`, reason: "'bounced'", created_at: "1" };
      return insert(site, slug, "suppressions", row, count, first);
    },
    cap: "nobody can add to it but recipients, one entry for each email that was sent: the limit on emails is its own",
  },
};

for (const database of databases) {
  describe(`on ${database}`, () => suite(database));
}

function suite(database: DatabaseName): void {
  let site: Site;
  let document: Document;

  beforeAll(async () => {
    site = await startSite(database);
    document = (await site.visit("/openapi.json")).json<Document>();
  });

  afterAll(async () => {
    expect(await site.server.stop()).toBe(0);
  });

  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});

  /** The arrays at the top of each GET's answer: `listLinks.items`. */
  function arrays(): Map<string, { path: string; operation: Operation; schema: Schema }> {
    const found = new Map<string, { path: string; operation: Operation; schema: Schema }>();
    for (const [path, { get: operation }] of Object.entries(document.paths)) {
      const answer = operation?.responses[200]?.content?.["application/json"]?.schema;
      if (operation === undefined || answer === undefined) continue;
      const schema = resolved(answer);
      if (schema.type === "array") found.set(`${operation.operationId}.`, { path, operation, schema });
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        if (resolved(property).type === "array")
          found.set(`${operation.operationId}.${name}`, { path, operation, schema });
      }
    }
    return found;
  }

  test("every array in an answer is a page of a list, or cannot grow", () => {
    const names = [...arrays().keys()];
    expect(names.toSorted()).toEqual(
      [...Object.keys(lists).map((name) => `${name}.items`), ...Object.keys(fixed)].toSorted(),
    );
    for (const name of Object.keys(lists)) {
      const { operation, schema } = arrays().get(`${name}.items`) ?? {};
      expect([name, Object.keys(schema?.properties ?? {}).toSorted()]).toEqual([name, ["items", "nextCursor"]]);
      const parameter = (wanted: string) =>
        operation?.parameters?.find((one) => one.name === wanted && one.in === "query");
      expect([name, parameter("limit")?.schema]).toMatchObject([name, { minimum: 1, maximum: 100, default: 50 }]);
      expect([name, parameter("cursor") !== undefined]).toEqual([name, true]);
    }
  });

  const pathOf = (name: string): string => arrays().get(`${name}.items`)?.path ?? "";
  const refusal = (reply: Reply) => [
    reply.status,
    reply.json<ProblemBody>().errors?.map(({ field, code }) => [field, code]),
  ];
  let tenants = 0;

  async function newTenant(): Promise<{ slug: string; key: string }> {
    const slug = `t${++tenants}`;
    return { slug, key: await site.tenant(slug) };
  }

  test("commands print lists of any length, page after page", async () => {
    const { slug } = await newTenant();
    await lists.listKeys?.fill(site, slug, 249, 1);
    const printed = must(await site.cli("key", "list", "--tenant", slug));
    expect(printed.trimEnd().split("\n")).toHaveLength(250);
    const all = JSON.parse(must(await site.cli("key", "list", "--tenant", slug, "--json"))) as { id: string }[];
    expect(new Set(all.map((key) => key.id)).size).toBe(250);
    const none = must(await site.cli("domain", "list", "--tenant", slug, "--json"));
    expect(none).toBe("[]\n");
  });

  for (const [name, { fill, cap }] of Object.entries(lists)) {
    test(`${name} gives everything once, in pages that are never longer than asked for`, async () => {
      const { slug, key } = await newTenant();
      const get = (params: string, by = key) => site.call("GET", `${pathOf(name)}?${params}`, { key: by });
      await fill(site, slug, 5, 100);
      const whole = (await get("limit=100")).json<{ items: unknown[]; nextCursor: string | null }>();
      expect([whole.items.length >= 5, whole.nextCursor]).toEqual([true, null]);
      const [walked, cursors]: [unknown[], string[]] = [[], []];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: { items: unknown[]; nextCursor: string | null } = (
          await get(cursor === "" ? "limit=2" : `limit=2&cursor=${cursor}`)
        ).json();
        expect(page.items.length).toBeLessThanOrEqual(2);
        walked.push(...page.items);
        cursor = page.nextCursor;
        if (cursor !== null) cursors.push(cursor);
        if (cursors.length > 20) throw new Error("the pages have no end");
      }
      expect(walked).toEqual(whole.items);

      for (const limit of ["101", "0", "-1", "1.5", "x", "100000"]) {
        const [status, errors] = refusal(await get(`limit=${limit}`));
        expect([limit, status, errors]).toMatchObject([limit, 422, [["limit", expect.any(String)]]]);
      }
      const [cursor = ""] = cursors;
      const badCursor = [422, [["cursor", "bad_cursor"]]];
      for (const bad of ["x", "x.y", "key_00000000000000000000000000", cursor.slice(1), `${cursor}x`]) {
        expect([bad, refusal(await get(`cursor=${bad}`))]).toEqual([bad, badCursor]);
      }
      const stranger = await newTenant();
      expect(refusal(await get(`cursor=${cursor}`, stranger.key))).toEqual(badCursor);
      for (const other of Object.keys(lists).filter((one) => one !== name)) {
        expect([other, refusal(await site.call("GET", `${pathOf(other)}?cursor=${cursor}`, { key }))]).toEqual([
          other,
          badCursor,
        ]);
      }
    }, 60_000);

    if (typeof cap === "string") continue;

    test(`what ${name} lists has a cap, and at it one more is refused as the document says`, async () => {
      const { slug, key } = await newTenant();
      if (cap.plan) must(await site.cli("tenant", "update", slug, ...cap.plan));
      const before = await newTenant();
      if (cap.most > 0) {
        const own = name === "listKeys" ? 1 : 0; // the key that it calls with
        await fill(site, slug, cap.most - own, 1);
        await fill(site, before.slug, cap.most - own - 1, 200_000);
        const last = await site.call(cap.method, cap.path, { key: before.key, body: cap.body });
        expect([name, last.status]).toEqual([name, 201]);
      }
      const refused = await site.call(cap.method, cap.path, { key, body: cap.body });
      const { code, detail } = refused.json<ProblemBody>();
      expect([name, code]).toEqual([name, cap.problem]);
      const named = document.paths[cap.path]?.[cap.method.toLowerCase()]?.responses[refused.status]?.description;
      expect(named).toContain(`\`${cap.problem}\``);
      if (cap.most > 0) expect(detail).toContain(cap.most.toLocaleString("en"));
    }, 120_000);
  }
}
