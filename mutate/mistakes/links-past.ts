import type { Mistakes } from "../mistake.ts";

const past = ["test/conformance/link-past.test.ts"];
const trash = ["test/conformance/trash.test.ts"];
const rows = ["test/conformance/history.test.ts"];

/** Of undo and the trash. */
export const linksPast: Mistakes = {
  "password-in-history": {
    file: "links/past/changed-fields.ts",
    from: 'after: { ...change?.after, password: after.password ? "set" : "removed" },',
    to: "after: { ...change?.after, password: after.password },",
    tests: rows,
    only: "never contains a password",
  },
  "undo-one-version-too-far": {
    file: "links/past/link-history.ts",
    from: "if (raised === null || raised <= version) return fields;",
    to: "if (raised === null || raised < version) return fields;",
    tests: past,
    only: "gives every field the value",
  },
  "undo-to-unknown-versions": {
    file: "links/past/link-history.ts",
    from: "return version < oldest - 1 ? undefined : fields;",
    to: "return fields;",
    tests: past,
    only: "refuses versions",
  },
  "undo-without-rules": {
    file: "links/links.ts",
    from: "const edit = () => check(tenant, fields, given);",
    to: "const edit = () => fields;",
    tests: past,
    only: "goes by the rules of an edit",
  },
  "restore-of-blocked": {
    file: "links/links.ts",
    from: 'new Set(["url", "fallbackUrl", "rules", "split"]);',
    to: "new Set();",
    tests: trash,
    only: "checks the destinations",
  },
  "trash-frees-codes": {
    file: "links/store.ts",
    from: 'change(tenant, id, expected, at, "live", async (trx, link, version) => {\n        await moveToTrash',
    to: 'change(tenant, id, expected, at, "deleted", async (trx, link, version) => {\n        await moveToTrash',
    tests: trash,
    only: "keeps its code",
  },
  "erased-codes-stay-taken": {
    file: "links/trash/trash-store.ts",
    from: 'state: "deleted" }, at);',
    to: 'state: "live" }, at);',
    tests: trash,
    only: "frees the code for its owner",
  },
  "restored-without-its-domain": {
    file: "links/trash/trash-store.ts",
    from: 'if (!hasDomain) return { kind: "no_domain", domain };',
    to: "",
    tests: trash,
    only: "checks that the domain",
  },
};
