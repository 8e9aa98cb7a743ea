import type { Mistakes } from "../mistake.ts";

const verdict = ["src/link-health/verdict.test.ts"];
const health = ["test/conformance/link-health.test.ts"];

export const linkHealth: Mistakes = {
  "dead-one-failure-early": {
    file: "link-health/verdict.ts",
    from: "failures >= deadAfter",
    to: "failures >= deadAfter - 1",
    tests: verdict,
  },
  "forbidden-counts-as-dead": {
    file: "link-health/verdict.ts",
    from: "(status >= 400 && status < 500 && status !== 404 && status !== 410)",
    to: "status === 429",
    tests: verdict,
  },
  "back-off-without-bound": {
    file: "link-health/verdict.ts",
    from: "Math.min(weekMs, hourMs * 2 ** (failures - 1))",
    to: "hourMs * 2 ** (failures - 1)",
    tests: verdict,
  },
  "title-of-the-owner-replaced": {
    file: "link-health/check-round.ts",
    from: "if (target.wantsTitle && target.title === null && ",
    to: "if (target.wantsTitle && ",
    tests: health,
  },
  "host-asked-without-bound": {
    file: "link-health/check-round.ts",
    from: "else if (asked.length >= perHost) await store.putOff",
    to: "else if (asked.length >= perTenant) await store.putOff",
    tests: health,
  },
  "expired-link-checked": {
    file: "link-health/check-round.ts",
    from: "active && (expiresAt === null || expiresAt > now)",
    to: "active",
    tests: health,
  },
  "verdict-of-an-earlier-url": {
    file: "link-health/store.ts",
    from: 'failures: row.url_hash === targetHash(row.url ?? "") ? row.failures : 0,',
    to: "failures: row.failures,",
    tests: health,
  },
  "new-links-missed": {
    file: "link-health/store.ts",
    from: 'idAt("link", now - graceMs)',
    to: 'idAt("link", now + graceMs)',
    tests: health,
  },
};
