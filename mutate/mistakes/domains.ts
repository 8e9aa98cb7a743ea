import type { Mistakes } from "../mistake.ts";

const store = ["test/conformance/domains.test.ts"];

export const domains: Mistakes = {
  "default-domain-without-a-version": {
    file: "domains/store.ts",
    from: "changed.is_default === row.is_default ? [] : [await raisedTenant(trx, tenant)]",
    to: "[]",
    tests: ["test/conformance/known-tenants.test.ts"],
    only: "a default domain has",
  },
  "unproven-domain-verified": {
    file: "domains/domains.ts",
    from: "if (!(await outgoing.run(tenant, () => evidence.shows(host, tokenText(token))))) {",
    to: "if ((await outgoing.run(tenant, () => evidence.shows(host, tokenText(token)))) === undefined) {",
    tests: store,
  },
  "removed-with-its-links": {
    file: "domains/store.ts",
    from: "if (Number(links) > 0) return { links: Number(links) };",
    to: "",
    tests: store,
  },
  "one-domain-too-many": {
    file: "domains/store.ts",
    from: '>= most) return "full";',
    to: '> most) return "full";',
    tests: store,
    only: "beyond the cap",
  },
  "two-defaults": {
    file: "domains/store.ts",
    from: 'await own.updateTable("domains").set({ is_default: 0 }).execute();',
    to: "",
    tests: store,
    only: "one domain is the default",
  },
  "unverified-default": {
    file: "domains/domains.ts",
    from: 'if (fields.isDefault === true && domain.state !== "verified") {',
    to: "if (false) {",
    tests: store,
    only: "one domain is the default",
  },
  "suspended-targets-used": {
    file: "domains/store.ts",
    from: "root_url: !stopped && row.root_blocked === 0 ? row.root_url : null,",
    to: "root_url: row.root_blocked === 0 ? row.root_url : null,",
    tests: ["test/conformance/suspensions.test.ts"],
  },
  "domain-change-not-raised": {
    file: "domains/store.ts",
    from: 'const changes = row.state === "verified" ? await raise(trx, host, at, ...more) : [];',
    to: "const changes: Change[] = [];",
    tests: store,
  },
  "page-of-domains-repeats": {
    file: "domains/store.ts",
    from: 'is.and([is("created_at", "=", createdAt), is("host", ">", host)])',
    to: 'is.and([is("created_at", "=", createdAt), is("host", ">=", host)])',
    tests: store,
    only: "in pages",
  },
  "token-anywhere-on-the-page": {
    file: "domains/verify.ts",
    from: "?.trim() === text;",
    to: "?.includes(text) ?? false;",
    tests: ["src/domains/verify.test.ts"],
  },
  "tenant-takes-the-servers-name": {
    file: "domains/hosts.ts",
    from: "  if (own.names.has(name)) return namedOwn;\n  const custom = domains.get(name);\n  if (custom !== undefined) return custom;",
    to: "  const custom = domains.get(name);\n  if (custom !== undefined) return custom;\n  if (own.names.has(name)) return namedOwn;",
    tests: ["src/domains/hosts.test.ts"],
  },
  "foreign-host-is-ours": {
    file: "domains/hosts.ts",
    from: "return own.onlyThese && !isNameless(name) ? foreign : otherOwn;",
    to: "return otherOwn;",
    tests: ["src/domains/hosts.test.ts"],
  },
  "removed-domain-still-served": {
    file: "domains/hosts.ts",
    from: "    else domains.delete(host);\n    answers.clear();",
    to: "    else domains.delete(host);",
    tests: ["src/domains/hosts.test.ts"],
  },
  "domain-removed-with-trash": {
    file: "domains/store.ts",
    from: 'if (await trashed.limit(1).executeTakeFirst()) return "trash";',
    to: "",
    tests: ["test/conformance/trash.test.ts"],
    only: "goes through a domain's trash",
  },
};
