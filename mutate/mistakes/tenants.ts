import type { Mistakes } from "../mistake.ts";

const tenants = ["test/conformance/tenants.test.ts"];

export const tenantMistakes: Mistakes = {
  "key-of-a-removed-member": {
    file: "tenants/keys.ts",
    from: "await requireStillAllowed(trx, tenantId, by, toKey(row).scopes);",
    to: "",
    tests: ["test/conformance/members.test.ts"],
    only: "makes no API key",
  },
  "expired-key-works": {
    file: "tenants/keys.ts",
    from: "if (row.expires_at !== null && row.expires_at <= clock.now()) return undefined;",
    to: "if (row.expires_at !== null && row.expires_at < clock.now()) return undefined;",
    tests: tenants,
    only: "a key works until it expires",
  },
  "revoked-key-works": {
    file: "tenants/keys.ts",
    from: "if (!row || row.revoked_at !== null) return undefined;",
    to: "if (!row) return undefined;",
    tests: tenants,
    only: "a key that is revoked",
  },
  "secret-stored": {
    file: "tenants/keys.ts",
    from: "hint: `${secret.slice(0, 8)}…`,",
    to: "hint: `${secret}…`,",
    tests: tenants,
    only: "is nowhere in SQL",
  },
  "any-scope-is-enough": {
    file: "tenants/keys.ts",
    from: 'scopes.includes(scope) || scopes.includes("admin") ||',
    to: "scopes.length > 0 ||",
    tests: tenants,
    only: "a key works for its tenant",
  },
  "one-key-too-many": {
    file: "tenants/keys.ts",
    from: "if ((await working.execute()).length >= keysMost) {",
    to: "if ((await working.execute()).length > keysMost) {",
    tests: tenants,
    only: "beyond the cap",
  },
  "last-use-goes-back": {
    file: "tenants/keys.ts",
    from: '.where((is) => is.or([is("last_used_at", "is", null), is("last_used_at", "<", at)])),',
    to: ",",
    tests: tenants,
    only: "at the latest time that any instance saw",
  },
  "changed-limit-outdates-nothing": {
    file: "tenants/tenants.ts",
    from: "if (!samePlan || limits.hitsPerLinkPerMonth !== before.hitsPerLinkPerMonth) await outdate(trx, [row.id]);",
    to: "if (!samePlan) await outdate(trx, [row.id]);",
    tests: ["test/conformance/outdated.test.ts"],
  },
  "changed-plan-outdates-nothing": {
    file: "tenants/tenants.ts",
    from: "if (before && parseLimits(before.limits).hitsPerLinkPerMonth === limits.hitsPerLinkPerMonth) return;",
    to: "if (before) return;",
    tests: ["test/conformance/outdated.test.ts"],
  },
  "plan-that-there-is-not": {
    file: "tenants/tenants.ts",
    from: "if (plan !== undefined) await holdPlan(trx, plan);",
    to: "",
    tests: tenants,
    only: "and an existing plan",
  },
  "plan-beats-the-tenant": {
    file: "tenants/tenants.ts",
    from: "({ ...plan, ...overrides })",
    to: "({ ...overrides, ...plan })",
    tests: ["src/tenants/tenants.test.ts"],
  },
  "default-limit-wrong": {
    file: "tenants/tenants.ts",
    from: "hitsPerLinkPerMonth: 10_000,",
    to: "hitsPerLinkPerMonth: 1_000,",
    tests: ["src/tenants/tenants.test.ts"],
  },
  "negative-limit-accepted": {
    file: "tenants/tenants.ts",
    from: "!(Number.isSafeInteger(value) && value >= 0)",
    to: "!Number.isSafeInteger(value)",
    tests: ["src/tenants/tenants.test.ts"],
  },
  "usage-of-another-month": {
    file: "tenants/monthly-usage.ts",
    from: 'own.selectFrom("tenant_usage").select("used").where("name", "=", name).where("month", "=", month),',
    to: 'own.selectFrom("tenant_usage").select("used").where("name", "=", name).where("month", "<=", month),',
    tests: ["test/conformance/links-per-month.test.ts"],
  },
  "tenants-queue-without-bound": {
    file: "tenants/one-at-a-time.ts",
    from: "if (queue.waiting >= waitingMost) {",
    to: "if (queue.waiting < 0) {",
    tests: ["test/conformance/tenants.test.ts"],
    only: "many of its requests at once",
  },
};
