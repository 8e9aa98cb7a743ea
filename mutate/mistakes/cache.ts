import type { Mistakes } from "../mistake.ts";

const memory = ["src/cache/cache.test.ts"];
const follow = ["src/cache/follow.test.ts"];
const tiered = ["src/cache/tiered.test.ts"];
const gathered = ["src/cache/gathered-source.test.ts"];
const correct = ["src/cache/correct-tier.test.ts"];

export const cache: Mistakes = {
  "stale-callers-let-in": {
    file: "cache/cache.ts",
    from: "clock.elapsed() - known.filledAt > staleMs) throw error;",
    to: "clock.elapsed() - known.filledAt > staleMostMs) throw error;",
    tests: ["test/conformance/known-tenants.test.ts"],
    only: "cannot say whether it still works",
  },
  "tenant-taken-for-a-link": {
    file: "cache/tier.ts",
    from: 'if (part !== value) return { kind: "unknown" };',
    to: "",
    tests: ["test/conformance/link-tiers.test.ts"],
    only: "put together with its tenant",
  },
  "older-version-remembered": {
    file: "cache/cache.ts",
    from: "if ((remembered(key)?.version ?? 0) > answer.version) return;",
    to: "",
    tests: memory,
  },
  "fill-from-before-a-change-kept": {
    file: "cache/cache.ts",
    from: "if (flight && flight.floor < version) flight.floor = version;",
    to: "",
    tests: memory,
  },
  "late-answer-from-before-a-change-kept": {
    file: "cache/cache.ts",
    from: "if (later && later.floor < version) later.floor = version;",
    to: "",
    tests: memory,
  },
  "evicted-version-forgotten": {
    file: "cache/cache.ts",
    from: 'if (reason === "evict") pushedOut(entry, key);',
    to: "",
    tests: memory,
  },
  "negative-entry-kept": {
    file: "cache/cache.ts",
    from: "        found.delete(key);\n        missing.delete(key);",
    to: "        found.delete(key);",
    tests: memory,
  },
  "stale-entry-trusted-as-fresh": {
    file: "cache/cache.ts",
    from: "const trusted = !entry.stale && now - followedAt < feedFreshMs;",
    to: "const trusted = now - followedAt < feedFreshMs;",
    tests: memory,
  },
  "trusted-by-the-wall-clock": {
    file: "cache/cache.ts",
    from: "  function usable(entry: Entry<Value>): boolean {\n    const now = clock.elapsed();",
    to: "  function usable(entry: Entry<Value>): boolean {\n    const now = clock.now();",
    tests: memory,
  },
  "stale-served-for-ever": {
    file: "cache/cache.ts",
    from: "if (known === undefined || clock.elapsed() - known.filledAt > staleMs) throw error;",
    to: "if (known === undefined) throw error;",
    tests: memory,
  },
  "follower-claims-what-it-reads-next": {
    file: "cache/follow.ts",
    from: "followed(round.began);",
    to: "followed(round.ended);",
    tests: follow,
  },
  "no-turn-between-changes-of-many-links": {
    file: "cache/follow.ts",
    from: ' || change.kind === "links")',
    to: ")",
    tests: follow,
  },
  "not-final-passed-for-good": {
    file: "cache/follow.ts",
    from: "finalSoFar &&= same(page.finalUntil, page.next);",
    to: "",
    tests: follow,
  },
  "older-answer-of-the-tier": {
    file: "cache/tiered.ts",
    from: 'if (shared.answer.version < atLeast) return missed("older");',
    to: "",
    tests: tiered,
  },
  "older-answer-when-sql-fails": {
    file: "cache/tiered.ts",
    from: 'if (last?.kind !== "value" || last.answer.version < atLeast) throw error;',
    to: 'if (last?.kind !== "value") throw error;',
    tests: tiered,
  },
  "ticket-taken-after-the-query": {
    file: "cache/tiered.ts",
    from: "if (ticket !== undefined && answer.version >= atLeast) tier.put(key, answer, ticket);",
    to: "if (ticket !== undefined) tier.put(key, answer, tier.ticket(key) ?? ticket);",
    tests: tiered,
  },
  "fences-of-the-last-changes-left-out": {
    file: "cache/correct-tier.ts",
    from: "await tier.fence(server, round.notFinal);",
    to: "",
    tests: correct,
  },
  "moved-on-before-the-fences": {
    file: "cache/correct-tier.ts",
    from: "if (stand.position < position) await replay(server, stand.position, position, signal);",
    to: "",
    tests: correct,
  },
  "corrected-for-as-long-as-changes-are-written": {
    file: "cache/correct-tier.ts",
    from: "if (read.changes.length < page || feed.toText(cursor) >= to) return;",
    to: "if (read.changes.length < page) return;",
    tests: correct,
  },
  "following-waits-for-the-correction": {
    file: "cache/follow.ts",
    from: "correcting.take(round);",
    to: "await correct?.(round, ending.signal);",
    tests: follow,
  },
  "rounds-of-meanwhile-are-not-corrected": {
    file: "cache/follow.ts",
    from: "      next = item;\n      running ??= run();",
    to: "      if (running === undefined) next = item;\n      running ??= run();",
    tests: follow,
  },
  "position-left-behind": {
    file: "cache/correct-tier.ts",
    from: "const isDone = stand.position >= position && round.notFinal.length === 0",
    to: "const isDone = round.notFinal.length === 0",
    tests: correct,
  },
  "fences-not-confirmed": {
    file: "cache/correct-tier.ts",
    from: "round.notFinal.length === 0 && stand.idleMs < confirmMs",
    to: "stand.idleMs < confirmMs",
    tests: correct,
  },
  "server-of-another-database-used": {
    file: "cache/correct-tier.ts",
    from: "if (!isForeign || idleMs >= abandonedMs) return;",
    to: "return;",
    tests: correct,
  },
  "quiet-position-never-confirmed": {
    file: "cache/correct-tier.ts",
    from: " && stand.idleMs < confirmMs;",
    to: ";",
    tests: correct,
  },
  "epoch-begins-now": {
    file: "cache/correct-tier.ts",
    from: "stand = await tier.begin(server, feed.toText(before.position));",
    to: "stand = await tier.begin(server, position);",
    tests: correct,
  },
  "same-change-counted-again": {
    file: "cache/changes.ts",
    from: "if (version <= (rates.get(key)?.version ?? 0)) return;",
    to: "",
    tests: ["src/cache/changes.test.ts"],
  },
  "moderate-until-nine": {
    file: "cache/ttl.ts",
    from: "perDay <= 10",
    to: "perDay < 10",
    tests: ["src/cache/ttl.test.ts"],
  },
  "queries-without-a-place": {
    file: "cache/gathered-source.ts",
    from: "while (running < atOnce && (queue.length",
    to: "while (queue.length > 0 && (queue.length",
    tests: gathered,
  },
  "each-link-its-own-query": {
    file: "cache/gathered-source.ts",
    from: "if (batch.length === keysPerQuery) break;",
    to: "if (batch.length === 1) break;",
    tests: gathered,
  },
  "unreadable-link-fails-its-query": {
    file: "cache/gathered-source.ts",
    from: "else if (answer instanceof Error) answered.reject(answer);",
    to: "else if (answers.some((one) => one instanceof Error)) answered.reject(failure);",
    tests: gathered,
  },
  "abandoned-lookups-keep-their-place": {
    file: "cache/gathered-source.ts",
    from: "if (one.wantedUntil > now) batch.push(one);",
    to: "if (one.wantedUntil > 0 || now < 0) batch.push(one);",
    tests: gathered,
  },
};
