import { randomBytes } from "node:crypto";
import { createLive, type Live } from "../clicks/live/live.ts";
import { startRelay } from "../clicks/live/relay.ts";
import type { RecordedTotal } from "../limits/leases.ts";
import { shownHost, splitKey } from "../links/link.ts";
import { type CachedLink, knownHitsMax } from "../redirect/link-source.ts";
import { openChannels } from "../redis/channels.ts";
import type { Redis } from "../redis/client.ts";
import type { Wiring } from "./wiring.ts";

/** Live clicks: in this process, and through the Redis of limits in all. */
export interface OpenLive extends Live {
  /** New monthly totals of links. */
  recorded(totals: readonly RecordedTotal[]): void;
}

export interface LiveParts {
  /** The one that all processes share. Undefined: there is only this process. */
  readonly redis: Redis | undefined;
  /** A link as memory last knew it. */
  readonly recall: (key: string) => Pick<CachedLink, "hitsPerMonth" | "standing" | "clicks"> | undefined;
}

export function openLive({ core, metrics, log, opened }: Wiring, { redis, recall }: LiveParts): OpenLive {
  const { clock, keys, sessions, tenants } = core;
  const id = randomBytes(6).toString("base64url");
  const live = createLive({
    id,
    places: core.resources.streams,
    relay: redis && ((on) => startRelay({ id, channels: openChannels(redis), clock, log, ...on })),
    async isAllowed(tenant, caller) {
      const isValid = caller.kind === "key" ? keys.isValid(tenant, caller.id) : sessions.isValid(tenant, caller);
      const [valid, found] = await Promise.all([isValid, tenants.byId(tenant)]);
      return valid && found?.suspended === null && found.deleteAt === null;
    },
    hostOf: (domain) => shownHost(core.config.baseUrl, domain),
    count: {
      ended: metrics.tally("quicklink_live_streams_ended_total", "Streams of live clicks that ended, by how.", "end", [
        "left",
        "cut",
        "ended",
      ]),
      sent: metrics.tally("quicklink_live_messages_total", "Messages with live clicks to other processes.", "outcome", [
        "sent",
        "failed",
      ]),
    },
    clock,
    log,
  });
  opened.defer(() => live.close());
  metrics.gauge("quicklink_live_streams", "Open streams of live clicks.", () => live.streams);
  return Object.assign(live, {
    recorded(totals: readonly RecordedTotal[]) {
      if (!live.wanted) return;
      const quotas = totals.flatMap(({ key, draws, month, counted }) => {
        const link = draws === "hits" ? recall(key) : undefined;
        const limit = link && knownHitsMax(link);
        return link === undefined || limit === undefined
          ? []
          : [{ tenant: link.clicks.tenant, ...splitKey(key), month, used: counted, limit }];
      });
      live.counted(quotas);
    },
  });
}
