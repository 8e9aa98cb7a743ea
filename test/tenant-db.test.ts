/** Isolation between tenants: what the types rule out, and every place that goes across tenants on purpose. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TenantId } from "../src/base/ids.ts";
import { type Db, ofTenant } from "../src/sql/tenant-db.ts";

const root = join(import.meta.dir, "..");

/** How often each file calls `acrossTenants`, and why it may. A new use is a decision: add it here. */
const crossings: Readonly<Record<string, readonly [uses: number, why: string]>> = {
  "src/branding/branding.ts": [
    3,
    "a visitor has no tenant: the look is found by the link's tenant, by the domain, or a logo by its hash",
  ],
  "src/server/clean-due.ts": [4, "asks whether there is anything old of any tenant"],
  "src/share-pages/shares.ts": [1, "whoever has the token sees what its owner published"],
  "src/import-export/runs/import-runs.ts": [1, "one process works off the imports of all tenants"],
  "src/clicks/notices/dead-targets.ts": [1, "walks over the dead destinations of all tenants; each is told of its own"],
  "src/clicks/notices/find-notices.ts": [1, "finds the tenants that want notices; each is then read by its own handle"],
  "src/links/trash/trash-store.ts": [
    2,
    "the job deletes old links for good; the operator restores any tenant's link by its code",
  ],
  "src/history/purge.ts": [3, "one process deletes the old rows of all tenants"],
  "src/abuse/suspensions.ts": [
    1,
    "the operator suspends links of any tenant, and the row belongs to the log of its owner",
  ],
  "src/abuse/apply-blocklist.ts": [3, "the blocklist and the operator's restore hold for the links of all tenants"],
  "src/clicks/rollups/purge.ts": [1, "one process deletes the old clicks of all tenants, each by its own plan"],
  "src/clicks/rollups/purge-rollups.ts": [
    2,
    "the walk over all roll-ups asks whether their links and groups still exist",
  ],
  "src/clicks/rollups/purge-tenants.ts": [1, "finds clicks of tenants that are gone"],
  "src/clicks/rollups/due-tenants.ts": [2, "one process condenses the clicks of all tenants"],
  "src/clicks/events/groups.ts": [2, "a batch has clicks of all tenants; each row names the tenant of its link"],
  "src/clicks/events/link-totals.ts": [1, "a batch has clicks of all tenants; each row names the tenant of its link"],
  "src/clicks/events/tenant-days.ts": [1, "locks the rows of the tenants of a batch, in one order"],
  "src/domains/store.ts": [
    3,
    "redirects need every verified domain; one is removed only when no link at all is on it; the blocklist is the operator's",
  ],
  "src/email/notices/near-limits.ts": [1, "a visited link is known by domain and code only"],
  "src/email/settings/settings.ts": [
    2,
    "finds the tenants that want notices, or whose keys the operator reseals; each is then read and written by its own handle",
  ],
  "src/email/outbox/counter-seeds.ts": [1, "the platform's limit counts the emails of all tenants"],
  "src/email/outbox/store.ts": [1, "one sender works off the outbox of all tenants"],
  "src/files/archive.ts": [3, "a backup has the files of all tenants"],
  "src/files/upkeep/orphans.ts": [2, "compares everything in storage with the files of all tenants"],
  "src/files/store.ts": [
    2,
    "a signed address names the file alone; the sweeper ends what was left behind, of all tenants",
  ],
  "src/idempotency/answers.ts": [2, "a server that is alone releases all claims; the daily job prunes expired answers"],
  "src/links/read/details.ts": [2, "a visitor has no tenant: the link is found by domain and code"],
  "src/links/read/meta.ts": [1, "the operator looks up a link of any tenant by domain and code"],
  "src/links/create/new-links.ts": [2, "inserts many links at once; each row names the tenant that it was made for"],
  "src/links/store.ts": [2, "a redirect finds any tenant's link by domain and code; the purge goes over all of them"],
  "src/link-health/store.ts": [2, "one process checks the links of all tenants"],
  "src/people/access.ts": [1, "a person may be a member of several workspaces"],
  "src/people/account-data.ts": [5, "a person's keys, history, invitations and memberships are in several workspaces"],
  "src/people/workspaces/keys-of-member.ts": [
    1,
    "a person's keys in all workspaces, whose versions are raised together",
  ],
  "src/people/workspaces/invitations.ts": [1, "whoever has the token is shown which workspace it is for"],
  "src/people/workspaces/workspaces.ts": [2, "the workspaces of a person"],
  "src/people/factors/identities.ts": [1, "somebody may be invited to any workspace"],
  "src/tenants/keys.ts": [2, "a key tells whose it is; times of use are written by key id, for all tenants together"],
  "src/tenants/tenants.ts": [1, "reads a tenant together with its own suspension and default domain"],
};

const program = [...new Bun.Glob("src/**/*.ts").scanSync(root)]
  .filter((path) => !path.endsWith(".test.ts") && !path.startsWith("src/sql/"))
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

test("every query across tenants is in the list, with a reason", () => {
  const uses = program.flatMap(({ path, text }) => {
    const count = text.match(/\bacrossTenants\(/g)?.length ?? 0;
    return count === 0 ? [] : [[path, count] as const];
  });
  expect(Object.fromEntries(uses)).toEqual(
    Object.fromEntries(Object.entries(crossings).map(([path, [count]]) => [path, count])),
  );
});

test("only sql/ knows the type of the whole schema, so a handle is the only way to a tenant's rows", () => {
  const whole =
    /\bSchema\b(?=[^;]*from "[^"]*sql\/schema\.ts")|\b(?:Kysely|Transaction|QueryCreator)<|\bas unknown as (?:Db|Trx|TenantDb)\b|\bunwrap\b/;
  expect(program.filter(({ text }) => whole.test(text)).map(({ path }) => path)).toEqual([]);
});

test("no text of SQL names a tenant's table, where no type can see it", () => {
  const tables = "api_keys|domains|email_settings|emails|files|idempotency|imports|links|suppressions";
  const named = new RegExp(
    `\\b(?:from|join|into|update)\\s+"?(?:${tables}|suspended_tenants|tenant_storage|tenant_usage)\\b`,
    "g",
  );
  const found = program.flatMap(({ path, text }) =>
    [...text.matchAll(/`[^`]*`/g)].flatMap(([text]) => (text.match(named) ?? []).map((what) => `${path}: ${what}`)),
  );
  // A subquery in the condition of a query that is scoped, so that the index of files is used.
  expect(found).toEqual(["src/links/read/find.ts: from links"]);
});

test("the types refuse a query that could reach another tenant's rows", () => {
  // Checked by the compiler, never run.
  const refused = (db: Db, tenant: TenantId) => {
    const own = ofTenant(db, tenant);
    return [
      // @ts-expect-error a tenant's table is not reachable without a tenant
      () => db.selectFrom("links"),
      // @ts-expect-error
      () => db.insertInto("emails"),
      // @ts-expect-error
      () => db.updateTable("domains"),
      // @ts-expect-error
      () => db.deleteFrom("files"),
      // @ts-expect-error a join onto another tenant's table needs a query of the handle
      () => own.selectFrom("links").innerJoin("files", "files.id", "links.file_id"),
      // @ts-expect-error the same in a subquery
      () => own.selectFrom("links as l").where((row) => row.exists(row.selectFrom("emails as e").select("e.id"))),
      // @ts-expect-error a shared table has no tenant
      () => own.selectFrom("changes"),
      // @ts-expect-error the handle says whose the row is
      () => own.insertInto("tenant_storage").values({ tenant_id: tenant, bytes: 0, version: 0 }),
      // @ts-expect-error rows stay with their tenant
      () => own.updateTable("tenant_storage").set({ tenant_id: tenant }),
      () =>
        own
          .insertInto("imports")
          .values({ id: "i", records: 0, line: 0, made: 0, present: 0, refused: 0, started_at: 0 })
          // @ts-expect-error the row in the way may be another tenant's
          .onConflict((conflict) => conflict.column("id").doUpdateSet({ records: 1 })),
    ];
  };
  const allowed = (db: Db, tenant: TenantId) => {
    const own = ofTenant(db, tenant);
    return [
      () => own.selectFrom("links").innerJoin(own.selectFrom("files").selectAll().as("f"), "f.id", "links.file_id"),
      () => own.selectFrom("links as l").innerJoin("quotas as q", "q.code", "l.code").select("q.counted"),
    ];
  };
  expect([refused, allowed]).toHaveLength(2);
});
