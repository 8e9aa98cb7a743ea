import { createHash } from "node:crypto";
import { invalid, Problem } from "../../base/errors.ts";
import type { LinkId, TenantId } from "../../base/ids.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import type { Link, LinkFields } from "../link.ts";
import type { Links } from "../links.ts";
import type { LinkQuery } from "../read/find.ts";
import { showReplaced, type TextReplacement } from "./step.ts";

/** Finding and replacing text in destinations: what would change, before anything does. */
export interface ReplacementPlan {
  /** Oldest last, as they were found. */
  readonly links: readonly PlannedLink[];
  /** The same for the same links at the same versions: what is applied must be what was shown. */
  readonly digest: string;
}

export interface PlannedLink {
  readonly link: Link;
  readonly changes: readonly DestinationChange[];
  /** Why the link cannot have the new destinations; it stays as it is. */
  readonly problem: Problem | null;
}

export interface DestinationChange {
  /** `url`, `rules.0.url` */
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

export interface ReplacementParts {
  readonly links: Pick<Links, "tryChange">;
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
}

/** One request writes to no more links. */
export const replacedMost = 5_000;
const pageLinks = 500;

export async function planReplacement(
  { links, find }: ReplacementParts,
  tenant: Tenant,
  text: TextReplacement,
  filter: Omit<LinkQuery, "limit">,
): Promise<ReplacementPlan> {
  const planned: PlannedLink[] = [];
  let last: LinkId | undefined;
  do {
    const after = last && { value: last, id: last };
    const page = await find(tenant.id, { ...filter, destination: text.find, limit: pageLinks, after });
    planned.push(...page.flatMap((link) => planOne(links, tenant, link, text)));
    if (planned.length > replacedMost) {
      throw invalid("find", "too_many", `More than ${replacedMost} links match. Narrow them down with filter.`);
    }
    last = page.length < pageLinks ? undefined : page.at(-1)?.id;
  } while (last !== undefined);
  const changing = planned.filter(({ problem }) => problem === null);
  const names = changing.map(({ link }) => `${link.id} ${link.version}`);
  return { links: planned, digest: createHash("sha256").update(names.join("\n")).digest("base64url") };
}

/** Nothing if only text around its destinations matched, such as the JSON of a rule. */
function planOne(
  links: Pick<Links, "tryChange">,
  tenant: Tenant,
  link: Link,
  destinations: TextReplacement,
): PlannedLink[] {
  const changes = differences(link, { ...link, ...showReplaced(link, destinations) });
  if (changes.length === 0) return [];
  try {
    // As they will be stored, which may be spelled differently.
    const checked = links.tryChange(tenant, link, { destinations });
    return [{ link, changes: differences(link, checked), problem: null }];
  } catch (error) {
    if (error instanceof Problem) return [{ link, changes, problem: error }];
    throw error;
  }
}

function differences(before: LinkFields, after: LinkFields): DestinationChange[] {
  const [old, current] = [destinationsOf(before), destinationsOf(after)];
  return [...old].flatMap(([field, text]) => {
    const now = current.get(field) ?? "";
    return now === text ? [] : [{ field, before: text, after: now }];
  });
}

function destinationsOf({ url, fallbackUrl, rules, split }: LinkFields): Map<string, string> {
  return new Map([
    ["url", url],
    ["fallbackUrl", fallbackUrl ?? ""],
    ...rules.map((rule, i) => [`rules.${i}.url`, rule.url] as const),
    ...split.map((target, i) => [`split.${i}.url`, target.url] as const),
  ]);
}
