import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { createCodes } from "../../src/codes/codes.ts";
import { createIssuer } from "../../src/codes/issuer.ts";
import { requireSalt, rotateSalt, takeCodeBlock } from "../../src/sql/code-counter.ts";
import { migrate } from "../../src/sql/migrate.ts";
import { onEachDatabase } from "./databases.ts";

const codes = createCodes("a salt for tests, and only for them");
const { fingerprint } = codes;
const other = createCodes("another salt, for the same tests").fingerprint;

async function refusal(work: Promise<unknown>): Promise<OperatorError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OperatorError) return error;
  throw new Error(`not an OperatorError: ${error}`);
}

onEachDatabase(({ open, openTwo, create }) => {
  describe("the counter", () => {
    test("starts at 0 and moves on by the size of each block", async () => {
      const sql = await open();
      const starts = [];
      for (const size of [1_000, 1, 10, 1_000]) starts.push(await takeCodeBlock(sql, size));
      expect(starts).toEqual([0, 1_000, 1_001, 1_011]);
    });

    test("never gives two callers the same number, from any connection", async () => {
      const [one, two] = await openTwo();
      const sizes = Array.from({ length: 100 }, (_, i) => 1 + (i % 7));
      const starts = await Promise.all(sizes.map((size, i) => takeCodeBlock(i % 2 === 0 ? one : two, size)));
      const numbers = starts.flatMap((start, i) => Array.from({ length: sizes[i] ?? 0 }, (_, n) => start + n));
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: numbers.length }, (_, n) => n));
    });

    test("does not go back when a client is closed", async () => {
      const place = await create();
      const first = place.connect();
      await migrate(first);
      await takeCodeBlock(first, 1_000);
      await first.close();
      expect(await takeCodeBlock(place.connect(), 1_000)).toBe(1_000);
    });

    test("lets two instances issue codes at once, and none twice", async () => {
      const [one, two] = await openTwo();
      const issuers = [one, two].map((sql) => createIssuer(codes, (size) => takeCodeBlock(sql, size), 10));
      const issued = await Promise.all(issuers.flatMap((issuer) => Array.from({ length: 250 }, () => issuer.next())));
      expect(new Set(issued).size).toBe(500);
    });
  });

  describe("the salt", () => {
    test("of the first start is the database's from then on", async () => {
      const [one, two] = await openTwo();
      await requireSalt(one, fingerprint, systemClock);
      await requireSalt(two, fingerprint, systemClock);
      const rows = await one.db.selectFrom("code_epochs").select(["epoch", "fingerprint"]).execute();
      expect(rows).toEqual([{ epoch: 1, fingerprint }]);
    });

    test("that differs is refused, and the operator learns what to do", async () => {
      const sql = await open();
      await requireSalt(sql, fingerprint, systemClock);
      const { exitCode, message } = await refusal(requireSalt(sql, other, systemClock));
      expect(exitCode).toBe(2);
      expect(message).toContain("QL_CODE_SALT does not match this database");
      expect(message).toContain("quicklink codes rotate");
    });

    test("of two who start first at the same time is one's, and the other is refused", async () => {
      const [one, two] = await openTwo();
      const outcomes = await Promise.allSettled([
        requireSalt(one, fingerprint, systemClock),
        requireSalt(two, other, systemClock),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    });

    test("can be changed on purpose, and then the old one is refused", async () => {
      const sql = await open();
      await requireSalt(sql, fingerprint, systemClock);
      expect(await rotateSalt(sql, other, systemClock)).toBe(2);
      await requireSalt(sql, other, systemClock);
      expect((await refusal(requireSalt(sql, fingerprint, systemClock))).exitCode).toBe(2);
    });

    test("that is in force already is not changed", async () => {
      const sql = await open();
      expect(await rotateSalt(sql, fingerprint, systemClock)).toBe(1);
      expect(await rotateSalt(sql, fingerprint, systemClock)).toBeUndefined();
    });

    test("can be changed back, as a new epoch", async () => {
      const sql = await open();
      await requireSalt(sql, fingerprint, systemClock);
      await rotateSalt(sql, other, systemClock);
      expect(await rotateSalt(sql, fingerprint, systemClock)).toBe(3);
      await requireSalt(sql, fingerprint, systemClock);
    });

    test("does not move the counter when it changes", async () => {
      const sql = await open();
      await requireSalt(sql, fingerprint, systemClock);
      await takeCodeBlock(sql, 50);
      await rotateSalt(sql, other, systemClock);
      expect(await takeCodeBlock(sql, 1)).toBe(50);
    });
  });
});
