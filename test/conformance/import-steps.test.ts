/** The steps of an import through the API, on both databases, in a process that can end between two of them. */
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import type { FileId } from "../../src/base/ids.ts";
import { createImportRuns } from "../../src/import-export/runs/import-runs.ts";
import { importStep } from "../../src/import-export/runs/step.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { createTenants } from "../../src/tenants/tenants.ts";
import { byCommand } from "../ground/actors.ts";
import { linkStores } from "../ground/links.ts";
import { onEachDatabase } from "./databases.ts";
import { openLinkWorld } from "./link-world.ts";

const file = Buffer.from("url,code\nhttps://example.com/a,one\nnowhere,two\nhttps://example.com/b,three\n");

onEachDatabase(({ open }) => {
  test("a process that is killed after a batch was committed loses none of its refused rows", async () => {
    const sql = await open();
    const world = openLinkWorld([sql, sql], { ...systemClock, ...{ advance() {}, set() {} } });
    const { id: tenant } = await world.newTenant();
    const runs = createImportRuns(sql, systemClock);
    const given = { id: undefined, file: "fil_x" as FileId, name: "a.csv", sizeBytes: file.length, onlyFormat: null };
    const { id } = await runs.create(tenant, given, byCommand);
    const parts = {
      ...{ sql, links: world.links, store: linkStores(sql).store, tenants: createTenants(sql, systemClock) },
      ...{ clock: systemClock, redirects: { idleMs: async () => 0, nowMs: async () => 0 } },
      storage: { read: async (_: string, start: number, length: number) => file.subarray(start, start + length) },
    };
    await importStep(parts);
    await runs.setState(tenant, id, ["checked"], "running", byCommand);

    const mortal = killedAfterCommit(sql);
    await importStep({ ...parts, sql: mortal, store: linkStores(mortal).store }).catch(() => {});
    for (let step = 0; step < 3 && (await importStep(parts)); step++);
    expect(await runs.get(tenant, id)).toMatchObject({ state: "done", done: { made: 2, refused: 1 } });
    expect(await runs.badRows(tenant, id, "import", 9)).toMatchObject([{ line: 3 }]);
  });
});

/** Its first transaction is the last thing that this process does. */
function killedAfterCommit(sql: Sql): Sql {
  let killed = false;
  const db = new Proxy(sql.db, {
    get(target, name) {
      if (killed) throw new Error("this process was killed");
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return {
    ...sql,
    db,
    async transaction(work) {
      const result = await sql.transaction(work);
      killed = true;
      return result;
    },
  };
}
