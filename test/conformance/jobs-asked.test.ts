/** What the serving thread asks before a job starts the background thread: true if, and only if, the job has work. */
import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { sql as raw } from "kysely";
import { dayMs, systemClock } from "../../src/base/clock.ts";
import { newId, type TenantId } from "../../src/base/ids.ts";
import { createClickWriter } from "../../src/clicks/events/writer.ts";
import { hadClicksLately, mayHaveToCondense } from "../../src/clicks/rollups/due-tenants.ts";
import { forgetVisitors, hasVisitorsToForget } from "../../src/clicks/rollups/purge-visitors.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import { createEmailSettings, hasContacts } from "../../src/email/settings/settings.ts";
import { createLinkStore } from "../../src/links/store.ts";
import { createTrashStore } from "../../src/links/trash/trash-store.ts";
import { cleanUp } from "../../src/server/clean.ts";
import { hasToClean } from "../../src/server/clean-due.ts";
import { migrate } from "../../src/sql/migrate.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { batchOf, clickTenant } from "./click-batches.ts";
import { onEachDatabase } from "./databases.ts";

const secret = new Uint8Array(32).fill(7);
const hourMs = 3_600_000;
const noon = Date.UTC(2026, 10, 17, 12);
const limitMs = 60_000;

onEachDatabase(({ name, create, open }) => {
  /** Clicks at any of these times. */
  async function clicked(sql: Sql) {
    const tenant = await clickTenant(sql, "acme");
    const link = tenant.link(1);
    let now = noon;
    let sequence = 0;
    const writer = createClickWriter({ sql, secret, writerId: "w", databaseTime: () => now });
    return {
      async click(at: number, writtenAt = at) {
        now = writtenAt;
        await writer.write(++sequence, batchOf([{ link, at, visitor: 1 }]));
      },
    };
  }

  test(
    "condensing is asked for whenever it finds a tenant, for weeks, and not otherwise",
    async () => {
      const sql = await open();
      const { click } = await clicked(sql);
      using random = spyOn(Math, "random");
      const atLevel = (level: number) => random.mockReturnValue(0.75 / 2 ** level);
      expect(await mayHaveToCondense(sql, noon)).toBe(false);
      const found: string[] = [];
      const look = async (label: string, now: number) => {
        const asked = await mayHaveToCondense(sql, now);
        expect({ label, asked }).toEqual({ label, asked: (await condense(sql, { now })).tenants > 0 });
        if (asked) found.push(label);
      };
      atLevel(0);
      await click(noon);
      for (let quarter = 1; quarter <= 16; quarter++) await look(`${quarter} quarters`, noon + (quarter * hourMs) / 4);
      expect(found).toEqual(["1 quarters", "5 quarters", "9 quarters", "13 quarters"]);
      found.length = 0;
      for (let day = 1; day <= 30; day++) await look(`${day} days`, noon + day * dayMs);
      expect(found).toEqual(["1 days", "14 days"]); // the day, and the month
      await click(noon + 29 * dayMs, noon + 30 * dayMs);
      await look("late", noon + 30 * dayMs);
      expect(found.at(-1)).toBe("late");

      found.length = 0;
      const later = noon + 40 * dayMs;
      for (const level of [2, 3]) {
        atLevel(level);
        await click(later + level * hourMs);
        for (let quarter = 1; quarter <= 4; quarter++) {
          await look(`level ${level}, ${quarter} quarters`, later + level * hourMs + (quarter * hourMs) / 4);
        }
      }
      // A click of the level that tells of busy quarters is seen as soon as its own has ended.
      expect(found).toEqual(["level 2, 1 quarters", "level 3, 1 quarters", "level 3, 2 quarters"]);
    },
    limitMs,
  );

  test(
    "with more tenants than a short page, condensing is not asked for but done",
    async () => {
      const sql = await open();
      await clicked(sql);
      const tenants = createTenants(sql, systemClock);
      for (let i = 0; i < 201; i++) await tenants.create(`many-${i}`, "Many", byCommand);
      expect(await mayHaveToCondense(sql, noon)).toBe(false);
      await raw`insert into click_tenants (tenant_id, zone, facts, late, hours_until, days_until, months_until)
      select id, 'UTC', 1, 0, 0, 0, 0 from tenants where slug like 'many-%'`.execute(sql.db);
      expect(await mayHaveToCondense(sql, noon)).toBe(true);
    },
    limitMs,
  );

  test(
    "forgetting visitors is asked for an hour after their day, and until the disk has nothing of them",
    async () => {
      const place = await create();
      const sql = place.connect();
      await migrate(sql);
      const { click } = await clicked(sql);
      expect(await hadClicksLately(sql)).toBe(false);
      await click(noon);
      const over = noon + 13 * hourMs;
      expect(await hadClicksLately(sql)).toBe(true);
      expect(await hasVisitorsToForget(sql, over)).toBe(false);
      expect(await hasVisitorsToForget(sql, over + 1)).toBe(true);

      // Somebody reads just then, so the log of SQLite stays.
      const reader = name === "SQLite" ? new Database(place.address) : undefined;
      reader?.run("begin");
      reader?.query("select hash from click_visitors").all();
      expect(await forgetVisitors(sql, over + 1)).toBe(2);
      reader?.close();
      expect(await hasVisitorsToForget(sql, over + 1)).toBe(name === "SQLite");
      expect(await forgetVisitors(sql, over + 1)).toBe(0);
      expect(await hasVisitorsToForget(sql, over + 1)).toBe(false);
      expect(await hadClicksLately(sql)).toBe(false);
    },
    limitMs,
  );

  test(
    "notices are asked for once somebody has a contact address",
    async () => {
      const sql = await open();
      const { id } = await clickTenant(sql, "acme");
      const settings = createEmailSettings(sql, undefined, systemClock);
      await settings.change(id, { sender: "Acme <acme@example.org>" }, byCommand);
      expect(await hasContacts(sql)).toBe(false);
      await settings.change(id, { contact: "acme@example.org" }, byCommand);
      expect(await hasContacts(sql)).toBe(true);
    },
    limitMs,
  );

  test(
    "cleaning up is asked for by each thing that an index finds, and then there is nothing left",
    async () => {
      const sql = (await create()).connect();
      await migrate(sql);
      const clock = { ...systemClock, now: () => systemClock.now() };
      const parts = { sql, clock, store: createLinkStore(sql), trash: createTrashStore(sql), historyDays: 365 };
      const { id: tenant } = await createTenants(sql, clock).create("acme", "Acme", byCommand);
      expect(await hasToClean(parts)).toBe(false);

      const now = clock.now();
      for (const [kind, keptDays, oldDays, insert] of oldThings(tenant)) {
        for (const [at, isOld] of [
          [now - keptDays * dayMs, false],
          [now - oldDays * dayMs, true],
        ] as const) {
          for (const text of insert(at)) await raw.raw(text).execute(sql.db);
          const asked = await hasToClean(parts);
          const { [kind]: cleaned } = await cleanUp(parts);
          expect({ kind, isOld, asked, cleaned }).toEqual({ kind, isOld, asked: isOld, cleaned: isOld ? 1 : 0 });
          // What purging a link left in the feed is new.
          expect({ kind, after: await hasToClean(parts) }).toEqual({ kind, after: false });
          // Of the feed, only the first change is looked at.
          for (const table of ["links", "trashed_links", "link_versions", "changes"]) {
            await raw`delete from ${raw.table(table)}`.execute(sql.db);
          }
        }
      }
    },
    limitMs,
  );
});

type Kind = keyof Awaited<ReturnType<typeof cleanUp>>;

const keptLink = JSON.stringify({ tags: "[]", rules: null, split: null, utm: null });

/** How old it may be, when it is too old, in days, and its row, as statements. */
const oldThings = (
  tenant: TenantId,
): readonly (readonly [Kind, number, number, (at: number) => readonly string[]])[] => {
  let rows = 0;
  const version = (code: string) =>
    `insert into link_versions (domain, code, version, state, tenant_id) values ('', '${code}', 1, 'live', '${tenant}')`;
  const idOf = (kind: "link" | "email", at: number) => newId(kind, { now: () => at });
  return [
    [
      "links",
      364,
      366,
      (at) => [
        version(`l${++rows}`),
        `insert into links (id, tenant_id, domain, code, url, permanent, status, tags, created_at, updated_at, expires_at)
          values ('${idOf("link", at)}', '${tenant}', '', 'l${rows}', 'https://example.com/', 0, 'active', '[]', 1, 1, ${at})`,
      ],
    ],
    [
      "changes",
      0.9,
      1.1,
      (at) => [`insert into changes (domain, code, version, at) values ('', 'c${++rows}', 1, ${at})`],
    ],
    [
      "months",
      40,
      72,
      (at) => [
        `insert into leases (id, month, size) values ('lease${++rows}', '${new Date(at).toISOString().slice(0, 7)}', 1)`,
      ],
    ],
    [
      "emails",
      89,
      91,
      (at) => [
        `insert into emails (id, tenant_id, kind, recipient, subject, state, due_at, created_at, finished_at)
          values ('${idOf("email", at)}', '${tenant}', 'test', 'a@example.org', 's', 'sent', ${at}, ${at}, ${at})`,
      ],
    ],
    [
      "answers",
      -1,
      1,
      (at) => [
        `insert into idempotency (tenant_id, key_hash, fingerprint, seed, state, claim, claimed_until, created_at, expires_at)
          values ('${tenant}', 'k${++rows}', 'f', 's', 'done', 'c', 0, 0, ${at})`,
      ],
    ],
    [
      "signIns",
      -1,
      1,
      (at) => [
        `insert into person_tokens (hash, kind, created_at, expires_at) values ('h${++rows}', 'setup', 0, ${at})`,
      ],
    ],
    [
      "trashed",
      29,
      31,
      (at) => [
        version(`t${++rows}`),
        `insert into trashed_links (id, tenant_id, domain, code, link, deleted_at)
          values ('${idOf("link", at)}', '${tenant}', '', 't${rows}', '${keptLink}', ${at})`,
      ],
    ],
  ];
};
