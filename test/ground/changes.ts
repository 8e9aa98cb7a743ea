import type { Change, LinkVersion } from "../../src/cache/feed.ts";

export const linkChange = (code: string, version = 1, domain = ""): LinkVersion => ({
  kind: "link",
  domain,
  code,
  version,
});

/** What a change is of: the code of a link, or the key of anything else. */
export const nameOf = (change: Change): string => (change.kind === "link" ? change.code : change.key);
