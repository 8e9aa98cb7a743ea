import type { Mistakes } from "../mistake.ts";

const past = ["test/conformance/link-past.test.ts"];
const rows = ["test/conformance/history.test.ts"];

export const history: Mistakes = {
  "unchanged-fields-recorded": {
    file: "history/history.ts",
    from: ".filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))",
    to: "",
    tests: rows,
    only: "only the fields that changed",
  },
  "request-counts-start-over": {
    file: "history/requests.ts",
    from: "sums[name] = (sums[name] ?? 0) + count;",
    to: "sums[name] = count;",
    tests: rows,
    only: "has one row for a request",
  },
  "history-of-living-links-purged": {
    file: "history/purge.ts",
    from: 'subject_kind === "link" ? kept.has(subject_id) :',
    to: 'subject_kind === "link" ? false :',
    tests: past,
    only: "is deleted, except",
  },
  "trash-forgotten-in-purge": {
    file: "history/purge.ts",
    from: "return new Set([...live, ...trashed].map(({ id }) => id));",
    to: "return new Set([...live, ...trashed.slice(0, 0)].map(({ id }) => id));",
    tests: past,
    only: "is deleted, except",
  },
  "log-forgets-the-actor": {
    file: "history/log.ts",
    from: 'if (actor !== undefined) some = some.where("actor_id", "=", actor);',
    to: "",
    tests: past,
    only: "is filtered by who",
  },
};
