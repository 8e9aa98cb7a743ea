import { describe, expect, test } from "bun:test";
import { type ManualClock, manualClock } from "../base/clock.ts";
import { createGuesses } from "../limits/guesses.ts";
import { attemptsPerLink, createPasswordAttempts } from "../limits/password-attempts.ts";
import { createReportLimit, reportsPerHour } from "../limits/report-limit.ts";
import { networksMost, openCounters, passwordsMost } from "./counters.ts";

const secretFor = (purpose: string) => Buffer.from(purpose);
const addressOf = (i: number) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
const perMinute = 5;

async function open(clock: ManualClock = manualClock(Date.UTC(2026, 10, 16, 12))) {
  const counters = await openCounters(undefined, clock);
  return {
    clock,
    guesses: createGuesses({ counters: counters.guesses, perMinute, clock, secretFor }),
    reports: createReportLimit({ counters: counters.reports, clock, secretFor }),
    attempts: createPasswordAttempts({ counters: counters.attempts, clock, secretFor }),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function missesUntilStopped({ guesses }: Opened, address: string): Promise<number> {
  for (let i = 0; i < 100; i++) if ((await guesses.missed(address)) !== undefined) return i;
  return Number.POSITIVE_INFINITY;
}

async function triesOf({ attempts }: Opened, key: string, from: number, most = 200): Promise<number> {
  let granted = 0;
  for (let i = 0; i < most; i++) if ((await attempts.begin(key, addressOf(from + i))).kind === "granted") granted++;
  return granted;
}

describe("guessers from more networks than there is room for", () => {
  test("are limited all the same, each of them", async () => {
    const opened = await open();
    for (let i = 0; i < networksMost + 10; i++) await opened.guesses.missed(addressOf(i));
    expect(await missesUntilStopped(opened, "192.0.2.1")).toBe(perMinute);
    expect(await missesUntilStopped(opened, addressOf(networksMost + 9))).toBe(perMinute - 1);
  });

  test("do not stop others from trying a password or reporting a link, nor change how often", async () => {
    const opened = await open();
    for (let i = 0; i < networksMost + 10; i++) await opened.guesses.missed(addressOf(i));
    expect(await triesOf(opened, "abc", 0)).toBe(attemptsPerLink);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i <= reportsPerHour; i++) waits.push(await opened.reports.take("192.0.2.1"));
    expect(waits.map((wait) => wait === undefined)).toEqual([...new Array(reportsPerHour).fill(true), false]);
  });

  test("have one forgotten only after as many others have guessed since", async () => {
    const opened = await open();
    await opened.guesses.missed("192.0.2.1");
    for (let i = 0; i < networksMost - 1; i++) await opened.guesses.missed(addressOf(i));
    // Asked again, it is the latest once more.
    await opened.guesses.missed("192.0.2.1");
    for (let i = 0; i < networksMost - 1; i++) await opened.guesses.missed(addressOf(networksMost + i));
    expect(await missesUntilStopped(opened, "192.0.2.1")).toBe(perMinute - 2);
  }, 60_000);
});

describe("wrong passwords", () => {
  test("of a link are not forgotten, from however many networks others are tried", async () => {
    const opened = await open();
    expect(await triesOf(opened, "victim", 0)).toBe(attemptsPerLink);
    // The room for networks is used up, by few links.
    for (let i = 0; i < passwordsMost + attemptsPerLink; i += attemptsPerLink)
      await triesOf(opened, `own${i}`, i, attemptsPerLink);
    expect(await triesOf(opened, "victim", 1_000)).toBe(0);
  }, 60_000);

  test("of more links than there is room for can be counted all the same", async () => {
    const opened = await open();
    for (let i = 0; i < passwordsMost + 10; i++) {
      const { kind } = await opened.attempts.begin(`link${i}`, "192.0.2.1");
      if (kind !== "granted") throw new Error(`the attempt at link ${i} was ${kind}`);
    }
    expect(await triesOf(opened, "abc", 0)).toBe(attemptsPerLink);
  }, 60_000);
});
