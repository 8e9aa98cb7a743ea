import type { Clock } from "../base/clock.ts";
import type { LinkId, TenantId } from "../base/ids.ts";
import { tenantEmailLimit } from "../email/outbox/charges.ts";
import { createEmailSeeds } from "../email/outbox/counter-seeds.ts";
import { callLimits, keyCalls, tenantCalls } from "../limits/call-limiter.ts";
import type { Counters, Limit, StatusAnswer } from "../limits/counters.ts";
import { type Period, spentAt } from "../limits/forecast.ts";
import { storageLimit } from "../limits/storage-limit.ts";
import { monthOf } from "../limits/window.ts";
import type { BusyLink } from "../links/read/busiest.ts";
import type { Sql } from "../sql/sql.ts";
import { type Contents, contentsOf } from "./contents.ts";
import type { ApiKey } from "./keys.ts";
import { usedInMonth } from "./monthly-usage.ts";
import type { Tenant } from "./tenants.ts";

/** Every limit of a tenant and its usage, from wherever each is counted. */
export interface Usage {
  readonly limits: readonly LimitUse[];
  /** The links closest to their monthly hits. */
  readonly links: readonly LinkUse[];
  readonly contents: Contents;
}

export interface LimitUse {
  readonly name: string;
  readonly state: UseState;
  /** Null if unknown: `state` says why. */
  readonly used: number | null;
  readonly held: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
  /** When the full limit is available again; null if nothing is used, or it never resets. */
  readonly resetsAt: number | null;
  readonly spentAt: number | null;
}

export interface LinkUse extends LimitUse {
  readonly link: LinkId;
  readonly domain: string;
  readonly code: string;
}

export type UseState =
  | "known"
  /** Not counted, because there is no limit. */
  | "not_counted"
  /** The counters are unavailable. */
  | "unavailable"
  /** In the memory of the server, which is another process. */
  | "in_server";

export interface UsageSources {
  readonly sql: Sql;
  readonly clock: Clock;
  /** `undefined` when they are in the memory of another process. */
  readonly counters: { readonly calls: Counters; readonly ledger: Counters } | undefined;
  /** The bytes of files; `undefined` if unknown right now. */
  readonly storage: (tenant: TenantId) => Promise<{ readonly used: number; readonly held: number } | undefined>;
  readonly busiest: (tenant: Tenant) => Promise<readonly BusyLink[]>;
}

export interface UsageReport {
  /** Includes the key's limit, if it has one. */
  of(tenant: Tenant, key?: ApiKey): Promise<Usage>;
}

export function createUsage({ sql, clock, counters, storage, busiest }: UsageSources): UsageReport {
  const seeds = createEmailSeeds(sql);

  async function counted(limits: readonly Limit[], store: Counters | undefined): Promise<LimitUse[]> {
    if (limits.length === 0) return [];
    const answer = await store?.status(limits);
    return limits.map((limit) => fromCounters(limit, answer, clock.now()));
  }

  async function calls(tenant: Tenant, key: ApiKey | undefined): Promise<LimitUse[]> {
    const limits = callLimits({
      tenant: { id: tenant.id, max: tenant.limits.apiPerMinute },
      key: { id: key?.id ?? "", max: key?.apiPerMinute ?? null },
    });
    const found = await counted(limits, counters?.calls);
    const own = found.filter(({ name }) => name === keyCalls);
    return [found.find(({ name }) => name === tenantCalls) ?? unknown(tenantCalls, null, "not_counted"), ...own];
  }

  async function newLinks(tenant: Tenant): Promise<LimitUse> {
    const now = clock.now();
    const used = await usedInMonth(sql.db, { tenant: tenant.id, name: "links", month: monthOf(now).name });
    return inMonth("linksPerMonth", used, 0, tenant.limits.linksPerMonth, now);
  }

  async function files({ id, limits }: Tenant): Promise<LimitUse> {
    const { name, max } = storageLimit(id, limits.storageBytes);
    const found = await storage(id);
    if (found === undefined) return unknown(name, max, "unavailable");
    return known(name, found.used, found.held, max, null, undefined, clock.now());
  }

  return {
    async of(tenant, key) {
      const { limits } = tenant;
      const kept = [
        tenantEmailLimit(tenant.id, "smtp", limits.emailsPerHourSmtp, () => seeds.tenant(tenant.id, "smtp")),
        tenantEmailLimit(tenant.id, "sendgrid", limits.emailsPerHourSendgrid, () =>
          seeds.tenant(tenant.id, "sendgrid"),
        ),
      ];
      const [callUse, linkUse, fileUse, keptUse, busy, contents] = await Promise.all([
        calls(tenant, key),
        newLinks(tenant),
        files(tenant),
        counted(kept, counters?.ledger),
        busiest(tenant),
        contentsOf(sql.db, tenant.id),
      ]);
      return {
        contents,
        limits: [...callUse, linkUse, fileUse, ...keptUse],
        links: busy.map(({ id, domain, code, counted, reserved, max }) => ({
          ...inMonth("hitsPerLinkPerMonth", counted, reserved, max, clock.now()),
          ...{ link: id, domain, code },
        })),
      };
    },
  };
}

function unknown(name: string, limit: number | null, state: UseState): LimitUse {
  return { name, state, used: null, held: null, limit, resetsAt: null, spentAt: null };
}

function fromCounters(limit: Limit, answer: StatusAnswer | undefined, now: number): LimitUse {
  const status = answer?.kind === "known" ? answer.limits.find((one) => one.limit === limit) : undefined;
  if (status === undefined) return unknown(limit.name, limit.max, answer === undefined ? "in_server" : "unavailable");
  return known(limit.name, status.used, status.held, limit.max, status.resetsAt, undefined, now);
}

function inMonth(name: string, used: number, held: number, max: number | null, now: number): LimitUse {
  const month = monthOf(now);
  return known(name, used, held, max, month.endsAt, month, now);
}

function known(
  name: string,
  used: number,
  held: number,
  limit: number | null,
  resetsAt: number | null,
  period: Period | undefined,
  now: number,
): LimitUse {
  const spent = spentAt({ used, held, max: limit }, period, now);
  return { name, state: "known", used, held, limit, resetsAt, spentAt: spent };
}
