import type { Mistakes } from "../mistake.ts";

const store = ["test/conformance/links.test.ts"];
const month = ["test/conformance/links-per-month.test.ts"];
const isolation = ["test/conformance/isolation.test.ts"];

const together = ["test/conformance/creates-together.test.ts"];

const appended = ["test/conformance/appended-links.test.ts"];

export const links: Mistakes = {
  "links-get-what-the-first-one-has": {
    file: "links/create/new-row.ts",
    from: "of(link, tenant, undefined) === shared[place];",
    to: "of(link, tenant, undefined) === shared[place] || true;",
    tests: appended,
    only: "with their own",
  },
  "a-used-code-fails-the-batch": {
    file: "links/create/new-links.ts",
    from: "          if (!isUniqueViolation(error)) throw error;\n        }",
    to: "          throw error;\n        }",
    tests: appended,
    only: "the others are written all the same",
  },
  "unfit-links-are-appended": {
    file: "links/create/new-links.ts",
    from: "shared === undefined || fit.length < links.length) return",
    to: "shared === undefined) return",
    tests: appended,
    only: "that is not theirs",
  },
  "older-version-accepted": {
    file: "links/store.ts",
    from: "if (expected !== undefined && expected !== link.version) return",
    to: "if (expected !== undefined && expected > link.version) return",
    tests: store,
    only: "a change",
  },
  "disabled-link-answers": {
    file: "links/store.ts",
    from: ' || fileGone || row.status !== "active") return',
    to: " || fileGone) return",
    tests: store,
    only: "a redirect's target",
  },
  "file-of-another-tenant-served": {
    file: "links/store.ts",
    from: '.onRef("f.tenant_id", "=", "l.tenant_id")',
    to: "",
    tests: isolation,
    only: "serve no file of theirs",
  },
  "purge-of-what-expires-soon": {
    file: "links/store.ts",
    from: '.where("links.expires_at", "<", expiredBefore)',
    to: '.where("links.expires_at", ">", expiredBefore)',
    tests: store,
    only: "purging",
  },
  "suspension-inherited-with-a-code": {
    file: "links/store.ts",
    from: '          await trx\n            .deleteFrom("suspended_links")\n            .where("domain", "=", link.domain)\n            .where("code", "=", link.code)\n            .execute();\n',
    to: "",
    tests: ["test/conformance/suspensions.test.ts"],
  },
  "own-limit-beyond-the-plan": {
    file: "links/link.ts",
    from: "(own ?? allowed) : Math.min(own, allowed);",
    to: "(own ?? allowed) : own;",
    tests: ["src/redirect/serve.test.ts"],
    only: "its limit is that of the tenant",
  },
  "own-limit-above-the-plan-accepted": {
    file: "links/links.ts",
    from: "most !== null && fields.hitsPerMonth > most) {",
    to: "most !== null && fields.hitsPerMonth > most + 1) {",
    tests: store,
    only: "that breaks a rule|a new link",
  },
  "expiry-in-the-past-accepted": {
    file: "links/links.ts",
    from: "fields.expiresAt !== null && fields.expiresAt <= clock.now()) {",
    to: "fields.expiresAt !== null && fields.expiresAt < 0) {",
    tests: store,
    only: "that breaks a rule",
  },
  "default-expiry-in-hours": {
    file: "links/links.ts",
    from: "clock.now() + defaultDays * dayMs",
    to: "clock.now() + (defaultDays * dayMs) / 24",
    tests: store,
    only: "has a generated code, the defaults",
  },
  "change-not-published": {
    file: "links/links.ts",
    from: "    publish(changeOf(outcome.link));\n    return outcome.link;",
    to: "    return outcome.link;",
    tests: store,
  },
  "page-repeats-its-last-item": {
    file: "links/store.ts",
    from: 'query = query.where("links.id", "<", before);',
    to: 'query = query.where("links.id", "<=", before);',
    tests: store,
    only: "a list",
  },
  "equal-values-skipped-between-pages": {
    file: "links/read/find.ts",
    from: "or (${column} = ${value} and links.id ${further} ${id}))`",
    to: "or (${column} = ${value} and ${id} = ''))`",
    tests: store,
    only: "in an order in which all are equal",
  },
  "percent-matches-anything": {
    file: "links/read/find.ts",
    from: "text.replace(/[\\\\%_]/g, (character) => `\\\\${character}`)",
    to: "text",
    tests: ["test/e2e/search.test.ts"],
    only: "SQLite a search finds its words",
  },
  "link-back-to-this-server": {
    file: "links/destination.ts",
    from: 'if (ownHosts.has(url.host.replace(/\\.(?=:|$)/, ""))) {',
    to: "if (ownHosts.has(url.host)) {",
    tests: ["src/links/destination.test.ts"],
  },
  "destination-with-a-password": {
    file: "links/destination.ts",
    from: 'if (url.username !== "" || url.password !== "") {',
    to: 'if (url.username !== "" && url.password !== "") {',
    tests: ["src/links/destination.test.ts"],
  },
  "encoded-destination-too-long": {
    file: "links/destination.ts",
    from: "if (url.href.length > destinationMost) throw tooLong(field);",
    to: "",
    tests: ["src/links/destination.test.ts"],
  },
  "plain-title-unchecked": {
    file: "links/plain-link.ts",
    from: "!isReadableLine(title, linkTitleMost)",
    to: "title.length > linkTitleMost",
    tests: ["src/links/plain-link.test.ts"],
  },
  "plain-tags-twice": {
    file: "links/plain-link.ts",
    from: " && value.indexOf(tag) === place",
    to: "",
    tests: ["src/links/plain-link.test.ts"],
  },
  "seldom-column-left-out": {
    file: "links/create/new-links.ts",
    from: "links.every(hasPlainRow) ? plainInsert",
    to: "links.some(hasPlainRow) ? plainInsert",
    tests: store,
    only: "keep what is seldom",
  },
  "month-of-links-one-too-many": {
    file: "links/create/new-links.ts",
    from: "if (room < 0) throw new Overspent(",
    to: "if (room < -1) throw new Overspent(",
    tests: month,
  },
  "all-or-nothing-without-its-limit": {
    file: "links/create/new-links.ts",
    from: 'if (room < 0) throw new NotAll({ kind: "spent" });',
    to: "",
    tests: ["test/e2e/bulk.test.ts"],
    only: "SQLite.*more than the month has left",
  },
  "link-to-a-file-that-is-not-stored": {
    file: "links/rows.ts",
    from: '    .where("state", "=", "stored")\n    .orderBy("id");',
    to: '    .orderBy("id");',
    tests: isolation,
    only: "makes no link on a domain that is only claimed",
  },
  "link-on-an-unverified-domain": {
    file: "links/create/new-links.ts",
    from: '        .where("state", "=", "verified")\n',
    to: "",
    tests: isolation,
    only: "makes no link on a domain that is only claimed",
  },
  "creates-without-a-shared-commit": {
    file: "links/create/new-links.ts",
    from: '    ...(sql.dialect === "sqlite" && { turn: () => nextTurn() }),\n',
    to: "",
    tests: together,
    only: "SQLite share a transaction",
  },
  "one-bad-create-fails-all-beside-it": {
    file: "links/create/gather.ts",
    from: "if (batch.length === 1 || failsForAll(error)) {",
    to: "if (batch.length > 0) {",
    tests: together,
    only: "SQLite fail alone",
  },
  "links-gathered-for-another-tenant": {
    file: "links/create/new-links.ts",
    from: "const keyOf = ({ tenant, month, most }: Spender): string => `${tenant} ${month} ${most}`;",
    to: "const keyOf = ({ month, most }: Spender): string => `${month} ${most}`;",
    tests: month,
    only: "each tenant's own",
  },
  "parameter-added-twice": {
    file: "links/routing/utm.ts",
    from: "if (!own.has(name)) more.append(name, value);",
    to: "more.append(name, value);",
    tests: ["src/redirect/forward-query.test.ts"],
  },
};
