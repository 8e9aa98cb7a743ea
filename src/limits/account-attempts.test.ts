import { describe, expect, test } from "bun:test";
import { manualClock } from "../base/clock.ts";
import { createMemoryCounters } from "../in-memory/counters.ts";
import { type AccountAttempt, createAccountAttempts, triesPerNetworkAndHour } from "./account-attempts.ts";
import { unavailable } from "./counters.ts";

const minute = 60_000;
/** The names of networks change at the end of a day. */
const start = Date.UTC(2026, 10, 17);

function open() {
  const clock = manualClock(start);
  const counters = createMemoryCounters({ clock });
  const secretFor = (purpose: string) => Buffer.from(purpose.padEnd(32));
  return { clock, counters, attempts: createAccountAttempts({ counters, clock, secretFor }, "test") };
}

type Open = ReturnType<typeof open>;

/** How many of so many wrong tries are admitted. */
async function admitted(
  { attempts }: Open,
  count: number,
  of: (i: number) => { account: string; address: string; browser?: string },
) {
  let granted = 0;
  for (let i = 0; i < count; i++) if ((await attempts.begin(of(i))).kind === "granted") granted++;
  return granted;
}

const right = async (attempt: AccountAttempt) => {
  if (attempt.kind !== "granted") throw new Error(`not admitted: ${attempt.kind}`);
  await attempt.right();
};

const ann = "ann@example.com";
const home = "203.0.113.7";
const stranger = (i: number) => ({ account: ann, address: `198.51.${Math.floor(i / 250)}.${i % 250}` });

describe("tries to get into an account", () => {
  test("pauses grow: 5 in a minute, 10 in a quarter of an hour, 20 in an hour, 50 in a day", async () => {
    const world = open();
    const here = () => ({ account: ann, address: home });
    const inMinutes = async (minutes: number) => {
      let sum = 0;
      for (let i = 0; i < minutes; i++) {
        sum += await admitted(world, 20, here);
        world.clock.advance(minute);
      }
      return sum;
    };
    expect(await inMinutes(1)).toBe(5);
    expect(await inMinutes(13)).toBe(5);
    expect(await inMinutes(46)).toBe(10);
    expect(await inMinutes(22 * 60 + 50)).toBe(30);
  });

  test("all strangers together have 30 tries in an hour and 100 in a day", async () => {
    const world = open();
    expect(await admitted(world, 500, stranger)).toBe(30);
    let all = 30;
    for (let hour = 1; hour < 23; hour++) {
      world.clock.advance(62 * minute);
      all += await admitted(world, 200, (i) => stranger(i + hour * 500));
    }
    expect(all).toBe(100);
  });

  test("one network has 60 tries an hour at all accounts together", async () => {
    const world = open();
    const next = (i: number) => ({ account: `person${i}@example.com`, address: home });
    expect(await admitted(world, 500, next)).toBe(triesPerNetworkAndHour);
    const sameNet = (i: number) => ({ account: `p${i}@example.com`, address: `2001:db8::${i.toString(16)}` });
    expect(await admitted(open(), 500, sameNet)).toBe(triesPerNetworkAndHour);
  });

  test("right tries are not counted", async () => {
    const world = open();
    for (let i = 0; i < 200; i++) await right(await world.attempts.begin({ account: ann, address: home }));
    expect(await admitted(world, 20, () => ({ account: ann, address: home }))).toBe(5);
  });

  test("a browser that signed in before gets in while strangers use up everything, and has its own limit", async () => {
    const world = open();
    await admitted(world, 500, stranger);
    await admitted(world, 100, () => ({ account: ann, address: home }));
    const known = { account: ann, address: home, browser: "b1" };
    expect((await world.attempts.begin({ account: ann, address: "203.0.113.99" })).kind).toBe("denied");
    await right(await world.attempts.begin(known));
    expect(await admitted(world, 20, () => known)).toBe(5);
    expect((await world.attempts.begin({ ...known, browser: "b2" })).kind).toBe("granted");
    // Of another account it is no browser that is known: the name is counted with the account.
    expect((await world.attempts.begin({ ...known, account: "bob@example.com" })).kind).toBe("granted");
  });

  test("a network from which the account was entered today gets in while strangers use up its tries", async () => {
    const world = open();
    await right(await world.attempts.begin({ account: ann, address: home }));
    await admitted(world, 500, stranger);
    await right(await world.attempts.begin({ account: ann, address: home }));
    expect(await admitted(world, 20, () => ({ account: ann, address: home }))).toBe(5);
  });

  test("whoever is locked out can try again after the time that was said", async () => {
    const world = open();
    await admitted(world, 5, () => ({ account: ann, address: home }));
    const denied = await world.attempts.begin({ account: ann, address: home });
    if (denied.kind !== "denied") throw new Error(denied.kind);
    expect(denied.retryAfterSeconds).toBeLessThanOrEqual(61);
    world.clock.advance(denied.retryAfterSeconds * 1_000);
    expect((await world.attempts.begin({ account: ann, address: home })).kind).toBe("granted");
  });

  test("a try that is denied by the account is not counted against the network", async () => {
    const world = open();
    await admitted(world, 500, stranger);
    expect(await admitted(world, 100, () => ({ account: ann, address: home }))).toBe(0);
    const others = (i: number) => ({ account: `other${i}@example.com`, address: home });
    expect(await admitted(world, 100, others)).toBe(triesPerNetworkAndHour);
  });

  test("without counters nothing is tried", async () => {
    const { clock, counters } = open();
    const away = { ...counters, take: async () => unavailable };
    const secretFor = () => new Uint8Array(32);
    const attempts = createAccountAttempts({ counters: away, clock, secretFor }, "test");
    expect((await attempts.begin({ account: ann, address: home })).kind).toBe("unavailable");
    expect((await attempts.begin({ account: ann, address: home, browser: "b" })).kind).toBe("unavailable");
  });
});

test("an unknown network is not used up for everybody; the budgets of accounts hold", async () => {
  const { attempts } = open();
  const tryOne = async (account: string) => (await attempts.begin({ account, address: undefined })).kind;
  for (let i = 0; i < 2 * triesPerNetworkAndHour; i++) expect(await tryOne(`nobody${i}@example.com`)).toBe("granted");
  for (let i = 0; i < 5; i++) expect(await tryOne(ann)).toBe("granted");
  expect(await tryOne(ann)).toBe("denied");
});
