import type { Types } from "../migrate.ts";

/** Whose address a row of the history has, so that it can be taken out when their account is deleted. */
export const historyMailboxes = (t: Types): string[] => [
  `alter table history add column mailbox ${t.key}`,
  `update history set mailbox = lower(coalesce(${t.jsonText("after_change", "email")}, ${t.jsonText("before_change", "email")}))
    where subject_kind = 'invitation'`,
  "create index history_by_mailbox on history (mailbox) where mailbox is not null",
];
