import { expect, test } from "bun:test";
import { largestLease } from "../../src/limits/lease-size.ts";
import type { LeaseAnswer } from "../../src/limits/leases.ts";
import { fresh, onEachLender, spentOf, thisMonth } from "./lenders.ts";

const sizeOf = (answer: LeaseAnswer): number => (answer.kind === "granted" ? answer.size : 0);

onEachLender((place) => {
  test("a limit is spent to the last unit and not beyond, by one server", async () => {
    const server = place().instance();
    const code = fresh("one");
    expect(await server.visits(code, 300, 320)).toBe(300);
    await server.stop();
    expect(await place().standing(code)).toEqual({ counted: 300, lent: 300 });
  });

  test("a server that stops gives back what it has not spent", async () => {
    const server = place().instance();
    const code = fresh("stopped");
    expect(await server.visits(code, 1_000, 5)).toBe(5);
    await server.stop();
    expect(await place().standing(code)).toEqual({ counted: 5, lent: 5 });
  });

  test("several servers together never grant more, and between them all of it", async () => {
    const code = fresh("shared");
    const servers = [place().instance(), place().instance(), place().instance()];
    const granted = await Promise.all(servers.map((server) => server.visits(code, 400, 300)));
    const first = granted.reduce((sum, one) => sum + one, 0);
    expect(first).toBeLessThanOrEqual(400);
    // What the others still held when one was refused is returned, and available to the next.
    for (const server of servers) await server.stop();
    const last = place().instance();
    expect(first + (await last.visits(code, 400, 100))).toBe(400);
    await last.stop();
    expect(await place().standing(code)).toEqual({ counted: 400, lent: 400 });
  });

  test("many at once on several servers are granted the limit and not one more", async () => {
    const code = fresh("burst");
    const servers = [place().instance(), place().instance()];
    const verdicts = await Promise.all(
      servers.flatMap((server) => Array.from({ length: 300 }, async () => (await server.visit(code, 200)).kind)),
    );
    const first = verdicts.filter((kind) => kind === "granted").length;
    expect(first).toBeLessThanOrEqual(200);
    for (const server of servers) await server.stop();
    const last = place().instance();
    expect(first + (await last.visits(code, 200, 210))).toBe(200);
    await last.stop();
  });

  test("an ask repeated under its id gets the same lease, once", async () => {
    const server = place().instance();
    const code = fresh("again");
    const ask = { id: `${server.id}.again`, key: code, draws: "hits" as const, max: 10_000, want: 50 };
    const [first, second] = [await server.acquire(ask), await server.acquire(ask)];
    expect(first).toMatchObject({ kind: "granted", size: 50, lender: place().lender, month: thisMonth() });
    expect(second).toMatchObject({ kind: "granted", size: 50, lender: place().lender, month: thisMonth() });
    expect(await place().standing(code)).toEqual({ counted: 0, lent: 50 });
    await server.stop();
  });

  test("a recording that is sent twice counts once, and gives back once", async () => {
    const server = place().instance();
    const code = fresh("twice");
    const others = await server.ask(code, 10_000, 30);
    const batch = [spentOf(await server.ask(code, 10_000, 20), code, 7)];
    await server.record(1, batch);
    await server.record(1, batch);
    expect(await place().standing(code)).toEqual({ counted: 7, lent: 7 + sizeOf(others) });
    await server.stop();
  });

  test("what a crash leaves behind stays lent, and all the rest is granted", async () => {
    const code = fresh("crash");
    const crashed = place().instance();
    const lost = sizeOf(await crashed.ask(code, 1_000, 100));
    expect(lost).toBe(largestLease(1_000));
    const survivor = place().instance();
    expect(await survivor.visits(code, 1_000, 1_010)).toBe(1_000 - lost);
    for (const server of [survivor, crashed]) await server.stop();
    expect(await place().standing(code)).toEqual({ counted: 1_000 - lost, lent: 1_000 });
  });

  test("a raised limit is in force at once", async () => {
    const server = place().instance();
    const code = fresh("raised");
    for (let i = 0; i < 3; i++) expect((await server.ask(code, 3)).kind).toBe("granted");
    expect((await server.ask(code, 3)).kind).toBe("denied");
    expect((await server.ask(code, 4)).kind).toBe("granted");
    await server.stop();
  });

  test("a lowered limit grants nothing, and nothing goes below zero", async () => {
    const server = place().instance();
    const code = fresh("lowered");
    const lease = await server.ask(code, 1_000);
    expect((await server.ask(code, 5)).kind).toBe("denied");
    await server.record(1, [spentOf(lease, code, 0)]);
    expect(await place().standing(code)).toEqual({ counted: 0, lent: 0 });
    expect((await server.ask(code, 5)).kind).toBe("granted");
    await server.stop();
  });

  test("a limit of 0 grants nothing, and nothing is out that could come back", async () => {
    const server = place().instance();
    expect(await server.ask(fresh("none"), 0)).toMatchObject({ kind: "denied", outstanding: false });
    await server.stop();
  });

  test("leases shrink to 1 towards the end, and none of the limit is left over", async () => {
    const server = place().instance();
    const code = fresh("shrinking");
    const sizes: number[] = [];
    for (let answer = await server.ask(code, 2_000, 100); answer.kind === "granted"; ) {
      sizes.push(answer.size);
      answer = await server.ask(code, 2_000, 100);
    }
    expect(sizes[0]).toBe(largestLease(2_000));
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one));
    expect(sizes.at(-1)).toBe(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(2_000);
    await server.stop();
  });

  test("a denial says whether units are out that may come back, and when the month ends", async () => {
    const server = place().instance();
    const code = fresh("denied");
    const leases = [await server.ask(code, 2), await server.ask(code, 2)];
    const early = await server.ask(code, 2);
    expect(early).toMatchObject({ kind: "denied", outstanding: true });
    await server.record(
      1,
      leases.map((lease) => spentOf(lease, code, 1)),
    );
    const late = await server.ask(code, 2);
    expect(late).toMatchObject({ kind: "denied", outstanding: false });
    if (late.kind !== "denied") throw new Error("it was granted");
    expect(late.secondsToMonthEnd).toBeGreaterThan(0);
    expect(late.secondsToMonthEnd).toBeLessThanOrEqual(31 * 86_400);
    await server.stop();
  });

  test("visits and what is exempt do not draw on each other", async () => {
    const server = place().instance();
    const code = fresh("apart");
    const exempt = { id: `${server.id}.exempt`, key: code, draws: "exempt" as const, max: 1, want: 1 };
    expect((await server.ask(code, 1)).kind).toBe("granted");
    expect((await server.ask(code, 1)).kind).toBe("denied");
    expect((await server.acquire(exempt)).kind).toBe("granted");
    await server.stop();
  });

  test("a past month is recorded in its own row, and does not affect the current one", async () => {
    const server = place().instance();
    const code = fresh("months");
    const lease = await server.ask(code, 1_000);
    const longAgo = { ...spentOf(lease, code, 3), month: "2001-01", leased: 0, unspent: 0 };
    await server.record(1, [longAgo]);
    expect(await place().standing(code)).toEqual({ counted: 0, lent: sizeOf(lease) });
    const rows = await place()
      .sql.db.selectFrom("quotas")
      .select(["month", "counted"])
      .where("code", "=", code)
      .where("counted", ">", 0)
      .execute();
    expect(rows).toEqual([{ month: "2001-01", counted: 3 }]);
    await server.stop();
  });

  test("without a limit hits are counted all the same, by reason", async () => {
    const server = place().instance();
    const code = fresh("free");
    for (let i = 0; i < 30; i++) server.visit(code, null);
    server.meters.spend(server.meters.of(code), "exempt", null, 1);
    await server.stop();
    const rows = await place().sql.db.selectFrom("hits").select(["reason", "hits"]).where("code", "=", code).execute();
    expect(rows).toEqual([{ reason: "bot", hits: 1 }]);
    expect(await place().standing(code)).toMatchObject({ counted: 30 });
  });
});
