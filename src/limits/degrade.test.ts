import { expect, test } from "bun:test";
import { degrading } from "./degrade.ts";
import type { Ask, LeaseAnswer } from "./leases.ts";

const ask = (id: string): Ask => ({ id, key: "abc", draws: "hits", max: 1_000, want: 1 });

/** A store that answers or does not, as it is told, and remembers what it was asked and told to take back. */
function store() {
  const asked: string[] = [];
  const cancelled: string[] = [];
  const there = { answers: true };
  return {
    ...{ asked, cancelled, there },
    async acquire({ id }: Ask): Promise<LeaseAnswer> {
      asked.push(id);
      if (!there.answers) throw new Error("no answer");
      return { kind: "granted", lender: "sql", lease: id, size: 1, month: "2026-11", validForMs: 5_000 };
    },
    cancel: ({ id }: Ask) => void cancelled.push(id),
  };
}

test("the first is asked, and the second when it does not answer; what the first may have granted is taken back", async () => {
  const [first, second] = [store(), store()];
  const both = degrading(first, second);
  await both.acquire(ask("1"));
  expect(second.asked).toEqual([]);
  first.there.answers = false;
  await both.acquire(ask("2"));
  expect(second.asked).toEqual(["2"]);
  expect(first.cancelled).toEqual(["2"]);
});

test("an ask that neither answered is taken back from the second once the first answers", async () => {
  const [first, second] = [store(), store()];
  const both = degrading(first, second);
  first.there.answers = false;
  second.there.answers = false;
  await expect(both.acquire(ask("1"))).rejects.toThrow();
  first.there.answers = true;
  await both.acquire(ask("1"));
  expect(second.cancelled).toEqual(["1"]);
  expect(first.cancelled).toEqual([]);
});

test("the second is asked under the id whose fate it left unknown", async () => {
  const [first, second] = [store(), store()];
  const both = degrading(first, second);
  first.there.answers = false;
  second.there.answers = false;
  await expect(both.acquire(ask("1"))).rejects.toThrow();
  second.there.answers = true;
  expect(await both.acquire(ask("2"))).toMatchObject({ lease: "1" });
  expect(second.cancelled).toEqual([]);
});
