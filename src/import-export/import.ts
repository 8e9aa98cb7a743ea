import { setImmediate as othersTurn } from "node:timers/promises";
import { fromIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { HistoryId } from "../base/ids.ts";
import { type Actor, byCommand } from "../history/history.ts";
import { addToRequest } from "../history/requests.ts";
import { monthName } from "../limits/window.ts";
import type { NewLink } from "../links/create/new-links.ts";
import { limitReached } from "../links/create/refusals.ts";
import { cacheKey, type LinkKey } from "../links/link.ts";
import type { LinkInput, Links } from "../links/links.ts";
import { parseNewLink } from "../links/schemas.ts";
import type { LinkStore } from "../links/store.ts";
import { createGrownTables } from "../sql/analyse-grown.ts";
import type { Sql } from "../sql/sql.ts";
import type { Trx } from "../sql/tenant-db.ts";
import { spendOfMonth } from "../tenants/monthly-usage.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { type BatchSize, batchRows } from "./batch-size.ts";
import { type PastTotal, parsePastClicks, storePastClicks } from "./click-history.ts";
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
  /** Its row in the history: the same when it continues. */
  readonly request: HistoryId;
  /** Checks everything and writes nothing. */
  readonly dryRun: boolean;
  readonly now: () => number;
  /** Asked before each batch. Once false, the import ends there. */
  readonly goesOn?: (position: ImportPosition) => boolean | Promise<boolean>;
  /** Asked before each batch. Default: always `batchRows`. */
  readonly batchSize?: BatchSize;
  /** Called after each batch with its number of rows. */
  readonly throttle?: Throttle;
  /** Called after each batch, for each of its rows that was refused. */
  readonly refused?: (line: number, problem: string) => void;
  /** Stores the refused rows of a batch, in the transaction that writes its links. Not in a dry run. */
  readonly storeRefused?: (trx: Trx, rows: readonly RefusedRow[]) => Promise<void>;
  readonly moved?: (to: ImportPosition) => void | Promise<void>;
  /** Who imports. Default: the operator, by a command. */
  readonly by?: Actor;
  /** Whether its links count towards the month of the tenant. Those of the operator do not. */
  readonly spends?: boolean;
}

const redraws = 20;

/** `records`: in parts of any length. */
export async function importRecords(
  records: AsyncIterable<readonly Row<Fields>[]>,
  from: ImportPosition,
  settings: ImportSettings,
): Promise<Imported> {
  const { goesOn = () => true, moved, throttle, sql } = settings;
  // SQLite writes on this thread, and would keep its lock while rows are checked.
  const isAhead = sql.dialect === "postgres";
  const grown = createGrownTables(sql, ["links", "link_versions", "changes"]);
  let position = from;
  const seen: Seen = new Map();
  const batches = judgedBatches(records, from.records, settings, isAhead ? rowsOfTurn : undefined);
  try {
    let { value: batch } = await batches.next();
    while (batch !== undefined) {
      if (!(await goesOn(position))) return { position, isEnd: false };
      const taking = takeAll(batch, position, settings, seen);
      const next = isAhead ? batches.next() : taking.then(() => batches.next());
      // What was written counts, also if the next rows cannot be read.
      next.catch(() => {});
      position = await taking;
      if (!settings.dryRun) await grown.added(position.made - from.made);
      await moved?.(position);
      const taken = batch.length;
      ({ value: batch } = await next);
      await throttle?.(taken);
    }
    await moved?.(position);
    return { position, isEnd: true };
  } finally {
    await batches.return(undefined);
  }
}

/** Checked between two answers of the database: less than a millisecond. */
const rowsOfTurn = 32;

/** Rows that were read and checked, a batch at a time. Others get their turn after every `turnRows`. */
async function* judgedBatches(
  records: AsyncIterable<readonly Row<Fields>[]>,
  skipped: number,
  settings: ImportSettings,
  turnRows: number | undefined,
): AsyncGenerator<readonly Judged[], undefined, void> {
  const { batchSize = async () => batchRows } = settings;
  let passed = 0;
  let batch: Judged[] = [];
  let weight = 0;
  let most = await batchSize();
  for await (const rows of records) {
    for (const row of rows) {
      if (++passed <= skipped) continue;
      const judging = judge(row, settings);
      const judged = judging instanceof Promise ? await judging : judging;
      batch.push(judged);
      weight += weightOf(judged);
      if (weight >= most) {
        yield batch;
        batch = [];
        weight = 0;
        most = await batchSize();
      } else if (turnRows !== undefined && batch.length % turnRows === 0) await othersTurn();
    }
  }
  if (batch.length > 0) yield batch;
  return undefined;
}

/** In rows without choices: each choice has an address, which is most of what a row can be. */
const weightOf = (judged: Judged): number =>
  "input" in judged ? 1 + (judged.input.rules?.length ?? 0) + (judged.input.split?.length ?? 0) : 1;

export interface Imported {
  readonly position: ImportPosition;
  /** The file has no more rows. */
  readonly isEnd: boolean;
}

/** What is left of the month is used to the last link: a batch that is too large is taken in halves. */
async function takeAll(
  batch: readonly Judged[],
  from: ImportPosition,
  settings: ImportSettings,
  seen: Seen,
): Promise<ImportPosition> {
  try {
    return await take(batch, from, settings, seen);
  } catch (error) {
    if (!(error instanceof MonthSpent)) throw error;
    if (batch.length === 1) throw limitReached(settings.tenant, settings.now());
    const half = Math.ceil(batch.length / 2);
    const position = await takeAll(batch.slice(0, half), from, settings, seen);
    await settings.moved?.(position);
    return await takeAll(batch.slice(half), position, settings, seen);
  }
}

/** The batch has more new links than the month has room for. Nothing of it was written. */
class MonthSpent extends Error {}

async function take(
  batch: readonly Judged[],
  from: ImportPosition,
  settings: ImportSettings,
  seen: Seen,
): Promise<ImportPosition> {
  const wanted: WantedRow[] = [];
  const unfit: RefusedRow[] = [];
  for (const judged of batch) {
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
  const refusals = settings.dryRun
    ? await look(wanted, settings, arrive, seen)
    : await write(wanted, unfit, settings, from, arrive);
  for (const { line, problem } of inOrder(unfit, refusals)) settings.refused?.(line, problem);
  return to;
}

const inOrder = (unfit: readonly RefusedRow[], refusals: readonly RefusedRow[]): RefusedRow[] =>
  [...unfit, ...refusals].sort((a, b) => a.line - b.line);

/** At once if it can: a promise for each row would take as long as checking it. */
function judge(row: Row<Fields>, settings: ImportSettings): Judged | Promise<Judged> {
  if ("problem" in row) return row;
  const { line, value } = row;
  const { createdAt: created, [pastClicks]: before } = value;
  const createdAt = created === undefined || created === null ? undefined : creationOf(created, settings.now());
  if (typeof createdAt === "string") return { line, problem: `createdAt: ${createdAt}` };
  const past = before && parsePastClicks(before, createdAt);
  if (before !== undefined && past === undefined) {
    return { line, problem: `${before.field}: Must be a whole number of at least 0.` };
  }
  try {
    const isPlain = created === undefined && before === undefined;
    const input = parseNewLink(isPlain ? value : linkFieldsOf(value));
    const { links, tenant, dryRun, by = byCommand } = settings;
    // A file of passwords would keep the server busy for hours. The operator's command computes them in its own process.
    if (by.kind !== "command" && input.password != null) return { line, problem: noPassword };
    if (dryRun) {
      const { url, file, domain } = links.check(tenant, input);
      return { line, input, url, file, domain, link: undefined, past };
    }
    const link = links.draft(tenant, input, by);
    if (!(link instanceof Promise)) return wantedRow(line, input, link, createdAt, past);
    return link.then((one) => wantedRow(line, input, one, createdAt, past), refusedRow(line));
  } catch (error) {
    return refusedRow(line)(error);
  }
}

type Judged = WantedRow | RefusedRow;

/** A time without an offset counts as UTC. If it was written in another zone, it is up to this much ahead. */
const aheadMostMs = 14 * 3_600_000;

/** Or what is wrong with it. */
function creationOf(created: unknown, now: number): number | string {
  const at = fromIso(String(created));
  if (Number.isNaN(at)) return "Must be a time.";
  return at > now + aheadMostMs ? "Must not be in the future." : Math.min(at, now);
}

function wantedRow(
  line: number,
  input: LinkInput,
  link: NewLink,
  createdAt: number | undefined,
  past: PastTotal | undefined,
): WantedRow {
  const { url, file, domain } = link;
  return { line, input, url, file, domain, link: createdAt === undefined ? link : { ...link, createdAt }, past };
}

/** A copy, which few rows need. */
function linkFieldsOf({ createdAt, [pastClicks]: past, ...fields }: Fields): Fields {
  return fields;
}

const refusedRow =
  (line: number) =>
  (error: unknown): RefusedRow => {
    if (!(error instanceof Problem)) throw error;
    return { line, problem: sentenceOf(error) };
  };

const noPassword = "password: Links with a password cannot be imported. Create this link by hand.";

type Arrive = (made: number, taken: SortedOutcomes) => ImportPosition;

/** Returns the rows that could not be written. `unfit` are those that were refused before. */
async function write(
  wanted: readonly WantedRow[],
  unfit: readonly RefusedRow[],
  settings: ImportSettings,
  from: ImportPosition,
  arrive: Arrive,
): Promise<readonly RefusedRow[]> {
  const { links, store, tenant, positions, id, by = byCommand } = settings;
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
        if (settings.spends) await spend(trx, settings, to.made - from.made);
        if (id !== undefined) await positions.move(trx, tenant.id, id, from, to);
        await storePastClicks(trx, tenant.id, wanted, sorted.refusals, settings.now());
        await recordImport(trx, settings, { created: to.made - from.made, refused: to.refused - from.refused });
        await settings.storeRefused?.(trx, inOrder(unfit, sorted.refusals));
        refusals = sorted.refusals;
      });
      return refusals;
    } catch (error) {
      if (!(error instanceof Unlucky) || tries === redraws) throw error;
      const codes = new Map<number, string>();
      for (const place of error.places) codes.set(place, (await links.draft(tenant, unchosen, by)).code);
      drafts = drafts.map((link, place) => ({ ...link, code: codes.get(place) ?? link.code }));
    }
  }
}

/** In the transaction that creates the links. */
async function spend(trx: Trx, { tenant, now }: ImportSettings, links: number): Promise<void> {
  if (links === 0) return;
  const before = await spendOfMonth(trx, { tenant: tenant.id, name: "links", month: monthName(now()) }, links);
  const { linksPerMonth } = tenant.limits;
  if (linksPerMonth !== null && before + links > linksPerMonth) throw new MonthSpent();
}

async function recordImport(
  trx: Trx,
  { request, tenant, now, by = byCommand }: ImportSettings,
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const entry = {
    tenant: tenant.id,
    actor: by,
    action: "link.import",
    subject: { kind: "request", id: request },
  };
  await addToRequest(trx, { now }, { ...entry, id: request }, counts);
}

/** Any link will do to generate a code. */
const unchosen: LinkInput = { url: "https://example.com/" };

/** Generated codes that are taken, by a custom slug or from an older salt. Others must be generated. */
class Unlucky extends Error {
  constructor(readonly places: readonly number[]) {
    super("no free code was found");
  }
}

/** The destinations of codes that earlier rows of the file would have taken. */
type Seen = Map<LinkKey, string>;
const seenMost = 200_000; // beyond that, a dry run does not notice a code that occurs twice

async function look(
  rows: readonly WantedRow[],
  { sql: { db }, store, tenant }: ImportSettings,
  arrive: Arrive,
  seen: Seen,
): Promise<readonly RefusedRow[]> {
  const kinds = await predictOutcomes(rows, tenant.id, store, db);
  const again = new Map(
    [...rows.entries()].flatMap(([place, row]) => {
      const isSame = kinds[place] === "created" ? takeFirst(row, seen) : undefined;
      return isSame === undefined ? [] : [[place, isSame] as const];
    }),
  );
  const isFirst = (_: unknown, place: number) => !again.has(place);
  const firsts = kinds.filter(isFirst);
  const { present, refusals } = await sortOutcomes(rows.filter(isFirst), firsts, tenant.id, db);
  const twice = rows.flatMap(({ line, input }, place) =>
    again.get(place) === false
      ? [{ line, problem: `code: "${input.code}" occurs twice in this file, with another destination.` }]
      : [],
  );
  const all = { present: present + again.size - twice.length, refusals: [...refusals, ...twice] };
  arrive(firsts.filter((kind) => kind === "created").length, all);
  return all.refusals;
}

/** A code that occurs again goes to its first row: whether this one leads to the same. Undefined: this is the first. */
function takeFirst({ domain, input, url, file }: WantedRow, seen: Seen): boolean | undefined {
  if (input.code === undefined) return undefined;
  const key = cacheKey(domain, input.code);
  const before = seen.get(key);
  const leads = `${file ?? ""} ${url}`;
  if (before !== undefined) return before === leads;
  if (seen.size < seenMost) seen.set(key, leads);
  return undefined;
}
