import type { Problem } from "../base/errors.ts";
import type { FileId, TenantId } from "../base/ids.ts";
import type { Created, NewLink } from "../links/create/new-links.ts";
import { refusal } from "../links/create/refusals.ts";
import { cacheKey, type LinkKey, ownDomain } from "../links/link.ts";
import type { LinkInput } from "../links/links.ts";
import type { LinkStore } from "../links/store.ts";
import { type Db, ofTenant } from "../sql/tenant-db.ts";
import type { PastTotal } from "./click-history.ts";

/** Finds out why valid rows cannot become links: after an attempt to write them, or before it in a dry run. */
export interface WantedRow extends Destined {
  readonly line: number;
  readonly input: LinkInput;
  readonly domain: string;
  /** Undefined in a dry run, because generating a code uses it up. */
  readonly link: NewLink | undefined;
  /** Its clicks in another shortener. */
  readonly past: PastTotal | undefined;
}

/** The destination. */
interface Destined {
  readonly url: string;
  readonly file: FileId | null;
}

export interface RefusedRow {
  readonly line: number;
  readonly problem: string;
}

export function sentenceOf({ detail, more }: Problem): string {
  const [first] = more.errors ?? [];
  return first ? `${first.field}: ${first.message}` : detail;
}

/** The result that writing each of them would have now. */
export async function predictOutcomes(
  wanted: readonly WantedRow[],
  tenant: TenantId,
  store: Pick<LinkStore, "unfit">,
  db: Db,
): Promise<OutcomeKind[]> {
  const chosen = wanted.filter(({ input }) => input.code !== undefined);
  const rows = await of(chosen, (domains, codes) =>
    db
      .selectFrom("link_versions")
      .select(["domain", "code", "state", "tenant_id"])
      .where("domain", "in", domains)
      .where("code", "in", codes)
      .execute(),
  );
  // A custom domain passes to its next owner with all its codes.
  const kept = rows.filter(({ state, tenant_id: owner, domain }) => {
    return state === "live" || (state === "deleted" && owner !== tenant && domain === ownDomain);
  });
  const closed = new Set(kept.map(({ domain, code }) => cacheKey(domain, code)));
  const unfit = await store.unfit(tenant, wanted);
  return wanted.map((one, place): OutcomeKind => {
    const taken = one.input.code !== undefined && closed.has(keyOf(one));
    return unfit[place] ?? (taken ? "taken" : "created");
  });
}

export type OutcomeKind = Created["kind"];

const keyOf = ({ domain, input }: WantedRow): LinkKey => cacheKey(domain, input.code ?? "");

/** Finds rows by all domains and all codes of these rows. It may also find other combinations of the two. */
async function of<Found>(
  wanted: readonly WantedRow[],
  find: (domains: readonly string[], codes: readonly string[]) => Promise<Found[]>,
): Promise<Found[]> {
  if (wanted.length === 0) return [];
  return find(
    [...new Set(wanted.map(({ domain }) => domain))],
    [...new Set(wanted.map((one) => one.input.code ?? ""))],
  );
}

/** For rows that were not written: how many already exist, and why the others were refused. */
export interface SortedOutcomes {
  readonly present: number;
  readonly refusals: readonly RefusedRow[];
}

export async function sortOutcomes(
  wanted: readonly WantedRow[],
  kinds: readonly OutcomeKind[],
  tenant: TenantId,
  db: Db,
): Promise<SortedOutcomes> {
  const left = kinds.filter((kind) => kind !== "created").length;
  if (left === 0) return { present: 0, refusals: [] };
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
  const refusals = wanted.flatMap((one, place): RefusedRow[] => {
    const problem = inTheWay(one, kinds[place], ours.get(keyOf(one)));
    return problem === undefined ? [] : [{ line: one.line, problem }];
  });
  return { present: left - refusals.length, refusals };
}

/** Undefined if it was written or already exists. */
function inTheWay(wanted: WantedRow, kind: OutcomeKind | undefined, theirs: Destined | undefined): string | undefined {
  const { domain, url, file, input } = wanted;
  const { code = "" } = input;
  if (kind === "no_domain" || kind === "no_file") {
    return sentenceOf(refusal({ kind }, { domain, code, generated: false }));
  }
  if (kind !== "taken" || (theirs?.url === url && theirs.file === file)) return undefined;
  const why =
    theirs === undefined
      ? "another link has it, or had it, or it is in your trash"
      : "your link with this code has another destination";
  return `code: "${code}" is taken: ${why}.`;
}
