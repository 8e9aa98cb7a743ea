/** The batches of an import, on both databases: the next rows are read while the last ones are written, or after them. */
import { expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { batchRows } from "../../src/import-export/batch-size.ts";
import type { Fields } from "../../src/import-export/formats.ts";
import { importRecords } from "../../src/import-export/import.ts";
import { createPositions } from "../../src/import-export/import-position.ts";
import type { Row } from "../../src/import-export/row.ts";
import { ofTenant } from "../../src/sql/tenant-db.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";
import { openLinkWorld } from "./link-world.ts";

onEachDatabase(({ open }) => {
  async function setUp() {
    const sql = await open();
    const world = openLinkWorld([sql, sql], { ...systemClock, ...{ advance() {}, set() {} } });
    const tenant = await world.newTenant();
    const positions = createPositions(sql, systemClock);
    const id = `import-${tenant.id}`;
    const from = await positions.open(tenant.id, id);
    const settings = {
      ...{ sql, links: world.links, store: linkStores(sql).store, positions, tenant, id, dryRun: false },
      ...{ request: newId("history", systemClock), now: systemClock.now },
    };
    const own = ofTenant(sql.db, tenant.id);
    return {
      ...{ from, settings },
      stored: () => positions.open(tenant.id, id),
      urlOf: async (code: string) =>
        (await own.selectFrom("links").select("url").where("code", "=", code).executeTakeFirst())?.url,
      links: async () =>
        Number(
          (
            await own
              .selectFrom("links")
              .select((row) => row.fn.countAll().as("count"))
              .executeTakeFirstOrThrow()
          ).count,
        ),
    };
  }

  const rowsFrom = (first: number, count: number): Row<Fields>[] =>
    Array.from({ length: count }, (_, place) => ({
      line: first + place + 2,
      value: { code: `row-${first + place}`, url: `https://example.com/${first + place}` },
    }));

  test("are smaller if rows have many addresses, so that they fit in memory", async () => {
    const { from, settings, links } = await setUp();
    const split = Array.from({ length: 7 }, (_, place) => ({ url: `https://example.com/${place}`, weight: 1 }));
    const heavy = rowsFrom(0, 200).map((row) => ("value" in row ? { ...row, value: { ...row.value, split } } : row));
    const moved: number[] = [];
    async function* all() {
      yield [...heavy, ...rowsFrom(200, 300)];
    }
    await importRecords(all(), from, { ...settings, moved: ({ records }) => void moved.push(records) });
    const full = batchRows / 8;
    expect(moved).toEqual([full, 2 * full, 3 * full, 500, 500]);
    expect(await links()).toBe(500);
  });

  test("are written up to the row that cannot be read, and no further", async () => {
    const { from, settings, stored, links } = await setUp();
    async function* broken() {
      yield rowsFrom(0, 2 * batchRows);
      throw new Error("the disk is gone");
    }
    expect(await failureOf(importRecords(broken(), from, settings))).toBe("the disk is gone");
    expect(await stored()).toMatchObject({ records: 2 * batchRows, made: 2 * batchRows });
    expect(await links()).toBe(2 * batchRows);
  });

  test("end where somebody has stopped it: rows that were read meanwhile are not written", async () => {
    const { from, settings, stored, links } = await setUp();
    let isClosed = false;
    async function* endless() {
      try {
        for (let first = 0; ; first += 100) yield rowsFrom(first, 100);
      } finally {
        isClosed = true;
      }
    }
    const goesOn = ({ records }: { records: number }) => records < 2 * batchRows;
    const { position, isEnd } = await importRecords(endless(), from, { ...settings, goesOn });
    expect([position.records, isEnd, isClosed]).toEqual([2 * batchRows, false, true]);
    expect(await stored()).toMatchObject({ records: 2 * batchRows });
    expect(await links()).toBe(2 * batchRows);
  });

  test("keep the order of the file: a code that occurs twice goes to its first row", async () => {
    const { from, settings, urlOf } = await setUp();
    const again = (line: number, url: string): Row<Fields> => ({ line, value: { code: "twice", url } });
    const refused: number[] = [];
    async function* rows() {
      yield [again(2, "https://example.com/first"), ...rowsFrom(1, batchRows)];
      yield [again(9_000, "https://example.com/second"), ...rowsFrom(batchRows + 1, 3)];
    }
    const { position } = await importRecords(rows(), from, { ...settings, refused: (line) => refused.push(line) });
    expect(position).toMatchObject({ records: batchRows + 5, made: batchRows + 4, refused: 1 });
    expect(await urlOf("twice")).toBe("https://example.com/first");
    expect(refused).toEqual([9_000]);
  });

  test("have PostgreSQL plan its statements anew once they have filled an empty table", async () => {
    const { from, settings, links } = await setUp();
    const { sql } = settings;
    async function* rows() {
      yield rowsFrom(0, 2 * batchRows);
    }
    await importRecords(rows(), from, settings);
    expect(await links()).toBe(2 * batchRows);
    if (sql.dialect === "sqlite") return; // it has no figures of tables
    const known = raw<{ rows: number }>`select reltuples::float8 as rows from pg_class where relname = 'links'`;
    expect((await known.execute(sql.db)).rows[0]?.rows).toBeGreaterThanOrEqual(2 * batchRows);
  });

  test("use the month to the last link, with rows that were read ahead", async () => {
    const { from, settings, stored, links } = await setUp();
    const { tenant } = settings;
    const most = batchRows + 77;
    const limited = { ...tenant, limits: { ...tenant.limits, linksPerMonth: most } };
    async function* rows() {
      yield rowsFrom(0, 3 * batchRows);
    }
    const importing = importRecords(rows(), from, { ...settings, tenant: limited, spends: true });
    expect(await failureOf(importing)).toContain("links");
    expect(await stored()).toMatchObject({ records: most, made: most });
    expect(await links()).toBe(most);
  });
});

/** `rejects` of the test runner keeps other work from its turn. */
const failureOf = (work: Promise<unknown>): Promise<string> => work.then(() => "", messageOf);
