import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { unavailable } from "../../limits/counters.ts";
import type { Suppressions } from "../delivery/suppressions.ts";
import type { SendAttempts } from "./attempt.ts";
import { type CheckedMail, checkMail } from "./check-mail.ts";
import type { Enqueued, NewMail, Outbox } from "./outbox.ts";
import type { EmailSender } from "./sender.ts";
import type { ClaimedEmail, EmailStore } from "./store.ts";

export interface OutboxSettings {
  readonly store: EmailStore;
  readonly suppressions: Suppressions;
  readonly attempts: SendAttempts;
  readonly sender: EmailSender;
  readonly clock: Clock;
}

/** The way into the outbox: checked, stored, and then either queued or charged at once. */
export function createOutbox({ store, suppressions, attempts, sender, clock }: OutboxSettings): Outbox {
  async function take(mail: NewMail): Promise<CheckedMail | Extract<Enqueued, { kind: "suppressed" }>> {
    const checked = checkMail(mail);
    const reason = await suppressions.find(checked.tenant, checked.to, checked.kind);
    return reason === undefined ? checked : { kind: "suppressed", reason };
  }

  const isChecked = (taken: Awaited<ReturnType<typeof take>>): taken is CheckedMail => "subject" in taken;

  return {
    find: store.find,

    async enqueue(mail) {
      const taken = await take(mail);
      if (!isChecked(taken)) return taken;
      const { id, repeated } = await store.insert({ ...taken, id: newId("email", clock) });
      if (repeated) return { kind: "repeated", id };
      sender.wake();
      return { kind: "queued", id };
    },

    async sendNow(mail) {
      const taken = await take(mail);
      if (!isChecked(taken)) return taken;
      const by = sender.claimName();
      const row = { ...taken, id: newId("email", clock) };
      const { id, repeated } = await store.insert(row, by);
      if (repeated) return { kind: "repeated", id };
      const email: ClaimedEmail = { ...row, by, attempt: 1, unsure: 0, ageMs: 0 };
      const charged = await attempts.charge(email).catch(async (error: unknown) => {
        await store.remove(email);
        throw error;
      });
      const { verdict } = charged;
      if (verdict.kind !== "granted") {
        await store.remove(email);
        if (verdict.kind === "denied") {
          return { kind: "limited", limit: verdict.limit.name, retryAfterMs: verdict.retryAfterMs };
        }
        return verdict.kind === "unavailable" ? verdict : unavailable;
      }
      if (!sender.run(() => attempts.handOver(email, charged))) {
        await attempts.putBack(email);
        sender.wake();
      }
      return { kind: "queued", id };
    },
  };
}
