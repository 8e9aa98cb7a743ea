import { expect, test } from "bun:test";
import { sql as raw } from "kysely";
import type { Sql } from "../../src/sql/sql.ts";
import { until } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";
import { fresh, sqlLeases } from "./lenders.ts";

onEachDatabase(({ open }) => {
  test("an ask that is taken back returns its units once, and waiting repeats of it are not granted", async () => {
    const sql = await open();
    const store = sqlLeases(sql);
    const code = fresh("back");
    const reserved = async () =>
      (await sql.db.selectFrom("quotas").select("reserved").where("code", "=", code).executeTakeFirst())?.reserved;
    const ask = { id: fresh("lease"), key: code, draws: "hits" as const, max: 10_000, want: 50 };
    await store.acquire(ask);
    const repeat = store.acquire(ask);
    store.cancel(ask);
    store.cancel(ask);
    store.cancel({ ...ask, id: fresh("never-asked") });
    await expect(repeat).rejects.toThrow("taken back");
    await until("the lease to be taken back", async () => (await reserved()) === 0 || undefined);
    await store.acquire({ ...ask, id: fresh("lease") });
    expect(await reserved()).toBe(50);
  });

  test("an ask whose lease was deleted meanwhile fails alone, and the others get their own answers", async () => {
    const sql = await open();
    const store = sqlLeases(sql);
    const asks = ["first", "lost", "last"].map((name) => ({
      ...{ id: fresh(name), key: fresh("code"), draws: "hits" as const, max: 10_000, want: 50 },
    }));
    await loseLease(sql, asks[1]?.id ?? "");
    const answers = await Promise.allSettled(asks.map((ask) => store.acquire(ask)));
    const leases = answers.map((one) => one.status === "fulfilled" && one.value.kind === "granted" && one.value.lease);
    expect(leases).toEqual([asks[0]?.id ?? "", false, asks[2]?.id ?? ""]);
  });
});

/** As if another process had deleted it between the insert, which finds it there, and the read. */
async function loseLease(sql: Sql, id: string): Promise<void> {
  const when = raw`before insert on leases for each row when (new.id = ${raw.lit(id)})`;
  if (sql.dialect === "sqlite") {
    await raw`create trigger lost ${when} begin select raise(ignore); end`.execute(sql.db);
    return;
  }
  await raw`create function lose() returns trigger language plpgsql as 'begin return null; end'`.execute(sql.db);
  await raw`create trigger lost ${when} execute function lose()`.execute(sql.db);
}
