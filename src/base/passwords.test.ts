import { expect, test } from "bun:test";
import { createPasswords } from "./passwords.ts";

const passwords = createPasswords();

test("a password matches its own hash, which is argon2id and another every time", async () => {
  const [one, two] = [await passwords.hash("correct horse"), await passwords.hash("correct horse")];
  expect([one, two].every((hash) => hash.startsWith("$argon2id$v=19$m=19456,t=2,"))).toBe(true);
  expect(one).not.toBe(two);
  expect(await passwords.matches("correct horse", one)).toBe(true);
  expect(await passwords.matches("Correct horse", one)).toBe(false);
});

test("of a flood two are computed at once, some wait, and the rest are sent away; the thread goes on meanwhile", async () => {
  const hash = await passwords.hash("correct horse");
  let turns = 0;
  let running = true;
  const turn = () => {
    turns++;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  const results = await Promise.all(Array.from({ length: 200 }, () => passwords.matches("wrong", hash)));
  running = false;
  expect(results.filter((result) => result === false).length).toBe(22);
  expect(results.filter((result) => result === "busy").length).toBe(178);
  // Eleven pairs, one after the other. Were they computed here, the thread would have turned once for each at most.
  expect(turns).toBeGreaterThan(results.length);
});
