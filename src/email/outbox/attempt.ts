import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { CounterVerdict } from "../../limits/counters.ts";
import { isUnavailable } from "../../sql/sql.ts";
import { allTenants, type Suppressions } from "../delivery/suppressions.ts";
import type { HandOver, Message, ProviderName } from "../providers/provider.ts";
import type { Sender, Senders } from "../providers/senders.ts";
import { nextAsk, nextTry } from "./backoff.ts";
import type { Charges } from "./charges.ts";
import { platformEmails } from "./charges.ts";
import { limitOf } from "./counter-seeds.ts";
import { type MailKind, mailKinds } from "./outbox.ts";
import type { SendCheck } from "./send-check.ts";
import { type ClaimedEmail, type EmailStore, type FailureReason, unsureMost, unsureRetryMs } from "./store.ts";

/** One attempt to send a claimed email, from its charge to its mark. `sender.ts` explains the order. */
export interface SendAttempts {
  /** The whole attempt, for an email that is due. */
  make(email: ClaimedEmail): Promise<void>;
  /** The first half, for callers that need to know at once whether the limits have room. */
  charge(email: ClaimedEmail): Promise<Charged>;
  /** The second half, after a granted charge. */
  handOver(email: ClaimedEmail, charged: Charged): Promise<void>;
  /** Instead of the second half, if it cannot be done now: refunds the charge and requeues the email. */
  putBack(email: ClaimedEmail): Promise<void>;
}

export interface Charged {
  readonly sender: Sender;
  readonly verdict: CounterVerdict;
  /** When it was charged, by the monotonic clock. */
  readonly since: number;
}

export const outcomes = [
  ...(["accepted", "rejected", "deferred", "unsure"] as const satisfies readonly HandOver["kind"][]),
  ...(["limited", "unavailable"] as const),
] as const;
export type Outcome = (typeof outcomes)[number];

export interface SendAttemptSettings {
  readonly store: EmailStore;
  readonly senders: Senders;
  readonly charges: Charges;
  readonly sendCheck: SendCheck;
  readonly suppressions: Pick<Suppressions, "add">;
  readonly messageOf: (email: ClaimedEmail, from: Sender["from"]) => Message;
  readonly count: (provider: ProviderName, outcome: Outcome) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly chance: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const deadlineMs = 30_000;
/**
 * An email is not handed over later than this after its charge: when the provider receives it, it must still count for
 * an hour, and the claim must still be valid.
 */
const beginMs = 10_000;
/** At most eight of these get an answer: the others ended with their process, or by a bug. */
const claimsMost = 20;
const awayMs = 5_000;
const asksMost = 4;
const askAgainMs = 500;
const markAgainMs = 500;
const marksMost = 1_200; // ten minutes; by then another process has found it abandoned

export function createSendAttempts(settings: SendAttemptSettings): SendAttempts {
  const { store, senders, charges, sendCheck, suppressions, count, clock, log } = settings;
  const handOverMutex = createMutex();

  /** Retries until the database stores the mark. */
  async function lasting<Answer>(mark: () => Promise<Answer>): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return await mark();
      } catch (error) {
        if (!isUnavailable(error) || tries === marksMost) throw error;
        await settings.pause(markAgainMs);
      }
    }
  }

  const fail = (email: ClaimedEmail, why: FailureReason, what?: "unsure") =>
    lasting(() => store.failed(email, why, what));

  async function charge(email: ClaimedEmail): Promise<Charged> {
    const sender = await senders.resolve(email.tenant);
    const since = clock.elapsed();
    return { sender, since, verdict: await charges.take(email, limitOf(sender.provider.name)) };
  }

  /** A lost answer is asked for again under the same ID: the charge is neither doubled nor lost. */
  async function chargePatiently(email: ClaimedEmail): Promise<Charged> {
    for (let asks = 1; ; asks++) {
      const charged = await charge(email);
      if (charged.verdict.kind !== "unavailable" || asks === asksMost) return charged;
      await settings.pause(askAgainMs);
    }
  }

  /** Not granted: it was not handed over, and waits. */
  async function wait(email: ClaimedEmail, { sender, verdict }: Omit<Charged, "since">): Promise<void> {
    const { name } = sender.provider;
    if (verdict.kind === "denied") {
      count(name, "limited");
      const why = { reason: "limited", detail: verdict.limit.name };
      const ms = nextAsk(email.ageMs, verdict.retryAfterMs);
      if (ms === undefined) return void (await fail(email, why));
      await lasting(() => store.back(email, ms, why, "asked"));
      // One statement instead of an attempt for each of them: all would get the same answer.
      const moved = verdict.limit.name === platformEmails ? kindsLike(email.kind) : allKinds;
      await store.postpone(email.tenant, ms, moved);
      return;
    }
    count(name, "unavailable");
    await putBack(email, awayMs, verdict.kind);
  }

  async function putBack(email: ClaimedEmail, ms: number, detail: string): Promise<void> {
    await charges.release(email);
    await lasting(() => store.back(email, ms, { reason: "unavailable", detail }, "asked"));
  }

  async function handOver(email: ClaimedEmail, { sender, since }: Charged): Promise<void> {
    const { provider, from } = sender;
    const message = settings.messageOf(email, from);
    if (!(await store.handing(email, provider.name, message.messageId))) return void (await charges.release(email));
    const verdict = await charges.take(email, limitOf(provider.name));
    if (verdict.kind !== "granted") return await wait(email, { sender, verdict });
    if (clock.elapsed() - since > beginMs) return await putBack(email, awayMs, "the database was too slow");
    const turn = takeTurn();
    try {
      const outcome = await provider.send(message, deadlineMs, turn.begin);
      count(provider.name, outcome.kind);
      await markOutcome(email, provider.name, outcome);
    } finally {
      turn.end();
    }
  }

  /**
   * From the moment the provider could have it until the mark: one email per process, so that a crash repeats at most
   * one.
   */
  function takeTurn(): { begin(): Promise<void>; end(): void } {
    let giveBack: (() => void) | undefined;
    let over = false;
    return {
      async begin() {
        giveBack = await handOverMutex.acquire();
        if (!over) return;
        giveBack();
        throw new Error("expired before its turn");
      },
      end() {
        over = true;
        giveBack?.();
      },
    };
  }

  async function markOutcome(email: ClaimedEmail, provider: ProviderName, outcome: HandOver): Promise<void> {
    switch (outcome.kind) {
      case "accepted": {
        if (!(await lasting(() => store.sent(email, outcome.providerId)))) {
          log.warn(
            { email: email.id, attempt: email.attempt },
            "email sent, but another process had taken over its claim",
          );
        }
        return;
      }
      case "rejected": {
        await charges.release(email);
        const { reason, detail } = outcome;
        if (reason === "address") {
          const list = provider === "sendgrid" ? email.tenant : allTenants;
          await lasting(() => suppressions.add(list, email.to, "bounced"));
        }
        return void (await fail(email, { reason, detail }));
      }
      case "deferred": {
        await charges.release(email);
        const ms = nextTry({ ...email, retryAfterMs: outcome.retryAfterMs }, settings.chance());
        const why = { reason: "deferred", detail: outcome.detail };
        await (ms === undefined ? fail(email, why) : lasting(() => store.back(email, ms, why)));
        return;
      }
      case "unsure": {
        const why = { reason: "unsure", detail: outcome.detail };
        log.warn({ email: email.id, provider, attempt: email.attempt }, "unknown whether the email was sent");
        if (email.unsure + 1 >= unsureMost) return void (await fail(email, why, "unsure"));
        await lasting(() => store.back(email, unsureRetryMs, why, "unsure"));
      }
    }
  }

  return {
    charge,
    handOver,
    putBack: (email) => putBack(email, 0, "too many emails are being sent"),
    async make(email) {
      if (email.attempt > claimsMost) {
        return void (await fail(email, { reason: "broken_off", detail: "too many interrupted attempts" }));
      }
      const whyNot = await sendCheck.whyNot(email);
      if (whyNot !== undefined) return void (await fail(email, whyNot));
      const charged = await chargePatiently(email).catch((error: unknown) => {
        if (isUnavailable(error)) throw error;
        return messageOf(error);
      });
      if (typeof charged === "string") {
        log.error({ email: email.id, tenant: email.tenant, error: charged }, "no provider for an email");
        const why = { reason: "unavailable", detail: charged };
        const ms = nextTry({ ...email, retryAfterMs: null }, settings.chance());
        return void (await (ms === undefined ? fail(email, why) : lasting(() => store.back(email, ms, why))));
      }
      if (charged.verdict.kind !== "granted") return await wait(email, charged);
      await handOver(email, charged);
    },
  };
}

const allKinds = Object.keys(mailKinds) as MailKind[];

/** The kinds with the same share of the platform's limit. */
const kindsLike = (kind: MailKind): MailKind[] =>
  allKinds.filter((other) => mailKinds[other].essential === mailKinds[kind].essential);

/** Takes turns: a caller gets its turn when all earlier callers have returned theirs. */
interface Mutex {
  /** Resolves when it is your turn; call the result once when done. */
  acquire(): Promise<() => void>;
}

function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return {
    async acquire() {
      const before = last;
      const mine = Promise.withResolvers<void>();
      last = mine.promise;
      await before;
      return mine.resolve;
    },
  };
}
