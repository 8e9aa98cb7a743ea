/** A database that was made by the first version, and used, is brought up to today: nothing in it is lost on any step. */

import { describe, expect, test } from "bun:test";
import { CompiledQuery } from "kysely";
import { manualClock } from "../../src/base/clock.ts";
import type { LinkId, TenantId } from "../../src/base/ids.ts";
import { createPasswords } from "../../src/base/passwords.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { createEmailSettings } from "../../src/email/settings/settings.ts";
import { createPositions } from "../../src/import-export/import-position.ts";
import { createLinks } from "../../src/links/links.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { requireSalt, takeCodeBlock } from "../../src/sql/code-counter.ts";
import { createFeed } from "../../src/sql/feed.ts";
import { migrate, requireCurrentSchema, schemaState } from "../../src/sql/migrate.ts";
import { factColumns } from "../../src/sql/schema.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createKeys } from "../../src/tenants/keys.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand, byKey } from "../ground/actors.ts";
import { nameOf } from "../ground/changes.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";

const at = Date.UTC(2026, 10, 1);
const later = at + 86_400_000;
const codes = createCodes("a salt for tests of upgrades");

/** What was written under each version, in the words of that version. */
const written: Readonly<Record<string, readonly string[]>> = {
  "0001-foundation": [
    `insert into tenants (id, name, slug, plan, limits, created_at)
      values ('ten_1', 'First', 'first', 'default', '{"hitsPerLinkPerMonth":500}', '2026-11-01T00:00:00.000Z')`,
    `insert into members (id, tenant_id, user_id, role, created_at)
      values ('mem_1', 'ten_1', 'usr_1', 'owner', '2026-11-01T00:00:00.000Z')`,
    `insert into invitations (id, tenant_id, email, role, status, inviter_id, expires_at, created_at)
      values ('inv_1', 'ten_1', 'a@example.com', 'member', 'pending', 'usr_1', '2026-12-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z')`,
    `insert into plans (name, limits, created_at) values ('team', '{"linksPerMonth":7}', ${at})`,
    `insert into api_keys (id, tenant_id, name, hint, hash, scopes, created_at)
      values ('key_1', 'ten_1', 'website', 'ql_abc', 'hash', '["links:read"]', ${at})`,
    "update counters set next = 3000 where name = 'codes'",
    `insert into code_epochs (epoch, fingerprint, created_at) values (1, '${codes.fingerprint}', ${at})`,
    `insert into link_versions (domain, code, version, state, tenant_id) values
      ('', 'active', 4, 'live', 'ten_1'), ('', 'disabled', 2, 'live', 'ten_1'), ('', 'limited', 1, 'live', 'ten_1'),
      ('', 'deleted', 6, 'deleted', 'ten_1'), ('', 'purged', 9, 'purged', 'ten_2')`,
    `insert into links (id, tenant_id, domain, code, url, permanent, status, expires_at, title, notes, tags, fallback_url,
        password_hash, hits_per_month, created_at, updated_at) values
      ('lnk_1', 'ten_1', '', 'active', 'https://example.com/1', 1, 'active', null, 'Title', 'Notes', '["a"]', null, null, null, ${at}, ${at}),
      ('lnk_2', 'ten_1', '', 'disabled', 'https://example.com/2', 0, 'disabled', null, null, null, '[]', null, null, null, ${at}, ${at}),
      ('lnk_3', 'ten_1', '', 'limited', 'https://example.com/3', 0, 'active', ${later * 2}, null, null, '[]', 'https://example.com/', null, 42, ${at}, ${at})`,
    `insert into changes (domain, code, version, at) values ('', 'active', 4, ${at}), ('', 'deleted', 6, ${at})`,
  ],
  "0002-hits": [
    `insert into quotas (domain, code, month, draws, counted, reserved) values ('', 'limited', '2026-11', 'hits', 30, 5)`,
    `insert into leases (id, month, size) values ('lease_1', '2026-11', 5)`,
    `insert into hits (domain, code, month, reason, hits) values ('', 'limited', '2026-11', 'counted', 30)`,
    `insert into recorders (id, sequence, seen_at) values ('rec_1', 17, ${at})`,
  ],
  "0003-usage": [`insert into tenant_usage (tenant_id, name, month, used) values ('ten_1', 'links', '2026-11', 3)`],
  "0004-instances": [
    `insert into instances (id, host, pid, shares, started_at, seen_at) values ('ins_1', 'host', 1, 1, ${at}, ${at})`,
  ],
  "0006-hot-links": [
    `insert into hot_links (instance, domain, code, per_minute, usual_per_minute, unusual, seen_at)
      values ('ins_1', '', 'active', 10, 5, 0, ${at})`,
  ],
  "0007-jobs": [`insert into jobs (name, due_at, holder) values ('job', ${at}, null)`],
  "0008-email": [
    `insert into emails (id, tenant_id, kind, recipient, subject, state, due_at, created_at)
      values ('eml_1', 'ten_1', 'invitation', 'a@example.com', 'Hello', 'queued', ${at}, ${at})`,
    `insert into suppressions (tenant_id, address, reason, created_at) values ('ten_1', 'b@example.com', 'bounced', ${at})`,
    `insert into email_settings (tenant_id, contact, updated_at) values ('ten_1', 'c@example.com', ${at})`,
  ],
  "0009-files": [
    `insert into files (id, tenant_id, name, size_bytes, type, sha256, state, created_at, upload_until, stored_at) values
      ('fil_1', 'ten_1', 'a.pdf', 10, 'application/pdf', null, 'pending', ${at}, ${at}, null),
      ('fil_2', 'ten_1', 'b.pdf', 20, 'application/pdf', 'abc', 'stored', ${at}, ${at}, ${at})`,
    `insert into tenant_storage (tenant_id, bytes, version) values ('ten_1', 30, 2)`,
    ...linkOf("file", `url, file_id`, `'', 'fil_2'`),
  ],
  "0010-rules": linkOf(
    "rules",
    "url, rules, split, utm, forward_query",
    `'https://example.com/', '[{"when":{"country":["DE"]},"url":"https://example.com/de"}]',
      '[{"url":"https://example.com/a","weight":1},{"url":"https://example.com/b","weight":2}]', '{"source":"print"}', 1`,
  ),
  "0011-domains": [
    `insert into domains (tenant_id, host, state, token, is_default, root_url, missing_url, created_at, verified_at) values
      ('ten_1', 'go.example.com', 'verified', 'token', 0, 'https://example.com/root', null, ${at}, ${at}),
      ('ten_1', 'new.example.com', 'pending', 'other', 0, null, null, ${at}, null)`,
    // The version of a domain was that of a link without a code.
    `insert into link_versions (domain, code, version, state, tenant_id) values ('go.example.com', '', 8, 'live', 'ten_1')`,
    `insert into changes (domain, code, version, at) values ('go.example.com', '', 8, ${at})`,
    ...linkOf("theirs", "url", "'https://example.com/theirs'", "go.example.com"),
  ],
  "0012-idempotency": [
    `insert into idempotency (tenant_id, key_hash, fingerprint, seed, state, claim, claimed_until, answer, created_at, expires_at)
      values ('ten_1', 'hash', 'print', 'seed', 'done', 'claim', ${at}, '{"status":201}', ${at}, ${later})`,
  ],
  "0013-targets": [
    `insert into targets (link_id, url_hash, state, http_status, reason, failures, wants_title, checked_at, next_check_at)
      values ('lnk_1', 'hash', 'failing', 500, 'status', 2, 0, ${at}, ${later})`,
    `insert into walks (name, position) values ('targets', 'lnk_1')`,
  ],
  "0014-abuse": [
    `insert into abuse_reports (id, domain, code, reason, state, created_at)
      values ('rep_1', '', 'active', 'phishing', 'open', ${at})`,
    ...linkOf("stopped", "url", "'https://example.com/stopped'"),
    `insert into suspended_links (domain, code, cause, reason, suspended_by, suspended_at)
      values ('', 'stopped', 'operator', 'phishing', 'operator', ${at})`,
  ],
  "0015-imports": [
    `insert into imports (id, tenant_id, records, line, made, present, refused, started_at, finished_at)
      values ('imp_1', 'ten_1', 500, 501, 490, 6, 4, ${at}, null)`,
    // The newest link is gone before links get numbers.
    ...linkOf("newest", "url", "'https://example.com/newest'"),
    "delete from links where id = 'lnk_newest'",
    `insert into tenants (id, name, slug, plan, limits, created_at)
      values ('ten_2', 'Second', 'second', 'default', '{}', '2026-11-01T00:00:00.000Z')`,
  ],
  "0023-people": [
    `insert into people (id, email, mailbox, name, created_at)
      values ('per_1', 'Ann@example.com', 'ann@example.com', 'Ann', ${at})`,
    `insert into sessions (id, person_id, hash, method, device, created_at, proved_at, seen_at, idle_ms, expires_at)
      values ('ses_1', 'per_1', 'hash', 'password', 'Firefox on Linux', ${at}, ${at}, ${at}, 1000, ${later})`,
    `insert into person_tokens (hash, kind, person_id, created_at, expires_at)
      values ('hash', 'reset', 'per_1', ${at}, ${later})`,
    `insert into known_devices (id, person_id, hash, device, created_at, expires_at)
      values ('dev_1', 'per_1', 'hash', 'Firefox on Linux', ${at}, ${later})`,
    "insert into recovery_codes (person_id, hash) values ('per_1', 'hash')",
    `insert into passkeys (id, person_id, name, public_key, counter, transports, created_at)
      values ('credential', 'per_1', 'Key', 'key', 0, '[]', ${at})`,
    `insert into identities (issuer, subject, person_id, created_at) values ('https://id.example', 'ann', 'per_1', ${at})`,
    `insert into members (tenant_id, person_id, role, created_at) values ('ten_1', 'per_1', 'owner', ${at})`,
    `insert into invitations (id, tenant_id, hash, role, created_at, expires_at)
      values ('inv_2', 'ten_1', 'hash', 'viewer', ${at}, ${later})`,
    `insert into history (id, tenant_id, at, actor_kind, action, subject_kind, subject_id)
      values ('his_1', 'ten_1', ${at}, 'command', 'link.update', 'link', 'lnk_1')`,
    `insert into trashed_links (id, tenant_id, domain, code, link, deleted_at)
      values ('lnk_0', 'ten_1', '', 'gone', '{}', ${at})`,
  ],
  "0021-clicks": [
    `insert into click_tenants (tenant_id, zone, facts, event_days, late, hours_until, days_until, months_until)
      values ('ten_1', 'Europe/Berlin', 1, null, 0, 0, 0, 0)`,
    "insert into click_groups (tenant_id, kind, name) values ('ten_1', 'tag', 'a')",
    `insert into clicks (day, tenant, level, link, at, seq, domain, tags, reason, first, ${factColumns.join(", ")})
      values (20758, -1, 0, 1, ${at}, 1, -1, 0, 0, 3, ${factColumns.map(() => "0").join(", ")})`,
    `insert into click_overflow (day, tenant, link, quarter, domain, tags, writer, tally, tenant_tally)
      values (20758, -1, 1, ${at}, -1, 0, 'rec_1', '{}', '{}')`,
    `insert into click_days (tenant, start, until, salt) values (-1, ${at}, ${later}, 'salt')`,
    `insert into click_visitors (until, subject, hash) values (${later}, 1, 17)`,
    `insert into click_rollups (subject, grain, start, until, reasons, visitors, itemised, series, facts)
      values (1, 1, ${at}, ${later}, '[1]', 1, 1, '[]', '{}')`,
    `insert into click_links (link, tenant_id, domain, code, clicks, first_at, last_at)
      values (1, 'ten_1', '', 'active', 1, ${at}, ${at})`,
    "insert into click_drops (day, writer, dropped, excluded) values (20758, 'rec_1', 1, 0)",
    `insert into click_history (tenant_id, link, start, until, source, clicks, visitors)
      values ('ten_1', 1, ${at}, ${later}, 'bitly', 5, null)`,
  ],
  "0027-annotations": [
    `insert into annotations (id, tenant_id, at, text, created_at) values ('ann_1', 'ten_1', ${at}, 'Sent', ${at})`,
    `insert into utm_templates (id, tenant_id, name, utm, created_at, updated_at)
      values ('utm_1', 'ten_1', 'Ads', '{"source":"ads"}', ${at}, ${at})`,
  ],
  "0028-branding": [
    `insert into branding (tenant_id, name, colour, updated_at) values ('ten_1', 'Acme', '#112233', ${at})`,
    `insert into stats_shares (id, tenant_id, token, link_id, days, filters, breakdowns, created_at)
      values ('shr_1', 'ten_1', 'token', 'lnk_1', 30, '[]', '[]', ${at})`,
  ],
  "0029-link-imports": [
    `insert into link_imports (id, tenant_id, file_id, name, size_bytes, state, actor, created_at, updated_at)
      values ('imp_1', 'ten_1', 'fil_1', 'links.csv', 1, 'done', '{"kind":"command"}', ${at}, ${at})`,
    `insert into link_import_rows (import_id, tenant_id, phase, line, problem)
      values ('imp_1', 'ten_1', 'check', 2, 'url: Required.')`,
  ],
  "0022-click-notices": [
    `insert into click_notices (tenant_id, kind, link, since, seen_at, facts, mail, told)
      values ('ten_1', 'spike', 1, ${at}, ${at}, '{}', 'spike:1', 1)`,
  ],
};

/** A link of a later version, in its columns. */
function linkOf(code: string, columns: string, values: string, domain = ""): string[] {
  return [
    `insert into link_versions (domain, code, version, state, tenant_id) values ('${domain}', '${code}', 3, 'live', 'ten_1')`,
    `insert into links (id, tenant_id, domain, code, permanent, status, tags, created_at, updated_at, ${columns})
      values ('lnk_${code}', 'ten_1', '${domain}', '${code}', 0, 'active', '[]', ${at}, ${at}, ${values})`,
  ];
}

/** The one step that moves rows to another table: see the end of the test. */
/** There were no people before it, so no row of these can have meant anybody. */
const peopleBegin = "0023-people";
const madeAnew = ["members", "invitations"];
const domainVersionsMove = "0019-change-kinds";
/** The counters of numbers, which a step adds on SQLite. */
const numberCounters: readonly unknown[] = ["groups", "links"];

type Rows = readonly Readonly<Record<string, unknown>>[];

const run = async (sql: Sql, statement: string): Promise<Rows> =>
  (await sql.db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(statement))).rows;

async function everything(sql: Sql): Promise<Map<string, Rows>> {
  const tables = (await sql.db.introspection.getTables()).map(({ name }) => name);
  const all = new Map<string, Rows>();
  for (const name of tables.filter((one) => !one.startsWith("schema_migrations"))) {
    const rows = await run(sql, `select * from ${name} order by 1, 2`);
    all.set(name, name === "counters" ? rows.filter((row) => !numberCounters.includes(row.name)) : rows);
  }
  return all;
}

const numbersOf = async (sql: Sql, table: string): Promise<number[]> =>
  (await run(sql, `select number from ${table}`)).map(({ number }) => Number(number));

onEachDatabase(({ create }) => {
  describe("a database of the first version", () => {
    test("keeps every row and every value through every step, and works as one of today", async () => {
      const sql = (await create()).connect();
      const steps = (await schemaState(sql)).pending;
      for (const step of steps) {
        const before = await everything(sql);
        if (step === domainVersionsMove) {
          before.set(
            "link_versions",
            (before.get("link_versions") ?? []).filter(({ code }) => code !== ""),
          );
        }
        if (step === peopleBegin) for (const table of madeAnew) before.set(table, []);
        expect(await migrate(sql, step)).toEqual([step]);
        const after = await everything(sql);
        for (const [table, rows] of before) {
          // A step may add columns; what was there is as it was.
          expect([table, after.get(table)]).toMatchObject([table, rows.map((row) => ({ ...row }))]);
          expect(after.get(table)).toHaveLength(rows.length);
        }
        for (const statement of written[step] ?? []) await run(sql, statement);
      }
      expect(Object.keys(written).filter((step) => !steps.includes(step))).toEqual([]);
      const empty = [...(await everything(sql))].filter(([, rows]) => rows.length === 0).map(([table]) => table);
      expect(empty).toEqual(["suspended_tenants"]);
      await requireCurrentSchema(sql);

      const clock = manualClock(later);
      await requireSalt(sql, codes.fingerprint, clock);
      const store = createLinkStore(sql);
      const targets = await Promise.all(
        ["active", "disabled", "limited", "deleted"].map((code) => store.target("", code)),
      );
      expect(targets.map(({ version, value }) => [version, value?.url, value?.hitsPerMonth])).toEqual([
        [4, "https://example.com/1", null],
        [2, undefined, undefined],
        [1, "https://example.com/3", 42],
        [6, undefined, undefined],
      ]);
      const { value: byRules } = await store.target("", "rules");
      expect(byRules?.choice).toMatchObject({
        rules: [{ when: { country: ["DE"] }, url: "https://example.com/de?utm_source=print" }],
        split: [{ weight: 1 }, { weight: 2 }],
        forwardQuery: true,
      });
      expect((await store.target("", "file")).value?.file).toMatchObject({ name: "b.pdf", sizeBytes: 20 });
      expect((await store.target("go.example.com", "theirs")).value?.url).toBe("https://example.com/theirs");
      expect((await store.target("", "stopped")).value?.suspended).toBe(true);
      expect(await createPositions(sql, clock).open("ten_1" as TenantId, "imp_1")).toMatchObject({
        line: 501,
        made: 490,
      });
      // Who had settings has an address for SendGrid's events, without saving one again.
      expect(await createEmailSettings(sql, undefined, clock).of("ten_1" as TenantId)).toMatchObject({
        contact: "c@example.com",
        webhookSecret: expect.stringMatching(/^[0-9a-f]{48,64}$/),
      });
      const tenants = createTenants(sql, clock);
      const tenant = await tenants.bySlug("first");
      if (!tenant) throw new Error("the tenant is gone");
      expect(await createKeys({ sql, clock }).list("ten_1" as TenantId, 10)).toMatchObject([{ name: "website" }]);
      expect(await run(sql, "select * from versions")).toEqual([{ kind: "domain", key: "go.example.com", version: 8 }]);
      expect(await run(sql, "select kind, domain, code from changes order by id")).toEqual([
        { kind: "link", domain: "", code: "active" },
        { kind: "link", domain: "", code: "deleted" },
        { kind: "domain", domain: "go.example.com", code: "" },
      ]);
      const linkNumbers = await numbersOf(sql, "links");
      expect([new Set(linkNumbers).size, linkNumbers.length]).toEqual([7, 7]);
      expect(linkNumbers.every((number) => Number.isSafeInteger(number) && number > 0)).toBe(true);
      const groupNumbers = [...(await numbersOf(sql, "tenants")), ...(await numbersOf(sql, "click_groups"))];
      expect([new Set(groupNumbers).size, groupNumbers.length]).toEqual([3, 3]);
      expect(groupNumbers.every((number) => Number.isSafeInteger(number) && number < 0)).toBe(true);
      expect(await run(sql, "select distinct facts from links")).toEqual([{ facts: 1 }]);
      // No version wrote days, however short the period of a total is.
      expect(await run(sql, "select is_total from click_history")).toEqual([{ is_total: 1 }]);
      const feed = createFeed(sql);
      const end = await feed.end();
      const links = createLinks({
        ...linkStores(sql),
        store,
        passwords: createPasswords(),
        issuer: createIssuer(codes, (size) => takeCodeBlock(sql, size), 10),
        clock,
        ownHosts: new Set(),
        defaultDays: 365,
        publish: () => {},
      });
      const generated = await links.create(tenant, { url: "https://example.com/new" }, byKey);
      expect(generated.code).toBe(codes.encode(3_000));
      const again = await links.create(tenant, { url: "https://example.com/new", code: "deleted" }, byKey);
      expect(again.version).toBe(7);
      const edited = await links.patch(tenant, "lnk_1" as LinkId, { title: "Other" }, byCommand, 4);
      expect(edited).toMatchObject({ version: 5, url: "https://example.com/1", tags: ["a"], notes: "Notes" });
      const told = (await feed.after(end, 100)).changes.map((change) => `${nameOf(change)}@${change.version}`);
      // On PostgreSQL what came before may be told once more.
      expect(told.slice(-3)).toEqual([`${generated.code}@1`, "deleted@7", "active@5"]);

      const newest = async () => Math.max(...(await numbersOf(sql, "links")));
      const last = await newest();
      expect(last).toBe(Math.max(...linkNumbers) + 2);
      await links.remove("ten_1" as TenantId, again.id, byCommand);
      expect(await newest()).toBeLessThan(last);
      await links.create(tenant, { url: "https://example.com/newer" }, byKey);
      expect(await newest()).toBe(last + 1);
      await run(
        sql,
        `insert into tenants (id, name, slug, plan, limits, created_at)
          values ('ten_3', 'Third', 'third', 'default', '{}', '2026-11-02T00:00:00.000Z')`,
      );
      expect(Math.min(...(await numbersOf(sql, "tenants")))).toBe(Math.min(...groupNumbers) - 1);
    });
  });
});
