import { createHash } from "node:crypto";
import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import type { Limit } from "./counters.ts";
import { slidingHour, type Window } from "./window.ts";

/**
 * Limits password attempts: per network and link in a quarter of an hour, and per link from everywhere in an hour, on
 * all servers together. An attempt is counted before the password is checked, and refunded if it was right: an office
 * behind one address may sign in one after the other.
 *
 * An attacker who uses up a link's attempts would lock everybody else out. So a network that gave the right password
 * that day (UTC) continues with its own attempts and does not need the link's.
 *
 * A network is known only by its name of the day. When the counters are unavailable, no attempt is allowed, because a
 * short password is only safe while attempts are few; visitors with a password session stay in.
 */
export interface PasswordAttempts {
  begin(key: string, address: string | undefined): Promise<PasswordAttempt>;
}

export type PasswordAttempt =
  | GrantedAttempt
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export interface GrantedAttempt {
  readonly kind: "granted";
  /** The password was not checked: refunds the attempt. */
  undo(): Promise<void>;
  /** The password was right: refunds the attempt, and remembers the network for the day. */
  right(): Promise<void>;
}

export const attemptsPerAddress = 10;
export const attemptsPerLink = 50;
const quarterHour: Window = { kind: "sliding", bucketMs: 15_000, buckets: 60 };
const day: Window = { kind: "sliding", bucketMs: 3_600_000, buckets: 24 };

export function createPasswordAttempts(settings: AddressLimiterSettings): PasswordAttempts {
  const { counters } = settings;
  const limiter = createAddressLimiter(settings, { purpose: "attempts", action: "attempt" });

  async function isKnown(entered: Limit): Promise<boolean> {
    const answer = await counters.status([entered]);
    return answer.kind === "known" && answer.limits.some(({ used }) => used > 0);
  }

  async function remember(link: string, entered: Limit): Promise<void> {
    // Always the same ID, so it counts once.
    await counters.take(`{${link}}/entered/${entered.subject}`, [{ limit: entered, amount: 1 }]);
  }

  return {
    async begin(key, address) {
      const link = linkName(key);
      const { here, all, entered } = limitsOf(link, limiter.nameOf(address) ?? limiter.unknownName());
      let taken = await limiter.take(link, [here, all]);
      const isUsedUp = taken.kind === "denied" && taken.limit.name === all.name;
      if (isUsedUp && (await isKnown(entered))) taken = await limiter.take(link, [here]);
      if (taken.kind !== "granted") return { kind: taken.kind, retryAfterSeconds: toRetrySeconds(taken.retryAfterMs) };
      const { undo } = taken;
      return { kind: "granted", undo, right: () => Promise.all([undo(), remember(link, entered)]).then(() => {}) };
    },
  };
}

/** A name too long for a counter key is replaced by its hash. */
const linkName = (key: string): string =>
  key.length <= linkMost ? key : createHash("sha256").update(key).digest("base64url");
const linkMost = 100;

function limitsOf(link: string, name: string): Record<"here" | "all" | "entered", Limit> {
  return {
    here: {
      ...{ name: "attemptsPerAddress", subject: name, max: attemptsPerAddress, window: quarterHour },
      key: `attempts:{${link}}:${name}`,
    },
    all: {
      ...{ name: "attemptsPerLink", subject: link, max: attemptsPerLink, window: slidingHour },
      key: `attempts:{${link}}`,
    },
    entered: {
      ...{ name: "enteredToday", subject: name, max: 1, window: day },
      key: `entered:{${link}}:${name}`,
    },
  };
}
