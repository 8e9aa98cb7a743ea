import type { BlocklistOutcome } from "../abuse/apply-blocklist.ts";
import type { Clock } from "../base/clock.ts";
import { Problem, type ProblemCode } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Resources } from "../base/resources.ts";
import type { FoundNotices } from "../clicks/notices/find-notices.ts";
import type { ClickListQuery, ClickPage } from "../clicks/reports/list.ts";
import type { ReportQuery } from "../clicks/reports/query.ts";
import type { ClickReport } from "../clicks/reports/report.ts";
import type { ReportSubject } from "../clicks/reports/scope.ts";
import type { LinkTrends, TrendQuery } from "../clicks/reports/trends.ts";
import type { PurgedClicks } from "../clicks/rollups/purge.ts";
import type { Condensed } from "../clicks/rollups/rounds.ts";
import type { Core } from "../core.ts";
import type { NoticeUse } from "../email/notices/thresholds.ts";
import type { Recount } from "../files/quota/storage-total.ts";
import type { Actor } from "../history/history.ts";
import type { WorkspaceExportPart } from "../import-export/workspace-export.ts";
import type { LinkStep, StepOutcome } from "../links/bulk/step.ts";
import type { Link } from "../links/link.ts";
import type { BulkResult, LinkInput } from "../links/links.ts";
import type { BusyLink } from "../links/read/busiest.ts";
import type { LinkQuery } from "../links/read/find.ts";
import type { CountedFilter, ListCounts } from "../links/read/link-counts.ts";
import type { StateFacts } from "../links/read/listed-state.ts";
import type { TagUse } from "../links/tags/used-tags.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { endThread, idleThreadMs } from "./end-thread.ts";
import { createLateness, unmeasured } from "./lateness.ts";

/**
 * Long-running work. On SQLite a statement blocks its thread, so bulk writes, reports and clean-up run in a separate
 * thread with its own connection, started on first use and ended after a minute without work; on PostgreSQL the database
 * does the work.
 *
 * When the server stops, work in the thread gets five seconds to finish. Then a flag that both threads see interrupts it
 * before its next statement: an open transaction is rolled back, and its caller gets 503. A statement that goes on for
 * seconds is left behind with its thread; the process ends without it.
 *
 * Tenants take turns (`resources.work`), so that a flood from one costs the others one job each. The operator's scans
 * have a separate place (`resources.upkeep`): they run beside tenants' work, in short statements.
 */
export interface Background {
  /** Takes no turn here: parsing the links is part of the work, and its route has taken a turn. */
  createMany(tenant: Tenant, inputs: readonly LinkInput[], by: Actor, atomic?: boolean): Promise<BulkResult[]>;
  /** The same for edits of many links: its route has taken a turn. */
  runSteps(tenant: Tenant, steps: readonly LinkStep[], by: Actor): Promise<StepOutcome[]>;
  /** The most used tags. */
  tags(tenant: TenantId, prefix: string): Promise<readonly TagUse[]>;
  /** A page of a list that no index covers. */
  find(tenant: TenantId, query: LinkQuery): Promise<readonly Link[]>;
  /** How many links a filter has. */
  countLinks(tenant: TenantId, filter: CountedFilter, facts: StateFacts): Promise<ListCounts>;
  /** Clicks by day, of several links. */
  trends(tenant: TenantId, query: TrendQuery): Promise<LinkTrends>;
  /** A report on clicks. */
  report(tenant: TenantId, subject: ReportSubject, query: ReportQuery): Promise<ClickReport>;
  /** A page of single clicks. */
  clicks(tenant: TenantId, subject: ReportSubject, query: ClickListQuery): Promise<ClickPage>;
  /** Some lines of the export of a workspace. */
  exportPart(tenant: Tenant, place: string | null): Promise<WorkspaceExportPart>;
  /** The links closest to their limit this month. */
  busiest(tenant: Tenant): Promise<readonly BusyLink[]>;
  /** Recounts a tenant's files. */
  recount(tenant: TenantId, dryRun: boolean): Promise<Recount>;
  /** The nearly or fully used limits of tenants with a contact address. */
  nearLimits(): Promise<readonly NoticeUse[]>;
  /** What tenants are to be told about their clicks: a part of them in each call. */
  findClickNotices(): Promise<FoundNotices>;
  /**
   * Reduces links a year past expiry to their version rows; deletes for good what was in the trash for 30 days; deletes
   * changes that every follower has seen, old months, old history, emails 90 days after their end, and what has ended of
   * sign-ins.
   */
  clean(): Promise<Cleaned>;
  /** Suspends links to hosts that are now on the blocklist, and restores those that no longer are. */
  applyBlocklist(): Promise<BlocklistOutcome>;
  /** Condenses the clicks of ended parts of a day, days, weeks, months and quarter years. */
  condenseClicks(): Promise<Condensed>;
  /** Deletes clicks and roll-ups that are no longer kept. */
  purgeClicks(signal?: AbortSignal): Promise<PurgedClicks>;
  /** Deletes what visitors of days that are over were recognised by; returns how many. */
  forgetVisitors(): Promise<number>;
  /** Moves SQLite's write-ahead log into the database file. */
  moveLog(): Promise<void>;
  /** One step of an import; false if there is none to do. */
  importStep(): Promise<boolean>;
  /** The server stops: what does not finish soon is interrupted. */
  stopSoon(): void;
  /** Interrupts what is still running. */
  close(): Promise<void>;
}

// A stop may take ten seconds, and the last hits are recorded after this.
const finishMs = 5_000;
const interruptMs = 2_000; // several statements, of at most a hundred rows each

export function createBackground(core: Core): Background {
  const { config, clock } = core;
  if (config.embedded) return inTurns(core.resources, thread(config.source, clock));
  // The database does most work itself. Reading the rows of an import and adding up clicks is ours, and would keep visitors waiting.
  const own = thread({ ...config.source, QL_DATABASE_POOL: String(threadConnections) }, clock);
  const { importStep, condenseClicks, stopSoon, close } = own;
  return inTurns(core.resources, { ...inDatabase(core), importStep, condenseClicks, stopSoon, close });
}

const threadConnections = 2;

type InDatabase = Omit<Background, "importStep" | "condenseClicks" | "stopSoon" | "close">;

/** The work itself, without the thread. Loaded when first used: on SQLite the thread has it, and not the server. */
function inDatabase(core: Core): InDatabase {
  let loading: Promise<Background> | undefined;
  const work = (): Promise<Background> => {
    loading ??= import("./background-work.ts").then(({ onThisThread }) => onThisThread(core, unmeasured));
    return loading;
  };
  return {
    createMany: async (...given) => (await work()).createMany(...given),
    runSteps: async (...given) => (await work()).runSteps(...given),
    find: async (...given) => (await work()).find(...given),
    tags: async (...given) => (await work()).tags(...given),
    countLinks: async (...given) => (await work()).countLinks(...given),
    trends: async (...given) => (await work()).trends(...given),
    report: async (...given) => (await work()).report(...given),
    clicks: async (...given) => (await work()).clicks(...given),
    exportPart: async (...given) => (await work()).exportPart(...given),
    busiest: async (...given) => (await work()).busiest(...given),
    recount: async (...given) => (await work()).recount(...given),
    nearLimits: async () => (await work()).nearLimits(),
    findClickNotices: async () => (await work()).findClickNotices(),
    clean: async () => (await work()).clean(),
    applyBlocklist: async () => (await work()).applyBlocklist(),
    purgeClicks: async (...given) => (await work()).purgeClicks(...given),
    forgetVisitors: async () => (await work()).forgetVisitors(),
    moveLog: async () => (await work()).moveLog(),
  };
}

function inTurns({ work, upkeep }: Resources, background: Background): Background {
  return {
    ...background,
    find: (tenant, query) => work.run(tenant, () => background.find(tenant, query)),
    tags: (tenant, prefix) => work.run(tenant, () => background.tags(tenant, prefix)),
    countLinks: (tenant, filter, facts) => work.run(tenant, () => background.countLinks(tenant, filter, facts)),
    trends: (tenant, query) => work.run(tenant, () => background.trends(tenant, query)),
    report: (tenant, subject, query) => work.run(tenant, () => background.report(tenant, subject, query)),
    clicks: (tenant, subject, query) => work.run(tenant, () => background.clicks(tenant, subject, query)),
    exportPart: (tenant, place) => work.run(tenant.id, () => background.exportPart(tenant, place)),
    busiest: (tenant) => work.run(tenant.id, () => background.busiest(tenant)),
    recount: (tenant, dryRun) => upkeep.run("recount", () => background.recount(tenant, dryRun)),
    nearLimits: () => upkeep.run("nearLimits", () => background.nearLimits()),
    findClickNotices: () => upkeep.run("findClickNotices", () => background.findClickNotices()),
    clean: () => upkeep.run("clean", () => background.clean()),
    applyBlocklist: () => upkeep.run("applyBlocklist", () => background.applyBlocklist()),
    condenseClicks: () => upkeep.run("condenseClicks", () => background.condenseClicks()),
    purgeClicks: (signal) => upkeep.run("purgeClicks", () => background.purgeClicks(signal)),
    forgetVisitors: () => upkeep.run("forgetVisitors", () => background.forgetVisitors()),
    importStep: () => upkeep.run("importStep", () => background.importStep()),
  };
}

export interface Cleaned {
  readonly links: number;
  readonly changes: number;
  readonly months: number;
  readonly emails: number;
  readonly answers: number;
  /** Sessions, links in mails and remembered devices that have ended. */
  readonly signIns: number;
  readonly trashed: number;
  readonly history: number;
  readonly workspaces: number;
}

export type BackgroundJob =
  | {
      readonly kind: "createMany";
      readonly tenant: Tenant;
      readonly inputs: readonly LinkInput[];
      readonly by: Actor;
      readonly atomic: boolean;
    }
  | {
      readonly kind: "runSteps";
      readonly tenant: Tenant;
      readonly steps: readonly LinkStep[];
      readonly by: Actor;
    }
  | { readonly kind: "tags"; readonly tenant: TenantId; readonly prefix: string }
  | { readonly kind: "find"; readonly tenant: TenantId; readonly query: LinkQuery }
  | {
      readonly kind: "countLinks";
      readonly tenant: TenantId;
      readonly filter: CountedFilter;
      readonly facts: StateFacts;
    }
  | { readonly kind: "trends"; readonly tenant: TenantId; readonly query: TrendQuery }
  | {
      readonly kind: "report";
      readonly tenant: TenantId;
      readonly subject: ReportSubject;
      readonly query: ReportQuery;
    }
  | {
      readonly kind: "clicks";
      readonly tenant: TenantId;
      readonly subject: ReportSubject;
      readonly query: ClickListQuery;
    }
  | { readonly kind: "exportPart"; readonly tenant: Tenant; readonly place: string | null }
  | { readonly kind: "busiest"; readonly tenant: Tenant }
  | { readonly kind: "recount"; readonly tenant: TenantId; readonly dryRun: boolean }
  | { readonly kind: "nearLimits" }
  | { readonly kind: "findClickNotices" }
  | { readonly kind: "clean" }
  | { readonly kind: "applyBlocklist" }
  | { readonly kind: "condenseClicks" }
  | { readonly kind: "purgeClicks" }
  | { readonly kind: "forgetVisitors" }
  | { readonly kind: "moveLog" }
  | { readonly kind: "importStep" };

export type ToThread =
  | {
      readonly kind: "open";
      readonly settings: Record<string, string>;
      readonly stopping: Int32Array;
      readonly lateness: Int32Array;
    }
  | { readonly kind: "close" }
  | (BackgroundJob & { readonly id: number });

export type ThreadMessage =
  | { readonly kind: "closed" }
  | { readonly kind: "done"; readonly id: number; readonly result: unknown }
  | { readonly kind: "refused"; readonly id: number; readonly problem: SentProblem }
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly code: string | undefined };

/** A `Problem` loses its class between threads. */
export interface SentProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly more: Problem["more"];
}

export type SentResult = Extract<BulkResult, { link: unknown }> | { readonly problem: SentProblem };
export type SentOutcome =
  | Exclude<StepOutcome, { kind: "failed" }>
  | { readonly kind: "failed"; readonly problem: SentProblem };

const received = ({ code, detail, more }: SentProblem): Problem => new Problem(code, detail, more);

const isStopping = 1;

/** The flag, as the thread reads it. */
export const isSet = (stopping: Int32Array): boolean => Atomics.load(stopping, 0) === isStopping;

function thread(settings: Record<string, string>, clock: Clock): Background {
  const stopping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const lateness = createLateness(clock);
  let notSoon = () => {};
  let notIdle = () => {};
  let worker: Worker | undefined;
  let ending: Promise<void> | undefined;
  let lastId = 0;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const left = Promise.withResolvers<void>();

  function start(): Worker {
    const started = new Worker(new URL("./background-thread.ts", import.meta.url).href);
    started.onmessage = (event: MessageEvent<ThreadMessage>) => {
      const message = event.data;
      if (message.kind === "closed") return;
      const job = waiting.get(message.id);
      waiting.delete(message.id);
      if (waiting.size === 0 && worker === started) notIdle = clock.after(idleThreadMs, endIdle);
      if (message.kind === "done") job?.resolve(message.result);
      else if (message.kind === "refused") job?.reject(received(message.problem));
      else if (message.code === "interrupted") job?.reject(interrupted());
      else job?.reject(Object.assign(new Error(message.message), { code: message.code }));
    };
    started.onerror = (event) => {
      if (worker !== started) return; // it had nothing to do any more
      worker = undefined;
      for (const job of waiting.values()) job.reject(new Error(`the background thread ended: ${event.message}`));
      waiting.clear();
    };
    started.postMessage({ kind: "open", settings, stopping, lateness: lateness.shared } satisfies ToThread);
    return started;
  }

  function endIdle(): void {
    if (worker === undefined) return;
    ending = endThread(worker);
    worker = undefined;
  }

  function interrupt(): void {
    Atomics.store(stopping, 0, isStopping);
    notSoon = clock.after(interruptMs, leaveBehind);
  }

  function leaveBehind(): void {
    for (const job of waiting.values()) job.reject(interrupted());
    waiting.clear();
    worker?.terminate();
    worker = undefined;
    left.resolve();
  }

  async function run(job: BackgroundJob): Promise<unknown> {
    if (isSet(stopping)) throw interrupted();
    notIdle();
    worker ??= start();
    const id = ++lastId;
    const result = Promise.withResolvers<unknown>();
    waiting.set(id, result);
    worker.postMessage({ ...job, id } satisfies ToThread);
    return result.promise;
  }

  return {
    async createMany(tenant, inputs, by, atomic = false) {
      const results = (await run({ kind: "createMany", tenant, inputs, by, atomic })) as SentResult[];
      return results.map((result) => ("link" in result ? result : { problem: received(result.problem) }));
    },
    async runSteps(tenant, steps, by) {
      const outcomes = (await run({ kind: "runSteps", tenant, steps, by })) as SentOutcome[];
      return outcomes.map((one) => (one.kind === "failed" ? { ...one, problem: received(one.problem) } : one));
    },
    tags: (tenant, prefix) => run({ kind: "tags", tenant, prefix }) as Promise<readonly TagUse[]>,
    find: (tenant, query) => run({ kind: "find", tenant, query }) as Promise<readonly Link[]>,
    countLinks: (tenant, filter, facts) => run({ kind: "countLinks", tenant, filter, facts }) as Promise<ListCounts>,
    trends: (tenant, query) => run({ kind: "trends", tenant, query }) as Promise<LinkTrends>,
    report: (tenant, subject, query) => run({ kind: "report", tenant, subject, query }) as Promise<ClickReport>,
    clicks: (tenant, subject, query) => run({ kind: "clicks", tenant, subject, query }) as Promise<ClickPage>,
    exportPart: (tenant, place) => run({ kind: "exportPart", tenant, place }) as Promise<WorkspaceExportPart>,
    busiest: (tenant) => run({ kind: "busiest", tenant }) as Promise<readonly BusyLink[]>,
    recount: (tenant, dryRun) => run({ kind: "recount", tenant, dryRun }) as Promise<Recount>,
    nearLimits: () => run({ kind: "nearLimits" }) as Promise<readonly NoticeUse[]>,
    findClickNotices: () => run({ kind: "findClickNotices" }) as Promise<FoundNotices>,
    clean: () => run({ kind: "clean" }) as Promise<Cleaned>,
    applyBlocklist: () => run({ kind: "applyBlocklist" }) as Promise<BlocklistOutcome>,
    condenseClicks: () => run({ kind: "condenseClicks" }) as Promise<Condensed>,
    purgeClicks: () => run({ kind: "purgeClicks" }) as Promise<PurgedClicks>,
    forgetVisitors: () => run({ kind: "forgetVisitors" }) as Promise<number>,
    moveLog: () => run({ kind: "moveLog" }) as Promise<void>,
    importStep: () => lateness.during(() => run({ kind: "importStep" }) as Promise<boolean>),
    stopSoon() {
      notSoon = clock.after(finishMs, interrupt);
    },
    async close() {
      notSoon();
      notIdle();
      await ending;
      const closing = worker;
      interrupt();
      if (closing !== undefined) await Promise.race([closed(closing), left.promise]);
      notSoon();
      leaveBehind();
    },
  };

  async function closed(closing: Worker): Promise<void> {
    await Promise.allSettled([...waiting.values()].map((job) => job.promise));
    await new Promise<void>((resolve) => {
      closing.addEventListener("message", (event: MessageEvent<ThreadMessage>) => {
        if (event.data.kind === "closed") resolve();
      });
      closing.postMessage({ kind: "close" } satisfies ToThread);
    });
  }
}

const interrupted = (): Problem =>
  new Problem("unavailable", "The server is shutting down and did not finish this request. Try again shortly.", {
    retryAfterSeconds: 5,
  });
