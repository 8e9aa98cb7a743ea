/** Mistakes that only a second region shows. */
import type { Control } from "../proof.ts";
import { farAway } from "./far.ts";

export const controls: readonly Control[] = [
  {
    name: "edits that are announced before the replica has them",
    edits: [
      {
        file: "server/cache.ts",
        from: "if (replica === undefined) links.announce(key, version);",
        to: "links.announce(key, version);",
      },
    ],
    plays: ["replica_held"],
    breaks: ["replica_held_seen_in_b.refused"],
  },
  {
    name: "the feed of the primary beside the links of the replica",
    edits: [
      {
        file: "server/cache.ts",
        from: "followFeed(wiring, { sql, tier",
        to: "followFeed(wiring, { sql: core.sql, tier",
      },
    ],
    plays: ["replica_held"],
    breaks: ["replica_held_seen_in_b.refused"],
  },
  {
    name: "a feed that is read only after a message",
    edits: [{ file: "cache/follow.ts", from: "const pollMs = 500;", to: "const pollMs = 3_600_000;" }],
    plays: ["edited_in_a"],
    breaks: ["edited_in_a_seen_in_b.p99_ms", "edited_in_a_seen_in_b.longest_ms"],
  },
  {
    name: "leases that are requested when the last one is used up",
    edits: [
      {
        file: "limits/meters.ts",
        from: "if (!looksAhead) return;",
        to: "if (looksAhead) return;",
      },
    ],
    plays: [farAway],
    breaks: [`${farAway}.waited`],
  },
];
