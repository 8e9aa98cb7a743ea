import type { Mistakes } from "../mistake.ts";

const decide = ["src/redirect/decide.test.ts"];
const pass = ["src/redirect/pass-cookie.test.ts"];
const password = ["test/e2e/password.test.ts"];

export const redirect: Mistakes = {
  "personal-answers-not-recorded": {
    file: "redirect/serve.ts",
    from: "capture.record(request, key, clicks, reason, variant, url);",
    to: "",
    tests: ["src/redirect/serve.test.ts"],
  },
  "everyone-gets-the-first-destination": {
    file: "redirect/serve.ts",
    from: "if (url === target.url) {",
    to: "if (target.pattern !== undefined || url === target.url) {",
    tests: ["src/redirect/serve.test.ts"],
  },
  "parameters-of-another-visitor": {
    file: "redirect/serve.ts",
    from: "return sent === url ? new Response(null, patternTo(target, url)) : personal(sent);",
    to: "return new Response(null, patternTo(target, url));",
    tests: ["src/redirect/serve.test.ts"],
  },
  "qr-mark-forwarded": {
    file: "redirect/forward-query.ts",
    from: 'parameters.delete(qrMark, "");',
    to: "",
    tests: ["src/redirect/forward-query.test.ts"],
  },
  "suspended-link-answers": {
    file: "redirect/decide.ts",
    from: "if (target.suspended) return suspended;",
    to: "",
    tests: decide,
  },
  "expiry-turned-round": {
    file: "redirect/decide.ts",
    from: "expiresAt !== null && expiresAt <= now",
    to: "expiresAt !== null && expiresAt < now",
    tests: decide,
  },
  "permanent-although-protected": {
    file: "redirect/decide.ts",
    from: "target.choice === null && !target.password ? 301 : 302",
    to: "target.choice === null ? 301 : 302",
    tests: decide,
  },
  "preview-of-a-protected-link": {
    file: "redirect/decide.ts",
    from: "if (facts.preview) return target.password ? password : preview(target, now);",
    to: "if (facts.preview) return preview(target, now);",
    tests: decide,
  },
  "bots-use-up-the-hits": {
    file: "redirect/decide.ts",
    from: 'draws: reason === "counted" ? "hits" : "exempt",',
    to: 'draws: "hits",',
    tests: decide,
  },
  "fallback-of-a-fallback": {
    file: "redirect/decide.ts",
    from: 'return answer.draws === "hits" && target.fallbackUrl !== null',
    to: "return target.fallbackUrl !== null",
    tests: decide,
  },
  "cookie-without-http-only": {
    file: "redirect/pass-cookie.ts",
    from: "HttpOnly; SameSite=Lax",
    to: "SameSite=Lax",
    tests: pass,
  },
  "pass-never-expires": {
    file: "redirect/pass-cookie.ts",
    from: " || Number(until) * 1_000 <= now) return false;",
    to: ") return false;",
    tests: pass,
  },
  "pass-outlives-a-change": {
    file: "redirect/pass-cookie.ts",
    from: "return signer.isSigned(textOf(key, version, until), signature);",
    to: "return [version, version - 1].some((one) => signer.isSigned(textOf(key, one, until), signature));",
    tests: pass,
  },
  "form-of-another-site": {
    file: "redirect/password-gate.ts",
    from: 'if (site !== null) return site === "same-origin" || site === "none";',
    to: "if (site !== null) return true;",
    tests: password,
    only: "SQLite.*a form on another page",
  },
  "right-password-keeps-its-attempt": {
    file: "redirect/password-gate.ts",
    from: "await attempt.right();",
    to: "",
    tests: password,
    only: "SQLite.*right ones do not count",
  },
  "redirect-after-a-form-as-302": {
    file: "redirect/serve.ts",
    from: "status: response.status === 302 ? 303 : response.status",
    to: "status: response.status",
    tests: password,
    only: "SQLite.*the right one leads on",
  },
  "personal-answer-may-be-kept": {
    file: "redirect/serve.ts",
    from: 'headers: { Location: url, "Cache-Control": personalCaching }',
    to: "headers: { Location: url }",
    tests: ["test/e2e/rules.test.ts"],
    only: "SQLite.*a visitor goes where the first rule",
  },
  "guesser-still-learns": {
    file: "redirect/serve.ts",
    from: "if (wait !== undefined && cache.peek(key)?.value === undefined) return refuse(request, wait);",
    to: "",
    tests: ["test/e2e/limits.test.ts"],
    only: "SQLite.*guesses are free up to the limit",
  },
  "country-header-of-anyone": {
    file: "redirect/countries.ts",
    from: "header !== undefined && isFromProxy(request) ?",
    to: "header !== undefined ?",
    tests: ["src/redirect/countries.test.ts"],
  },
  "hours-end-a-minute-late": {
    file: "redirect/hours.ts",
    from: "return minute >= fromMinute && minute < untilMinute && begins(hours, today);",
    to: "return minute >= fromMinute && minute <= untilMinute && begins(hours, today);",
    tests: ["src/redirect/hours.test.ts"],
  },
  "night-belongs-to-the-next-day": {
    file: "redirect/hours.ts",
    from: "begins(hours, today - 1)",
    to: "begins(hours, today)",
    tests: ["src/redirect/hours.test.ts"],
  },
  "last-weight-never-chosen": {
    file: "redirect/match-rules.ts",
    from: "if (left < weight) return place;",
    to: "if (left <= weight) return place;",
    tests: ["src/redirect/match-rules.test.ts"],
  },
  "weight-zero-wins": {
    file: "redirect/language.ts",
    from: "if (weight > most && tagPattern.test(tag)) {",
    to: "if (weight >= most && tagPattern.test(tag)) {",
    tests: ["src/redirect/language.test.ts"],
  },
  "field-of-a-newer-version-ignored": {
    file: "redirect/cache-format.ts",
    from: 'if (unknown !== undefined) throw new Error("a link with more than this version knows of");',
    to: "",
    tests: ["src/redirect/cache-format.test.ts"],
  },
  "damaged-row-fails-its-query": {
    file: "redirect/link-source.ts",
    from: "if (keys.length === 1 || isUnavailable(error)) throw error;",
    to: "if (keys.length > 0 || isUnavailable(error)) throw error;",
    tests: ["test/conformance/round-trips.test.ts"],
    only: "SQLite.*damaged fails alone",
  },
};
