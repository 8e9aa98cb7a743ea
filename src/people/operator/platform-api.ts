import type { Reports } from "../../abuse/reports.ts";
import type { Suspensions } from "../../abuse/suspensions.ts";
import { type Clock, toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { parseId } from "../../base/ids.ts";
import type { PlatformEmails } from "../../email/platform-usage.ts";
import type { Actor } from "../../history/history.ts";
import { type Api, json, jsonBody, route, singleLine, z } from "../../http/route.ts";
import type { JobState } from "../../sql/jobs.ts";
import type { SignedIn } from "../sessions.ts";

/** The server itself, for its operators: reports of abuse, emails of all workspaces, jobs, and its health. */
const reasonMost = 500;
const states = ["open", "dismissed", "suspended"] as const;
const reportsMost = 200;
const sendersMost = 20;

const reportSchema = z
  .object({
    id: z.string(),
    domain: z.string().openapi({ description: "Empty: the server's own." }),
    code: z.string(),
    reason: z.string(),
    details: z.string().nullable(),
    email: z.string().nullable().openapi({ description: "Of the person who reported it." }),
    url: z.string().nullable().openapi({ description: "Where the link led then." }),
    state: z.enum(states),
    createdAt: z.string(),
    closedAt: z.string().nullable(),
    closedBy: z.string().nullable(),
  })
  .openapi("AbuseReport");

const about = { tags: ["Operator"] };
const params = z.object({ id: z.string() });

const routes = {
  reports: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/abuse", operationId: "listAbuseReports", ...about },
      summary: "List reports of abuse, oldest first",
      request: { query: z.strictObject({ state: z.enum(states).default("open") }) },
    },
    { 200: json(z.object({ items: z.array(reportSchema) }).openapi("AbuseReports"), "The oldest 200") },
    "invalid_input",
  ),
  dismiss: route(
    "operator",
    {
      ...{ method: "post", path: "/api/operator/abuse/{id}/dismiss", operationId: "dismissAbuseReport", ...about },
      summary: "Close a report without touching the link",
      request: { params },
    },
    { 204: { description: "Dismissed" } },
    ...(["not_found", "wrong_origin"] as const),
  ),
  suspend: route(
    "operator",
    {
      ...{ method: "post", path: "/api/operator/abuse/{id}/suspend", operationId: "suspendReportedLink", ...about },
      summary: "Suspend the reported link, and close all reports about it",
      request: {
        params,
        body: jsonBody(
          z
            .strictObject({
              reason: singleLine(reasonMost).optional().openapi({ description: "Shown to its workspace." }),
            })
            .openapi("ReportedSuspension"),
        ),
      },
    },
    { 200: json(z.object({ closed: z.int() }).openapi("ClosedReports"), "How many reports were closed") },
    ...(["invalid_input", "not_found", "wrong_origin"] as const),
  ),
  email: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/email", operationId: "getPlatformEmails", ...about },
      summary: "Emails of all workspaces through the platform's mail server in the last hour",
    },
    {
      200: json(
        z
          .object({
            used: z.int().nullable().openapi({ description: "Null: the counters are unavailable." }),
            limit: z.int().nullable(),
            ordinaryLimit: z
              .int()
              .nullable()
              .openapi({ description: "The rest is reserved for mails about accounts." }),
            resetsAt: z.string().nullable(),
            kinds: z.array(z.object({ kind: z.string(), used: z.int() })),
            workspaces: z.array(z.object({ workspace: z.string(), used: z.int(), limit: z.int().nullable() })),
          })
          .openapi("PlatformEmails"),
        "The figures",
      ),
    },
  ),
  jobs: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/jobs", operationId: "listJobs", ...about },
      summary: "Jobs that one server runs for all",
    },
    {
      200: json(
        z
          .object({
            items: z.array(
              z.object({
                name: z.string(),
                succeededAt: z.string().nullable(),
                failures: z.int().openapi({ description: "Failed runs since the last success." }),
                error: z.string().nullable(),
                unfinishedSince: z.string().nullable(),
              }),
            ),
          })
          .openapi("Jobs"),
        "All of them",
      ),
    },
  ),
  health: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/health", operationId: "getHealth", ...about },
      summary: "What `quicklink doctor` and `/readyz` know",
    },
    {
      200: json(
        z
          .object({
            status: z.enum(["ready", "degraded", "unready"]),
            dependencies: z.array(
              z.object({ name: z.string(), ok: z.boolean(), ms: z.number(), error: z.string().nullable() }),
            ),
            findings: z.array(
              z.object({
                status: z.enum(["ok", "warn", "fail"]),
                check: z.string(),
                found: z.string(),
                advice: z.string().nullable(),
              }),
            ),
            checkedAt: z.string().openapi({ description: "When the findings were made: up to 10 seconds ago." }),
          })
          .openapi("Health"),
        "The findings",
      ),
    },
    "busy",
  ),
};

export interface OperatorPlatformApi {
  readonly reports: Reports;
  readonly suspensions: Pick<Suspensions, "suspendLink">;
  readonly emails: PlatformEmails;
  readonly jobs: () => Promise<readonly JobState[]>;
  readonly readiness: () => Promise<{
    readonly status: "ready" | "degraded" | "unready";
    readonly dependencies: Record<string, { readonly ok: boolean; readonly ms: number; readonly error?: string }>;
  }>;
  readonly findings: () => Promise<{ readonly at: number; readonly findings: readonly HealthFinding[] }>;
  readonly clock: Clock;
}

/** What one check found. */
export interface HealthFinding {
  readonly status: "ok" | "warn" | "fail";
  readonly check: string;
  readonly found: string;
  /** What to do. */
  readonly advice?: string;
}

export function operatorPlatformRoutes(api: Api, settings: OperatorPlatformApi): void {
  const { reports, suspensions, emails, jobs, readiness, findings } = settings;
  const actor = ({ person }: SignedIn): Actor => ({ kind: "person", id: person.id });
  const time = (at: number | null) => (at === null ? null : toIso(at));

  async function requireOpen(text: string) {
    const id = parseId("report", text);
    const report = id && (await reports.get(id));
    if (!report) throw new Problem("not_found", "There is no such report.");
    if (report.state !== "open") throw new Problem("not_found", `The report is already closed (${report.state}).`);
    return report;
  }

  api.openapi(routes.reports, async (c) => {
    const found = await reports.list(c.req.valid("query").state, reportsMost);
    const items = found.map(({ createdAt, closedAt, ...report }) => ({
      ...report,
      createdAt: toIso(createdAt),
      closedAt: time(closedAt),
    }));
    return c.json({ items }, 200);
  });

  api.openapi(routes.dismiss, async (c) => {
    const { id } = await requireOpen(c.req.valid("param").id);
    await reports.dismiss(id, actor(c.get("signedIn")));
    return c.body(null, 204);
  });

  api.openapi(routes.suspend, async (c) => {
    const report = await requireOpen(c.req.valid("param").id);
    const { reason = `reported: ${report.reason}` } = c.req.valid("json");
    const by = actor(c.get("signedIn"));
    await suspensions.suspendLink(report, { cause: "operator", reason, by });
    return c.json({ closed: await reports.close(report, "suspended", by) }, 200);
  });

  api.openapi(routes.email, async (c) => {
    const { resetsAt, ...standing } = await emails.standing();
    const senders = await emails.tenants(sendersMost);
    const workspaces = senders.map(({ tenant, used, limit }) => ({ workspace: tenant, used, limit }));
    const kinds = [...(await emails.kinds())];
    return c.json({ ...standing, resetsAt: time(resetsAt), kinds, workspaces }, 200);
  });

  api.openapi(routes.jobs, async (c) => {
    const items = (await jobs()).map(({ name, succeededAt, failures, error, unfinishedSince }) => ({
      ...{ name, failures, error, succeededAt: time(succeededAt), unfinishedSince: time(unfinishedSince) },
    }));
    return c.json({ items }, 200);
  });

  api.openapi(routes.health, async (c) => {
    const [{ status, dependencies }, found] = await Promise.all([readiness(), findings()]);
    const shown = Object.entries(dependencies).map(([name, { ok, ms, error = null }]) => ({ name, ok, ms, error }));
    const all = found.findings.map(({ advice = null, ...finding }) => ({ ...finding, advice }));
    return c.json({ status, dependencies: shown, findings: all, checkedAt: toIso(found.at) }, 200);
  });
}
