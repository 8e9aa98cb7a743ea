import { createHash } from "node:crypto";
import { type AddressLimiterSettings, createAddressLimiter, toRetrySeconds } from "./address-limiter.ts";
import type { Limit } from "./counters.ts";
import { slidingHour, type Window } from "./window.ts";

/**
 * Limits how often strangers can have mail sent: per network, which is told, and per mailbox, which is not, because the
 * answer must be the same whatever happens to the mailbox. A mailbox that strangers bother gets at most 4 mails in an hour,
 * all of which work.
 */
export interface MailRequests {
  ask(mailbox: string, address: string | undefined): Promise<MailRequest>;
  /**
   * Whether a person gets one more mail about what was done with their account, such as a sign-in. Whoever has the
   * password can repeat that without an end: the first mails say it all, the rest would use up what all people share.
   */
  mayTell(person: string): Promise<boolean>;
}

export type MailRequest =
  | { readonly kind: "granted" }
  /** Answer as if it was granted, and send nothing. */
  | { readonly kind: "ignored" }
  | { readonly kind: "denied"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export const mailsPerNetworkAndHour = 20;
export const mailsPerMailbox = { hour: 4, day: 10 };
const day: Window = { kind: "sliding", bucketMs: 3_600_000, buckets: 24 };

export function createMailRequests(settings: AddressLimiterSettings, purpose: string): MailRequests {
  const limiter = createAddressLimiter(settings, { purpose: `${purpose} requests`, action: purpose });
  const nameOf = (mailbox: string): string => createHash("sha256").update(mailbox).digest("base64url");

  return {
    async ask(mailbox, address) {
      const network = limiter.nameOf(address) ?? limiter.unknownName();
      const asked = await limiter.take(network, [networkLimit(purpose, network)]);
      if (asked.kind !== "granted") return { kind: asked.kind, retryAfterSeconds: toRetrySeconds(asked.retryAfterMs) };
      const name = nameOf(mailbox);
      const taken = await limiter.take(name, mailboxLimits(purpose, name));
      if (taken.kind === "unavailable")
        return { kind: taken.kind, retryAfterSeconds: toRetrySeconds(taken.retryAfterMs) };
      return { kind: taken.kind === "granted" ? "granted" : "ignored" };
    },

    async mayTell(person) {
      const name = nameOf(person);
      return (await limiter.take(name, mailboxLimits(`${purpose}Told`, name))).kind !== "denied";
    },
  };
}

const networkLimit = (purpose: string, network: string): Limit => ({
  ...{ name: `${purpose}Network`, subject: network, max: mailsPerNetworkAndHour, window: slidingHour },
  key: `${purpose}:{${network}}:network`,
});

const mailboxLimits = (purpose: string, name: string): Limit[] => [
  {
    ...{ name: `${purpose}MailboxHour`, subject: name, max: mailsPerMailbox.hour, window: slidingHour },
    key: `${purpose}:{${name}}:hour`,
  },
  {
    ...{ name: `${purpose}MailboxDay`, subject: name, max: mailsPerMailbox.day, window: day },
    key: `${purpose}:{${name}}:day`,
  },
];
