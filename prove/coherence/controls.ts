/** Mistakes in what the promise rests on (docs/coherence.md), each with real servers. */
import type { Control } from "../proof.ts";
import { lateReader } from "./late-reader.ts";

export const controls: readonly Control[] = [
  {
    name: "changes that are neither published nor followed",
    edits: [
      { file: "server/cache.ts", from: "if (replica === undefined) links.announce(key, version);", to: "" },
      { file: "server/cache.ts", from: "if (links.announce(key, version)) isNews = true;", to: "" },
    ],
    plays: ["woken"],
    breaks: ["woken.behind_itself", "woken.longest_ms"],
  },
  {
    name: "memory that accepts an older version",
    edits: [
      { file: "cache/cache.ts", from: "if (answer.version >= flight.floor) {", to: "if (answer.version >= 0) {" },
      {
        file: "cache/cache.ts",
        from: "if (late.version >= Math.max(one.floor, floors.get(key) ?? 0)) remember",
        to: "if (late.version >= 0) remember",
      },
    ],
    plays: [lateReader],
    breaks: [`${lateReader}.kept`],
  },
  {
    name: "a feed that is read only after a message, and trusted all the same",
    edits: [
      { file: "cache/follow.ts", from: "const pollMs = 500;", to: "const pollMs = 3_600_000;" },
      { file: "cache/cache.ts", from: "const feedFreshMs = 1_500;", to: "const feedFreshMs = 3_600_000;" },
    ],
    plays: ["not_woken"],
    breaks: ["not_woken.longest_ms"],
  },
  {
    name: "following that waits until Redis is corrected",
    edits: [{ file: "cache/follow.ts", from: "correcting.take(round);", to: "await correct?.(round, ending.signal);" }],
    plays: ["importing"],
    breaks: ["importing.p90_ms"],
  },
  {
    name: "a place in the feed beyond transactions that still run",
    edits: [{ file: "cache/follow.ts", from: "position = page.finalUntil ?? position;", to: "position = page.next;" }],
    plays: ["overlapping"],
    breaks: ["overlapping.longest_ms"],
  },
  {
    name: "a Redis that is believed as it comes back",
    edits: [
      {
        file: "cache/correct-tier.ts",
        from: "if (stand.position < position) await replay(server, stand.position, position, signal);",
        to: "",
      },
    ],
    plays: ["redis_went_back"],
    breaks: ["redis_went_back.longest_ms", "redis_went_back.went_back"],
  },
  {
    name: "an edit that only its writer announces",
    edits: [
      {
        file: "sql/versions.ts",
        from: "run(trx, toRows(changes, at));",
        to: "run(trx, []);",
      },
    ],
    plays: ["writer_killed"],
    breaks: ["writer_killed.longest_ms"],
  },
  {
    name: "no fences",
    edits: [
      {
        file: "redis/cache.ts",
        from: 'await put(server.epoch, key, [version, "fence", "", fenceMs, 0]);',
        to: "",
      },
    ],
    plays: [lateReader],
    breaks: [`${lateReader}.older`],
  },
  {
    name: "a script that accepts an older version",
    edits: [
      {
        file: "redis/put.lua",
        from: 'if known > version or (known == version and kind == "fence") then',
        to: 'if known == version and kind == "fence" then',
      },
    ],
    plays: [lateReader],
    breaks: [`${lateReader}.older`],
  },
  {
    name: "a script that keeps the negative entry of a created link",
    edits: [{ file: "redis/put.lua", from: 'redis.call("DEL", KEYS[2])', to: "" }],
    plays: [lateReader],
    breaks: [`${lateReader}.older`],
  },
  {
    name: "memory that keeps the negative entry of a created link",
    edits: [{ file: "cache/cache.ts", from: "        missing.delete(key);\n", to: "" }],
    plays: ["created_and_deleted"],
    breaks: ["created_and_deleted.behind_itself", "created_and_deleted.longest_ms"],
  },
  {
    name: "a tenant that changes without a new version",
    edits: [
      {
        file: "tenants/tenants.ts",
        from: '{ kind: "tenant", keys: [String(row.number)] }',
        to: '{ kind: "tenant", keys: [] }',
      },
      {
        file: "tenants/tenant-number.ts",
        from: "keys: [String(await tenantNumberOf(trx, id))],",
        to: "keys: (await tenantNumberOf(trx, id)) === 0 ? [] : [],",
      },
    ],
    plays: ["tenant_suspended", "limit_changed", "plan_changed", "workspace_suspended", "workspace_plan"],
    breaks: ["tenant_suspended", "limit_changed", "plan_changed"]
      .map((scenario) => `${scenario}.longest_ms`)
      .concat(["workspace_suspended", "workspace_plan"].flatMap((one) => [`${one}.max_ms`, `${one}.own_after`])),
  },
  {
    name: "a plan that changes without a new version",
    edits: [{ file: "tenants/tenants.ts", from: '{ kind: "plan", keys: [name] }', to: '{ kind: "plan", keys: [] }' }],
    plays: ["plan_edited", "plan_limits"],
    breaks: ["plan_edited.longest_ms", "plan_limits.max_ms", "plan_limits.own_after"],
  },
  {
    name: "a key that is revoked without a new version",
    edits: [{ file: "tenants/keys.ts", from: '{ kind: "key", keys: [row.hash] }', to: '{ kind: "key", keys: [] }' }],
    plays: ["key_revoked"],
    breaks: ["key_revoked.max_ms", "key_revoked.own_after"],
  },
  {
    name: "links that keep what their tenant was",
    edits: [
      {
        file: "redirect/link-source.ts",
        from: "link.standing.generation === tenants.generation",
        to: "link.standing.generation > 0",
      },
    ],
    plays: ["tenant_suspended", "plan_edited"],
    breaks: ["tenant_suspended.longest_ms", "plan_edited.longest_ms"],
  },
  {
    name: "a session that ends without a new version",
    edits: [
      {
        file: "people/sessions.ts",
        from: '[{ kind: "session", keys: people }, ...others]',
        to: "[...others]",
      },
    ],
    plays: ["session_revoked", "member_removed", "role_changed"],
    breaks: ["session_revoked", "member_removed", "role_changed"].flatMap((one) => [
      `${one}.max_ms`,
      `${one}.own_after`,
    ]),
  },
];
