/**
 * Everything that raises versions, against each other on PostgreSQL: the same links, in opposite orders, at the same time.
 * Whoever locks in another order than the rest makes two transactions wait for each other, which PostgreSQL ends with an
 * error (40P01). `src/sql/versions.ts` has the order.
 *
 * Each mistake below is a copy of the program that locks in another order at one place (`test/ground/mutant.ts`), and must
 * be noticed in the same rounds: a test that finds no deadlock there would say nothing about the program.
 *
 * Two changes of the default domain do not always meet in these rounds. The order of their locks is tested without a race, at
 * the end.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { CompiledQuery, sql as raw } from "kysely";
import { Client } from "pg";
import { manualClock } from "../../src/base/clock.ts";
import { type FileId, newId, type TenantId } from "../../src/base/ids.ts";
import { createLog } from "../../src/base/log.ts";
import type { NewLink } from "../../src/links/create/new-links.ts";
import type { Link } from "../../src/links/link.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { openPostgres } from "../../src/sql/postgres.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { byCommand } from "../ground/actors.ts";
import { type Edit, mutant } from "../ground/mutant.ts";
import { postgresAvailable, sharedPostgres } from "../ground/postgres.ts";
import { until } from "../ground/process.ts";

// Each mistake is noticed in the first six; that of a move, which meets its like less often, in the first twelve.
const rounds = 12;
const roundsWithMoves = 30;
/** Few moves succeed, because most codes are taken everywhere: sometimes none in 30 rounds. */
const mostForOneMove = 150;
const timeoutMs = 120_000;
const deadlock = "40P01";
const hosts = ["", "a.example", "b.example"];
const codes = Array.from({ length: 4 }, (_, i) => `code-${i}`);
const places = hosts.flatMap((domain) => codes.map((code) => ({ domain, code })));
const clock = manualClock(Date.UTC(2026, 10, 16));
const log = createLog("silent", { write() {} }, false, clock.now);

interface Code {
  readonly postgres: typeof import("../../src/sql/postgres.ts");
  readonly links: typeof import("../../src/links/store.ts");
  readonly trash: typeof import("../../src/links/trash/trash-store.ts");
  readonly domains: typeof import("../../src/domains/store.ts");
  readonly files: typeof import("../../src/files/store.ts");
  readonly suspensions: typeof import("../../src/abuse/suspensions.ts");
  readonly tenants: typeof import("../../src/tenants/tenants.ts");
}

const load = async (folder: string): Promise<Code> => ({
  postgres: await import(join(folder, "sql/postgres.ts")),
  links: await import(join(folder, "links/store.ts")),
  trash: await import(join(folder, "links/trash/trash-store.ts")),
  domains: await import(join(folder, "domains/store.ts")),
  files: await import(join(folder, "files/store.ts")),
  suspensions: await import(join(folder, "abuse/suspensions.ts")),
  tenants: await import(join(folder, "tenants/tenants.ts")),
});

/** No mistake below is in a migration, so the tables are made once. */
async function newDatabase(): Promise<string> {
  const fill = async (url: string) => {
    const sql = openPostgres(url, { connections: 1 }, log);
    await migrate(sql);
    await sql.close();
  };
  return await (await sharedPostgres()).createFilled("locks", fill, "locks");
}

/** Two servers on a new database, which looks for deadlocks at once instead of after a second. */
async function openTwo({ postgres: { openPostgres } }: Code): Promise<[Sql, Sql]> {
  const url = await newDatabase();
  const first = openPostgres(url, { connections: 1 }, log);
  const name = raw.id(new URL(url).pathname.slice(1));
  await raw`alter database ${name} set deadlock_timeout = '2ms'`.execute(first.db);
  await first.close();
  return [openPostgres(url, { connections: 10 }, log), openPostgres(url, { connections: 10 }, log)];
}

/** All callers that raise versions, on both servers. Refusals are fine; failures are counted by their code. */
async function race(
  code: Code,
  stopEarly: boolean,
  more: typeof moves | undefined = undefined,
): Promise<{ failures: string[]; sql: Sql; close(): Promise<void> }> {
  const [one, two] = await openTwo(code);
  const tenants = code.tenants.createTenants(one, clock);
  const { id: tenant } = await tenants.create("racer", "Racer", byCommand, "unlimited");
  const { id: importer } = await tenants.create("importer", "Importer", byCommand, "unlimited");
  await tenants.setPlan("team", code.tenants.defaultLimits, byCommand);
  const files = await addFiles(one, tenant);
  await addDomains(code, one, tenant);
  const failures: string[] = [];
  // A planted mistake gets more chances: what it takes is two transactions that meet at the right moment.
  const most = stopEarly ? 150 : more === undefined ? rounds : roundsWithMoves;
  const isOver = async (round: number) =>
    stopEarly
      ? round === most || failures.includes(deadlock)
      : round >= most && (more === undefined || round >= mostForOneMove || (await countMoves(one)) > 0);
  for (let round = 0; !(await isOver(round)); round++) {
    const work = [
      // First: they meet if they begin at the same time.
      ...[() => append(code, one, importer, round, false), () => append(code, two, importer, round, true)],
      ...[...callers(code, one, tenant, files, round), ...callers(code, two, tenant, files, round + 1)],
      ...[...(more?.(code, one, tenant, round) ?? []), ...(more?.(code, two, tenant, round + 1) ?? [])],
    ];
    const results = await Promise.allSettled(work.map((call) => call()));
    for (const result of results) if (result.status === "rejected") failures.push(nameOf(result.reason));
  }
  return { failures, sql: one, close: async () => void (await Promise.all([one.close(), two.close()])) };
}

const nameOf = (error: { code?: string; message?: string }): string => error.code ?? String(error.message);

function callers(code: Code, sql: Sql, tenant: TenantId, files: readonly FileId[], round: number) {
  const store = code.links.createLinkStore(sql);
  const suspensions = code.suspensions.createSuspensions(sql, clock);
  const domains = code.domains.createDomainStore(sql);
  const tenants = code.tenants.createTenants(sql, clock);
  const fileStore = code.files.createFileStore(sql);
  const trash = code.trash.createTrashStore(sql);
  const ordered = round % 2 === 0 ? places : places.toReversed();
  const file = files[round % files.length] as FileId;
  const place = ordered[round % ordered.length] as (typeof places)[number];
  const drafts = (about: Partial<NewLink> = {}) => ordered.map((one) => newLink({ ...one, ...about }));
  const ids = async () => (await store.list(tenant, places.length)).map(({ id }) => id);
  const now = clock.now();
  const why = { cause: "operator", reason: "phishing", by: byCommand } as const;
  const half = round % 2 === 0;
  return [
    () => store.createEach(tenant, drafts(), "nothing"),
    () => store.createEach(tenant, drafts({ file, url: "" }), { linksPerMonth: null }),
    () => store.createAll(tenant, drafts({ file: files[0] as FileId, url: "" }).slice(3), { linksPerMonth: null }),
    () => store.createWith(tenant, drafts({ expiresAt: 1 }).slice(0, 5), async () => {}),
    async () => {
      const edit = () => ({ ...newLink(place), file, url: "" });
      for (const id of await ids()) await store.update(tenant, id, { edit, file, by: byCommand }, now);
    },
    async () => {
      for (const id of await ids()) await store.remove(tenant, id, byCommand, now);
    },
    async () => {
      const some = half ? await ids() : (await ids()).toReversed();
      const decide = (link: Link) => ({ ...link, file, url: "" });
      const edits = some.slice(0, 6).map((id) => ({ id, decide, file }));
      await store.changeMany(
        tenant,
        [...edits, ...some.slice(6, 8).map((id) => ({ id, decide: () => null }))],
        byCommand,
        now,
      );
    },
    async () => {
      for (const { id } of await trash.list(tenant, 4)) await trash.restore(tenant, id, (link) => link, byCommand, now);
    },
    () => trash.eraseSome(tenant, places.length, byCommand, now, half ? undefined : "a.example"),
    () => trash.eraseOld(now + 1, 5, byCommand, now),
    () => store.purge(now, places.length, now),
    () => store.touch(place.domain, place.code, now),
    async () => {
      for (const one of ordered.slice(0, 3)) await suspensions.suspendLink(one, why);
    },
    async () => {
      for (const one of ordered.slice(0, 3)) await suspensions.restoreLink(one, byCommand);
    },
    () => (half ? suspensions.suspendTenant(tenant, "spam", byCommand) : suspensions.restoreTenant(tenant, byCommand)),
    () => tenants.change("racer", { overrides: { hitsPerLinkPerMonth: round } }, byCommand),
    () => tenants.setPlan("team", { ...code.tenants.defaultLimits, hitsPerLinkPerMonth: round }, byCommand),
    () => tenants.change("racer", { plan: half ? "team" : "unlimited" }, byCommand),
    () => fileStore.touchLinks({ tenantId: tenant, id: file }, undefined, places.length, now),
    async () => {
      const hosts = half ? ["a.example", "b.example"] : ["b.example", "a.example"];
      for (const host of [...hosts, ...hosts]) await domains.change(tenant, host, { isDefault: true }, byCommand, now);
    },
    () => domains.markBlocked(() => half, now),
  ];
}

/** So many that they are appended. The tenant has no others, so that the race above keeps its few links. */
async function append(code: Code, sql: Sql, tenant: TenantId, round: number, turned: boolean): Promise<void> {
  const drafts = Array.from({ length: 512 }, (_, i) => newLink({ domain: "", code: `round-${round}-${i}` }));
  await code.links.createLinkStore(sql).createWith(tenant, turned ? drafts.toReversed() : drafts, async () => {});
}

async function countMoves(sql: Sql): Promise<number> {
  const { rows } = await raw<{ n: number }>`select count(*) as n from history where action = 'link.move'`.execute(
    sql.db,
  );
  return Number(rows[0]?.n);
}

/** Their versions have gaps, so they have a race of their own. */
function moves(code: Code, sql: Sql, tenant: TenantId, round: number) {
  const store = code.links.createLinkStore(sql);
  return hosts.map((_, i) => async () => {
    const host = hosts[(i + round) % hosts.length] ?? "";
    for (const { id } of await store.list(tenant, places.length)) {
      await store.move(tenant, id, host, byCommand, clock.now()).catch((error: { name?: string }) => {
        if (error.name !== "Problem") throw error;
      });
    }
  });
}

function newLink(about: Pick<NewLink, "domain" | "code"> & Partial<NewLink>): NewLink {
  return {
    ...{
      id: newId("link", clock),
      generated: false,
      at: clock.now(),
      url: "https://example.com/",
      file: null,
      by: byCommand,
    },
    ...{ permanent: false, status: "active", expiresAt: null, title: null, notes: null, tags: [], fallbackUrl: null },
    ...{ hitsPerMonth: null, clickFacts: true, rules: [], split: [], utm: null, forwardQuery: false },
    ...about,
  };
}

async function addFiles(sql: Sql, tenant: TenantId): Promise<FileId[]> {
  const ids = ["fil_a", "fil_b"] as FileId[];
  for (const id of ids) {
    const statement = `insert into files (id, tenant_id, name, size_bytes, type, state, settled, created_at, upload_until, stored_at)
      values ('${id}', '${tenant}', 'a.pdf', 1, 'application/pdf', 'stored', 1, 1, 1, 1)`;
    await sql.db.executeQuery(CompiledQuery.raw(statement));
  }
  return ids;
}

async function addDomains({ domains }: Code, sql: Sql, tenantId: TenantId, names = hosts): Promise<void> {
  const store = domains.createDomainStore(sql);
  const nowhere = { rootUrl: "https://example.com/", missingUrl: null, rootBlocked: false, missingBlocked: false };
  for (const host of names.filter((one) => one !== "")) {
    const about = { tenantId, host, state: "pending", token: host, isDefault: false, createdAt: 1 } as const;
    await store.add({ ...about, ...nowhere, verifiedAt: null }, 10, byCommand);
    await store.verify(tenantId, host, byCommand, clock.now());
  }
}

/** Those whose rows in the feed are not every version from 1 on, each once. */
async function withoutFeedRow(sql: Sql): Promise<unknown[]> {
  const { rows } = await raw`
    select v.*, c.versions from (
      select 'link' as kind, domain, code, version from link_versions
      union all select kind, key, '', version from versions
    ) v
    left join (
      select kind, domain, code, array_agg(version order by version) as versions from (
        select 'link' as kind, domain, unnest(string_to_array(code, ' ')) as code, version from changes where kind in ('link', 'links')
        union all select kind, domain, code, version from changes where kind not in ('link', 'links')
      ) told group by kind, domain, code
    ) c on c.kind = v.kind and c.domain = v.domain and c.code = v.code
    where c.versions is distinct from array(select generate_series(1, v.version))`.execute(sql.db);
  return rows;
}

interface Observed {
  readonly chosen: string;
  /** The row that the change has to wait for. */
  readonly held: string;
  /** The rows that are locked while it waits. */
  readonly locked: readonly string[];
}

const defaults = ["a.example", "b.example", "c.example", "d.example"];

/**
 * No race: for each domain, a change of the default waits for its row, and we look at which rows it has locked by then. All
 * indexes are off and rows were inserted in the opposite order, so that only the query itself can bring the right one.
 */
async function locksOfDefault(code: Code): Promise<Observed[]> {
  const url = await newDatabase();
  const sql = code.postgres.openPostgres(url, { connections: 1 }, log);
  const { id: tenant } = await code.tenants
    .createTenants(sql, clock)
    .create("chooser", "Chooser", byCommand, "unlimited");
  await addDomains(code, sql, tenant, defaults.toReversed());
  const name = raw.id(new URL(url).pathname.slice(1));
  for (const way of ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"]) {
    await raw`alter database ${name} set ${raw.id(way)} = off`.execute(sql.db);
  }
  await sql.close(); // the settings are those of new connections
  const [holder, watcher] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all([holder.connect(), watcher.connect()]);
  const changing = code.postgres.openPostgres(url, { connections: 1, patient: true }, log);
  const domains = code.domains.createDomainStore(changing);
  const hostsOf = async (query: string) => (await watcher.query(query)).rows.map(({ host }) => String(host));
  const waiting = async (): Promise<number | undefined> =>
    (
      await watcher.query(`select a.pid from pg_stat_activity a where a.datname = current_database()
      and cardinality(pg_blocking_pids(a.pid)) > 0`)
    ).rows[0]?.pid;
  const observed: Observed[] = [];
  for (const chosen of defaults) {
    for (const held of defaults) {
      expect(await hostsOf("select host from domains order by ctid")).toEqual(defaults.toReversed());
      await holder.query("begin");
      await holder.query("select 1 from domains where host = $1 for update", [held]);
      const change = domains.change(tenant, chosen, { isDefault: true }, byCommand, clock.now()).catch(nameOf);
      const pid = await until("the change to wait", waiting);
      const free = await hostsOf("select host from domains for update skip locked");
      await watcher.query("select pg_cancel_backend($1)", [pid]);
      expect(await change).toBe("57014"); // it was waiting until now
      await holder.query("rollback");
      observed.push({ chosen, held, locked: defaults.filter((host) => !free.includes(host)) });
    }
  }
  await Promise.all([holder.end(), watcher.end(), changing.close()]);
  return observed;
}

/** From the first host on, whichever is chosen. */
const rightOrder: readonly Observed[] = defaults.flatMap((chosen) =>
  defaults.map((held) => ({ chosen, held, locked: defaults.filter((host) => host <= held) })),
);

const wrongDefaults: Readonly<Record<string, readonly Edit[]>> = {
  "from the last host to the first": [
    { file: "domains/store.ts", from: 'selectAll().orderBy("host");', to: 'selectAll().orderBy("host", "desc");' },
  ],
  "in the order in which PostgreSQL finds them": [
    { file: "domains/store.ts", from: 'selectAll().orderBy("host");', to: "selectAll();" },
  ],
  "the new default first": [
    { file: "domains/store.ts", from: "fields.isDefault ? others : others.where", to: "others.where" },
  ],
  "only when they are written": [
    {
      file: "domains/store.ts",
      from: 'await sql.forUpdate(fields.isDefault ? others : others.where("host", "=", host)).execute();',
      to: 'await (fields.isDefault ? others : others.where("host", "=", host)).execute();',
    },
  ],
};

const mistakes: Readonly<Record<string, readonly Edit[]>> = {
  "new links claimed codes in the order of the request": [
    { file: "sql/versions.ts", from: "const sorted = claims.toSorted(byPlace);", to: "const sorted = [...claims];" },
  ],
  "new links appended codes in the order of the request": [
    { file: "sql/versions.ts", from: "const codes = firsts.toSorted();", to: "const codes = [...firsts];" },
  ],
  "links were raised from the last code to the first": [
    { file: "sql/versions.ts", from: '.orderBy("code")).execute()', to: '.orderBy("code", "desc")).execute()' },
  ],
  "links were raised in any order that PostgreSQL likes, domain by domain as they come": [
    { file: "sql/versions.ts", from: "Map.groupBy(links.toSorted(byPlace)", to: "Map.groupBy(links" },
  ],
  "an edit locked its link before its file": [
    {
      file: "links/store.ts",
      from: "await prepare(trx);\n      const row = await selectForUpdate.first(ofTenant(trx, tenant), { id });",
      to: "const row = await selectForUpdate.first(ofTenant(trx, tenant), { id });\n      await prepare(trx);",
    },
  ],
  "a suspension was lifted before the link's version": [
    {
      file: "abuse/suspensions.ts",
      from: "const version = await touch(trx, { domain, code });\n          let",
      to: "let",
    },
    {
      file: "abuse/suspensions.ts",
      from: 'await recordLink(trx, { domain, code }, version, by, "link.unsuspend", {});\n          return version;\n        })\n',
      to: "return await touch(trx, { domain, code });\n        })\n",
    },
  ],
  "a change of the tenant also locked out those who only refer to it": [
    { file: "sql/postgres.ts", from: "query.forNoKeyUpdate()", to: "query.forUpdate()" },
  ],
};

if (postgresAvailable()) {
  describe("all that raises versions, at the same time", () => {
    test(
      "never waits in a circle, and every version has its row in the feed",
      async () => {
        const { failures, sql, close } = await race(await load(join(import.meta.dir, "../../src")), false);
        expect(failures).toEqual([]);
        expect(await withoutFeedRow(sql)).toEqual([]);
        const { rows } = await raw<{ most: number }>`select max(version) as most from link_versions`.execute(sql.db);
        expect(Number(rows[0]?.most)).toBeGreaterThan(rounds); // they did meet
        await close();
      },
      timeoutMs,
    );

    test(
      "never waits in a circle while links move between domains, and every code has one link at most",
      async () => {
        const { failures, sql, close } = await race(await load(join(import.meta.dir, "../../src")), false, moves);
        expect(failures).toEqual([]);
        const { rows } = await raw`
          select l.domain, l.code from links l join link_versions v on v.domain = l.domain and v.code = l.code
          where v.state <> 'live' or v.tenant_id <> l.tenant_id`.execute(sql.db);
        expect(rows).toEqual([]);
        expect(await countMoves(sql)).toBeGreaterThan(0); // most codes are taken everywhere
        await close();
      },
      timeoutMs,
    );

    test(
      "would be seen to fail if a move locked its old place first",
      async () => {
        const edits = [
          { file: "sql/versions.ts", from: "const isFirst = byPlace(from, to) < 0;", to: "const isFirst = true;" },
        ];
        const { failures, close } = await race(await load(mutant(edits)), true, moves);
        expect(failures).toContain(deadlock);
        await close();
      },
      timeoutMs,
    );

    test.each(Object.entries(mistakes))(
      "would be seen to fail if %s",
      async (_, edits) => {
        const { failures, close } = await race(await load(mutant(edits)), true);
        expect(failures).toContain(deadlock);
        await close();
      },
      timeoutMs,
    );
  });

  describe("a change of the default domain", () => {
    test(
      "locks all domains of the tenant, by their hosts",
      async () => {
        expect(await locksOfDefault(await load(join(import.meta.dir, "../../src")))).toEqual([...rightOrder]);
      },
      timeoutMs,
    );

    test.each(Object.entries(wrongDefaults))(
      "would be seen to lock them %s",
      async (_, edits) => {
        expect(await locksOfDefault(await load(mutant(edits)))).not.toEqual([...rightOrder]);
      },
      timeoutMs,
    );
  });
}
