import { describe, expect, test } from "bun:test";
import { nameOf } from "../../test/ground/changes.ts";
import { createLog } from "../base/log.ts";
import { createCorrectTier } from "./correct-tier.ts";
import type { LinkVersion } from "./feed.ts";

interface Place {
  readonly at: number;
}

const change = (at: number): LinkVersion & Place => ({ kind: "link", domain: "", code: `c${at}`, version: at, at });
const round = (began: number, at: number, notFinal: readonly LinkVersion[] = []) => {
  return { began, ended: began + 1, position: { at }, notFinal };
};
const toText = ({ at }: Place) => String(at).padStart(5, "0");

/** A tier of some servers, a feed, and the log of what was done to whom. */
function setUp(
  servers: Record<string, { position?: number; idleMs?: number; begunAt?: number; isForeign?: boolean }>,
  end = 100,
) {
  const done: string[] = [];
  const lines: string[] = [];
  const broken = new Set<string>();
  const position = new Map(Object.entries(servers).map(([name, { position: at }]) => [name, at]));
  const step = (what: string, text: string) => {
    if (broken.has(what)) throw new Error(`no ${what}`);
    done.push(text);
  };
  const correct = createCorrectTier<Place>(
    {
      servers: () => Object.keys(servers),
      async stand(server) {
        if (broken.has("stand") || broken.has(server)) throw new Error("no stand");
        const at = position.get(server);
        const { idleMs = 0, isForeign = false } = servers[server] ?? {};
        return { idleMs, isForeign, position: at === undefined ? "" : toText({ at }) };
      },
      async begin(server, text) {
        step("begin", `${server} begins at ${Number(text)}`);
        return { idleMs: 0, position: toText({ at: servers[server]?.begunAt ?? Number(text) }) };
      },
      async fence(server, changes) {
        if (changes.length > 0) step("fence", `${server} fences ${changes.map(nameOf)}`);
      },
      async moveOn(server, from, to) {
        step("moveOn", `${server} moves from ${Number(from)} to ${Number(to)}`);
        position.set(server, Math.max(Number(from), Number(to)));
      },
      believe: (server, began) => step("believe", `${server} is believed as of ${began}`),
    },
    {
      toText,
      fromText: (text) => ({ at: Number(text) }),
      end: async () => ({ at: 100 }),
      async after({ at }, limit) {
        const page = Array.from({ length: Math.min(limit, end - at) }, (_, i) => change(at + i + 1));
        const next = { at: page.at(-1)?.at ?? at };
        return { changes: page, next, finalUntil: next, finalCount: page.length };
      },
    },
    createLog("info", { write: (line) => lines.push(line) }, false, () => 0),
  );
  return { correct, done, broken, lines };
}

describe("correcting the shared tier", () => {
  test("fences what happened since, then moves on, then believes", async () => {
    const { correct, done } = setUp({ one: { position: 97 } });
    await correct(round(5, 99, [change(100)]));
    expect(done).toEqual([
      "one fences c98,c99,c100",
      "one fences c100",
      "one moves from 97 to 99",
      "one is believed as of 5",
    ]);
  });

  test("fences no further than the round, however fast changes are written", async () => {
    const { correct, done } = setUp({ one: { position: 97 } }, 10_000);
    await correct(round(5, 600));
    expect(done.filter((line) => line.includes("fences"))).toHaveLength(3);
    expect(done[2]).toMatch(/,c847$/);
    expect(done.slice(3)).toEqual(["one moves from 97 to 600", "one is believed as of 5"]);
  });

  test("ends between two pages when it is called off, without moving on", async () => {
    const { correct, done, lines } = setUp({ one: { position: 97 } }, 10_000);
    const ending = new AbortController();
    ending.abort();
    await correct(round(5, 600), ending.signal);
    expect(done).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test("finds it done when another instance was faster", async () => {
    const { correct, done } = setUp({ one: { position: 100 } });
    await correct(round(5, 100));
    expect(done).toEqual(["one is believed as of 5"]);
  });

  test("confirms a position that has not changed for a minute, so that it does not seem abandoned", async () => {
    const { correct, done } = setUp({
      quiet: { position: 100, idleMs: 60_000 },
      busy: { position: 100, idleMs: 59_999 },
    });
    await correct(round(5, 100));
    expect(done.toSorted()).toEqual([
      "busy is believed as of 5",
      "quiet is believed as of 5",
      "quiet moves from 100 to 100",
    ]);
  });

  test("fences changes that are not final, also where the position stays, and confirms that they went to this server", async () => {
    const { correct, done } = setUp({ one: { position: 99 } });
    await correct(round(5, 99, [change(100)]));
    expect(done).toEqual(["one fences c100", "one moves from 99 to 99", "one is believed as of 5"]);
  });

  test("starts an epoch on a server without a position, or with one that is too old", async () => {
    const { correct, done } = setUp({ empty: {}, old: { position: 3, idleMs: 20 * 3_600_000 + 1 } });
    await correct(round(0, 98));
    await correct(round(3_001, 100));
    expect(done.filter((line) => line.startsWith("empty"))).toEqual([
      "empty begins at 98",
      "empty fences c99,c100",
      "empty moves from 98 to 100",
      "empty is believed as of 3001",
    ]);
    expect(done.filter((line) => line.startsWith("old"))).toHaveLength(4);
  });

  test("leaves the server of another database alone, says so, and takes it over when nobody confirms it any more", async () => {
    const used = setUp({ one: { isForeign: true, idleMs: 179_999 } });
    for (const began of [0, 3_001]) await used.correct(round(began, 100));
    expect(used.done).toEqual([]);
    expect(used.lines.join()).toContain("used by servers of another database");
    const abandoned = setUp({ one: { isForeign: true, idleMs: 180_000 } });
    for (const began of [0, 3_001]) await abandoned.correct(round(began, 100));
    expect(abandoned.done[0]).toBe("one begins at 100");
    expect(abandoned.done.at(-1)).toBe("one is believed as of 3001");
  });

  test("does not touch an empty server until the tickets of others have expired", async () => {
    const { correct, done } = setUp({ empty: {} });
    for (const began of [0, 500, 3_000]) await correct(round(began, 100));
    expect(done).toEqual([]);
    for (const began of [3_001, 3_500, 7_000]) await correct(round(began, 100));
    expect(done[0]).toBe("empty begins at 100");
  });

  test("corrects an epoch from where another, faster instance started it", async () => {
    const { correct, done } = setUp({ one: { begunAt: 98 } });
    await correct(round(0, 95));
    await correct(round(3_001, 100));
    expect(done).toEqual([
      "one begins at 95",
      "one fences c99,c100",
      "one moves from 98 to 100",
      "one is believed as of 3001",
    ]);
  });

  test("does not let one unavailable server delay the others", async () => {
    const { correct, done, broken } = setUp({ away: { position: 97 }, here: { position: 99 } });
    broken.add("away");
    await correct(round(5, 99));
    expect(done).toEqual(["here is believed as of 5"]);
  });

  test.each(["stand", "fence", "moveOn"])(
    "does not believe when %s fails, says so once, and tries again",
    async (what) => {
      const { correct, done, broken, lines } = setUp({ one: { position: 97 } });
      broken.add(what);
      await correct(round(5, 99));
      await correct(round(5, 99));
      expect(done.some((line) => line.includes("believed"))).toBe(false);
      broken.delete(what);
      await correct(round(6, 99));
      expect(done.at(-1)).toBe("one is believed as of 6");
      expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
        "cannot correct the shared cache; not using it meanwhile",
        "correcting the shared cache works again",
      ]);
    },
  );
});
