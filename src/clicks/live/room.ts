import type { Clock } from "../../base/clock.ts";
import type { KeyId, PersonId, SessionId, TenantId } from "../../base/ids.ts";
import type { LiveEvent } from "./live-event.ts";
import { createSecond, type LeftOut } from "./second.ts";
import { createShownQuotas } from "./shown-quotas.ts";
import { type EventStream, eventFrame } from "./stream.ts";

/** Who reads: an API key, or a session. */
export type LiveCaller =
  | { readonly kind: "key"; readonly id: KeyId }
  | { readonly kind: "person"; readonly id: SessionId; readonly person: PersonId };

/** One open stream, and whose it is. */
export interface Reader {
  readonly stream: EventStream;
  readonly tenant: TenantId;
  readonly caller: LiveCaller;
  /** Whether it was told that clicks of other servers are missing, and not yet that they are shown again. */
  isToldAway: boolean;
}

/** The readers of one tenant in this process. All see the same: events of this process and of others, within one limit. */
export interface Room {
  readonly readers: Set<Reader>;
  show(events: readonly LiveEvent[], more: LeftOut): void;
  close(): void;
}

export const secondMs = 1_000;

export function createRoom(clock: Clock, newId: () => string): Room {
  const readers = new Set<Reader>();
  const second = createSecond();
  const shownQuotas = createShownQuotas();
  let stopSecond: (() => void) | undefined;

  function send(kind: string, data: string): void {
    const frame = eventFrame(newId(), kind, data);
    for (const { stream } of [...readers]) stream.push(frame);
  }

  function endSecond(): void {
    stopSecond = undefined;
    const { clicks, quotas } = second.end();
    if (clicks + quotas > 0) send("more", JSON.stringify({ clicks, quotas }));
  }

  return {
    readers,
    show(events, more) {
      stopSecond ??= clock.after(secondMs, endSecond);
      const clicks = events.filter(({ kind }) => kind === "click");
      const quotas = events.filter(({ kind }) => kind === "quota");
      for (const { kind, json } of second.choose(clicks, ({ link }) => link)) send(kind, json);
      for (const event of quotas) {
        const quota = shownQuotas.next(event);
        if (quota === undefined || !second.admitsQuota()) continue;
        shownQuotas.keep(quota);
        send("quota", quota.json);
      }
      second.leaveOut(more);
    },
    close: () => stopSecond?.(),
  };
}
