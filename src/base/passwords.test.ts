import { expect, test } from "bun:test";
import { createPasswords, passwordShares } from "./passwords.ts";
import { createShares } from "./shares.ts";

const passwords = createPasswords();

test("a password matches its own hash, which is argon2id and different every time", async () => {
  const [one, two] = [await passwords.hash("correct horse", "a"), await passwords.hash("correct horse", "a")];
  expect([one, two].every((hash) => hash.startsWith("$argon2id$v=19$m=19456,t=2,"))).toBe(true);
  expect(one).not.toBe(two);
  expect(await passwords.matches("correct horse", one, "a")).toBe(true);
  expect(await passwords.matches("Correct horse", one, "a")).toBe(false);
});

test("of a flood some wait, and the rest are refused; the thread continues meanwhile", async () => {
  const few = createPasswords(createShares({ ...passwordShares, waitingMost: 20, waitMs: 60_000 }));
  const hash = await few.hash("correct horse", "a");
  let turns = 0;
  let running = true;
  const turn = () => {
    turns++;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  const results = await Promise.all(Array.from({ length: 200 }, () => few.matches("wrong", hash, "a")));
  running = false;
  expect(results.filter((result) => result === false).length).toBe(21);
  expect(results.filter((result) => result === "busy").length).toBe(179);
  // One after the other. Were they computed here, the thread would have turned once for each at most.
  expect(turns).toBeGreaterThan(results.length);
});

test("a flood of right passwords from one network delays no other network", async () => {
  const shares = createShares({ ...passwordShares, waitMs: 60_000 });
  const all = createPasswords(shares);
  const hash = await all.hash("correct horse", "a");
  const flood = Array.from({ length: 200 }, () => all.matches("correct horse", hash, "flood"));
  const others = ["b", "c", "d"].map((network) => all.matches("correct horse", hash, network));
  expect(await Promise.all(others)).toEqual([true, true, true]);
  // They were served in between, and not after the flood.
  expect(shares.figures.waiting).toBeGreaterThan(20);
  expect((await Promise.all(flood)).filter((result) => result === "busy").length).toBeGreaterThan(0);
});

test("no hash is computed for a visitor that has left", async () => {
  const shares = createShares(passwordShares);
  const all = createPasswords(shares);
  const hash = await all.hash("correct horse", "a");
  const leaving = new AbortController();
  const results = [1, 2, 3].map(() => all.matches("correct horse", hash, "a", leaving.signal));
  leaving.abort();
  expect(await Promise.all(results)).toEqual([true, "busy", "busy"]);
  expect(shares.figures.refused.left).toBe(2);
});
