import type { Clock } from "../../base/clock.ts";
import { withDeadline } from "../../base/deadline.ts";
import { Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import { repeat } from "../../base/repeat.ts";
import type { Shares } from "../../base/shares.ts";
import type { TenantNumber } from "../../sql/schema.ts";
import type { ClickBatch } from "../click.ts";
import type { HostOf, LiveQuota } from "./live-event.ts";
import type { Relay, RelayMessage } from "./relay.ts";
import { createRoom, type LiveCaller, type Reader, type Room } from "./room.ts";
import { type LiveSource, openLiveSource } from "./source.ts";
import { comment, type EventStream, eventFrame, openEventStream, opening, type StreamEnd } from "./stream.ts";

/**
 * Clicks as they happen, for those who watch: `GET /api/live`. Nothing is made, kept or sent for a tenant that nobody
 * watches. What a stream missed is not sent again: lists and reports have everything.
 */
export interface Live {
  /** Costs almost nothing for tenants without readers. */
  offer(batch: ClickBatch): void;
  /** Hits of links that were counted. */
  counted(quotas: readonly LiveQuota[]): void;
  /** Whether the tenant has a reader, in this process or another. */
  isWanted(tenant: TenantNumber): boolean;
  /** Whether anybody reads: then batches should come several times a second. */
  readonly wanted: boolean;
  /** Throws a `Problem` if there is no place. */
  open(reader: NewReader): Promise<ReadableStream<Uint8Array>>;
  readonly streams: number;
  /** Ends all streams at once. */
  close(): Promise<void>;
}

export interface NewReader {
  readonly number: TenantNumber;
  readonly tenant: TenantId;
  readonly caller: LiveCaller;
  /** At most `streamSecondsMost`. */
  readonly lastsMs: number;
  readonly allowSilence: (seconds: number) => void;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

export interface LiveSettings {
  /** Of this process; new with every start. */
  readonly id: string;
  /** One place for each stream. */
  readonly places: Shares;
  /** To other processes; undefined if there are none. */
  readonly relay: ((on: RelayEvents) => Relay) | undefined;
  /** Whether the key or session is still valid and its tenant not suspended. */
  readonly isAllowed: (tenant: TenantId, caller: LiveCaller) => Promise<boolean>;
  readonly hostOf: HostOf;
  readonly count: { readonly ended: Record<StreamEnd, number>; readonly sent: Record<"sent" | "failed", number> };
  readonly clock: Clock;
  readonly log: Logger;
}

export interface RelayEvents {
  readonly onMessage: (tenant: TenantNumber, message: RelayMessage) => void;
  readonly onReach: (reaches: boolean) => void;
}

/** Of one tenant, in one process. */
export const streamsOfTenantMost = 20;
/** Proxies close connections that are silent for longer: 60 s is usual, 30 s not rare. */
const beatMs = 15_000;
/** How long a revoked key or session can still read. */
const checkMs = 10_000;
const checkDeadlineMs = 5_000;
/** So that connections spread again after servers were added, and none lives for ever. */
export const streamSecondsMost = 3_600;
const reconnectMs = 3_000;
const retryAfterSeconds = 30;
const stopSeconds = 1;

export function createLive(settings: LiveSettings): Live {
  const { places, isAllowed, count, clock, log } = settings;
  const rooms = new Map<TenantNumber, Room>();
  const sources = new Map<TenantNumber, LiveSource>();
  let ids = 0;
  let isClosed = false;
  const newId = () => `${settings.id}-${++ids}`;
  const relay = settings.relay?.({
    onMessage: (tenant, { events, more }) => rooms.get(tenant)?.show(events, more),
    onReach(reaches) {
      for (const reader of readers()) tellReach(reader, reaches);
    },
  });

  /** That all is well is told only to those who were told the opposite: it was over before others came. */
  function tellReach(reader: Reader, reaches: boolean): void {
    if (reader.isToldAway === !reaches) return;
    reader.isToldAway = !reaches;
    reader.stream.push(eventFrame(newId(), "notice", JSON.stringify(reaches ? allServers : thisServerOnly)));
  }

  const readers = (): Reader[] => [...rooms.values()].flatMap((room) => [...room.readers]);
  const isWanted = (tenant: TenantNumber) => !isClosed && (rooms.has(tenant) || relay?.isWanted(tenant) === true);

  const isAnyWanted = () => !isClosed && (rooms.size > 0 || relay?.wanted === true);

  function sourceOf(tenant: TenantNumber): LiveSource {
    const found = sources.get(tenant);
    if (found !== undefined) return found;
    const made = openLiveSource({
      clock,
      show: (events, more) => rooms.get(tenant)?.show(events, more),
      publish: () => (relay?.isWanted(tenant) ? (message) => publish(relay, tenant, message) : undefined),
      idle() {
        sources.get(tenant)?.close();
        sources.delete(tenant);
      },
      hostOf: settings.hostOf,
    });
    sources.set(tenant, made);
    return made;
  }

  async function publish(to: Relay, tenant: TenantNumber, message: RelayMessage): Promise<void> {
    count.sent[(await to.publish(tenant, message)) ? "sent" : "failed"]++;
  }

  function roomOf(tenant: TenantNumber): Room {
    const found = rooms.get(tenant);
    if (found !== undefined) return found;
    const made = createRoom(clock, newId);
    rooms.set(tenant, made);
    relay?.follow(tenant);
    return made;
  }

  function leave(number: TenantNumber, reader: Reader): void {
    const room = rooms.get(number);
    if (!room?.readers.delete(reader) || room.readers.size > 0) return;
    room.close();
    rooms.delete(number);
    relay?.unfollow(number);
  }

  function requirePlace(number: TenantNumber): void {
    if (isClosed) throw new Problem("unavailable", "This server is stopping. Connect again.", { retryAfterSeconds: 1 });
    if ((rooms.get(number)?.readers.size ?? 0) < streamsOfTenantMost) return;
    const detail = `Your workspace already has ${streamsOfTenantMost} live streams open on this server. Close one, or let programs share one.`;
    throw new Problem("too_many_streams", detail, { retryAfterSeconds });
  }

  async function beat(): Promise<void> {
    for (const { stream } of readers()) stream.beat();
  }

  /** One question per key or session and tenant. While the database cannot answer, streams stay open. */
  async function check(signal: AbortSignal): Promise<void> {
    for (const own of Map.groupBy(readers(), ({ caller, tenant }) => `${caller.id} ${tenant}`).values()) {
      const [first] = own;
      if (signal.aborted || first === undefined) return;
      const allowed = await withDeadline(isAllowed(first.tenant, first.caller), checkDeadlineMs, "the check of a key");
      if (!allowed)
        for (const { stream } of own)
          stream.end("the API key or session is no longer valid, or its workspace is suspended.");
    }
  }

  const loop = { clock, log, stopMs: 0 };
  const loops = [
    repeat({ name: "heartbeats of live streams", everyMs: beatMs, deadlineMs: beatMs, work: beat, ...loop }),
    repeat({ name: "checking keys of live streams", everyMs: checkMs, deadlineMs: checkMs, work: check, ...loop }),
  ];

  return {
    isWanted,
    get wanted() {
      return isAnyWanted();
    },
    get streams() {
      return readers().length;
    },
    offer(batch) {
      if (!isAnyWanted()) return;
      const tenants = batch.links.map(({ tenant }) => (isWanted(tenant) ? tenant : undefined));
      for (const [tenant, { clicked, bare }] of byTenant(batch, tenants)) sourceOf(tenant).click(batch, clicked, bare);
    },
    counted(quotas) {
      for (const quota of quotas) if (isWanted(quota.tenant)) sourceOf(quota.tenant).quota(quota);
    },
    async open({ number, tenant, caller, lastsMs, allowSilence, signal }) {
      requirePlace(number);
      const place = await places.enter(tenant, { signal });
      if (place.kind === "busy") throw place.problem;
      try {
        // Others may have come while this one waited.
        requirePlace(number);
      } catch (problem) {
        place.leave();
        throw problem;
      }
      const stream: EventStream = openEventStream({
        clock,
        allowSilence,
        onEnd(end) {
          noTimeout();
          count.ended[end]++;
          place.leave();
          leave(number, reader);
        },
      });
      const noTimeout = clock.after(lastsMs, () => stream.end("its time is over. Connect again."));
      const reader: Reader = { stream, tenant, caller, isToldAway: false };
      roomOf(number).readers.add(reader);
      stream.push(opening(reconnectMs));
      stream.push(comment("connected"));
      if (relay?.reaches === false) tellReach(reader, false);
      // The runtime may see that the client has left before it reads the body.
      signal.addEventListener("abort", stream.leave, { once: true });
      return stream.body;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const { stream } of readers()) stream.end("the server is stopping. Connect again.", stopSeconds);
      for (const source of sources.values()) source.close();
      sources.clear();
      await Promise.all([...loops.map((one) => one.stop()), relay?.close()]);
    },
  };
}

const thisServerOnly = {
  code: "this_server_only",
  message: "Redis is unavailable. Clicks that other servers answer are not shown until it is back.",
};
const allServers = { code: "all_servers", message: "Clicks of all servers are shown again." };

interface OfTenant {
  readonly clicked: number[];
  bare: number;
}

/** `tenants`: of each link of the batch, if it is wanted. */
function byTenant(batch: ClickBatch, tenants: readonly (TenantNumber | undefined)[]): Map<TenantNumber, OfTenant> {
  const found = new Map<TenantNumber, OfTenant>();
  for (const tenant of tenants) if (tenant !== undefined) found.set(tenant, { clicked: [], bare: 0 });
  if (found.size === 0) return found;
  const of = (link: number | undefined) => found.get(tenants[link ?? -1] ?? (0 as TenantNumber));
  for (let place = 0; place < batch.at.length; place++) of(batch.link[place])?.clicked.push(place);
  for (const { link, reasons } of batch.bare) {
    const own = of(link);
    if (own !== undefined) own.bare += reasons.reduce((sum, some) => sum + some, 0);
  }
  return found;
}
