import { expect, test } from "bun:test";
import fc from "fast-check";
import { Problem } from "./errors.ts";
import { createMetrics } from "./metrics.ts";
import { countShares, createShares } from "./shares.ts";

const settings = { resource: "tests", what: "tests", atOnce: 2, waitingMost: 3, waitMs: 60_000, retryAfterSeconds: 4 };

/** Work that ends on demand. */
function held() {
  const ending = Promise.withResolvers<void>();
  return { work: () => ending.promise, end: ending.resolve, fail: ending.reject };
}

const problemOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Problem ? error : undefined;
};

test("work that throws gives its place back, and the error reaches the caller", async () => {
  const shares = createShares({ ...settings, atOnce: 1 });
  const failing = held();
  const failed = shares.run("a", failing.work).catch((error: unknown) => error);
  const after = shares.run("a", async () => "done");
  failing.fail(new Error("broken"));
  expect(await failed).toEqual(new Error("broken"));
  expect(await after).toBe("done");
  expect(shares.figures).toMatchObject({ running: 0, waiting: 0 });
});

test("beyond the queue the caller is told when to come back", async () => {
  const shares = createShares({ ...settings, atOnce: 1, waitingMost: 0 });
  const first = held();
  const running = shares.run("a", first.work);
  const refused = await problemOf(shares.run("b", async () => {}));
  expect(refused).toMatchObject({ code: "busy", status: 503, more: { retryAfterSeconds: 4 } });
  expect(shares.figures.refused.full).toBe(1);
  first.end();
  await running;
});

test("waiting is limited in time", async () => {
  const shares = createShares({ ...settings, atOnce: 1, waitMs: 5 });
  const first = held();
  const running = shares.run("a", first.work);
  expect(await problemOf(shares.run("b", async () => {}))).toMatchObject({ code: "busy" });
  expect(shares.figures).toMatchObject({ running: 1, waiting: 0, refused: { late: 1 } });
  first.end();
  await running;
});

test("a caller that leaves gives up its place in the line, and is never started", async () => {
  const shares = createShares({ ...settings, atOnce: 1 });
  const first = held();
  const running = shares.run("a", first.work);
  const leaving = new AbortController();
  let started = false;
  const gone = problemOf(
    shares.run(
      "b",
      async () => {
        started = true;
      },
      { signal: leaving.signal },
    ),
  );
  leaving.abort();
  expect(await gone).toMatchObject({ code: "busy" });
  expect(await problemOf(shares.run("c", async () => {}, { signal: leaving.signal }))).toMatchObject({ code: "busy" });
  first.end();
  await running;
  expect(started).toBe(false);
  expect(shares.figures).toMatchObject({ running: 0, waiting: 0, refused: { left: 2 } });
});

test("leaving twice gives back one place", async () => {
  const shares = createShares({ ...settings, atOnce: 4 });
  const [one, two] = [await shares.enter("a"), await shares.enter("b")];
  if (one.kind === "entered") for (let n = 0; n < 3; n++) one.leave();
  expect(shares.figures.running).toBe(1);
  if (two.kind === "entered") two.leave();
  expect(shares.figures.running).toBe(0);
});

test("whatever throws, ends, waits too long or leaves, no place is lost and none is given twice", async () => {
  const call = fc.record({
    holder: fc.constantFrom("a", "b", "c"),
    turns: fc.nat(5),
    fails: fc.boolean(),
    leaves: fc.option(fc.nat(5), { nil: undefined }),
    startsAfter: fc.nat(8),
  });
  const pause = async (turns: number) => {
    for (let n = 0; n < turns; n++) await Promise.resolve();
  };
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
      const shares = createShares(settings);
      let running = 0;
      const outcomes = calls.map(async ({ holder, turns, fails, leaves, startsAfter }) => {
        await pause(startsAfter);
        const leaving = new AbortController();
        if (leaves !== undefined) void pause(leaves).then(() => leaving.abort());
        const work = async () => {
          expect(++running).toBeLessThanOrEqual(settings.atOnce);
          await pause(turns);
          running--;
          if (fails) throw new Error("broken");
        };
        return shares.run(holder, work, { signal: leaving.signal });
      });
      for (const outcome of await Promise.allSettled(outcomes)) {
        if (outcome.status === "rejected") expect(String(outcome.reason)).toMatch(/broken|busy/);
      }
      expect(shares.figures).toMatchObject({ running: 0, waiting: 0 });
    }),
  );
});

test("figures are by resource, and never by holder", async () => {
  const metrics = createMetrics();
  const shares = createShares({ ...settings, atOnce: 1, waitingMost: 1 });
  countShares(metrics, [shares, createShares({ ...settings, resource: "others" })]);
  const first = held();
  const all = ["t_1", "t_2", "t_3"].map((tenant) => shares.run(tenant, first.work).catch(() => {}));
  const { text } = await metrics.scrape();
  expect(text).toContain('quicklink_shares_running{resource="tests"} 1');
  expect(text).toContain('quicklink_shares_waiting{resource="tests"} 1');
  expect(text).toContain('quicklink_shares_places{resource="others"} 2');
  expect(text).toContain('quicklink_shares_refused_total{resource="tests",why="full"} 1');
  expect(text).not.toContain("t_1");
  first.end();
  await Promise.all(all);
});
