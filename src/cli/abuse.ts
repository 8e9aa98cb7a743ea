import { Command, InvalidArgumentError } from "commander";
import type { Report } from "../abuse/reports.ts";
import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import type { AbuseState } from "../sql/schema.ts";
import { withCore } from "./core.ts";
import { type OutputFormat, printFields, printRows, say } from "./print.ts";
import { commandBy, withBy } from "./suspend.ts";

const states: readonly AbuseState[] = ["open", "dismissed", "suspended"];
const listMost = 1_000;

export function abuseCommand(): Command {
  const command = new Command("abuse");
  command
    .command("list")
    .option("--state <word>", states.join(", "), parseState, "open")
    .option("--limit <n>", "maximum number of reports to list", parseLimit, 50)
    .option("--json", "print as JSON")
    .description("list reports, oldest first")
    .action(({ state, limit, ...format }: OutputFormat & { state: AbuseState; limit: number }) =>
      withCore(async ({ reports }) =>
        printRows(
          (await reports.list(state, limit)).map(show),
          ["id", "link", "reason", "createdAt", "url"],
          format,
          state === "open" ? "No open reports." : "No reports.",
        ),
      ),
    );
  command
    .command("show")
    .argument("<id>", "report ID (rep_…)")
    .option("--json", "print as JSON")
    .description("show a report in full")
    .action((id: string, format: OutputFormat) =>
      withCore(async (core) => printFields(show(await requireReport(core, id)), format)),
    );
  withBy(command.command("dismiss").argument("<id>", "report ID (rep_…)"))
    .description("close a report without touching the link")
    .action((id: string, { by }: { by: string }) =>
      withCore(async (core) => {
        const report = await requireOpen(core, id);
        await core.reports.dismiss(report.id, commandBy(by));
        say(`Dismissed ${report.id}.`);
      }),
    );
  withBy(command.command("suspend").argument("<id>", "report ID (rep_…)"))
    .option("--reason <text>", "reason; shown to the link's owner")
    .description("suspend the reported link and close all reports about it")
    .action((id: string, { by, reason }: { by: string; reason?: string }) =>
      withCore(async (core) => {
        const report = await requireOpen(core, id);
        const why = { cause: "operator", reason: reason ?? `reported: ${report.reason}`, by: commandBy(by) } as const;
        await core.suspensions.suspendLink(report, why);
        const closed = await core.reports.close(report, "suspended", why.by);
        say(`Suspended ${report.code} and closed ${closed} ${closed === 1 ? "report" : "reports"}.`);
      }),
    );
  return command;
}

async function requireReport({ reports }: Core, text: string): Promise<Report> {
  const id = parseId("report", text);
  const report = id && (await reports.get(id));
  if (report) return report;
  throw new Problem("not_found", `No report ${text} exists. To list reports: quicklink abuse list`);
}

async function requireOpen(core: Core, text: string): Promise<Report> {
  const report = await requireReport(core, text);
  if (report.state === "open") return report;
  throw new Problem("not_found", `${report.id} is already closed (${report.state} by ${report.closedBy}).`);
}

function show({ id, domain, code, reason, details, email, url, state, createdAt, closedAt, closedBy }: Report) {
  return {
    ...{ id, link: domain === "" ? code : `${domain}/${code}`, reason, details, email, url, state },
    createdAt: toIso(createdAt),
    closedAt: closedAt === null ? null : toIso(closedAt),
    closedBy,
  };
}

function parseState(text: string): AbuseState {
  const state = states.find((one) => one === text);
  if (state === undefined) throw new InvalidArgumentError(`Must be one of: ${states.join(", ")}.`);
  return state;
}

function parseLimit(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > listMost) {
    throw new InvalidArgumentError(`Must be a number from 1 to ${listMost}.`);
  }
  return Number(text);
}
