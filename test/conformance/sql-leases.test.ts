import { expect, test } from "bun:test";
import { sql as raw } from "kysely";
import { pruneLeases } from "../../src/sql/leases.ts";
import type { Sql } from "../../src/sql/sql.ts";
import { until } from "../ground/process.ts";
import { onEachDatabase } from "./databases.ts";
import { fresh, sqlLeases, thisMonth } from "./lenders.ts";

const awaited = () => true;
const unused = (unspent: number) => ({ spent: [0, 0], units: 0, leased: 0, unspent });

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

  test("first visits are counted up to the limit, beside leases and other first visits, and not beyond", async () => {
    const sql = await open();
    const store = sqlLeases(sql);
    const code = fresh("first");
    const visit = { key: code, draws: "hits" as const, max: 12, reason: 0 };
    const counted = async (visits: number) =>
      (
        await store.countFirst(
          Array.from({ length: visits }, () => visit),
          awaited,
        )
      ).answers.map(({ kind }) => kind);
    const ask = { id: fresh("lease"), key: code, draws: "hits" as const, max: 1_200, want: 10 };
    await store.acquire(ask);
    expect(await counted(3)).toEqual(["counted", "counted", "denied"]);
    expect(
      await sql.db.selectFrom("quotas").select(["counted", "reserved"]).where("code", "=", code).execute(),
    ).toEqual([{ counted: 2, reserved: 10 }]);
    expect((await store.countFirst([visit], awaited)).answers).toMatchObject([{ kind: "denied", outstanding: true }]);
    await store.record(fresh("recorder"), 1, [
      { ...{ key: code, draws: "hits", month: thisMonth(), lender: "sql", lease: ask.id }, ...unused(10) },
    ]);
    expect(await counted(11)).toEqual([...Array.from({ length: 10 }, () => "counted" as const), "denied"]);
    expect((await store.countFirst([visit], awaited)).answers).toMatchObject([{ kind: "denied", outstanding: false }]);
    expect((await store.countFirst([{ ...visit, key: fresh("none"), max: 0 }], awaited)).answers).toMatchObject([
      { kind: "denied" },
    ]);
  });

  test("first visits are not counted once their visitors have given up", async () => {
    const sql = await open();
    const store = sqlLeases(sql);
    const visit = { key: fresh("left"), draws: "hits" as const, max: 1_000, reason: 0 };
    await expect(store.countFirst([visit], () => false)).rejects.toThrow("given up");
    const rows = await sql.db.selectFrom("quotas").select("counted").where("code", "=", visit.key).execute();
    expect(rows).toEqual([]);
  });

  test("what is not a visit is counted by its reason, with a lease or without", async () => {
    const sql = await open();
    const store = sqlLeases(sql);
    const code = fresh("robot");
    const robot = { key: code, draws: "exempt" as const, max: 1_000, reason: 1 };
    await store.countFirst([robot, { ...robot, draws: "hits", reason: 0 }], awaited);
    await store.countFirst([robot], awaited);
    const rows = await sql.db.selectFrom("hits").select(["reason", "hits"]).where("code", "=", code).execute();
    expect(rows).toEqual([{ reason: "bot", hits: 2 }]);
    const months = await sql.db
      .selectFrom("quotas")
      .select(["draws", "counted"])
      .where("code", "=", code)
      .orderBy("draws")
      .execute();
    expect(months).toEqual([
      { draws: "exempt", counted: 2 },
      { draws: "hits", counted: 1 },
    ]);
  });

  test("the visits of a month outlive its limit, also if an earlier version has written some of them", async () => {
    const sql = await open();
    const [code, older] = [fresh("kept"), fresh("older")];
    const month = "2020-02";
    for (const [code_, counted] of [
      [code, 7],
      [older, 9],
    ] as const) {
      await sql.db
        .insertInto("quotas")
        .values({ domain: "", code: code_, month, draws: "hits", counted, reserved: 0 })
        .execute();
    }
    await sql.db
      .insertInto("quotas")
      .values({ domain: "", code, month, draws: "exempt", counted: 3, reserved: 0 })
      .execute();
    await sql.db.insertInto("hits").values({ domain: "", code: older, month, reason: "counted", hits: 4 }).execute();
    expect(await pruneLeases(sql, Date.UTC(2020, 5), 100)).toBe(3);
    const rows = await sql.db
      .selectFrom("hits")
      .select(["code", "reason", "hits"])
      .where("month", "=", month)
      .orderBy("code")
      .execute();
    expect(rows.filter((row) => row.code === code || row.code === older)).toEqual([
      { code, reason: "counted", hits: 7 },
      { code: older, reason: "counted", hits: 9 },
    ]);
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
