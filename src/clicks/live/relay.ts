import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { repeat } from "../../base/repeat.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import { eventBytesMost, type LiveEvent } from "./live-event.ts";
import { type LeftOut, shownMost } from "./second.ts";

/**
 * Between processes, over publish and subscribe. Nothing is stored there.
 *
 * A process with readers announces every two seconds, on one channel that all processes hear, for which tenants. The
 * others publish the clicks of these tenants, each on the tenant's channel, until they have not heard of a reader for some
 * seconds. Without readers there are no messages at all.
 *
 * A process hears its own announcements too. If they do not come back, it does not see the other processes' clicks:
 * streams then say so. That finds every fault between the two connections, for a single server, Sentinel and Cluster.
 */
export interface Relay {
  /** Another process has readers of this tenant. */
  isWanted(tenant: TenantNumber): boolean;
  /** Another process has readers of some tenant. */
  readonly wanted: boolean;
  /** Undefined until it is known. */
  readonly reaches: boolean | undefined;
  /** False if it could not be sent. */
  publish(tenant: TenantNumber, message: RelayMessage): Promise<boolean>;
  follow(tenant: TenantNumber): void;
  unfollow(tenant: TenantNumber): void;
  close(): Promise<void>;
}

export interface RelayMessage {
  readonly events: readonly LiveEvent[];
  readonly more: LeftOut;
}

/** What a relay needs from Redis. */
export interface RelayChannels {
  /** Subscribes, again after every lost connection. Messages sent meanwhile are lost. */
  subscribe(channel: string, onMessage: (message: string) => void): { close(): void };
  publish(channel: string, message: string): Promise<unknown>;
  close(): void;
}

export interface RelaySettings {
  /** New with every start. */
  readonly id: string;
  readonly channels: RelayChannels;
  readonly onMessage: (tenant: TenantNumber, message: RelayMessage) => void;
  readonly onReach: (reaches: boolean) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

const announceMs = 2_000;
/** Three announcements may be lost. */
const wantedMs = 7_000;
/** Two announcements did not come back. */
const silentMs = 3_500;
/** Readers of more tenants than a hundred processes can have at once. Others are not shown to other processes. */
const tenantsMost = 20_000;
const announcementMost = 16_384;
/** A second's events, with room to spare. */
export const messageMost = 65_536;
const envelopeBytes = 200;

const announcements = "ql:live";
const channelOf = (tenant: TenantNumber): string => `ql:live:${tenant}`;

export function startRelay(settings: RelaySettings): Relay {
  const { id, channels, onMessage, onReach, clock, log } = settings;
  const following = new Map<TenantNumber, { close(): void }>();
  const wantedUntil = new Map<TenantNumber, number>();
  let lastUntil = 0;
  let reaches: boolean | undefined;
  /** When the last own announcement came back, or the first was due. */
  let heardAt: number | undefined;

  function setReaches(now: boolean): void {
    if (reaches === now) return;
    reaches = now;
    onReach(now);
  }

  function hear(text: string): void {
    const message = text.length > announcementMost ? undefined : parseAnnouncement(text);
    if (message === undefined) return;
    if (message.from === id) {
      if (following.size === 0) return;
      heardAt = clock.elapsed();
      setReaches(true);
      return;
    }
    lastUntil = clock.elapsed() + wantedMs;
    for (const tenant of message.tenants) {
      if (wantedUntil.size < tenantsMost || wantedUntil.has(tenant)) wantedUntil.set(tenant, lastUntil);
    }
  }

  async function announce(): Promise<void> {
    const now = clock.elapsed();
    for (const [tenant, until] of wantedUntil) if (until <= now) wantedUntil.delete(tenant);
    if (following.size === 0) {
      [reaches, heardAt] = [undefined, undefined];
      return;
    }
    heardAt ??= now;
    if (now - heardAt >= silentMs) setReaches(false);
    // Failures show as silence.
    await channels.publish(announcements, JSON.stringify([id, ...following.keys()])).catch(() => {});
  }

  function unfollow(tenant: TenantNumber): void {
    following.get(tenant)?.close();
    following.delete(tenant);
  }

  const listening = channels.subscribe(announcements, hear);
  const announcing = repeat({
    name: "announcing readers of live clicks",
    ...{ everyMs: announceMs, deadlineMs: announceMs, stopMs: 0, work: announce, clock, log },
  });

  return {
    isWanted: (tenant) => (wantedUntil.get(tenant) ?? 0) > clock.elapsed(),
    get wanted() {
      return lastUntil > clock.elapsed();
    },
    get reaches() {
      return reaches;
    },
    async publish(tenant, message) {
      try {
        await channels.publish(channelOf(tenant), writeMessage(id, message));
        return true;
      } catch {
        return false;
      }
    },
    follow(tenant) {
      if (following.has(tenant)) return;
      const take = (text: string): void => {
        const read = readMessage(text);
        if (read !== undefined && read.from !== id && following.has(tenant)) onMessage(tenant, read.message);
      };
      following.set(tenant, channels.subscribe(channelOf(tenant), take));
      announcing.soon();
    },
    unfollow,
    async close() {
      await announcing.stop();
      for (const tenant of following.keys()) unfollow(tenant);
      listening.close();
      channels.close();
    },
  };
}

function parseAnnouncement(text: string) {
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) return undefined;
  const [from, ...tenants] = parsed as unknown[];
  if (typeof from !== "string") return undefined;
  return { from, tenants: tenants.filter((one): one is TenantNumber => Number.isSafeInteger(one)) };
}

/** What does not fit is counted instead. */
function writeMessage(from: string, { events, more }: RelayMessage): string {
  const kept: string[] = [];
  let bytes = envelopeBytes;
  let { clicks, quotas } = more;
  for (const { kind, link, json } of events) {
    const text = JSON.stringify([kind, link, json]);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes <= messageMost) kept.push(text);
    else if (kind === "click") clicks++;
    else quotas++;
  }
  return `[${JSON.stringify(from)},${clicks},${quotas},[${kept.join(",")}]]`;
}

/** Undefined for what no process of ours would send. */
function readMessage(text: string): { from: string; message: RelayMessage } | undefined {
  const parsed = text.length > messageMost ? undefined : parseJson(text);
  if (!Array.isArray(parsed)) return undefined;
  const [from, clicks, quotas, kept] = parsed as unknown[];
  if (typeof from !== "string" || !isCount(clicks) || !isCount(quotas) || !Array.isArray(kept)) return undefined;
  return { from, message: { events: kept.slice(0, shownMost * 2).flatMap(readEvent), more: { clicks, quotas } } };
}

function readEvent(one: unknown): LiveEvent[] {
  const [kind, link, json] = Array.isArray(one) ? (one as unknown[]) : [];
  const isEvent =
    (kind === "click" || kind === "quota") &&
    typeof link === "string" &&
    typeof json === "string" &&
    json.length <= eventBytesMost &&
    !/[\r\n]/.test(json);
  return isEvent ? [{ kind, link, json }] : [];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
