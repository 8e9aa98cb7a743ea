import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "a lease granted when nothing remains",
    edits: [{ file: "redis/lease.lua", from: "if remaining <= 0 then", to: "if remaining < 0 then" }],
    plays: ["nothing_wrong"],
    breaks: ["nothing_wrong.overshoot"],
  },
  {
    name: "hits that replace those recorded before",
    edits: [
      {
        file: "sql/leases.ts",
        from: "do update set hits = hits.hits + excluded.hits",
        to: "do update set hits = excluded.hits",
      },
    ],
    plays: ["nothing_wrong"],
    breaks: ["nothing_wrong.not_recorded"],
  },
  {
    name: "unspent units that are never returned",
    edits: [
      { file: "server/limits.ts", from: "fromRedis?.end(batch.flatMap(endedOnRedis));", to: "void endedOnRedis;" },
    ],
    plays: ["partly_used"],
    breaks: ["partly_used.reserved"],
  },
  {
    name: "no leases from SQL while Redis is away",
    edits: [
      {
        file: "server/limits.ts",
        from: 'const breakerOf = outage === "degrade" ? settings.visitorsBreakerOf : undefined;',
        to: "const breakerOf = undefined as typeof settings.visitorsBreakerOf;",
      },
    ],
    plays: ["redis_paused"],
    breaks: ["redis_paused.lent_by_sql", "redis_paused.unavailable"],
  },
  {
    name: "a lost Redis that begins at 0 again",
    edits: [{ file: "redis/leases.ts", from: '...[String(totals.get(key) ?? ""), ', to: '...["0", ' }],
    plays: ["redis_lost"],
    breaks: ["redis_lost.overshoot"],
  },
  {
    name: "the lease of a killed server free again when it has expired",
    edits: [
      {
        file: "redis/lease.lua",
        from: "-- Subtract first, raise after",
        to: 'for lease, there in pairs(leases) do if there.size and there.validUntil < now then returned = returned + there.size leases[lease] = { validUntil = now } write("l:" .. lease, "ended:" .. text(now)) end end\n-- Subtract first, raise after',
      },
    ],
    plays: ["killed"],
    breaks: ["killed.overshoot"],
  },
  {
    name: "what a crash left reserved in SQL free again after five seconds",
    edits: [
      {
        file: "sql/leases.ts",
        from: "remaining: max - row.counted - row.reserved,",
        to: "remaining: max - row.counted - (row.lent_until > now ? row.reserved : 0),",
      },
    ],
    plays: ["embedded_killed"],
    breaks: ["embedded_killed.overshoot"],
  },
];
