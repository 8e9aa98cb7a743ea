import { applyBlocklist, type BlocklistOutcome } from "../abuse/apply-blocklist.ts";
import { dayMs } from "../base/clock.ts";
import { Problem, type ProblemCode } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Resources } from "../base/resources.ts";
import { type FoundNotices, findClickNotices } from "../clicks/notices/find-notices.ts";
import { type ClickListQuery, type ClickPage, listClicks } from "../clicks/reports/list.ts";
import type { ReportQuery } from "../clicks/reports/query.ts";
import { type ClickReport, reportOn } from "../clicks/reports/report.ts";
import type { ReportSubject } from "../clicks/reports/scope.ts";
import { type PurgedClicks, purgeClicks } from "../clicks/rollups/purge.ts";
import { forgetVisitors } from "../clicks/rollups/purge-visitors.ts";
import { type Condensed, condense } from "../clicks/rollups/rounds.ts";
import type { Core } from "../core.ts";
import { nearLimits } from "../email/notices/near-limits.ts";
import type { NoticeUse } from "../email/notices/thresholds.ts";
import { createEmailStore } from "../email/outbox/store.ts";
import { type Recount, recount } from "../files/quota/storage-total.ts";
import { pruneAnswers } from "../idempotency/answers.ts";
import { monthName } from "../limits/window.ts";
import type { Link } from "../links/link.ts";
import type { BulkResult, LinkInput, Maker } from "../links/links.ts";
import { type BusyLink, busiestLinks } from "../links/read/busiest.ts";
import type { LinkQuery } from "../links/read/find.ts";
import { createFeed } from "../sql/feed.ts";
import { pruneLeases } from "../sql/leases.ts";
import { databaseTime } from "../sql/sql.ts";
import type { Tenant } from "../tenants/tenants.ts";

/**
 * Long-running work. On SQLite a statement blocks its thread, so bulk writes, reports and clean-up run in a separate
 * thread with its own connection, started on first use; on PostgreSQL the database does the work.
 *
 * When the server stops, work in the thread gets five seconds to finish. Then a flag that both threads see interrupts it
 * before its next statement: an open transaction is rolled back, and its caller gets 503. A statement that goes on for
 * seconds is left behind with its thread; the process ends without it.
 *
 * Tenants take turns (`resources.work`), so that a flood from one costs the others one job each. The operator's scans
 * have a separate place (`resources.upkeep`): they run beside tenants' work, in short statements.
 */
export interface Background {
  /** The only one that takes no turn here: parsing the links is part of the work, and its route has taken a turn. */
  createMany(tenant: Tenant, inputs: readonly LinkInput[], maker: Maker, atomic?: boolean): Promise<BulkResult[]>;
  /** A page of a list that no index covers. */
  find(tenant: TenantId, query: LinkQuery): Promise<readonly Link[]>;
  /** A report on clicks. */
  report(tenant: TenantId, subject: ReportSubject, query: ReportQuery): Promise<ClickReport>;
  /** A page of single clicks. */
  clicks(tenant: TenantId, subject: ReportSubject, query: ClickListQuery): Promise<ClickPage>;
  /** The links closest to their limit this month. */
  busiest(tenant: Tenant): Promise<readonly BusyLink[]>;
  /** Recounts a tenant's files. */
  recount(tenant: TenantId, dryRun: boolean): Promise<Recount>;
  /** The nearly or fully used limits of tenants with a contact address. */
  nearLimits(): Promise<readonly NoticeUse[]>;
  /** What tenants are to be told about their clicks: a part of them in each call. */
  findClickNotices(): Promise<FoundNotices>;
  /**
   * Reduces links a year past expiry to their version rows; deletes changes that every follower has seen, old months,
   * and emails 90 days after their end.
   */
  clean(): Promise<Cleaned>;
  /** Suspends links to hosts that are now on the blocklist, and restores those that no longer are. */
  applyBlocklist(): Promise<BlocklistOutcome>;
  /** Gives new versions to the links of changed tenants if a command did not finish; returns how many. */
  raiseOutdated(): Promise<number>;
  /** Condenses the clicks of ended hours, days and months. */
  condenseClicks(signal?: AbortSignal): Promise<Condensed>;
  /** Deletes clicks and roll-ups that are no longer kept. */
  purgeClicks(signal?: AbortSignal): Promise<PurgedClicks>;
  /** Deletes what visitors of days that are over were recognised by; returns how many. */
  forgetVisitors(): Promise<number>;
  /** The server stops: what does not finish soon is interrupted. */
  stopSoon(): void;
  /** Interrupts what is still running. */
  close(): Promise<void>;
}

// A stop may take ten seconds, and the last hits are recorded after this.
const finishMs = 5_000;
const interruptMs = 2_000; // several statements, of at most a hundred rows each

export function createBackground(core: Core): Background {
  return inTurns(core.resources, core.config.embedded ? thread(core) : onThisThread(core));
}

function inTurns({ work, upkeep }: Resources, background: Background): Background {
  return {
    ...background,
    find: (tenant, query) => work.run(tenant, () => background.find(tenant, query)),
    report: (tenant, subject, query) => work.run(tenant, () => background.report(tenant, subject, query)),
    clicks: (tenant, subject, query) => work.run(tenant, () => background.clicks(tenant, subject, query)),
    busiest: (tenant) => work.run(tenant.id, () => background.busiest(tenant)),
    recount: (tenant, dryRun) => upkeep.run("recount", () => background.recount(tenant, dryRun)),
    nearLimits: () => upkeep.run("nearLimits", () => background.nearLimits()),
    findClickNotices: () => upkeep.run("findClickNotices", () => background.findClickNotices()),
    clean: () => upkeep.run("clean", () => background.clean()),
    applyBlocklist: () => upkeep.run("applyBlocklist", () => background.applyBlocklist()),
    raiseOutdated: () => upkeep.run("raiseOutdated", () => background.raiseOutdated()),
    condenseClicks: (signal) => upkeep.run("condenseClicks", () => background.condenseClicks(signal)),
    purgeClicks: (signal) => upkeep.run("purgeClicks", () => background.purgeClicks(signal)),
    forgetVisitors: () => upkeep.run("forgetVisitors", () => background.forgetVisitors()),
  };
}

export interface Cleaned {
  readonly links: number;
  readonly changes: number;
  readonly months: number;
  readonly emails: number;
  readonly answers: number;
}

const purgeDays = 365;
const feedDays = 1;
const emailDays = 90;
const rowsAtOnce = 500; // short transactions: another writer waits for one of them at most

/** The same work on the current thread. */
export function onThisThread(core: Core): Background {
  return {
    createMany: (tenant, inputs, maker, atomic) => core.links.createMany(tenant, inputs, maker, atomic),
    find: (tenant, query) => core.store.find(tenant, query),
    report: (tenant, subject, query) => reportOn(core.sql, core.clock, tenant, subject, query),
    clicks: (tenant, subject, query) => listClicks(core.sql, core.clock, tenant, subject, query),
    busiest: ({ id, limits }) => busiestLinks(core.sql, id, limits.hitsPerLinkPerMonth, monthName(core.clock.now())),
    recount: (tenant, dryRun) => recount(core.sql, tenant, dryRun),
    nearLimits() {
      const now = core.clock.now();
      return nearLimits(core.sql, core.tenants, monthName(now), now);
    },
    findClickNotices: () => findClickNotices({ ...core, baseUrl: core.config.baseUrl }),
    async clean() {
      const now = core.clock.now();
      const feed = createFeed(core.sql);
      return {
        links: await untilFew(() => core.store.purge(now - purgeDays * dayMs, rowsAtOnce, now)),
        changes: await untilFew(() => feed.prune(now - feedDays * dayMs, rowsAtOnce)),
        months: await untilFew(() => pruneLeases(core.sql, now, rowsAtOnce)),
        emails: await untilFew(() => createEmailStore(core.sql).prune(now - emailDays * dayMs, rowsAtOnce)),
        answers: await untilFew(() => pruneAnswers(core.sql, rowsAtOnce)),
      };
    },
    applyBlocklist: () => applyBlocklist(core),
    raiseOutdated: () => core.outdated.finish(),
    // By the database's time, as the writers of clicks: a server whose clock is ahead must not condense too early.
    condenseClicks: async (signal) =>
      condense(core.sql, { now: await databaseTime(core.sql), ...(signal && { signal }) }),
    purgeClicks: async (signal) => purgeClicks(core.sql, await databaseTime(core.sql), signal),
    forgetVisitors: async () => forgetVisitors(core.sql, await databaseTime(core.sql)),
    stopSoon() {}, // the database does the work, and the socket's deadline is the limit
    async close() {},
  };
}

async function untilFew(step: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    const done = await step();
    total += done;
    if (done < rowsAtOnce) return total;
  }
}

export type BackgroundJob =
  | {
      readonly kind: "createMany";
      readonly tenant: Tenant;
      readonly inputs: readonly LinkInput[];
      readonly maker: Maker;
      readonly atomic: boolean;
    }
  | { readonly kind: "find"; readonly tenant: TenantId; readonly query: LinkQuery }
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
  | { readonly kind: "busiest"; readonly tenant: Tenant }
  | { readonly kind: "recount"; readonly tenant: TenantId; readonly dryRun: boolean }
  | { readonly kind: "nearLimits" }
  | { readonly kind: "findClickNotices" }
  | { readonly kind: "clean" }
  | { readonly kind: "applyBlocklist" }
  | { readonly kind: "raiseOutdated" }
  | { readonly kind: "condenseClicks" }
  | { readonly kind: "purgeClicks" }
  | { readonly kind: "forgetVisitors" };

export type ToThread =
  | { readonly kind: "open"; readonly settings: Record<string, string>; readonly stopping: Int32Array }
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

const received = ({ code, detail, more }: SentProblem): Problem => new Problem(code, detail, more);

const isStopping = 1;

/** The flag, as the thread reads it. */
export const isSet = (stopping: Int32Array): boolean => Atomics.load(stopping, 0) === isStopping;

function thread({ config, clock }: Pick<Core, "config" | "clock">): Background {
  const stopping = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let notSoon = () => {};
  let worker: Worker | undefined;
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
      if (message.kind === "done") job?.resolve(message.result);
      else if (message.kind === "refused") job?.reject(received(message.problem));
      else if (message.code === "interrupted") job?.reject(interrupted());
      else job?.reject(Object.assign(new Error(message.message), { code: message.code }));
    };
    started.onerror = (event) => {
      worker = undefined;
      for (const job of waiting.values()) job.reject(new Error(`the background thread ended: ${event.message}`));
      waiting.clear();
    };
    started.postMessage({ kind: "open", settings: config.source, stopping } satisfies ToThread);
    return started;
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
    worker ??= start();
    const id = ++lastId;
    const result = Promise.withResolvers<unknown>();
    waiting.set(id, result);
    worker.postMessage({ ...job, id } satisfies ToThread);
    return result.promise;
  }

  return {
    async createMany(tenant, inputs, maker, atomic = false) {
      const results = (await run({ kind: "createMany", tenant, inputs, maker, atomic })) as SentResult[];
      return results.map((result) => ("link" in result ? result : { problem: received(result.problem) }));
    },
    find: (tenant, query) => run({ kind: "find", tenant, query }) as Promise<readonly Link[]>,
    report: (tenant, subject, query) => run({ kind: "report", tenant, subject, query }) as Promise<ClickReport>,
    clicks: (tenant, subject, query) => run({ kind: "clicks", tenant, subject, query }) as Promise<ClickPage>,
    busiest: (tenant) => run({ kind: "busiest", tenant }) as Promise<readonly BusyLink[]>,
    recount: (tenant, dryRun) => run({ kind: "recount", tenant, dryRun }) as Promise<Recount>,
    nearLimits: () => run({ kind: "nearLimits" }) as Promise<readonly NoticeUse[]>,
    findClickNotices: () => run({ kind: "findClickNotices" }) as Promise<FoundNotices>,
    clean: () => run({ kind: "clean" }) as Promise<Cleaned>,
    applyBlocklist: () => run({ kind: "applyBlocklist" }) as Promise<BlocklistOutcome>,
    raiseOutdated: () => run({ kind: "raiseOutdated" }) as Promise<number>,
    condenseClicks: () => run({ kind: "condenseClicks" }) as Promise<Condensed>,
    purgeClicks: () => run({ kind: "purgeClicks" }) as Promise<PurgedClicks>,
    forgetVisitors: () => run({ kind: "forgetVisitors" }) as Promise<number>,
    stopSoon() {
      notSoon = clock.after(finishMs, interrupt);
    },
    async close() {
      notSoon();
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
