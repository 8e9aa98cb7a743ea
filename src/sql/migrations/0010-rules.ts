import type { Types } from "../migrate.ts";

/** Routing rules of a link. Null for most links. */
export const rules = (t: Types): string[] => [
  `alter table links add column rules ${t.text}`,
  `alter table links add column split ${t.text}`,
  `alter table links add column utm ${t.text}`,
  `alter table links add column forward_query ${t.integer} not null default 0 check (forward_query in (0, 1))`,
];
