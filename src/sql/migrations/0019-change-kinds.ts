import type { Types } from "../migrate.ts";

/**
 * A change has a kind. So far every change was a link's, and a domain's was that of a link without a code: its versions
 * move to a table for everything that is not a link.
 */
export const changeKinds = (t: Types): string[] => [
  `alter table changes add column kind ${t.key} not null default 'link'`,
  "update changes set kind = 'domain' where code = ''",
  `create table versions (
    kind ${t.key} not null,
    key ${t.key} not null,
    version ${t.integer} not null,
    primary key (kind, key)
  ) ${t.clusteredTable}`,
  "insert into versions (kind, key, version) select 'domain', domain, version from link_versions where code = ''",
  "delete from link_versions where code = ''",
];
