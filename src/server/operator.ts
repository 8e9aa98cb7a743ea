import type { Clock } from "../base/clock.ts";
import { withDeadline } from "../base/deadline.ts";
import type { Config } from "../config/config.ts";
import { createPlatformEmails } from "../email/platform-usage.ts";
import type { Pages } from "../http/pagination.ts";
import type { Api } from "../http/route.ts";
import { createOperators } from "../people/operator/operators.ts";
import { operatorPeopleRoutes } from "../people/operator/people-api.ts";
import { type HealthFinding, operatorPlatformRoutes } from "../people/operator/platform-api.ts";
import { operatorWorkspaceRoutes } from "../people/operator/workspaces-api.ts";
import type { SignedIn } from "../people/sessions.ts";
import { createWorkspaces } from "../people/workspaces/workspaces.ts";
import { readJobs } from "../sql/jobs.ts";
import type { UsageReport } from "../tenants/usage.ts";
import type { ApiParts } from "./http.ts";
import type { Wiring } from "./wiring.ts";

/** Wires the API of operators, from what the commands use. */
export interface OperatorParts extends Pick<ApiParts, "cache" | "jobs" | "counters" | "readiness"> {
  readonly pages: Pages;
  readonly usage: UsageReport;
  readonly requireFresh: (signedIn: SignedIn) => void;
}

export function openOperatorRoutes({ core }: Wiring, parts: OperatorParts): ((api: Api) => void)[] {
  const { config, sql, clock, people, sessions, tenants, suspensions, reports } = core;
  const { pages, usage, requireFresh, counters, readiness } = parts;
  const workspaces = createWorkspaces({ sql, clock, sessions, publish: parts.cache.publish });
  const operators = createOperators({ sql, people, sessions });
  const emails = createPlatformEmails({ sql, tenants, counters: counters.ledger, max: config.QL_EMAILS_PER_HOUR });
  const jobs = () => readJobs(sql);
  const findings = openFindings(config, clock);
  return [
    (api) => operatorPeopleRoutes(api, { operators, people, sessions, workspaces, pages, requireFresh }),
    (api) =>
      operatorWorkspaceRoutes(api, {
        ...{ tenants, workspaces, suspensions, usage, pages, requireFresh },
        baseUrl: config.baseUrl,
      }),
    (api) => operatorPlatformRoutes(api, { reports, suspensions, emails, jobs, readiness, findings, clock }),
  ];
}

interface Findings {
  readonly at: number;
  readonly findings: readonly HealthFinding[];
}

/** The checks connect to everything that the server uses: one run at a time, whatever is asked. */
const freshFor = 10_000;
const checksMs = 20_000;

function openFindings(config: Config, clock: Clock): () => Promise<Findings> {
  let last: { readonly at: number; readonly result: Promise<Findings> } | undefined;

  async function run(): Promise<Findings> {
    const { examine } = await import("../doctor/doctor.ts");
    const findings = await withDeadline(examine(config), checksMs, "the checks");
    return { at: clock.now(), findings };
  }

  return () => {
    if (last === undefined || clock.elapsed() - last.at > freshFor) last = { at: clock.elapsed(), result: run() };
    return last.result;
  };
}
