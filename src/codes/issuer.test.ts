import { describe, expect, test } from "bun:test";
import { type Codes, codeSpace, createCodes } from "./codes.ts";
import { createIssuer, type TakeBlock } from "./issuer.ts";

const codes = createCodes("a salt for tests, and only for them");

/** Does what SQL does, without SQL: the counter advances before anyone gets the block. */
function counter(next = 0) {
  const blocks: number[] = [];
  const take: TakeBlock = async (size) => {
    const start = next;
    next += size;
    blocks.push(start);
    return start;
  };
  return { take, blocks };
}

const many = (issuer: { next(): Promise<string> }, count: number) =>
  Promise.all(Array.from({ length: count }, () => issuer.next()));

describe("an issuer", () => {
  test("issues the codes of consecutive counters", async () => {
    const issuer = createIssuer(codes, counter(41).take, 3);
    const issued = [await issuer.next(), await issuer.next(), await issuer.next(), await issuer.next()];
    expect(issued.map((code) => codes.decode(code))).toEqual([41, 42, 43, 44]);
  });

  test("never shares a code with another one on the same counter", async () => {
    const { take } = counter();
    const [one, two] = [createIssuer(codes, take, 7), createIssuer(codes, take, 5)];
    const issued = (await Promise.all([many(one, 500), many(two, 500), many(one, 500)])).flat();
    expect(new Set(issued).size).toBe(1_500);
  });

  test("asks for a block only when the last one is used up", async () => {
    const { take, blocks } = counter();
    const issuer = createIssuer(codes, take, 10);
    expect(blocks).toEqual([]);
    await many(issuer, 10);
    expect(blocks).toEqual([0]);
    await issuer.next();
    expect(blocks).toEqual([0, 10]);
  });

  test("asks once for all callers that find the block empty at the same time", async () => {
    const { take, blocks } = counter();
    const answer = Promise.withResolvers<void>();
    const issuer = createIssuer(
      codes,
      async (size) => {
        await answer.promise;
        return take(size);
      },
      100,
    );
    const waiting = many(issuer, 100);
    answer.resolve();
    expect(new Set(await waiting).size).toBe(100);
    expect(blocks).toEqual([0]);
  });

  test("serves more callers at once than a block has codes", async () => {
    const { take, blocks } = counter();
    expect(new Set(await many(createIssuer(codes, take, 4), 30)).size).toBe(30);
    expect(blocks).toHaveLength(8);
  });

  test("fails all waiting callers if the counter is unavailable, and works again afterwards", async () => {
    const { take } = counter();
    let down = true;
    const issuer = createIssuer(codes, (size) => (down ? Promise.reject(new Error("no SQL")) : take(size)), 10);
    const told = await Promise.allSettled([issuer.next(), issuer.next(), issuer.next()]);
    expect(told.map((outcome) => outcome.status)).toEqual(["rejected", "rejected", "rejected"]);
    down = false;
    expect(codes.decode(await issuer.next())).toBe(0);
  });

  test("skips what is left of its block when it crashes, and repeats nothing", async () => {
    const { take } = counter();
    const before = await many(createIssuer(codes, take, 1_000), 3);
    const after = await many(createIssuer(codes, take, 1_000), 3);
    expect(before.map((code) => codes.decode(code))).toEqual([0, 1, 2]);
    expect(after.map((code) => codes.decode(code))).toEqual([1_000, 1_001, 1_002]);
  });

  test("passes over a code that is a reserved word", async () => {
    // No real salt produces a reserved word on demand, and few reserved words have seven letters. Here the first three
    // numbers give one.
    const words = ["BILLING", "privacy", "Sitemap"];
    const spelling: Codes = { ...codes, encode: (n) => words[n] ?? codes.encode(n) };
    const issuer = createIssuer(spelling, counter().take, 2);
    expect(codes.decode(await issuer.next())).toBe(3);
  });

  test("continues with the first counter after the last", async () => {
    const issuer = createIssuer(codes, counter(codeSpace - 1).take, 2);
    expect((await many(issuer, 2)).map((code) => codes.decode(code))).toEqual([codeSpace - 1, 0]);
  });
});
