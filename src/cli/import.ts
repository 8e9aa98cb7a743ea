import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, statSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { systemClock, toIso } from "../base/clock.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { idFrom, newId } from "../base/ids.ts";
import { printable } from "../base/printable.ts";
import type { Core } from "../core.ts";
import { createBatchSize } from "../import-export/batch-size.ts";
import { textOf } from "../import-export/decode-text.ts";
import { type FormatName, formatNames } from "../import-export/formats.ts";
import { type ImportSettings, importRecords } from "../import-export/import.ts";
import { beginning, createPositions, type ImportPosition } from "../import-export/import-position.ts";
import { createPace, type RedirectWait } from "../import-export/pace.ts";
import { readRecords } from "../import-export/records.ts";
import { createThrottle } from "../import-export/throttle.ts";
import { ownDomain } from "../links/link.ts";
import type { LinkStore } from "../links/store.ts";
import { createOthersWrote } from "../sql/other-writers.ts";
import { isUnavailable } from "../sql/sql.ts";
import { undoInMemory } from "../sql/undo-in-memory.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { requireTenant, withCore } from "./core.ts";
import { lowerPriority } from "./low-priority.ts";
import { type OutputFormat, printJson, say } from "./print.ts";
import { createProgress, type ProgressBar } from "./progress.ts";
import { terminal } from "./terminal.ts";

interface ImportOptions extends OutputFormat {
  readonly tenant: string;
  readonly format: FormatName | "auto";
  readonly dryRun?: true;
  readonly again?: true;
  readonly errors?: string;
  readonly rate?: number;
}

export function importCommand(): Command {
  return new Command("import")
    .argument("<file>", "CSV or JSON lines file; - reads from standard input")
    .option("--tenant <slug>", "workspace that gets the links", "default")
    .addOption(new Option("--format <name>", "source format").choices(["auto", ...formatNames]).default("auto"))
    .option("--dry-run", "check every row without writing anything")
    .option("--again", "start over, even if an earlier import of this file finished")
    .option("--errors <file>", "write rejected rows to a file: line number, tab, reason")
    .option("--rate <rows>", "import at most this many rows per second, to spare the database", parseRate)
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      "\nRun the same command again to continue an interrupted import. Exits with 1 if rows were rejected; the others are imported.\n" +
        "\nExamples:\n  $ quicklink import links.csv --dry-run\n  $ quicklink import short_urls.csv --tenant acme",
    )
    .action((file: string, options: ImportOptions) =>
      withCore(async (core) => run(core, await requireTenant(core, options.tenant), file, options)),
    );
}

const refusalsShown = 50;

async function run(core: Core, tenant: Tenant, file: string, options: ImportOptions): Promise<void> {
  lowerPriority();
  const { sql, links, store, clock } = core;
  const positions = createPositions(sql, clock);
  const piped = file === "-";
  const sizeBytes = piped ? undefined : sizeOf(file);
  const dryRun = options.dryRun === true;
  const id = piped || dryRun ? undefined : await idOf(file, tenant);
  if (id !== undefined && options.again) await positions.forget(tenant.id, id);
  const from =
    id === undefined ? { ...beginning, startedAt: 0, finishedAt: null } : await positions.open(tenant.id, id);
  const progress = createProgress(terminal().stderr, systemClock.elapsed);
  if (from.finishedAt !== null) {
    progress.say(`This file was already imported on ${toIso(from.finishedAt)}. To import it again: --again`);
    return conclude(from, options, dryRun);
  }
  if (from.records > 0) progress.say(`Continuing after line ${from.line}; ${from.made} links already created.`);
  const request =
    id === undefined ? newId("history", systemClock) : idFrom("history", from.startedAt, Buffer.from(id, "hex"));
  const errors = options.errors === undefined ? undefined : openErrors(options.errors, from.records > 0);
  const started = systemClock.elapsed();
  let bytes = 0;
  const settings: ImportSettings = {
    ...{ sql, links, store, positions, tenant, id, request, dryRun, now: systemClock.now },
    ...(options.rate === undefined
      ? {
          throttle: createPace(lookupTimes(store), systemClock, sleep),
          ...(!dryRun && { batchSize: createBatchSize(createOthersWrote(sql), systemClock) }),
        }
      : { throttle: createThrottle(options.rate, systemClock, sleep) }),
    refused: createRefused(progress, errors),
    moved(to) {
      const perSecond = Math.round(((to.records - from.records) * 1_000) / (systemClock.elapsed() - started));
      progress.show(sizeBytes ? bytes / sizeBytes : undefined, `${summary(to, dryRun)}, ${figure(perSecond)} rows/s`);
    },
  };
  const read = piped ? terminal().stdin : createReadStream(file);
  const records = readRecords(textOf(counted(read, (more) => (bytes += more))), {
    ...(options.format !== "auto" && { only: options.format }),
    recognised(format, passedOver) {
      if (format !== "quicklink") progress.say(`Detected format: ${format}.`);
      if (passedOver.length > 0) progress.say(`Ignored unknown columns: ${passedOver.join(", ")}`);
    },
  });
  try {
    if (!dryRun) await undoInMemory(sql);
    const { position: done } = await importRecords(records, from, settings);
    if (id !== undefined) await positions.finish(tenant.id, id);
    progress.end();
    conclude(done, options, dryRun);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const next = id === undefined ? "" : "\n  Run the same command again to continue once the database is back.";
    throw new OperatorError(`The database is unavailable: ${messageOf(error)}.${next}`);
  } finally {
    progress.end();
    if (errors !== undefined) closeSync(errors);
  }
}

/** Redirects run in other processes. What they share with this one is the database: this is what a lookup takes there. */
function lookupTimes(store: LinkStore): RedirectWait {
  const nowMs = async () => {
    const started = systemClock.elapsed();
    await store.target(ownDomain, "");
    return systemClock.elapsed() - started;
  };
  return {
    async idleMs() {
      await sleep(restMs);
      const times: number[] = [];
      for (let i = 0; i < lookups; i++) times.push(await nowMs());
      return times.toSorted((a, b) => a - b)[Math.floor(lookups / 2)] ?? 0;
    },
    nowMs,
  };
}

const restMs = 20;
const lookups = 5;

/** An import that continues adds to what it wrote before. */
function openErrors(file: string, continues: boolean): number {
  try {
    return openSync(file, continues ? "a" : "w", 0o600);
  } catch (error) {
    throw new OperatorError(`Cannot write ${file}: ${messageOf(error)}`, 2);
  }
}

/** Written at once: the rows are not read again if this process is killed. */
function createRefused(progress: ProgressBar, errors: number | undefined) {
  let shown = 0;
  return (line: number, problem: string) => {
    if (errors !== undefined) writeSync(errors, `${line}\t${printable(problem)}\n`);
    if (++shown <= refusalsShown) progress.say(`line ${line}: ${problem}`);
    else if (shown === refusalsShown + 1 && errors === undefined)
      progress.say("… and more. To write all of them to a file: --errors FILE");
  };
}

function conclude(done: ImportPosition, options: ImportOptions, dryRun: boolean): void {
  const { records, made, present, refused } = done;
  if (options.json) printJson({ rows: records, made, present, refused, dryRun });
  else say(summary(done, dryRun));
  if (refused > 0) terminal().exitCode = 1;
}

const rateMost = 1_000_000;

function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isInteger(rate) && rate >= 1 && rate <= rateMost) return rate;
  throw new InvalidArgumentError("Must be a whole number of rows.");
}

const figure = (n: number): string => n.toLocaleString("en");

const summary = ({ made, present, refused }: ImportPosition, dryRun: boolean): string =>
  `${figure(made)} links ${dryRun ? "would be created" : "created"}, ${figure(present)} already present, ${figure(refused)} rows rejected`;

/** The same for the same file content and tenant, whatever the file's path or name. */
async function idOf(file: string, tenant: Tenant): Promise<string> {
  const hash = createHash("sha256").update(`${tenant.id}\n`);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function sizeOf(file: string): number {
  try {
    const found = statSync(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw new OperatorError(`Cannot read ${file}: ${messageOf(error)}`, 2);
  }
  throw new OperatorError(`${file} is not a file. To read from standard input: quicklink import -`, 2);
}

async function* counted(bytes: AsyncIterable<Buffer>, count: (more: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    count(chunk.length);
    yield chunk;
  }
}
