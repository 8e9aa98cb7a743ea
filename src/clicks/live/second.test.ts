import { describe, expect, test } from "bun:test";
import { createSecond, shownMost } from "./second.ts";

const clicks = (link: string, count: number) => Array.from({ length: count }, (_, i) => `${link} ${i}`);
const linkOf = (click: string) => click.split(" ")[0] ?? "";
const of = (chosen: readonly string[], link: string) => chosen.filter((click) => linkOf(click) === link).length;

describe("one second of a tenant", () => {
  test("shows everything, in order, as long as there is room", () => {
    const second = createSecond();
    const mixed = [...clicks("a", 10), ...clicks("b", 10), ...clicks("a", 10)];
    expect(second.choose(mixed, linkOf)).toEqual(mixed);
    expect(second.end()).toEqual({ clicks: 0, quotas: 0 });
  });

  test("shows at most 50 clicks, counts the rest, and starts again with the next second", () => {
    const second = createSecond();
    const links = Array.from({ length: 100 }, (_, i) => `l${i} 0`);
    expect(second.choose(links, linkOf)).toHaveLength(shownMost);
    expect(second.choose(links, linkOf)).toHaveLength(0);
    second.leaveOut({ clicks: 7, quotas: 2 });
    expect(second.end()).toEqual({ clicks: 157, quotas: 2 });
    expect(second.choose(links, linkOf)).toHaveLength(shownMost);
    expect(second.end()).toEqual({ clicks: 50, quotas: 0 });
  });

  test("a busy link does not hide the others, neither in one batch nor in a later one", () => {
    const second = createSecond();
    const first = second.choose([...clicks("busy", 1_000), ...clicks("calm", 3)], linkOf);
    expect([of(first, "busy"), of(first, "calm")]).toEqual([40, 3]);
    const next = second.choose([...clicks("busy", 1_000), ...clicks("late", 3)], linkOf);
    expect([of(next, "busy"), of(next, "late")]).toEqual([0, 3]);
    expect(second.end().clicks).toBe(2_006 - 46);
  });

  test("busy links take turns", () => {
    const chosen = createSecond().choose(
      ["a", "b", "c", "d", "e"].flatMap((link) => clicks(link, 200)),
      linkOf,
    );
    expect(["a", "b", "c", "d", "e"].map((link) => of(chosen, link))).toEqual([10, 10, 10, 10, 10]);
  });

  test("whatever comes, what is shown and what is left out are all of it", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const second = createSecond();
      let [given, shown] = [0, 0];
      for (let part = 0; part < 5; part++) {
        const some = Array.from({ length: (seed * 37 * (part + 1)) % 61 }, (_, i) => `${(seed * i) % 7} ${i}`);
        const chosen = second.choose(some, linkOf);
        expect(some.filter((click) => chosen.includes(click))).toEqual([...chosen]);
        given += some.length;
        shown += chosen.length;
      }
      expect(shown).toBeLessThanOrEqual(shownMost);
      expect(second.end().clicks).toBe(given - shown);
    }
  });

  test("shows at most 20 changes of limits", () => {
    const second = createSecond();
    second.leaveOut({ clicks: 0, quotas: 1 });
    expect(Array.from({ length: 25 }, () => second.admitsQuota()).filter(Boolean)).toHaveLength(20);
    expect(second.end().quotas).toBe(6);
  });
});
