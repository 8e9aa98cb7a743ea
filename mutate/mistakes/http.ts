import type { Mistakes } from "../mistake.ts";

const idempotency = ["test/e2e/idempotency.test.ts"];
const access = ["test/e2e/access.test.ts"];
const server = ["test/e2e/server.test.ts"];

export const http: Mistakes = {
  "scope-not-checked": {
    file: "http/route.ts",
    from: 'if (isPermission(access)) requirePermission(c.get("caller"), access);',
    to: "",
    tests: access,
    only: "SQLite.*a key with the scope links:read alone",
  },
  "suspended-tenant-may-call": {
    file: "http/auth.ts",
    from: "if (suspended !== null) {",
    to: "if (false) {",
    tests: ["test/e2e/abuse.test.ts"],
    only: "SQLite.*suspends a tenant",
  },
  "wrong-key-is-no-guess": {
    file: "http/auth.ts",
    from: "const retryAfterSeconds = await guesses.missed(c.env.address);",
    to: "const retryAfterSeconds = await Promise.resolve<number | undefined>(undefined);",
    tests: ["test/e2e/limits.test.ts"],
    only: "SQLite.*guesses of keys count",
  },
  "cursor-not-signed": {
    file: "http/pagination.ts",
    from: "if (!signer.isSigned(placed(list, text), signature)) throw badCursor();",
    to: 'if (signature === "") throw badCursor();',
    tests: ["src/http/pagination.test.ts"],
  },
  "item-skipped-between-pages": {
    file: "http/pagination.ts",
    from: "const last = found.length > limit ? items.at(-1) : undefined;",
    to: "const last = found.length > limit ? found.at(-1) : undefined;",
    tests: ["src/http/pagination.test.ts"],
  },
  "forwarded-address-of-anyone": {
    file: "http/request.ts",
    from: "if (peer === undefined || forwardedFor === null || !isTrusted(peer, trusted)) return peer;",
    to: "if (peer === undefined || forwardedFor === null) return peer;",
    tests: ["src/http/request.test.ts"],
  },
  "first-forwarded-address": {
    file: "http/request.ts",
    from: "for (const hop of hops.reverse()) {",
    to: "for (const hop of hops) {",
    tests: ["src/http/request.test.ts"],
  },
  "refusal-kept-as-an-answer": {
    file: "http/idempotency.ts",
    from: "if (!response.ok || changedNothing) return run.forget();",
    to: "",
    tests: idempotency,
    only: "SQLite.*what was refused has changed nothing",
  },
  "body-not-in-the-fingerprint": {
    file: "http/idempotency.ts",
    from: "await c.req.text()",
    to: '""',
    tests: idempotency,
    only: "SQLite.*the same key for another body",
  },
  "seconds-of-a-limit-rounded-down": {
    file: "http/rate-limit.ts",
    from: "Math.max(1, Math.ceil(ms / 1_000))",
    to: "Math.floor(ms / 1_000)",
    tests: ["src/http/rate-limit.test.ts"],
  },
  "retry-after-missing": {
    file: "http/problem.ts",
    from: 'if (problem.more.retryAfterSeconds !== undefined) headers.set("retry-after", String(problem.more.retryAfterSeconds));',
    to: "",
    tests: ["src/http/problem.test.ts"],
  },
  "answers-may-be-cached": {
    file: "http/api.ts",
    from: 'headers.set("cache-control", "no-store");',
    to: "",
    tests: server,
    only: "keeps API answers from caches",
  },
  "key-in-the-log": {
    file: "http/api.ts",
    from: 'part.replace(/ql_\\w+/g, "ql_…")',
    to: "part",
    tests: access,
    only: "a key that was pasted",
  },
  "request-id-of-anyone": {
    file: "http/api.ts",
    from: 'const given = trustedPeer ? request.headers.get("x-request-id") : null;',
    to: 'const given = request.headers.get("x-request-id");',
    tests: server,
    only: "does not accept one from a stranger",
  },
  "metrics-without-a-token": {
    file: "http/server.ts",
    from: "    if (!allowed) {",
    to: "    if (allowed === undefined) {",
    tests: access,
    only: "metrics (without|with) a token",
  },
  "ready-although-a-dependency-is-not": {
    file: "http/health.ts",
    from: "const allWell = checks.every(([, check]) => check.ok);",
    to: "const allWell = checks.some(([, check]) => check.ok);",
    tests: ["src/http/health.test.ts"],
  },
  "api-on-a-custom-domain": {
    file: "http/server.ts",
    from: "if (isApi(path)) return apiElsewhere(settings.baseUrl);",
    to: "if (isApi(path)) return callApi(request);",
    tests: ["test/e2e/hosts.test.ts"],
    only: "SQLite.*a key works on the server's own hosts",
  },
  "weak-tag-not-recognised": {
    file: "http/cached-page.ts",
    from: 'one.trim().replace(/^W\\//, "") === etag',
    to: "one.trim() === etag",
    tests: ["src/http/cached-page.test.ts"],
  },
  "any-host-with-a-base-url": {
    file: "http/auth.ts",
    from: "anyHost && sent ===",
    to: "sent ===",
    tests: ["src/http/auth.test.ts"],
  },
  "origin-not-checked-on-sign-in": {
    file: "http/auth.ts",
    from: "requireOwnOrigin(c.req.raw, own);\n      return;",
    to: "return;",
    tests: ["test/e2e/sign-in.test.ts"],
    only: "another site can neither",
  },
  "answer-of-another-person-repeated": {
    file: "http/idempotency.ts",
    from: '(by.kind === "person" ? `${by.person.id} ${key}` : key);',
    to: '(by.kind === "person" ? `${by.person.id.slice(0, 4)} ${key}` : key);',
    tests: ["test/e2e/invitations.test.ts"],
    only: "without a mail server on SQLite.*Idempotency-Key",
  },
  "held-body-keeps-its-right": {
    file: "http/api.ts",
    from: "if (clock.elapsed() - started > promptMs) await authentication.again(c);",
    to: "",
    tests: ["test/e2e/workspaces.test.ts"],
    only: "SQLite.*whose body is held back",
  },
};
