/** Mistakes that the simulation must find, or it would show nothing. */
import type { Control } from "../proof.ts";

export const controls: readonly Control[] = [
  {
    name: "leases that do not shrink towards the end",
    plays: ["worlds"],
    breaks: ["worlds.over_grant", "worlds.overspent", "worlds.overshoot"],
    edits: [
      {
        file: "redis/lease.lua",
        from: "math.min(math.max(want, least), most, math.floor(remaining / (2 * holders)))",
        to: "math.min(math.max(want, least), most)",
      },
      {
        file: "limits/lease-size.ts",
        from: "Math.min(Math.max(want, leastWhilePlenty), largestLease(max), fair)",
        to: "Math.min(Math.max(want, leastWhilePlenty), largestLease(max), fair < 0 ? 0 : max)",
      },
    ],
  },
  {
    name: "a lease that is returned twice",
    plays: ["worlds"],
    breaks: ["worlds.over_grant", "worlds.overspent", "worlds.stranded"],
    edits: [
      {
        file: "redis/lease.lua",
        from: '    leases[lease] = { validUntil = now }\n    write("l:" .. lease, "ended:" .. text(now))\n',
        to: "",
      },
    ],
  },
  {
    name: "a repeated request under a new name",
    plays: ["worlds"],
    breaks: ["worlds.stranded", "worlds.reserved", "worlds.two_leases"],
    edits: [{ file: "limits/meters.ts", from: "lane.ask ??= {", to: "lane.ask = {" }],
  },
  {
    name: "requests to Redis without the total of SQL",
    plays: ["worlds"],
    breaks: ["worlds.overshoot", "worlds.overspent", "worlds.over_grant"],
    edits: [
      {
        file: "redis/leases.ts",
        from: 'String(totals.get(key) ?? "")',
        to: 'fresh ? String(totals.get(key) ?? "") : ""',
      },
    ],
  },
  {
    name: "a third lease while two are not recorded",
    plays: ["worlds"],
    breaks: ["worlds.two_leases", "worlds.stranded"],
    edits: [
      {
        file: "limits/meters.ts",
        from: "if (lane.unrecorded > largestLease(max)) await recordDebt(key, lane);",
        to: "void [largestLease, recordDebt];",
      },
    ],
  },
  {
    name: "a lease requested ahead while two are out",
    plays: ["worlds"],
    breaks: ["worlds.two_leases", "worlds.stranded"],
    edits: [
      {
        file: "limits/meters.ts",
        from: "if (lane.left + lane.unrecorded <= largestLease(max)) {",
        to: "if (max > 0) {",
      },
    ],
  },
  {
    name: "units returned to another month",
    plays: ["worlds"],
    breaks: ["worlds.reserved", "worlds.stranded", "worlds.forgotten", "worlds.stuck"],
    edits: [
      {
        file: "limits/meters.ts",
        from: "waiting.push({ key, draws, month, lender, spent: none, units: 0, leased: 0, unspent, lease });",
        to: "waiting.push({ key, draws, month: month && settings.month(), lender, spent: none, units: 0, leased: 0, unspent, lease });",
      },
    ],
  },
  {
    name: "first visits that are counted after their visitors have given up",
    plays: ["worlds"],
    breaks: ["worlds.first"],
    edits: [{ file: "sql/leases.ts", from: "if (!areAwaited()) throw", to: "if (areAwaited === undefined) throw" }],
  },
  {
    name: "a first visit beyond the limit",
    plays: ["worlds"],
    breaks: ["worlds.over_grant", "worlds.overspent"],
    edits: [
      {
        file: "sql/leases.ts",
        from: 'is.ref("quotas.reserved")), "<", max)',
        to: 'is.ref("quotas.reserved")), "<", 10 ** 9)',
      },
    ],
  },
  {
    name: "a key of Redis that begins at 0",
    plays: ["worlds"],
    breaks: ["worlds.seeded", "worlds.overspent"],
    edits: [{ file: "redis/leases.ts", from: "totals.set(key, await readTotal(month));", to: "totals.set(key, 0);" }],
  },
];
