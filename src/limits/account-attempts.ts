import { createHash } from "node:crypto";
import { type AddressLimiterSettings, createAddressLimiter, type Taken, toRetrySeconds } from "./address-limiter.ts";
import type { Limit } from "./counters.ts";
import { slidingHour, slidingMinute, type Window } from "./window.ts";

/**
 * Limits tries to get into an account, on all servers together. A try is counted before it is checked, and refunded if it
 * was right. There are three budgets:
 *
 * - **network**: of one network against all accounts, so that a list of addresses cannot be gone through. An unknown
 *   network has none.
 * - **pair**: of one network against one account. Its windows are stacked: 5 in a minute, 10 in a quarter of an hour, 20
 *   in an hour, 50 in a day. Who goes on failing waits seconds first, then minutes, then hours.
 * - **account**: of all strangers together against one account, however many networks they have.
 *
 * Strangers who use up the account's budget must not lock its owner out. A browser that signed in before (a signed cookie,
 * `known-browsers.ts`) has a budget of its own, with the windows of a pair, and needs no other. A network from which the
 * account was entered that day (UTC) needs only the pair's. And the owner can always ask for a link by mail, which is
 * counted elsewhere (`mail-requests.ts`).
 *
 * A network is known only by its name of the day, an account by a hash. Midnight (UTC) gives every network a new name; the
 * account's budget is behind it. When the counters are unavailable, no try is
 * allowed: a password is only safe while tries are few.
 */
export interface AccountAttempts {
  begin(tried: Tried): Promise<AccountAttempt>;
}

export interface Tried {
  /** Whatever names the account: its mailbox, its ID. Accounts that do not exist are counted alike. */
  readonly account: string;
  readonly address: string | undefined;
  /** Of a browser that signed in to this account before. */
  readonly browser?: string | undefined;
}

export type AccountAttempt =
  | GrantedTry
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export interface GrantedTry {
  readonly kind: "granted";
  /** Nothing was checked: refunds the try. */
  undo(): Promise<void>;
  /** It was right: refunds the try, and remembers the network for the day. */
  right(): Promise<void>;
}

const quarterHour: Window = { kind: "sliding", bucketMs: 15_000, buckets: 60 };
const day: Window = { kind: "sliding", bucketMs: 3_600_000, buckets: 24 };

export const triesPerPair = [
  { name: "Minute", max: 5, window: slidingMinute },
  { name: "QuarterHour", max: 10, window: quarterHour },
  { name: "Hour", max: 20, window: slidingHour },
  { name: "Day", max: 50, window: day },
] as const;
export const triesPerAccount = [
  { name: "Hour", max: 30, window: slidingHour },
  { name: "Day", max: 100, window: day },
] as const;
/** An office behind one address mistypes less: right tries are refunded. */
export const triesPerNetworkAndHour = 60;

/** `purpose` keeps what is counted apart: passwords, codes of a second factor. */
export function createAccountAttempts(settings: AddressLimiterSettings, purpose: string): AccountAttempts {
  const { counters } = settings;
  const limiter = createAddressLimiter(settings, { purpose: `${purpose} tries`, action: purpose });

  async function isEntered(entered: Limit): Promise<boolean> {
    const answer = await counters.status([entered]);
    return answer.kind === "known" && answer.limits.some(({ used }) => used > 0);
  }

  async function remember(account: string, entered: Limit): Promise<void> {
    // Always the same ID, so it counts once.
    await counters.take(`{${account}}/${purpose}-entered/${entered.subject}`, [{ limit: entered, amount: 1 }]);
  }

  async function takeFor(account: string, network: string, entered: Limit): Promise<Taken> {
    const pair = stacked(purpose, "Pair", triesPerPair, account, network);
    const all = stacked(purpose, "Account", triesPerAccount, account);
    const taken = await limiter.take(account, [...pair, ...all]);
    const isUsedUp = taken.kind === "denied" && all.some(({ name }) => name === taken.limit.name);
    return isUsedUp && (await isEntered(entered)) ? await limiter.take(account, pair) : taken;
  }

  return {
    async begin({ account: name, address, browser }) {
      const account = createHash("sha256").update(name).digest("base64url");
      const network = limiter.nameOf(address) ?? limiter.unknownName();
      const entered = enteredLimit(purpose, account, network);
      if (browser !== undefined) {
        const own = await limiter.take(account, stacked(purpose, "Browser", triesPerPair, account, browser));
        return toAttempt([own], () => remember(account, entered));
      }
      // Behind a proxy that is not listed, all visitors would share one network, and one of them could use it up.
      if (limiter.nameOf(address) === undefined) {
        return toAttempt([await takeFor(account, network, entered)], () => remember(account, entered));
      }
      const everywhere = await limiter.take(network, [networkLimit(purpose, network)]);
      if (everywhere.kind !== "granted") return toAttempt([everywhere], async () => {});
      const here = await takeFor(account, network, entered);
      if (here.kind !== "granted") await everywhere.undo();
      return toAttempt([here, everywhere], () => remember(account, entered));
    },
  };
}

function toAttempt(all: readonly Taken[], remember: () => Promise<void>): AccountAttempt {
  const refused = all.find((taken) => taken.kind !== "granted");
  if (refused !== undefined) {
    return { kind: refused.kind, retryAfterSeconds: toRetrySeconds(refused.retryAfterMs) };
  }
  const undo = async () => {
    for (const taken of all) if (taken.kind === "granted") await taken.undo();
  };
  return { kind: "granted", undo, right: () => Promise.all([undo(), remember()]).then(() => {}) };
}

type Step = { readonly name: string; readonly max: number; readonly window: Window };

/** Every limit has its own counter: their windows differ. */
function stacked(purpose: string, kind: string, steps: readonly Step[], account: string, who?: string): Limit[] {
  return steps.map(({ name, max, window }) => ({
    ...{ name: `${purpose}${kind}${name}`, subject: who ?? account, max, window },
    key: `${purpose}:{${account}}:${kind.toLowerCase()}${name}${who === undefined ? "" : `:${who}`}`,
  }));
}

const networkLimit = (purpose: string, network: string): Limit => ({
  ...{ name: `${purpose}Network`, subject: network, max: triesPerNetworkAndHour, window: slidingHour },
  key: `${purpose}:{${network}}:network`,
});

const enteredLimit = (purpose: string, account: string, network: string): Limit => ({
  ...{ name: `${purpose}Entered`, subject: network, max: 1, window: day },
  key: `${purpose}:{${account}}:entered:${network}`,
});
