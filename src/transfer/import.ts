import { fromIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import { parseNewLink } from "../links/api.ts";
import { ownDomain } from "../links/link.ts";
import type { LinkInput, Links } from "../links/links.ts";
import type { LinkStore, NewLink } from "../links/store.ts";
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
interface Wanted {
  readonly line: number;
  readonly input: LinkInput;
  /** Where it will lead. */
  readonly url: string;
  /** Nothing in a dry run: a code that is drawn is spent. */
  readonly link: NewLink | undefined;
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
    if (dryRun) return { line, input, url: links.check(tenant, input).url, link: undefined };
    const link = { ...(await links.draft(tenant, input)), ...(createdAt !== undefined && { createdAt }) };
    return { line, input, url: link.url, link };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [first] = error.more.errors ?? [];
    return { line, problem: first ? `${first.field}: ${first.message}` : error.detail };
  }
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
        const taken = [...written.keys()].filter((place) => written[place]?.kind !== "written");
        const unlucky = taken.filter((place) => drafts[place]?.generated);
        if (unlucky.length > 0) throw new Unlucky(unlucky);
        const sorted = await sort(
          taken.flatMap((place) => wanted[place] ?? []),
          tenant.id,
          trx,
        );
        const to = arrive(written.length - taken.length, sorted);
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
  { sql: { db }, tenant }: ImportSettings,
  arrive: Arrive,
): Promise<readonly Refusal[]> {
  const codes = wanted.flatMap(({ input }) => input.code ?? []);
  const rows =
    codes.length === 0
      ? []
      : await db
          .selectFrom("link_versions")
          .select(["code", "state", "tenant_id"])
          .where("domain", "=", ownDomain)
          .where("code", "in", codes)
          .execute();
  const closed = new Set(
    rows
      .filter(({ state, tenant_id: owner }) => state === "live" || (state === "deleted" && owner !== tenant.id))
      .map(({ code }) => code),
  );
  const taken = wanted.filter(({ input }) => input.code !== undefined && closed.has(input.code));
  const sorted = await sort(taken, tenant.id, db);
  arrive(wanted.length - taken.length, sorted);
  return sorted.refusals;
}

/** Of links whose codes are taken: how many are there already, and what is in the way of the others. */
interface Sorted {
  readonly present: number;
  readonly refusals: readonly Refusal[];
}

async function sort(taken: readonly Wanted[], tenant: TenantId, db: Pick<Sql["db"], "selectFrom">): Promise<Sorted> {
  if (taken.length === 0) return { present: 0, refusals: [] };
  const codes = taken.map(({ input }) => input.code ?? "");
  const rows = await db
    .selectFrom("links")
    .select(["code", "url"])
    .where("tenant_id", "=", tenant)
    .where("domain", "=", ownDomain)
    .where("code", "in", codes)
    .execute();
  const urls = new Map(rows.map(({ code, url }) => [code, url]));
  const refusals = taken.flatMap(({ line, input: { code = "" }, url }) => {
    const theirs = urls.get(code);
    if (theirs === url) return [];
    const why = theirs === undefined ? "somebody else has it, or had it" : "your link with it leads elsewhere";
    return [{ line, problem: `code: "${code}" is taken: ${why}.` }];
  });
  return { present: taken.length - refusals.length, refusals };
}
