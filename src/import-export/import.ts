import { fromIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { LinkInput, Links } from "../links/links.ts";
import { parseNewLink } from "../links/schemas.ts";
import type { LinkStore } from "../links/store.ts";
import type { Sql } from "../sql/sql.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { parsePastClicks, storePastClicks } from "./click-history.ts";
import { type Fields, pastClicks } from "./formats.ts";
import type { ImportPosition, Positions } from "./import-position.ts";
import {
  predictOutcomes,
  type RefusedRow,
  type SortedOutcomes,
  sentenceOf,
  sortOutcomes,
  type WantedRow,
} from "./refused-rows.ts";
import type { Row } from "./row.ts";
import type { Throttle } from "./throttle.ts";

/**
 * Imports the rows of a file as links, a few hundred per transaction, in the order of the file. The position in the
 * file advances in the same transaction. A process that is killed at any moment leaves both or neither, and running the
 * import again with the same file continues from there. Transactions are short, because on SQLite a running server
 * waits for each of them.
 *
 * A row that cannot be imported is reported and skipped. If the tenant already has a link with the same code and the
 * same destination, the row counts as present.
 */
export interface ImportSettings {
  readonly sql: Sql;
  readonly links: Links;
  readonly store: LinkStore;
  readonly positions: Positions;
  readonly tenant: Tenant;
  /** The id under which the position is stored. Undefined: it is not stored, and an interrupted import starts over. */
  readonly id: string | undefined;
  /** Checks everything and writes nothing. */
  readonly dryRun: boolean;
  readonly now: () => number;
  /** Called after each batch with its number of rows. */
  readonly throttle?: Throttle;
  readonly refused: (line: number, problem: string) => void;
  readonly moved: (to: ImportPosition) => void;
}

const batchRows = 250;
const redraws = 20;

export async function importRecords(
  records: AsyncIterable<Row<Fields>>,
  from: ImportPosition,
  settings: ImportSettings,
): Promise<ImportPosition> {
  let position = from;
  let passed = 0;
  let batch: Row<Fields>[] = [];
  for await (const row of records) {
    if (++passed <= from.records) continue;
    batch.push(row);
    if (batch.length < batchRows) continue;
    position = await take(batch, position, settings);
    settings.moved(position);
    await settings.throttle?.(batch.length);
    batch = [];
  }
  if (batch.length > 0) position = await take(batch, position, settings);
  settings.moved(position);
  return position;
}

async function take(
  batch: readonly Row<Fields>[],
  from: ImportPosition,
  settings: ImportSettings,
): Promise<ImportPosition> {
  const wanted: WantedRow[] = [];
  const unfit: RefusedRow[] = [];
  for (const row of batch) {
    const judged = await judge(row, settings);
    if ("input" in judged) wanted.push(judged);
    else unfit.push(judged);
  }
  let to = from;
  const arrive = (made: number, { present, refusals }: SortedOutcomes) => {
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

async function judge(row: Row<Fields>, { links, tenant, dryRun }: ImportSettings): Promise<WantedRow | RefusedRow> {
  if ("problem" in row) return row;
  const { line, value } = row;
  const { createdAt: created, [pastClicks]: before, ...sent } = value;
  const past = before && parsePastClicks(before);
  if (before !== undefined && past === undefined) {
    return { line, problem: `${before.field}: Must be a whole number of at least 0.` };
  }
  const createdAt = created === undefined || created === null ? undefined : fromIso(String(created));
  if (createdAt !== undefined && Number.isNaN(createdAt)) return { line, problem: "createdAt: Must be a time." };
  try {
    const input = parseNewLink(sent);
    const link = dryRun ? undefined : await links.draft(tenant, input);
    const { url, file, domain } = link ?? links.check(tenant, input);
    const made = link && { ...link, ...(createdAt !== undefined && { createdAt }) };
    return { line, input, url, file, domain, link: made, past };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { line, problem: sentenceOf(error) };
  }
}

type Arrive = (made: number, taken: SortedOutcomes) => ImportPosition;

/** Returns the rows that could not be written. */
async function write(
  wanted: readonly WantedRow[],
  settings: ImportSettings,
  from: ImportPosition,
  arrive: Arrive,
): Promise<readonly RefusedRow[]> {
  const { links, store, tenant, positions, id } = settings;
  let drafts = wanted.flatMap(({ link }) => link ?? []);
  let refusals: readonly RefusedRow[] = [];
  for (let tries = 1; ; tries++) {
    try {
      await store.createWith(tenant.id, drafts, async (trx, created) => {
        const kinds = created.map(({ kind }) => kind);
        const unlucky = [...kinds.keys()].filter((place) => kinds[place] === "taken" && drafts[place]?.generated);
        if (unlucky.length > 0) throw new Unlucky(unlucky);
        const sorted = await sortOutcomes(wanted, kinds, tenant.id, trx);
        const to = arrive(kinds.filter((kind) => kind === "created").length, sorted);
        if (id !== undefined) await positions.move(trx, tenant.id, id, from, to);
        await storePastClicks(trx, tenant.id, wanted, sorted.refusals, settings.now());
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

/** Any link will do to generate a code. */
const unchosen: LinkInput = { url: "https://example.com/" };

/** Generated codes that are taken, by a custom slug or from an older salt. Others must be generated. */
class Unlucky extends Error {
  constructor(readonly places: readonly number[]) {
    super("no free code was found");
  }
}

async function look(
  wanted: readonly WantedRow[],
  { sql: { db }, store, tenant }: ImportSettings,
  arrive: Arrive,
): Promise<readonly RefusedRow[]> {
  const kinds = await predictOutcomes(wanted, tenant.id, store, db);
  const sorted = await sortOutcomes(wanted, kinds, tenant.id, db);
  arrive(kinds.filter((kind) => kind === "created").length, sorted);
  return sorted.refusals;
}
