import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, systemClock } from "../../base/clock.ts";
import { messageOf, OperatorError, Problem } from "../../base/errors.ts";
import { idFrom } from "../../base/ids.ts";
import { storedKey } from "../../files/file.ts";
import { NoObject, type Storage } from "../../files/storage/storage.ts";
import type { Links } from "../../links/links.ts";
import type { LinkStore } from "../../links/store.ts";
import { isUnavailable, type Sql } from "../../sql/sql.ts";
import type { Tenants } from "../../tenants/tenants.ts";
import { batchRows } from "../batch-size.ts";
import { textOf } from "../decode-text.ts";
import { type ImportSettings, importRecords } from "../import.ts";
import { beginning, createPositions } from "../import-position.ts";
import { createPace, type RedirectWait } from "../pace.ts";
import { readRecords } from "../records.ts";
import { type BadRow, createImportRuns, type ImportRun, type ImportRuns } from "./import-runs.ts";

/**
 * One step of the import that has waited longest: its check as a whole, or some batches of rows. Imports take turns step by
 * step, are paced, and look at every batch whether somebody has cancelled them.
 */
export interface ImportStepParts {
  readonly sql: Sql;
  readonly links: Links;
  readonly store: LinkStore;
  readonly tenants: Tenants;
  readonly storage: Pick<Storage, "read">;
  readonly clock: Clock;
  /** How long redirects of this server wait. */
  readonly redirects: RedirectWait;
}

/** Some seconds. Each step reads the file from its beginning, so short ones would read a long file many times. */
const stepRows = 100 * batchRows;
const pieceBytes = 262_144;
const notedRows = 10 * batchRows;

/** Whether there was something to do. */
export async function importStep(parts: ImportStepParts): Promise<boolean> {
  const runs = createImportRuns(parts.sql, parts.clock);
  const run = await runs.next();
  if (run === undefined) return false;
  try {
    await (run.state === "checking" ? check(parts, runs, run) : importSome(parts, runs, run));
  } catch (error) {
    // Later, from where it is.
    if (isUnavailable(error)) throw error;
    await runs.note(run, { state: "failed", problem: sentence(error) });
    const isKnown = error instanceof OperatorError || error instanceof Problem || error instanceof NoObject;
    if (!isKnown) throw error;
  }
  return true;
}

const sentence = (error: unknown): string => {
  if (error instanceof NoObject) return "The file was deleted.";
  if (error instanceof Problem) return error.detail;
  return error instanceof OperatorError ? messageOf(error) : "Internal error. Contact the operator.";
};

async function check(parts: ImportStepParts, runs: ImportRuns, run: ImportRun): Promise<void> {
  const bad: BadRow[] = [];
  let noted = 0;
  const settings = await settingsOf(parts, run, {
    dryRun: true,
    goesOn: () => isStillWanted(runs, run),
    throttle: createPace(parts.redirects, systemClock, sleep),
    refused: (line, problem) => bad.push({ line, problem }),
    async moved(to) {
      await runs.addBadRows(run, "check", bad.splice(0));
      if (to.records - noted < notedRows) return;
      noted = to.records;
      await runs.note(run, { checked: to });
    },
  });
  const { position: checked, isEnd } = await importRecords(recordsOf(parts, runs, run), beginning, settings);
  await runs.addBadRows(run, "check", bad);
  if (isEnd) await runs.note(run, { state: "checked", checked });
}

async function importSome(parts: ImportStepParts, runs: ImportRuns, run: ImportRun): Promise<void> {
  const positions = createPositions(parts.sql, parts.clock);
  const from = await positions.open(run.tenantId, run.id);
  const settings = await settingsOf(parts, run, {
    dryRun: false,
    goesOn: async ({ records }) => records - from.records < stepRows && (await isStillWanted(runs, run)),
    throttle: createPace(parts.redirects, systemClock, sleep),
    storeRefused: (trx, rows) => runs.addBadRows(run, "import", rows, trx),
  });
  const { isEnd } = await importRecords(recordsOf(parts, runs, run), from, settings);
  if (isEnd) await positions.finish(run.tenantId, run.id);
  await runs.note(run, isEnd ? { state: "done" } : {});
}

async function settingsOf(
  { sql, links, store, tenants, clock }: ImportStepParts,
  run: ImportRun,
  how: Pick<ImportSettings, "dryRun" | "goesOn" | "throttle" | "refused" | "storeRefused" | "moved">,
): Promise<ImportSettings> {
  const tenant = await tenants.byId(run.tenantId);
  if (tenant === undefined) throw new OperatorError("The workspace is gone.");
  const request = idFrom("history", run.createdAt, Buffer.from(run.id));
  const positions = createPositions(sql, clock);
  return {
    ...{ sql, links, store, positions, tenant, id: how.dryRun ? undefined : run.id, request, now: systemClock.now },
    ...{ by: run.by, spends: true },
    ...how,
  };
}

function recordsOf({ storage }: ImportStepParts, runs: ImportRuns, run: ImportRun) {
  const key = storedKey({ tenantId: run.tenantId, id: run.file });
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < run.sizeBytes; ) {
      const piece = await storage.read(key, at, Math.min(pieceBytes, run.sizeBytes - at));
      if (piece.length === 0) return;
      at += piece.length;
      yield piece;
    }
  }
  return readRecords(textOf(bytes()), {
    ...(run.onlyFormat !== null && { only: run.onlyFormat }),
    recognised: (format) => void runs.note(run, { format }).catch(() => {}), // it is noted again in the next step
  });
}

/** Whether nobody has cancelled it meanwhile. */
const isStillWanted = async (runs: ImportRuns, { tenantId, id, state }: ImportRun): Promise<boolean> =>
  (await runs.get(tenantId, id))?.state === state;
