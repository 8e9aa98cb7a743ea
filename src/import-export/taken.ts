import type { Problem } from "../base/errors.ts";
import type { FileId, TenantId } from "../base/ids.ts";
import type { NewLink, Written } from "../links/create/new-links.ts";
import { refusal } from "../links/create/refusals.ts";
import { cacheKey, type LinkKey, ownDomain } from "../links/link.ts";
import type { LinkInput } from "../links/links.ts";
import type { LinkStore } from "../links/store.ts";
import { type Db, ofTenant } from "../sql/tenant-db.ts";

/** What is in the way of rows that are fit to be links: told by what became of them, or foreseen before anything is. */
export interface Wanted extends Destined {
  readonly line: number;
  readonly input: LinkInput;
  readonly domain: string;
  /** Nothing in a dry run: a code that is drawn is spent. */
  readonly link: NewLink | undefined;
}

/** Where it will lead. */
interface Destined {
  readonly url: string;
  readonly file: FileId | null;
}

export interface Refusal {
  readonly line: number;
  readonly problem: string;
}

export function sentenceOf({ detail, more }: Problem): string {
  const [first] = more.errors ?? [];
  return first ? `${first.field}: ${first.message}` : detail;
}

/** What would become of each of them now. */
export async function foresee(
  wanted: readonly Wanted[],
  tenant: TenantId,
  store: Pick<LinkStore, "unfit">,
  db: Db,
): Promise<Kind[]> {
  const chosen = wanted.filter(({ input }) => input.code !== undefined);
  const rows = await of(chosen, (domains, codes) =>
    db
      .selectFrom("link_versions")
      .select(["domain", "code", "state", "tenant_id"])
      .where("domain", "in", domains)
      .where("code", "in", codes)
      .execute(),
  );
  // A domain of a tenant's own has passed on with all its codes, if it has.
  const kept = rows.filter(({ state, tenant_id: owner, domain }) => {
    return state === "live" || (state === "deleted" && owner !== tenant && domain === ownDomain);
  });
  const closed = new Set(kept.map(({ domain, code }) => cacheKey(domain, code)));
  const unfit = await store.unfit(tenant, wanted);
  return wanted.map((one, place): Kind => {
    const taken = one.input.code !== undefined && closed.has(keyOf(one));
    return unfit[place] ?? (taken ? "taken" : "written");
  });
}

export type Kind = Written["kind"];

const keyOf = ({ domain, input }: Wanted): LinkKey => cacheKey(domain, input.code ?? "");

/** What there is under the names of these, and perhaps under others: all their domains with all their codes. */
async function of<Found>(
  wanted: readonly Wanted[],
  find: (domains: readonly string[], codes: readonly string[]) => Promise<Found[]>,
): Promise<Found[]> {
  if (wanted.length === 0) return [];
  return find(
    [...new Set(wanted.map(({ domain }) => domain))],
    [...new Set(wanted.map((one) => one.input.code ?? ""))],
  );
}

/** Of links that were not written: how many are there already, and what is in the way of the others. */
export interface Sorted {
  readonly present: number;
  readonly refusals: readonly Refusal[];
}

export async function sort(
  wanted: readonly Wanted[],
  kinds: readonly Kind[],
  tenant: TenantId,
  db: Db,
): Promise<Sorted> {
  const taken = wanted.filter((_, place) => kinds[place] === "taken");
  const rows = await of(taken, (domains, codes) =>
    ofTenant(db, tenant)
      .selectFrom("links")
      .select(["domain", "code", "url", "file_id as file"])
      .where("domain", "in", domains)
      .where("code", "in", codes)
      .execute(),
  );
  const ours = new Map(rows.map((row) => [cacheKey(row.domain, row.code), row]));
  const refusals = wanted.flatMap((one, place): Refusal[] => {
    const problem = inTheWay(one, kinds[place], ours.get(keyOf(one)));
    return problem === undefined ? [] : [{ line: one.line, problem }];
  });
  const left = kinds.filter((kind) => kind !== "written").length;
  return { present: left - refusals.length, refusals };
}

/** Nothing if it was written, or is there already. */
function inTheWay(wanted: Wanted, kind: Kind | undefined, theirs: Destined | undefined): string | undefined {
  const { domain, url, file, input } = wanted;
  const { code = "" } = input;
  if (kind === "no_domain" || kind === "no_file") {
    return sentenceOf(refusal(kind, { domain, code, generated: false }));
  }
  if (kind !== "taken" || (theirs?.url === url && theirs.file === file)) return undefined;
  const why =
    theirs === undefined ? "another link has it, or had it" : "your link with this code has another destination";
  return `code: "${code}" is taken: ${why}.`;
}
