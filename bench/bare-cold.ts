/**
 * The least that a redirect with a limit can do for a link that is not in memory, with the statements of our server by
 * hand: a lookup, and the count of the visit within its limit in a transaction of its own, for each request; the clicks once a
 * second, in one transaction. There is no lease and nothing else to record, as in our server since ADR 0078. Nothing is checked, parsed,
 * shared or cached. Arguments: port and path of the database.
 */
import { Database } from "bun:sqlite";

const [port, path = ""] = Bun.argv.slice(2);
const recordMs = 1_000;

const db = new Database(path, { strict: true });
db.run("pragma journal_mode = wal");
db.run("pragma synchronous = normal");
db.run("pragma foreign_keys = on");
db.run("pragma cache_size = -8000");
db.run("pragma secure_delete = on");

const lookup = db.query<Record<string, string | number | null>, [string, string]>(`
  select v.version, l.url, l.permanent, l.status, l.expires_at, l.fallback_url, l.password_hash, l.rules, l.split, l.utm,
    l.forward_query, l.file_id, l.tenant_id, f.name, f.type, f.size_bytes, f.sha256, l.hits_per_month, l.number,
    t.number as tenant, l.tags, l.facts, s.suspended_at
  from link_versions v left join links l on l.domain = v.domain and l.code = v.code
    left join files f on f.id = l.file_id and f.tenant_id = l.tenant_id and f.state = 'stored'
    left join tenants t on t.id = l.tenant_id
    left join suspended_links s on s.domain = v.domain and s.code = v.code
  where v.domain = ? and v.code = ?`);
const month = new Date().toISOString().slice(0, 7);
const countOne = db.query(
  `insert into quotas (domain, code, month, draws, counted, reserved, lent_until) values ('', ?, '${month}', 'hits', 1, 0, 0)
    on conflict (domain, code, month, draws) do update set counted = quotas.counted + 1
    where quotas.counted + quotas.reserved < ? returning counted, reserved`,
);
const insertClick = db.query(
  `insert into clicks values (?, ?, 0, ?, ?, ?, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
);
const insertVisitor = db.query("insert into click_visitors values (?, ?, ?) on conflict do nothing");
const addTotal = db.query(
  `insert into click_links (link, tenant_id, domain, code, clicks, first_at, last_at) values (?, ?, '', ?, 1, ?, ?)
    on conflict (link) do update set clicks = click_links.clicks + excluded.clicks, last_at = excluded.last_at`,
);

interface Visited {
  readonly code: string;
  readonly at: number;
  readonly row: Record<string, string | number | null>;
}

let visited: Visited[] = [];

const count = db.transaction((code: string, max: number) => countOne.get(code, max) !== null);

const recordClicks = db.transaction((all: readonly Visited[]) => {
  const day = Math.floor(Date.now() / 86_400_000);
  for (const [seq, { code, at, row }] of all.entries()) {
    const link = Number(row.number);
    insertVisitor.run(day, link, seq);
    insertClick.run(day, Number(row.tenant), link, at, seq);
    addTotal.run(link, row.tenant_id ?? "", code, at, at);
  }
});

setInterval(() => {
  const all = visited;
  visited = [];
  if (all.length === 0) return;
  recordClicks.immediate(all);
}, recordMs);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  development: false,
  fetch(request) {
    const code = request.url.slice(request.url.lastIndexOf("/") + 1);
    const row = lookup.get("", code);
    if (row === null || typeof row.url !== "string") return new Response(null, { status: 404 });
    if (!count.immediate(code, Number(row.hits_per_month))) return new Response(null, { status: 429 });
    visited.push({ code, at: Date.now(), row });
    return new Response(null, { status: 302, headers: { Location: row.url } });
  },
});
