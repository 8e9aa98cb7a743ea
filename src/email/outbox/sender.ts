import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { type Repeated, repeat } from "../../base/repeat.ts";
import type { SendAttempts } from "./attempt.ts";
import type { ClaimedEmail, EmailStore } from "./store.ts";

/**
 * Sends the emails of the outbox, in every process of the server; the database decides who gets which email.
 *
 *           ┌──────────── limited, deferred, unsure once ◄───────────┐
 *           ▼                                                        │
 *        queued ── claim ──► sending ── charge ── mark ── charge? ── hand over ──► sent
 *           ▲                   │                                    │
 *           └── abandoned ◄─────┘ the claim expired                  └──► failed
 *
 * **Claim.** A process that finds an email due claims it for 45 s, the most overdue first, without waiting for other
 * processes (`skip locked`). Every later mark names that claim, and does nothing once it has expired.
 *
 * **Charge before the hand-over**, under the ID of the claim, so that a crash over-counts by one and never
 * under-counts; and not long before, or it would count for the wrong hour. If denied, it is postponed until the limit
 * has room, together with all other due emails of the tenant in one statement: a tenant with a thousand of them costs
 * the others nothing. If the limits do not answer, it is postponed shortly.
 *
 * **Mark, then ask again.** `handed_at` is written before anything leaves, because it is the only trace afterwards. A
 * counter that Redis lost starts from these marks; a charge made before the loss and marked after the counting would be
 * in neither. So the charge is asked for once more after the mark, under the same ID: it costs nothing if it still
 * exists, and is made again if not. After that, nothing that leaves is uncounted.
 *
 * **The outcome** is one of four. Accepted: sent. Rejected: failed, the charge is refunded, and an address that does
 * not exist is remembered. Deferred: refunded, and retried later (`backoff.ts`). Unsure, when no answer came: the
 * charge stays, and it is handed over once more but not again; the row counts this.
 *
 * **An expired claim** belongs to a process that ended or hangs. Without a mark of this claim nothing was sent, and it
 * is queued again. With one, the outcome is unknown: `unsure`, as above. Several emails are in flight at once, but
 * between the moment a provider could have one and its mark there is one at a time (`attempt.ts`). So a kill -9 sends at
 * most one email twice, and loses none.
 *
 * **Without SQL** nothing is lost, because nothing exists only here: the sender pauses, doubling up to half a minute;
 * what was handed over meanwhile is marked as soon as possible.
 *
 * Roads not taken: LISTEN/NOTIFY would save some seconds between processes and cost a connection each; a transaction around
 * the hand-over would hold a row lock and a connection for as long as the provider takes.
 */
export interface EmailSender {
  /** Something may be due. */
  wake(): void;
  /** Runs it beside the current work, if there is room. */
  run(work: () => Promise<void>): boolean;
  /** A unique name for a claim. */
  claimName(): string;
  /** Claims what is due and starts sending. Returns whether there may be more. */
  step(): Promise<boolean>;
  /** Resolves when nothing is running. */
  idle(): Promise<void>;
  start(): void;
  /** Claims no more; resolves when running work has ended. */
  stop(): Promise<void>;
}

export interface EmailSenderSettings {
  readonly store: EmailStore;
  readonly attempts: SendAttempts;
  /** Of this process. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly chance: () => number;
  /** Called for emails that another process abandoned. */
  readonly onUnknown: (provider: string | null) => void;
}

export const handOversMost = 8;
const pollMs = 1_000;
/** While nothing was due for some looks: an email of this process wakes it, and those of others are not urgent. */
const idlePollMs = 5_000;
const longestPauseMs = 30_000;
const deadlineMs = 30_000;
const stopMs = 5_000;

export function createEmailSender(settings: EmailSenderSettings): EmailSender {
  const { store, attempts, name, clock, log, chance, onUnknown } = settings;
  const running = new Set<Promise<void>>();
  let claims = 0;
  let stopped = false;
  /** There was more than there was room for. */
  let more = false;
  /** Looks in a row that found nothing. */
  let idleLooks = 0;
  let looking: Repeated | undefined;

  const claimName = () => `${name}/${++claims}`;

  function run(work: () => Promise<void>): boolean {
    if (stopped || running.size >= handOversMost) return false;
    const one = work()
      // Its row is unchanged: the process that finds the expired claim continues from there.
      .catch((error: unknown) => log.warn({ error }, "sending an email was interrupted; will retry"))
      .finally(() => {
        running.delete(one);
        if (more) looking?.soon();
      });
    running.add(one);
    return true;
  }

  async function step(): Promise<boolean> {
    const free = handOversMost - running.size;
    if (free === 0) return true;
    const { due, left } = await store.look();
    idleLooks = due ? 0 : idleLooks + 1;
    if (!due) return false;
    if (left) await recover();
    const emails: ClaimedEmail[] = await store.claim(claimName(), free);
    for (const email of emails) run(() => attempts.make(email));
    return emails.length === free;
  }

  async function recover(): Promise<void> {
    for (const { id, provider, unsure } of await store.recover()) {
      log.warn({ email: id, provider, unsure }, "unknown whether an email was sent: its process ended");
      onUnknown(provider);
    }
  }

  /** If there may be more, the next end of a hand-over makes room for it. */
  async function lookForMore(): Promise<void> {
    more = false;
    more = await step();
  }

  const idle = async () => {
    while (running.size > 0) await Promise.all(running);
  };

  return {
    claimName,
    run,
    step,
    idle,
    wake: () => looking?.soon(),
    start() {
      looking ??= repeat({
        name: "looking for emails that are due",
        everyMs: (failures) => lookPauseMs(failures, idleLooks) * (0.9 + chance() / 5),
        firstMs: 0,
        deadlineMs,
        stopMs,
        work: lookForMore,
        texts: { fails: "cannot read the outbox; emails wait", worksAgain: "reading the outbox works again" },
        clock,
        log,
      });
    },
    async stop() {
      stopped = true;
      await looking?.stop();
      await idle();
    },
  };
}

export const lookPauseMs = (failures: number, idleLooks: number): number =>
  failures > 0
    ? Math.min(longestPauseMs, pollMs * 2 ** failures)
    : Math.min(idlePollMs, pollMs * Math.max(1, idleLooks - 3));
