import { differenceOf, type HistoryFields } from "../../history/history.ts";
import type { Link, LinkFields } from "../link.ts";

/** What the history says about a change of a link. */
export interface LinkEdit {
  readonly before?: HistoryFields;
  readonly after?: HistoryFields;
}

/** The fields that an edit changed; undefined if it changed none. Of a password, only that it was set or removed. */
export function changedFields(before: Link, after: Link, passwordGiven: boolean): LinkEdit | undefined {
  const change = differenceOf({ ...ownerFields(before) }, { ...ownerFields(after) });
  const hadOrHas = before.password || after.password;
  if (!passwordGiven || !hadOrHas) return change;
  return {
    before: { ...change?.before, password: before.password ? "set" : null },
    after: { ...change?.after, password: after.password ? "set" : "removed" },
  };
}

/** For the rows about a link that is gone. */
export const identityOf = ({ domain, code, url, file, title }: Link): HistoryFields => ({
  ...(domain !== "" && { domain }),
  code,
  ...(file === null ? { url } : { file }),
  ...(title !== null && { title }),
});

export function ownerFields(link: LinkFields): LinkFields {
  const { url, file, permanent, status, expiresAt, title, notes, tags, fallbackUrl, hitsPerMonth, clickFacts } = link;
  const { rules, split, utm, forwardQuery } = link;
  return {
    ...{ url, file, permanent, status, expiresAt, title, notes, tags, fallbackUrl, hitsPerMonth, clickFacts },
    ...{ rules, split, utm, forwardQuery },
  };
}
