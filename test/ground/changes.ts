import type { Change, LinkVersion } from "../../src/cache/feed.ts";

export const linkChange = (code: string, version = 1, domain = ""): LinkVersion => ({
  kind: "link",
  domain,
  code,
  version,
});

/** Each link that a change is of, or the key of anything else. */
export const namesOf = (change: Change): string[] => nameOf(change).split(" ");

/** What a change is of: the code of a link, those of many, or the key of anything else. */
export function nameOf(change: Change): string {
  if (change.kind === "link") return change.code;
  return change.kind === "links" ? change.codes : change.key;
}
