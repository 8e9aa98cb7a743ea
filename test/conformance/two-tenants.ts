/**
 * A second tenant in every database that a suite opens: the twin.
 *
 * Triggers give the twin a copy of every row that any tenant inserts, just before it: the same names, keys, hosts, codes
 * and addresses, and other values only where the schema wants them unique. So every case is a case with two tenants that
 * share everything. A query that forgets its tenant finds the twin's row too, usually first, because the twin's id sorts
 * before all others; and an update or delete that reaches a row of the twin is written down and fails the case.
 *
 * Jobs that go across tenants find nothing to do for the twin: its emails are sent, its uploads never end, and it wants no
 * notices. A case that changes all tenants' rows behind the stores' back leaves out the twin: `where(notOfTwin)`.
 */
import { sql as raw } from "kysely";
import type { PersonId, TenantId } from "../../src/base/ids.ts";
import type { Sql } from "../../src/sql/sql.ts";
import type { OwnedTable } from "../../src/sql/tenant-db.ts";

export const twin = `ten_${"0".repeat(26)}` as TenantId;
/** The twin's only member. Every other person belongs to the tenants of the case alone. */
export const twinPerson = `per_${"0".repeat(26)}` as PersonId;
export const notOfTwin = raw<boolean>`tenant_id <> ${raw.lit(twin)}`;

/** For codes that only one tenant can have: the twin has the same one on its own domain. */
const twinDomain = "twin.example.org";

interface Copy {
  /** Columns of the copy that differ, as SQL over the inserted row. */
  readonly differs: Readonly<Record<string, string>>;
  /** Columns that work across tenants changes, of the twin as of all others. */
  readonly changes?: readonly string[];
  /** What the copy refers to, as an `insert` without conflicts. */
  readonly needs?: string;
}

const otherId = { id: "new.id || 't'" };

const copies: Readonly<Record<OwnedTable | "link_versions", Copy>> = {
  annotations: { differs: { ...otherId, text: "'the twin''s'" } },
  utm_templates: { differs: { ...otherId, utm: "'{}'" } },
  branding: { differs: { name: "'Twin'", logo_hash: "null" } },
  stats_shares: { differs: { ...otherId, token: "'twin ' || new.token", password_hash: "null" } },
  link_imports: { differs: { ...otherId, state: "'done'" } },
  link_import_rows: { differs: { import_id: "new.import_id || 't'" } },
  // An account that is deleted leaves its keys in all workspaces.
  api_keys: {
    differs: { ...otherId, hash: "'twin ' || new.hash", name: "'the twin''s'" },
    changes: ["created_by"],
  },
  domains: {
    differs: {
      state: "'pending'",
      token: "'twin'",
      // Its first domain: no query may take it for the default of another tenant.
      is_default: `case when exists (select 1 from domains where tenant_id = '${twin}' and is_default = 1) then 0 else 1 end`,
    },
    changes: ["root_blocked", "missing_blocked"],
  },
  email_settings: {
    differs: { contact: "null", sender: "'Twin <twin@example.org>'", sendgrid_key: "null", webhook_key: "'twin'" },
  },
  emails: {
    differs: {
      ...otherId,
      ...{ state: "'sent'", provider: "'smtp'", provider_id: "null", claimed_by: "null", claimed_until: "null" },
    },
  },
  files: { differs: { ...otherId, state: "'pending'", upload_until: "9000000000000000", stored_at: "new.created_at" } },
  idempotency: {
    differs: { fingerprint: "'twin'", seed: "'twin'", expires_at: "9000000000000000" },
    changes: ["claimed_until"],
  },
  // Behind all others, where the purge never comes. An address belongs to a person, in whatever workspace it is.
  history: { differs: { id: "replace(new.id, 'his_', 'his_z')", actor_name: "'the twin''s'", mailbox: "null" } },
  imports: { differs: { ...otherId, records: "123456" } },
  invitations: { differs: { ...otherId, hash: "'twin ' || new.hash", role: "'owner'", inviter_id: "null" } },
  members: {
    differs: { role: "'owner'", person_id: `'${twinPerson}'` },
    // Not before: a case may begin without any people.
    needs: `into people (id, email, mailbox, name, created_at)
      values ('${twinPerson}', 'twin@example.org', 'twin@example.org', 'Twin', 0)`,
  },
  trashed_links: { differs: { ...otherId, domain: `'${twinDomain}'`, link: "'{}'", deleted_at: "9000000000000000" } },
  link_versions: { differs: { domain: `'${twinDomain}'` } },
  links: {
    differs: {
      // Behind all others, where the look at new links never comes.
      id: "replace(new.id, 'lnk_', 'lnk_z')",
      domain: `'${twinDomain}'`,
      ...{ url: "'https://twin.example.org/'", fallback_url: "null", rules: "null", split: "null", expires_at: "null" },
    },
  },
  click_groups: { differs: {} },
  click_history: { differs: { link: "-new.link" } },
  click_notices: { differs: { mail: "'twin'", told: "0" } },
  click_links: { differs: { link: "-new.link", domain: `'${twinDomain}'`, clicks: "123456789" } },
  click_tenants: { differs: { zone: "'Pacific/Kiritimati'" }, changes: ["hours_until", "days_until", "months_until"] },
  suppressions: { differs: { reason: "'complaint'" } },
  suspended_tenants: { differs: { reason: "'the twin''s'" } },
  tenant_storage: { differs: { bytes: "123456789", version: "123456789" } },
  tenant_usage: { differs: { used: "123456789" } },
};

export async function addTwin(sql: Sql): Promise<void> {
  const run = (text: string) => raw.raw(text).execute(sql.db);
  const { dialect } = sql;
  await run(
    `insert into tenants (id, name, slug, created_at) values ('${twin}', 'Twin', 'twin', '2026-01-01T00:00:00Z')`,
  );
  await run("create table twin_touched (what text not null)");
  if (dialect === "postgres") {
    await run(`create function twin_is_touched() returns trigger language plpgsql as $$ begin
      insert into twin_touched values (tg_op || ' ' || tg_table_name); return null; end $$`);
  }
  for (const { name, columns } of await sql.db.introspection.getTables()) {
    const copy = (copies as Readonly<Record<string, Copy | undefined>>)[name];
    const names = columns.map((column) => column.name).filter((column) => column !== "number"); // assigned
    if (copy === undefined) {
      // So that a new table of tenants gets its twin too.
      if (names.includes("tenant_id")) throw new Error(`${name} needs a row in two-tenants.ts`);
      continue;
    }
    const values = names.map((column) =>
      column === "tenant_id" ? `'${twin}'` : (copy.differs[column] ?? `new.${column}`),
    );
    const insert = `into ${name} (${names.join(", ")}) values (${values.join(", ")})`;
    const inserts = copy.needs === undefined ? [insert] : [copy.needs, insert];
    const kept = names.filter((column) => !copy.changes?.includes(column)).join(", ");
    if (dialect === "sqlite") {
      const touched = (what: string) => `begin insert into twin_touched values ('${what} ${name}'); end`;
      await run(`create trigger twin_of_${name} before insert on ${name} when new.tenant_id <> '${twin}'
        begin ${inserts.map((one) => `insert or ignore ${one};`).join(" ")} end`);
      await run(
        `create trigger twin_kept_${name} after update of ${kept} on ${name} when old.tenant_id = '${twin}' ${touched("UPDATE")}`,
      );
      await run(
        `create trigger twin_left_${name} after delete on ${name} when old.tenant_id = '${twin}' ${touched("DELETE")}`,
      );
    } else {
      await run(`create function twin_of_${name}() returns trigger language plpgsql as $$ begin
        ${inserts.map((one) => `insert ${one} on conflict do nothing;`).join(" ")} return new; end $$`);
      await run(`create trigger twin_of_${name} before insert on ${name} for each row when (new.tenant_id <> '${twin}')
        execute function twin_of_${name}()`);
      const after = `on ${name} for each row when (old.tenant_id = '${twin}') execute function twin_is_touched()`;
      await run(`create trigger twin_kept_${name} after update of ${kept} ${after}`);
      await run(`create trigger twin_left_${name} after delete ${after}`);
    }
  }
}

/** Throws if anything changed a row of the twin since the last time. */
export async function requireUntouchedTwin(sql: Sql): Promise<void> {
  const touched = raw<{ what: string }>`delete from twin_touched returning what`;
  const { rows } = await touched.execute(sql.db);
  const whats = new Set(rows.map(({ what }) => what));
  if (whats.size > 0) throw new Error(`another tenant's rows were changed: ${[...whats].join(", ")}`);
}
