import { expect, test } from "bun:test";
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
});
