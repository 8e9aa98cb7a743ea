import type { Mistakes } from "../mistake.ts";

const bulk = ["test/e2e/bulk-edit.test.ts"];
const replace = ["test/e2e/replace.test.ts"];

/** Of edits of many links, and of checks before a link is created. */
export const linksBulk: Mistakes = {
  "undo-of-what-others-changed": {
    file: "links/bulk/run-steps.ts",
    from: 'undo", id: link.id, version: before.version, expected: link.version };',
    to: 'undo", id: link.id, version: before.version };',
    tests: bulk,
    only: "leaves alone what somebody changed",
  },
  "move-renews-the-month": {
    file: "links/bulk/move-link.ts",
    from: "await carryHits(trx, from, to, monthName(at));",
    to: "",
    tests: bulk,
    only: "a move gives the link",
  },
  "move-of-a-suspended-link": {
    file: "links/bulk/move-link.ts",
    from: "if ((await selectSuspended.first(trx, { domain: from.domain, code: from.code })) !== undefined) {",
    to: "if (at < 0) {",
    tests: bulk,
    only: "a move gives the link",
  },
  "more-tags-than-allowed": {
    file: "links/bulk/step.ts",
    from: "tags.length > tagsMost && ",
    to: "tags.length > 1_000 && ",
    tests: bulk,
    only: "refused for its own reason",
  },
  "replacement-without-its-preview": {
    file: "links/bulk/replace-api.ts",
    from: "if (!signer.isSigned(signed(caller.tenant.id, { find, replace }, plan.digest), token)) {",
    to: "if (token === '') {",
    tests: replace,
    only: "nothing is applied",
  },
  "preview-without-versions": {
    file: "links/bulk/replace.ts",
    from: "`${link.id} ${link.version}`",
    to: "link.id",
    tests: replace,
    only: "nothing is applied",
  },
  "code-of-another-tenant-is-free": {
    file: "links/check/code-check.ts",
    from: "(domain === ownDomain && tenant_id !== tenant.id)",
    to: "(domain !== ownDomain && tenant_id !== tenant.id)",
    tests: ["test/e2e/checks.test.ts"],
    only: "a code is free until",
  },
};

export const annotationMistakes: Mistakes = {
  "annotations-of-other-links": {
    file: "annotations/annotations.ts",
    from: 'row.or([row("link_id", "=", link), row("link_id", "is", null)])',
    to: 'row.or([row("link_id", "<>", link), row("link_id", "is", null)])',
    tests: ["test/e2e/annotations.test.ts"],
    only: "listed by link and range",
  },
  "no-end-to-annotations": {
    file: "annotations/annotations.ts",
    from: "if (Number(count) >= annotationsMost) {",
    to: "if (Number(count) > annotationsMost) {",
    tests: ["test/e2e/annotations.test.ts"],
    only: "at most 2,000",
  },
};

export const brandingMistakes: Mistakes = {
  "svg-with-handlers": {
    file: "branding/logo.ts",
    from: "handler.test(text) || ",
    to: "",
    tests: ["src/branding/logo.test.ts"],
    only: "a handler",
  },
  "colour-nobody-can-read": {
    file: "branding/brand.ts",
    from: "if (contrast(mixed, ground) >= least) return",
    to: "if (contrast(mixed, ground) >= 1) return",
    tests: ["src/branding/brand.test.ts"],
  },
  "logo-of-a-suspended-workspace": {
    file: "branding/branding.ts",
    from: '.where("b.logo_hash", "=", hash)\n    .where("s.tenant_id", "is", null)',
    to: '.where("b.logo_hash", "=", hash)',
    tests: ["test/e2e/branding.test.ts"],
    only: "the logo is served",
  },
};

export const sharePageMistakes: Mistakes = {
  "expired-share-is-shown": {
    file: "share-pages/shares.ts",
    from: "(share.expiresAt !== null && share.expiresAt <= clock.now())",
    to: "(share.expiresAt !== null && share.expiresAt < 0)",
    tests: ["test/e2e/share-pages.test.ts"],
    only: "gone at once",
  },
  "share-without-its-filters": {
    file: "share-pages/figures.ts",
    from: "...{ filter: share.filters, breakdown",
    to: "...{ filter: [], breakdown",
    tests: ["test/e2e/share-pages.test.ts"],
    only: "only what their filters",
  },
  "share-of-a-suspended-workspace": {
    file: "share-pages/shares.ts",
    from: '    .where("st.tenant_id", "is", null)\n',
    to: "",
    tests: ["test/e2e/share-pages.test.ts"],
    only: "gone at once",
  },
  "cookie-of-one-share-opens-all": {
    file: "share-pages/mount.ts",
    from: "export const shareKey = (token: string): string => `s/${token}`;",
    to: "export const shareKey = (token: string): string => `s/${token.slice(0, 0)}`;",
    tests: ["test/e2e/share-pages.test.ts"],
    only: "with a password",
  },
  "share-with-a-filter-that-never-works": {
    file: "share-pages/api.ts",
    from: "await report(tenant, subject, {",
    to: "await Promise.resolve({",
    tests: ["test/e2e/share-pages.test.ts"],
    only: "SQLite.*what does not exist",
  },
  "hours-of-a-share-named-as-days": {
    file: "share-pages/page.ts",
    from: 'pointName(starts[place] ?? 0, figures, "long")',
    to: 'pointName(starts[place] ?? 0, { ...figures, interval: "day" }, "long")',
    tests: ["src/share-pages/page.test.ts"],
  },
  "no-value-taken-for-one": {
    file: "share-pages/page.ts",
    from: 'namedValue(name, ""), clicks: none, isValue: false',
    to: 'namedValue(name, ""), clicks: none, isValue: true',
    tests: ["src/share-pages/page.test.ts"],
  },
};
