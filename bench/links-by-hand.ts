/**
 * What creates and imports are compared with: the database driver alone, which runs the statements of new links by hand.
 * It has no HTTP, no validation and no rules, and knows that every code is free.
 */
import { Database } from "bun:sqlite";
import { Client } from "pg";
import { destination } from "./subject.ts";

export interface HandRow {
  readonly id: string;
  readonly code: string;
  readonly url: string;
  readonly title: string | null;
  readonly tags: string;
}

export interface LinksByHand {
  /** In one transaction, with their count towards the month. */
  insert(rows: readonly HandRow[]): Promise<void>;
  close(): Promise<void>;
}

/** As the program has them for plain links. */
export const linkColumns = [
  ...["id", "tenant_id", "domain", "code", "url", "permanent", "status", "expires_at", "title", "tags", "facts"],
  ...["forward_query", "created_at", "updated_at", "made_by_kind", "made_by"],
];
const month = new Date().toISOString().slice(0, 7);
const conflict = `on conflict (domain, code) do update set version = link_versions.version + 1, state = 'live',
  tenant_id = excluded.tenant_id where link_versions.state = 'purged' returning domain, code, version`;
const spent = `on conflict (tenant_id, name, month) do update set used = tenant_usage.used + excluded.used returning used`;

let made = 0;
/** Like those of the program in length and order: a link that has only its URL, or one from the file of an import. */
export function handRow(isFromFile = false): HandRow {
  const [code, place] = [`${process.pid.toString(36)}-${made}`, String(made).padStart(10, "0")];
  const id = `lnk_${Date.now().toString(32)}${process.pid}${place}`;
  const row = { id, code, url: destination, title: null, tags: "[]" };
  const url = `https://example.com/products/${made++}?of=hand`;
  return isFromFile ? { ...row, url, title: `Product ${place}`, tags: '["sale","spring"]' } : row;
}

const claimOf = (tenant: string, { code }: HandRow) => ["", code, 1, "live", tenant];
/** As the program writes many new links: a row of the feed for each 64. */
const changesOf = (rows: readonly HandRow[], at: number) =>
  Array.from({ length: Math.ceil(rows.length / codesOfChange) }, (_, place) => {
    const codes = rows.slice(place * codesOfChange, (place + 1) * codesOfChange).map(({ code }) => code);
    return ["links", "", codes.join(" "), 1, at];
  });
const codesOfChange = 64;
const linkOf = (tenant: string, { id, code, url, title, tags }: HandRow, at: number) => [
  ...[id, tenant, "", code, url, 0, "active", at, title, tags, 1, 0, at, at, "key", null],
];

export function sqliteByHand(path: string, tenant: string): LinksByHand {
  const db = new Database(path);
  // As the program has it, so that the statements do the same work.
  for (const pragma of ["journal_mode = wal", "synchronous = full", "foreign_keys = on", "cache_size = -8000"]) {
    db.run(`pragma ${pragma}`);
  }
  db.run("pragma secure_delete = on");
  const insert = (into: string, columns: readonly string[], count: number, tail = "") => {
    const row = `(${columns.map(() => "?").join(", ")})`;
    return db.query(`insert into ${into} (${columns.join(", ")}) values ${Array(count).fill(row).join(", ")} ${tail}`);
  };
  return {
    async insert(rows) {
      const at = Date.now();
      db.query("begin immediate").run();
      insert("link_versions", claimColumns, rows.length, conflict).all(...rows.flatMap((row) => claimOf(tenant, row)));
      const changes = changesOf(rows, at);
      insert("changes", changeColumns, changes.length).run(...changes.flat());
      insert("links", linkColumns, rows.length).run(...rows.flatMap((row) => linkOf(tenant, row, at)));
      insert("tenant_usage", usageColumns, 1, spent).all("links", month, rows.length, tenant);
      db.query("commit").run();
    },
    async close() {
      db.close();
    },
  };
}

const claimColumns = ["domain", "code", "version", "state", "tenant_id"];
const changeColumns = ["kind", "domain", "code", "version", "at"];
const usageColumns = ["name", "month", "used", "tenant_id"];

const claimTypes = ["text", "text", "bigint", "text", "text"];
const changeTypes = ["text", "text", "text", "bigint", "bigint"];
const numbers = new Set(["expires_at", "created_at", "updated_at"]);
const flags = new Set(["permanent", "facts", "forward_query"]);
const linkTypes = linkColumns.map((name) => (numbers.has(name) ? "bigint" : flags.has(name) ? "smallint" : "text"));

export async function postgresByHand(url: string, tenant: string): Promise<LinksByHand> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const insert = (into: string, columns: readonly string[], types: readonly string[], rows: unknown[][], tail = "") => {
    const arrays = types.map((type, place) => `$${place + 1}::${type}[]`).join(", ");
    const text = `insert into ${into} (${columns.join(", ")}) select * from unnest(${arrays}) as t where true ${tail}`;
    return client.query({ name: into, text, values: types.map((_, column) => rows.map((row) => row[column])) });
  };
  return {
    async insert(rows) {
      const at = Date.now();
      await client.query("begin");
      const claims = rows.map((row) => claimOf(tenant, row));
      await insert("link_versions", claimColumns, claimTypes, claims, conflict);
      await insert("changes", changeColumns, changeTypes, changesOf(rows, at));
      const links = rows.map((row) => linkOf(tenant, row, at));
      await insert("links", linkColumns, linkTypes, links);
      const used = [["links", month, rows.length, tenant]];
      await insert("tenant_usage", usageColumns, ["text", "text", "bigint", "text"], used, spent);
      await client.query("commit");
    },
    close: () => client.end(),
  };
}
