import { invalid, type Problem } from "../../base/errors.ts";
import type { LinkId } from "../../base/ids.ts";
import type { LinkVersion } from "../../cache/feed.ts";
import { destinationMost, tooLong } from "../destination.ts";
import type { Link, LinkFields, LinkStatus } from "../link.ts";

/** What a request for many links does to each of them. Plain data, because it goes to another thread on SQLite. */
export type LinkStep =
  | { readonly kind: "edit"; readonly id: LinkId; readonly change: FieldChange; readonly expected?: number }
  | { readonly kind: "delete"; readonly id: LinkId; readonly expected?: number }
  | { readonly kind: "restore"; readonly id: LinkId }
  | { readonly kind: "move"; readonly id: LinkId; readonly domain: string; readonly expected?: number }
  /** Back to the fields of a version. */
  | { readonly kind: "undo"; readonly id: LinkId; readonly version: number; readonly expected?: number };

export interface FieldChange {
  readonly addTags?: readonly string[];
  readonly removeTags?: readonly string[];
  readonly renameTag?: { readonly from: string; readonly to: string };
  readonly status?: LinkStatus;
  readonly expiresAt?: number | null;
  readonly destinations?: TextReplacement;
}

/** Text that is replaced wherever a destination contains it. */
export interface TextReplacement {
  readonly find: string;
  readonly replace: string;
}

/** One for each step, in their order. */
export type StepOutcome =
  | {
      readonly kind: "changed";
      readonly link: Link;
      /** What takes it back. */
      readonly undo: LinkStep;
      /** To be published. */
      readonly changes: readonly LinkVersion[];
    }
  | { readonly kind: "unchanged"; readonly link: Link }
  | { readonly kind: "failed"; readonly problem: Problem };

const tagsMost = 20;

/** The fields after the change; the rules of an edit are checked by the caller. */
export function changeFields(fields: LinkFields, change: FieldChange): LinkFields {
  const { addTags = [], removeTags = [], renameTag, status, expiresAt, destinations } = change;
  const renamed = fields.tags.map((tag) => (tag === renameTag?.from ? renameTag.to : tag));
  const kept = renamed.filter((tag) => !removeTags.includes(tag));
  // A tag that is renamed to one that the link has already becomes one with it.
  const tags = [...new Set([...kept, ...addTags])];
  if (tags.length > tagsMost && tags.length > fields.tags.length) {
    throw invalid("tags", "too_many", `A link has at most ${tagsMost} tags.`);
  }
  return {
    ...fields,
    tags,
    ...(status !== undefined && { status }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(destinations !== undefined && replaceIn(fields, destinations)),
  };
}

/** The given fields are validated by today's rules: exactly those that differ. */
export const differingFields = (before: LinkFields, after: LinkFields): ReadonlySet<keyof LinkFields> =>
  new Set(
    (Object.keys(after) as (keyof LinkFields)[]).filter(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    ),
  );

type Destinations = Pick<LinkFields, "url" | "fallbackUrl" | "rules" | "split">;

function replaceIn(fields: LinkFields, { find, replace }: TextReplacement): Destinations {
  return mapDestinations(fields, (text, field) => {
    const parts = text.split(find);
    const length = text.length + (parts.length - 1) * (replace.length - find.length);
    // Before it is built: one letter that becomes 2,000 in every URL of every link would be gigabytes.
    if (parts.length > 1 && length > destinationMost) throw tooLong(field);
    return parts.join(replace);
  });
}

/** The same to be shown: what is too long for a destination is cut. */
export function showReplaced(fields: LinkFields, { find, replace }: TextReplacement): Destinations {
  return mapDestinations(fields, (text) => {
    const [first = "", ...parts] = text.split(find);
    let shown = first;
    for (const part of parts) {
      shown += replace + part;
      if (shown.length > destinationMost) return `${shown.slice(0, destinationMost)}…`;
    }
    return shown;
  });
}

function mapDestinations(
  { url, file, fallbackUrl, rules, split }: LinkFields,
  swap: (text: string, field: string) => string,
): Destinations {
  return {
    url: file === null ? swap(url, "url") : url,
    fallbackUrl: fallbackUrl === null ? null : swap(fallbackUrl, "fallbackUrl"),
    rules: rules.map((rule, i) => ({ ...rule, url: swap(rule.url, `rules.${i}.url`) })),
    split: split.map((target, i) => ({ ...target, url: swap(target.url, `split.${i}.url`) })),
  };
}
