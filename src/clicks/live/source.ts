import type { Clock } from "../../base/clock.ts";
import type { ClickBatch } from "../click.ts";
import { clickEvent, type HostOf, type LiveEvent, type LiveQuota, quotaEvent } from "./live-event.ts";
import type { RelayMessage } from "./relay.ts";
import { secondMs } from "./room.ts";
import { createSecond, type LeftOut } from "./second.ts";

/**
 * What happens to one tenant in this process, for as long as somebody reads it here or elsewhere. Within the limit of a
 * second, clicks go to the readers of this process at once, and to other processes in messages, at most five a second.
 */
export interface LiveSource {
  /** Some of a batch's clicks, by their places; `bare`: clicks without facts. */
  click(batch: ClickBatch, places: readonly number[], bare: number): void;
  /** Shown when the second ends: the last of each link. */
  quota(quota: LiveQuota): void;
  close(): void;
}

export interface LiveSourceSettings {
  readonly clock: Clock;
  /** To the readers of this process. */
  readonly show: (events: readonly LiveEvent[], more: LeftOut) => void;
  /** To other processes. Undefined if none of them has a reader now. */
  readonly publish: () => ((message: RelayMessage) => Promise<unknown>) | undefined;
  /** A second passed in which nothing happened. */
  readonly idle: () => void;
  readonly hostOf: HostOf;
}

const publishMs = 200;
const nothing: LeftOut = { clicks: 0, quotas: 0 };

export function openLiveSource({ clock, show, publish, idle, hostOf }: LiveSourceSettings): LiveSource {
  const second = createSecond();
  const quotas = new Map<string, LiveEvent>();
  let waiting: LiveEvent[] = [];
  let more = nothing;
  let isActive = true;
  let isPublishing = false;
  let stopFlush: (() => void) | undefined;
  let stopSecond = clock.after(secondMs, endSecond);

  function tell(events: readonly LiveEvent[], left: LeftOut): void {
    if (events.length + left.clicks + left.quotas === 0) return;
    show(events, left);
    if (publish() === undefined) return;
    waiting.push(...events);
    more = { clicks: more.clicks + left.clicks, quotas: more.quotas + left.quotas };
    stopFlush ??= clock.after(publishMs, () => void flush());
  }

  /** One message at a time: a slow Redis gets fewer and larger ones, which are bounded by the limit of a second. */
  async function flush(): Promise<void> {
    stopFlush = undefined;
    const send = publish();
    if (isPublishing) {
      stopFlush = clock.after(publishMs, () => void flush());
      return;
    }
    const message = { events: waiting, more };
    waiting = [];
    more = nothing;
    isPublishing = true;
    await send?.(message);
    isPublishing = false;
  }

  function endSecond(): void {
    const moved = [...quotas.values()].filter(() => second.admitsQuota());
    quotas.clear();
    tell(moved, second.end());
    if (!isActive && stopFlush === undefined) idle();
    else stopSecond = clock.after(secondMs, endSecond);
    isActive = false;
  }

  return {
    click(batch, places, bare) {
      isActive = true;
      const linkOf = (place: number) => batch.links[batch.link[place] ?? 0]?.link ?? 0;
      const chosen = second.choose(places, linkOf);
      const events = chosen.flatMap((place) => clickEvent(batch, place, hostOf) ?? []);
      second.leaveOut({ clicks: bare + chosen.length - events.length, quotas: 0 });
      tell(events, nothing);
    },
    quota(quota) {
      isActive = true;
      const event = quotaEvent(quota, hostOf);
      if (event === undefined) return;
      if (quotas.size < quotasHeldMost || quotas.has(event.link)) quotas.set(event.link, event);
      else second.leaveOut({ clicks: 0, quotas: 1 });
    },
    close() {
      stopSecond();
      stopFlush?.();
    },
  };
}

/** A link that is counted again within the second is told once. */
const quotasHeldMost = 100;
