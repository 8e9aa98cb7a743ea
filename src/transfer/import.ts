import { fromIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { FileId, TenantId } from "../base/ids.ts";
import { parseNewLink } from "../links/api.ts";
import { cacheKey, ownDomain } from "../links/link.ts";
import type { LinkInput, Links } from "../links/links.ts";
import { refusal } from "../links/refusals.ts";
import type { LinkStore, NewLink, Written } from "../links/store.ts";
import type { Sql } from "../sql/sql.ts";
import type { Tenant } from "../tenants/tenants.ts";
import type { Fields } from "./formats.ts";
import type { Position, Positions } from "./position.ts";
import type { Row } from "./row.ts";

/**
 * Rows of a file become links, a few hundred in a transaction, in the order of the file. The place in the file is moved on
 * in the same transaction: a process that is killed at any moment leaves both or neither, and who starts again with the
 * same file goes on behind it. Short transactions, because on SQLite a server beside us waits for each of them.
 *
 * A row that cannot be taken is told and passed over. A code that this tenant has already, and that leads to the same
 * address, counts as there.
 */
export interface ImportSettings {
  readonly sql: Sql;
  readonly links: Links;
  readonly store: LinkStore;
  readonly positions: Positions;
  readonly tenant: Tenant;
  /** Where the place in the file is kept; nothing: nowhere, and an import that ends early has to begin anew. */
  readonly id: string | undefined;
  /** Looks at everything and writes nothing. */
  readonly dryRun: boolean;
  readonly refused: (line: number, problem: string) => void;
  readonly moved: (to: Position) => void;
}

const batchRows = 250;
const redraws = 20;

export async function importRecords(
  records: AsyncIterable<Row<Fields>>,
  from: Position,
  settings: ImportSettings,
): Promise<Position> {
  let position = from;
  let passed = 0;
  let batch: Row<Fields>[] = [];
  for await (const row of records) {
    if (++passed <= from.records) continue;
    batch.push(row);
    if (batch.length < batchRows) continue;
    position = await take(batch, position, settings);
    settings.moved(position);
    batch = [];
  }
  if (batch.length > 0) position = await take(batch, position, settings);
  settings.moved(position);
  return position;
}

/** A row that is fit to be a link. */
interface Wanted extends Destined {
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

interface Refusal {
  readonly line: number;
  readonly problem: string;
}

async function take(batch: readonly Row<Fields>[], from: Position, settings: ImportSettings): Promise<Position> {
  const wanted: Wanted[] = [];
  const unfit: Refusal[] = [];
  for (const row of batch) {
    const judged = await judge(row, settings);
    if ("input" in judged) wanted.push(judged);
    else unfit.push(judged);
  }
  let to = from;
  const arrive = (made: number, { present, refusals }: Sorted) => {
    to = {
      records: from.records + batch.length,
      line: batch.at(-1)?.line ?? from.line,
      made: from.made + made,
      present: from.present + present,
      refused: from.refused + unfit.length + refusals.length,
    };
    return to;
  };
  const refusals = settings.dryRun ? await look(wanted, settings, arrive) : await write(wanted, settings, from, arrive);
  for (const { line, problem } of [...unfit, ...refusals].sort((a, b) => a.line - b.line)) {
    settings.refused(line, problem);
  }
  return to;
}

async function judge(row: Row<Fields>, { links, tenant, dryRun }: ImportSettings): Promise<Wanted | Refusal> {
  if ("problem" in row) return row;
  const { line, value } = row;
  const { createdAt: created, ...sent } = value;
  const createdAt = created === undefined || created === null ? undefined : fromIso(String(created));
  if (createdAt !== undefined && Number.isNaN(createdAt)) return { line, problem: "createdAt: This is not a time." };
  try {
    const input = parseNewLink(sent);
    const link = dryRun ? undefined : await links.draft(tenant, input);
    const { url, file, domain } = link ?? links.check(tenant, input);
    const made = link && { ...link, ...(createdAt !== undefined && { createdAt }) };
    return { line, input, url, file, domain, link: made };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { line, problem: sentenceOf(error) };
  }
}

function sentenceOf({ detail, more }: Problem): string {
  const [first] = more.errors ?? [];
  return first ? `${first.field}: ${first.message}` : detail;
}

type Arrive = (made: number, taken: Sorted) => Position;

/** Answers which could not be written. */
async function write(
  wanted: readonly Wanted[],
  settings: ImportSettings,
  from: Position,
  arrive: Arrive,
): Promise<readonly Refusal[]> {
  const { links, store, tenant, positions, id } = settings;
  let drafts = wanted.flatMap(({ link }) => link ?? []);
  let refusals: readonly Refusal[] = [];
  for (let tries = 1; ; tries++) {
    try {
      await store.insertWith(tenant.id, drafts, async (trx, written) => {
        const kinds = written.map(({ kind }) => kind);
        const unlucky = [...kinds.keys()].filter((place) => kinds[place] === "taken" && drafts[place]?.generated);
        if (unlucky.length > 0) throw new Unlucky(unlucky);
        const sorted = await sort(wanted, kinds, tenant.id, trx);
        const to = arrive(kinds.filter((kind) => kind === "written").length, sorted);
        if (id !== undefined) await positions.move(trx, id, from, to);
        refusals = sorted.refusals;
      });
      return refusals;
    } catch (error) {
      if (!(error instanceof Unlucky) || tries === redraws) throw error;
      const codes = new Map<number, string>();
      for (const place of error.places) codes.set(place, (await links.draft(tenant, unchosen)).code);
      drafts = drafts.map((link, place) => ({ ...link, code: codes.get(place) ?? link.code }));
    }
  }
}

/** Any link will do to draw a code. */
const unchosen: LinkInput = { url: "https://example.com/" };

/** Generated codes that are taken, by somebody's slug or under an older salt: others have to be drawn. */
class Unlucky extends Error {
  constructor(readonly places: readonly number[]) {
    super("no free code was found");
  }
}

async function look(
  wanted: readonly Wanted[],
  { sql: { db }, store, tenant }: ImportSettings,
  arrive: Arrive,
): Promise<readonly Refusal[]> {
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
    return state === "live" || (state === "deleted" && owner !== tenant.id && domain === ownDomain);
  });
  const closed = new Set(kept.map(({ domain, code }) => cacheKey(domain, code)));
  const unfit = await store.unfit(tenant.id, wanted);
  const kinds = wanted.map((one, place): Kind => {
    const taken = one.input.code !== undefined && closed.has(keyOf(one));
    return unfit[place] ?? (taken ? "taken" : "written");
  });
  const sorted = await sort(wanted, kinds, tenant.id, db);
  arrive(kinds.filter((kind) => kind === "written").length, sorted);
  return sorted.refusals;
}

type Kind = Written["kind"];

const keyOf = ({ domain, input }: Wanted): string => cacheKey(domain, input.code ?? "");

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
interface Sorted {
  readonly present: number;
  readonly refusals: readonly Refusal[];
}

async function sort(
  wanted: readonly Wanted[],
  kinds: readonly Kind[],
  tenant: TenantId,
  db: Pick<Sql["db"], "selectFrom">,
): Promise<Sorted> {
  const taken = wanted.filter((_, place) => kinds[place] === "taken");
  const rows = await of(taken, (domains, codes) =>
    db
      .selectFrom("links")
      .select(["domain", "code", "url", "file_id as file"])
      .where("tenant_id", "=", tenant)
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
  const why = theirs === undefined ? "somebody else has it, or had it" : "your link with it leads elsewhere";
  return `code: "${code}" is taken: ${why}.`;
}
