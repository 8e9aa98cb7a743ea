import { passwordShares } from "./passwords.ts";
import { createShares, type Shares } from "./shares.ts";

/**
 * Resources shared by all callers of one process, and how much there is of each. Held by tenant, or by network for
 * anonymous callers. Waiting ends well before the server's timeout of ten seconds.
 */
export interface Resources {
  /** Uploads written to disk. By tenant. */
  readonly uploads: Shares;
  /** Downloads sent from disk. By the client's network. */
  readonly downloads: Shares;
  /** Bulk writes and large lists: on SQLite one thread, on PostgreSQL half of the connections. By tenant. */
  readonly work: Shares;
  /** The operator's full scans, separate from what tenants wait for. By kind of scan. */
  readonly upkeep: Shares;
  /** Hashes of passwords: 19 MB and 45 ms of a core each. By the visitor's network, or the tenant that sets one. */
  readonly passwords: Shares;
  /** Requests to addresses that users name, while the user waits for the answer. By tenant. */
  readonly outgoing: Shares;
  /** Open streams of live clicks. By tenant. */
  readonly streams: Shares;
  /** Background checks of link destinations. By tenant. */
  readonly targets: Shares;
}

export interface ResourceSettings {
  readonly embedded: boolean;
  /** Number of connections to PostgreSQL. */
  readonly pool: number;
}

export function createResources({ embedded, pool }: ResourceSettings): Resources {
  const waitMs = 5_000;
  const retryAfterSeconds = 5;
  return {
    uploads: createShares({
      ...{ resource: "uploads", what: "uploads" },
      ...{ atOnce: 64, waitingMost: 64, waitMs, retryAfterSeconds },
    }),
    downloads: createShares({
      ...{ resource: "downloads", what: "downloads" },
      ...{ atOnce: 128, waitingMost: 128, waitMs, retryAfterSeconds },
    }),
    work: createShares({
      ...{ resource: "work", what: "large requests" },
      ...{ atOnce: embedded ? 1 : Math.max(1, Math.floor(pool / 2)), waitingMost: 100, waitMs, retryAfterSeconds },
    }),
    upkeep: createShares({
      ...{ resource: "upkeep", what: "full scans" },
      ...{ atOnce: 4, waitingMost: 20, waitMs: 3_600_000, retryAfterSeconds },
    }),
    passwords: createShares(passwordShares),
    outgoing: createShares({
      ...{ resource: "outgoing", what: "requests to other servers" },
      ...{ atOnce: 16, waitingMost: 300, waitMs, retryAfterSeconds },
    }),
    // Each holds at most 320 KB for a client that reads too slowly: 64 MB. A stream may last an hour, so none waits.
    streams: createShares({
      ...{ resource: "streams", what: "live streams" },
      ...{ atOnce: 200, waitingMost: 0, waitMs: 0, retryAfterSeconds: 30 },
    }),
    // A round checks at most 500 destinations, each of which may wait until the round ends.
    targets: createShares({
      ...{ resource: "targets", what: "destination checks" },
      ...{ atOnce: 16, waitingMost: 500, waitMs, retryAfterSeconds },
    }),
  };
}
