/** Reports are exact while roll-ups are replaced and deleted between the listing of rows and their reading. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { KyselyPlugin } from "kysely";
import { systemClock } from "../../src/base/clock.ts";
import { parseReport, type ReportParams } from "../../src/clicks/reports/query.ts";
import { reportOn } from "../../src/clicks/reports/report.ts";
import { condense } from "../../src/clicks/rollups/rounds.ts";
import type { Sql } from "../../src/sql/sql.ts";
import {
  type ClickTenant,
  createClickTenant,
  newLink,
  randomClicks,
  randomOf,
  storeClicks,
  storeLate,
} from "./click-world.ts";
import { onEachDatabase } from "./databases.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const noon = Date.UTC(2026, 10, 4, 12);

/** The columns of statements of a report. */
const settings = "zone,days_until,events_from,late,now";
const listing = "grain,start,until";

/** Does this work once, after a statement with these columns. */
function onceRead(sql: Sql, columns: string, work: () => Promise<void>): Sql {
  let isDone = false;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (!isDone && Object.keys(result.rows[0] ?? {}).join() === columns) {
        isDone = true;
        await work();
      }
      return result;
    },
  };
  return { ...sql, db: sql.db.withPlugin(plugin) };
}

onEachDatabase(({ openTwo }) => {
  describe("a report", () => {
    let sql: Sql;
    let tenant: ClickTenant;
    const random = randomOf(31);
    const links = [newLink()];

    beforeEach(async () => {
      [sql] = await openTwo();
      tenant = await createClickTenant(sql, "raced", "UTC");
    });

    const clicksIn = (from: number, until: number, count: number) =>
      randomClicks(random, { from, until, links, count }).map((click) => ({ ...click, itemised: true }));
    const read = async (on: Sql, now: number, params: ReportParams = {}) => {
      const query = parseReport({ traffic: "all", ...params }, "UTC", now);
      const clock = { ...systemClock, now: () => now };
      return (await reportOn(on, clock, tenant.id, { kind: "tenant" }, query)).totals.clicks;
    };

    test.each([{}, { filter: ["country!=country 9"] }])(
      "has each click once when three hours take the place of their first quarter: %p",
      async (params: ReportParams) => {
        await storeClicks(sql, tenant, clicksIn(noon, noon + 15 * minuteMs, 120));
        await storeClicks(sql, tenant, clicksIn(noon + hourMs, noon + 2 * hourMs, 30));
        await condense(sql, { now: noon + 2.8 * hourMs });
        const now = noon + 3.1 * hourMs;
        const raced = onceRead(sql, listing, async () => void (await condense(sql, { now })));
        const before = await read(sql, now, params);
        expect(await read(raced, now, params)).toBe(before);
        expect(await read(sql, now, params)).toBe(before);
      },
    );

    test.each([settings, listing])(
      "has the clicks of a day whose roll-up a late click deleted after reading %s",
      async (columns) => {
        await storeClicks(sql, tenant, clicksIn(noon - dayMs, noon, 300));
        const now = noon + hourMs;
        await condense(sql, { now });
        const late = clicksIn(noon - dayMs, noon - dayMs + 1, 2);
        expect(
          await read(
            onceRead(sql, columns, () => storeLate(sql, tenant, late)),
            now,
          ),
        ).toBe(302);
        expect(await read(sql, now)).toBe(302);
      },
    );
  });
});
