import type { Mistakes } from "../mistake.ts";

const meters = ["src/limits/meters.test.ts"];
const counters = ["test/conformance/counters.test.ts"];
const model = ["test/model/counters.test.ts"];

export const limits: Mistakes = {
  "lease-when-nothing-remains": {
    file: "limits/lease-size.ts",
    from: "if (remaining <= 0) return 0;",
    to: "if (remaining < 0) return 0;",
    tests: meters,
  },
  "lease-spent-one-beyond": {
    file: "limits/meters.ts",
    from: "if (lane.left > 0 && now < lane.validUntil) return true;",
    to: "if (lane.left >= 0 && now < lane.validUntil) return true;",
    tests: meters,
  },
  "lease-valid-from-its-answer": {
    file: "limits/meters.ts",
    from: "validUntil: asked + validForMs }",
    to: "validUntil: clock.elapsed() + validForMs }",
    tests: meters,
  },
  "denial-counts-from-its-answer": {
    file: "limits/meters.ts",
    from: "lane.deniedUntil = asked + denyMs;",
    to: "lane.deniedUntil = clock.elapsed() + denyMs;",
    tests: meters,
  },
  "returned-units-are-not-owed": {
    file: "limits/meters.ts",
    from: "lane.unrecorded += unspent;\n    lane.left = 0;",
    to: "lane.left = 0;",
    tests: meters,
  },
  "acknowledged-units-stay-owed": {
    file: "limits/meters.ts",
    from: "lane.unrecorded -= units + unspent;",
    to: "lane.unrecorded -= units;",
    tests: meters,
  },
  "open-while-used-up": {
    file: "limits/meters.ts",
    from: "return isDenied(lane, clock.elapsed()) ? lane.denial : count(meter.key, lane, reason);",
    to: "return count(meter.key, lane, reason);",
    tests: meters,
  },
  "open-when-closed": {
    file: "limits/meters.ts",
    from: "if (settings.open) return isDenied",
    to: "if (settings.open !== undefined) return isDenied",
    tests: meters,
  },
  "unsure-ask-replaced": {
    file: "limits/degrade.ts",
    from: "const asked = unsureInSecond.get(limit) ?? ask;",
    to: "const asked = ask;",
    tests: ["src/limits/degrade.test.ts"],
  },
  "unsure-ask-never-taken-back": {
    file: "limits/degrade.ts",
    from: "    takeBack(first, unsureInFirst, limit);\n",
    to: "",
    tests: ["src/limits/degrade.test.ts"],
  },
  "two-limits-of-a-link-are-one": {
    file: "limits/degrade.ts",
    from: "const limit = `${ask.draws} ${ask.key}`;",
    to: "const limit = ask.key;",
    tests: ["src/limits/degrade.test.ts"],
  },
  "calls-not-recorded-for-an-outage": {
    file: "limits/call-limiter.ts",
    from: 'if (answer.kind === "granted" && own !== counters) void own.take(id, charges.map(unlimited));',
    to: "",
    tests: ["src/limits/call-limiter.test.ts"],
  },
  "calls-of-all-tenants-together": {
    file: "limits/call-limiter.ts",
    from: "const counted = `tenant:{${tenant.id}}:api`;",
    to: 'const counted = "tenant:{all}:api";',
    tests: ["src/limits/call-limiter.test.ts"],
  },
  "unlimited-calls-need-the-counters": {
    file: "limits/call-limiter.ts",
    from: ".filter(({ max }) => max !== null);",
    to: ";",
    tests: ["src/limits/call-limiter.test.ts"],
  },
  "guesses-wait-milliseconds": {
    file: "limits/guesses.ts",
    from: "return Math.ceil(leftMs / 1_000);",
    to: "return Math.ceil(leftMs);",
    tests: ["src/limits/guesses.test.ts"],
  },
  "name-of-an-address-lasts": {
    file: "limits/address-limiter.ts",
    from: "secretFor(`${purpose} ${date}`)",
    to: "secretFor(purpose)",
    tests: ["src/limits/guesses.test.ts"],
  },
  "retry-at-once": {
    file: "limits/address-limiter.ts",
    from: "Math.max(1, Math.ceil(ms / 1_000))",
    to: "Math.floor(ms / 1_000)",
    tests: ["src/limits/report-limit.test.ts"],
  },
  "every-ipv6-address-is-a-network": {
    file: "limits/network.ts",
    from: ".slice(0, 4)",
    to: ".slice(0, 8)",
    tests: ["src/limits/network.test.ts"],
  },
  "right-password-not-refunded": {
    file: "limits/password-attempts.ts",
    from: "right: () => Promise.all([undo(), remember(link, entered)])",
    to: "right: () => Promise.all([remember(link, entered)])",
    tests: ["src/limits/password-attempts.test.ts"],
  },
  "stranger-passes-used-up-attempts": {
    file: "limits/password-attempts.ts",
    from: "if (isUsedUp && (await isKnown(entered)))",
    to: "if (isUsedUp)",
    tests: ["src/limits/password-attempts.test.ts"],
  },
  "unknown-addresses-get-the-small-limit": {
    file: "limits/report-limit.ts",
    from: "known === undefined ? unknownPerHour : reportsPerHour",
    to: "known === undefined ? reportsPerHour : unknownPerHour",
    tests: ["src/limits/report-limit.test.ts"],
  },
  "held-units-not-shown": {
    file: "limits/forecast.ts",
    from: "(used + held) / max",
    to: "used / max",
    tests: ["src/limits/forecast.test.ts"],
  },
  "window-one-bucket-short": {
    file: "limits/window.ts",
    from: "return (bucket + window.buckets + 1) * window.bucketMs;",
    to: "return (bucket + window.buckets) * window.bucketMs;",
    tests: model,
    only: "in process|sliding hour",
  },
  "fits-only-below-the-limit": {
    file: "limits/window.ts",
    from: "if (left + amount <= max) return",
    to: "if (left + amount < max) return",
    tests: model,
    only: "sliding hour",
  },
  "month-of-the-local-time-zone": {
    file: "limits/window.ts",
    from: "[date.getUTCFullYear(), date.getUTCMonth()]",
    to: "[date.getFullYear(), date.getMonth()]",
    tests: ["src/limits/meters.test.ts"],
  },
  "month-stays-when-the-clock-is-set-back": {
    file: "limits/window.ts",
    from: "if (now < from || now >= until)",
    to: "if (now >= until)",
    tests: meters,
  },
  "id-forgotten-with-its-charge": {
    file: "limits/counters.ts",
    from: "Math.min(Math.max(until, now + rememberLeastMs), now + rememberMostMs)",
    to: "Math.min(until, now + rememberMostMs)",
    tests: counters,
    only: "in process an id is remembered",
  },
  "charges-may-be-negative": {
    file: "limits/counters.ts",
    from: "Number.isSafeInteger(value) && value > 0;",
    to: "Number.isSafeInteger(value);",
    tests: counters,
    only: "in process.*an amount of",
  },
  "recovered-too-soon": {
    file: "limits/lease-monitor.ts",
    from: "if (worse < 0 && now - seenAt < calmMs) return;",
    to: "",
    tests: ["src/limits/lease-monitor.test.ts"],
  },
  "patience-not-deducted": {
    file: "limits/refill.ts",
    from: "Math.max(0, patience[waitedFor] - (clock.elapsed() - started))",
    to: "patience[waitedFor]",
    tests: ["src/limits/refill.test.ts", "src/limits/meters.test.ts"],
  },
  "strangers-lock-the-owner-out": {
    file: "limits/account-attempts.ts",
    from: "return isUsedUp && (await isEntered(entered)) ? await limiter.take(account, pair) : taken;",
    to: "return taken;",
    tests: ["src/limits/account-attempts.test.ts"],
  },
  "denied-try-counts-for-the-network": {
    file: "limits/account-attempts.ts",
    from: 'if (here.kind !== "granted") await everywhere.undo();',
    to: "",
    tests: ["src/limits/account-attempts.test.ts"],
  },
};
