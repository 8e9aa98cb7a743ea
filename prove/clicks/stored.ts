/** What the database has of clicks, read directly. */
import { readTallyText } from "../../src/clicks/rollups/packed.ts";
import { grains } from "../../src/clicks/rollups/periods.ts";
import { clicksOf } from "../../src/clicks/rollups/tally.ts";
import type { LinkNumber, TenantNumber } from "../../src/sql/schema.ts";
import { acrossTenants } from "../../src/sql/tenant-db.ts";
import type { Environment } from "../../test/ground/process.ts";
import { look } from "../database.ts";

export interface Stored {
  /** By code. */
  readonly links: ReadonlyMap<string, { readonly link: LinkNumber; readonly tenant: TenantNumber }>;
  readonly events: ReadonlyMap<string, number>;
  readonly overflow: ReadonlyMap<string, number>;
  readonly dropped: number;
  readonly excluded: number;
  /** Rows. */
  readonly rollups: Readonly<Record<keyof typeof grains, number>>;
}

export async function readStored(env: Environment): Promise<Stored> {
  return await look(env, async ({ db }) => {
    const rows = await acrossTenants(db)
      .selectFrom("links")
      .innerJoin("tenants", "tenants.id", "links.tenant_id")
      .select(["links.code", "links.number as link", "tenants.number as tenant"])
      .execute();
    const links = new Map(rows.flatMap(({ code, link, tenant }) => (link === null ? [] : [[code, { link, tenant }]])));
    const codes = new Map([...links].map(([code, { link }]) => [link, code]));
    const events = await db
      .selectFrom("clicks")
      .select(["link", (row) => row.fn.countAll<number>().as("clicks")])
      .groupBy("link")
      .execute();
    const beyond = new Map<string, number>();
    for (const { link, quarter, tally } of await db
      .selectFrom("click_overflow")
      .select(["link", "quarter", "tally"])
      .execute()) {
      const code = codes.get(link) ?? "";
      beyond.set(code, (beyond.get(code) ?? 0) + clicksOf(readTallyText(tally, quarter)));
    }
    const drops = await db.selectFrom("click_drops").select(["dropped", "excluded"]).execute();
    const rollups = await db
      .selectFrom("click_rollups")
      .select(["grain", (row) => row.fn.countAll<number>().as("rows")])
      .groupBy("grain")
      .execute();
    const rowsOf = (grain: number) => Number(rollups.find((one) => one.grain === grain)?.rows ?? 0);
    return {
      links,
      events: new Map(events.map(({ link, clicks }) => [codes.get(link) ?? "", Number(clicks)])),
      overflow: beyond,
      dropped: drops.reduce((sum, row) => sum + row.dropped, 0),
      excluded: drops.reduce((sum, row) => sum + row.excluded, 0),
      rollups: {
        ...{ part: rowsOf(grains.part), day: rowsOf(grains.day) },
        ...{ week: rowsOf(grains.week), month: rowsOf(grains.month), quarterYear: rowsOf(grains.quarterYear) },
      },
    };
  });
}
