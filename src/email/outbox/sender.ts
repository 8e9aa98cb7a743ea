import type { Logger } from "../../base/log.ts";
import type { SendAttempts } from "./attempt.ts";
import type { ClaimedEmail, EmailStore } from "./store.ts";

/**
 * Sends what is in the outbox, in every process of the server; the database says who gets which email.
 *
 *            ┌──────────── limited, deferred, unsure once ◄───────────┐
 *            ▼                                                        │
 *         queued ── claim ──► sending ── charge ── mark ── charge? ── hand over ──► sent
 *            ▲                   │                                    │
 *            └── left behind ◄───┘ the claim ran out                  └──► failed
 *
 * **Claim.** Whoever finds an email due takes it for 45 s, the longest due first, and nobody waits for anybody
 * (`skip locked`). Every later mark names that claim, and does nothing once it is over.
 *
 * **Charge before the hand-over**, under the name of the claim, so that a crash over-counts by one and never
 * under-counts; and not long before, or it would count for the wrong hour. Denied, it goes back until the limit has room, and with it all others of the tenant that are due, in one
 * statement: one tenant with a thousand of them costs the others nothing. The limits do not answer: back, shortly.
 *
 * **Mark, then ask again.** `handed_at` is written before anything leaves, because it is all that anybody can tell
 * afterwards. A counter that Redis lost starts from these marks; a charge made before the loss and marked after the
 * counting would be in neither. So the charge is asked for once more after the mark, by the same name: it costs nothing
 * if it is still there, and is made anew if it is not. After that nothing that leaves is uncounted.
 *
 * **The outcome** is one of four. Accepted: sent. Rejected: failed, the charge given back, and an address that does not
 * exist is remembered. Deferred: given back, and again later (`backoff.ts`). Unsure, when the answer never came: the
 * charge stays, and it is handed over once more and not again; the row keeps count of it.
 *
 * **A claim that ran out** belongs to a process that ended, or hangs. Without a mark of this claim nothing was sent, and
 * it is queued again. With one nobody knows: that is `unsure`, as above. Several are on their way at once, but between
 * the moment a provider could have one and its mark there is one at a time (`mutex.ts`). So a kill -9 sends at most one
 * email twice, and loses none.
 *
 * **Without SQL** nothing is lost, because nothing is only here: the sender pauses, ever longer up to half a minute; what
 * was handed over meanwhile is marked as soon as that can be done.
 *
 * Roads not taken: LISTEN/NOTIFY would save a second between processes and cost a connection each; a transaction around
 * the hand-over would hold a row's lock, and a connection, for as long as somebody else's server takes.
 */
export interface EmailSender {
  /** Something may be due. */
  wake(): void;
  /** Does it beside what is running, if there is room. */
  run(work: () => Promise<void>): boolean;
  /** A name for a claim, that nobody else uses. */
  claimName(): string;
  /** One look: claims what is due and begins with it. Whether there may be more. */
  step(): Promise<boolean>;
  /** Until nothing is running. */
  idle(): Promise<void>;
  start(): void;
  /** Claims no more; resolves when what is running has ended. */
  stop(): Promise<void>;
}

export interface EmailSenderSettings {
  readonly store: EmailStore;
  readonly attempts: SendAttempts;
  /** Of this process. */
  readonly name: string;
  readonly log: Logger;
  readonly chance: () => number;
  /** Told of those that another process left behind. */
  readonly onUnknown: (provider: string | null) => void;
}

export const handOversMost = 8;
const pollMs = 1_000;
const longestPauseMs = 30_000;

export function createEmailSender({ store, attempts, name, log, chance, onUnknown }: EmailSenderSettings): EmailSender {
  const running = new Set<Promise<void>>();
  let claims = 0;
  let stopped = false;
  let looping: Promise<void> | undefined;
  let woken = Promise.withResolvers<void>();

  const claimName = () => `${name}/${++claims}`;

  function run(work: () => Promise<void>): boolean {
    if (stopped || running.size >= handOversMost) return false;
    const one = work()
      // Its row is as it was: whoever finds the claim run out goes on from there.
      .catch((error: unknown) => log.warn({ error }, "sending an email was interrupted; will retry"))
      .finally(() => running.delete(one));
    running.add(one);
    return true;
  }

  async function step(): Promise<boolean> {
    const free = handOversMost - running.size;
    if (free === 0) return true;
    const { due, left } = await store.look();
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

  async function loop(): Promise<void> {
    let pauseMs = pollMs;
    let failing = false;
    while (!stopped) {
      let more = false;
      try {
        more = await step();
        if (failing) log.info("reading the outbox works again");
        failing = false;
        pauseMs = pollMs;
      } catch (error) {
        if (!failing) log.warn({ error }, "cannot read the outbox; emails wait");
        failing = true;
        pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      }
      if (more && running.size > 0) await Promise.race(running);
      else await sleep(pauseMs * (0.9 + chance() / 5));
    }
  }

  /** Or until woken. */
  async function sleep(ms: number): Promise<void> {
    const timer = Promise.withResolvers<void>();
    const due = setTimeout(timer.resolve, ms);
    await Promise.race([timer.promise, woken.promise]);
    clearTimeout(due);
    woken = Promise.withResolvers();
  }

  const idle = async () => {
    while (running.size > 0) await Promise.all(running);
  };

  return {
    claimName,
    run,
    step,
    idle,
    wake: () => woken.resolve(),
    start() {
      looping ??= loop();
    },
    async stop() {
      stopped = true;
      woken.resolve();
      await looping;
      await idle();
    },
  };
}
