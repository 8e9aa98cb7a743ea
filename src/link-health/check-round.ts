import { type Clock, dayMs } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import type { Shares } from "../base/shares.ts";
import type { Fetched } from "../safe-fetch/outcome.ts";
import type { SafeFetch } from "../safe-fetch/safe-fetch.ts";
import type { DueCheck, HealthStore } from "./store.ts";
import { titleOf } from "./title.ts";
import { judgeHealth, nextCheckAt } from "./verdict.ts";

/**
 * One round of destination checks: adopts new links, takes what is due, and checks each. A host gets one request at a
 * time and a limited number per round; the rest waits. Tenants take turns, and each has a limited number per round: a
 * tenant with slow destinations delays only its own. Rounds are short and run one after the other, in one process at a
 * time (`sql/jobs.ts`), so what a crash interrupts is due again.
 */
export interface CheckRoundSettings {
  readonly store: HealthStore;
  readonly safeFetch: SafeFetch;
  readonly places: Shares;
  readonly everyMs: number;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly chance: () => number;
  /** Only if the link has none yet. */
  readonly setTitle: (tenant: TenantId, link: LinkId, title: string) => Promise<void>;
}

export interface CheckRound {
  readonly adopted: number;
  readonly checked: number;
  readonly notOk: number;
}

const adoptedAtOnce = 100;
const adoptedMost = 1_000;
const dueMost = 500;
const perHost = 10;
const perTenant = 100;
const crowdedMs = 300_000;
const roundMs = 30_000;
const hourMs = 3_600_000;

export async function runCheckRound(settings: CheckRoundSettings, signal: AbortSignal): Promise<CheckRound> {
  const { store, clock, everyMs, chance } = settings;
  const started = clock.elapsed();
  const isOver = () => signal.aborted || clock.elapsed() - started > roundMs;

  let adopted = 0;
  for (let last = adoptedAtOnce; last === adoptedAtOnce && adopted < adoptedMost && !signal.aborted; adopted += last) {
    last = await store.adopt(clock.now(), adoptedAtOnce, () => clock.now() + Math.round(hourMs + chance() * everyMs));
  }

  const waiting: DueCheck[][] = [];
  const now = clock.now();
  const found = await store.due(now, dueMost);
  const due = [...Map.groupBy(found, ({ tenantId }) => tenantId).values()].flatMap((all) => all.slice(0, perTenant));
  // A tenant that fills the page leaves room for the others behind it.
  if (found.length === dueMost) {
    const chosen = new Set(due);
    const crowding = found.filter((target) => !chosen.has(target)).map(({ id }) => id);
    await store.putOff(crowding, now + Math.round(chance() * crowdedMs));
  }
  for (const [host, targets] of Map.groupBy(due, hostOf)) {
    const asked: DueCheck[] = [];
    for (const target of targets) {
      if (target.tenantId === null) await store.forget(target.id);
      else if (host === "" || !isServed(target, now)) await store.putOff([target.id], now + dayMs);
      else if (asked.length >= perHost) await store.putOff([target.id], now + Math.round(chance() * hourMs));
      else asked.push(target);
    }
    if (asked.length > 0) waiting.push(asked);
  }

  let checked = 0;
  let notOk = 0;
  const ask = async (host: readonly DueCheck[]) => {
    for (const target of host) {
      const state = await inTurn(settings.places, target, signal, async () =>
        isOver() ? undefined : check(settings, target, signal),
      );
      if (state === undefined) continue;
      checked++;
      if (state !== "ok") notOk++;
    }
  };
  await Promise.all(waiting.map(ask));
  return { adopted, checked, notOk };
}

/** `undefined` if there is no place for it: it stays due. */
async function inTurn<Result>(
  places: Shares,
  { tenantId }: DueCheck,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const entered = await places.enter(tenantId ?? "", { signal, waitMs: null });
  if (entered.kind === "busy") return undefined;
  try {
    return await work();
  } finally {
    entered.leave();
  }
}

async function check(settings: CheckRoundSettings, target: DueCheck, signal: AbortSignal) {
  const { store, safeFetch, clock, everyMs, chance, setTitle } = settings;
  const { fetched, tookMs } = await fetchDestination(safeFetch, clock, target, signal);
  if (signal.aborted) return undefined;
  const responseMs = fetched.kind === "answered" ? tookMs : null;
  const verdict = { ...judgeHealth(target.failures, fetched), responseMs };
  const now = clock.now();
  if (target.wantsTitle && target.title === null && target.tenantId !== null && fetched.kind === "answered") {
    const title = verdict.state === "ok" ? titleOf(fetched.body, fetched.contentType) : undefined;
    if (title !== undefined) await setTitle(target.tenantId, target.id, title);
  }
  await store.record(target, verdict, now, nextCheckAt(verdict, now, everyMs, chance()));
  return verdict.state;
}

/** HEAD is cheaper for both sides, but some servers only support GET. */
async function fetchDestination(
  safeFetch: SafeFetch,
  clock: Clock,
  { url, wantsTitle }: DueCheck,
  signal: AbortSignal,
): Promise<{ readonly fetched: Fetched; readonly tookMs: number }> {
  const timed = async (method: "HEAD" | "GET") => {
    const started = clock.elapsed();
    const fetched = await safeFetch.fetch(method, url, signal);
    return { fetched, tookMs: Math.round(clock.elapsed() - started) };
  };
  if (!wantsTitle) {
    const head = await timed("HEAD");
    const { fetched } = head;
    if (fetched.kind === "refused" || (fetched.kind === "answered" && fetched.status < 400)) return head;
  }
  return timed("GET");
}

const isServed = ({ active, expiresAt }: DueCheck, now: number): boolean =>
  active && (expiresAt === null || expiresAt > now);

const hostOf = ({ url }: DueCheck): string => (URL.canParse(url) ? new URL(url).hostname : "");
