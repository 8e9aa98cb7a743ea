import { Command, InvalidArgumentError } from "commander";
import type { Report } from "../abuse/reports.ts";
import { toIso } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import { parseId } from "../base/ids.ts";
import type { Core } from "../core.ts";
import type { AbuseState } from "../sql/schema.ts";
import { withCore } from "./core.ts";
import { type Format, printFields, printRows, say } from "./print.ts";
import { withBy } from "./suspend.ts";

const states: readonly AbuseState[] = ["open", "dismissed", "suspended"];
const listMost = 1_000;

export function abuseCommand(): Command {
  const command = new Command("abuse");
  command
    .command("list")
    .option("--state <word>", states.join(", "), parseState, "open")
    .option("--limit <n>", "how many at most", parseLimit, 50)
    .option("--json", "as JSON")
    .description("list what people reported, the oldest first")
    .action(({ state, limit, ...format }: Format & { state: AbuseState; limit: number }) =>
      withCore(async ({ reports }) =>
        printRows(
          (await reports.list(state, limit)).map(show),
          ["id", "link", "reason", "createdAt", "url"],
          format,
          state === "open" ? "Nothing is reported." : "There are none.",
        ),
      ),
    );
  command
    .command("show")
    .argument("<id>", "rep_…, as listed")
    .option("--json", "as JSON")
    .description("show all of a report")
    .action((id: string, format: Format) =>
      withCore(async (core) => printFields(show(await requireReport(core, id)), format)),
    );
  withBy(command.command("dismiss").argument("<id>", "rep_…, as listed"))
    .description("close a report, and leave the link alone")
    .action((id: string, { by }: { by: string }) =>
      withCore(async (core) => {
        const report = await requireOpen(core, id);
        await core.reports.dismiss(report.id, by);
        say(`${report.id} is dismissed.`);
      }),
    );
  withBy(command.command("suspend").argument("<id>", "rep_…, as listed"))
    .option("--reason <text>", "why; the link's owner sees it")
    .description("suspend the link that a report is about, and close all reports about it")
    .action((id: string, { by, reason }: { by: string; reason?: string }) =>
      withCore(async (core) => {
        const report = await requireOpen(core, id);
        const why = { cause: "operator", reason: reason ?? `reported: ${report.reason}`, by } as const;
        await core.suspensions.suspendLink(report, why);
        const closed = await core.reports.close(report, "suspended", by);
        say(`${report.code} is suspended; ${closed} ${closed === 1 ? "report is" : "reports are"} closed.`);
      }),
    );
  return command;
}

async function requireReport({ reports }: Core, text: string): Promise<Report> {
  const id = parseId("report", text);
  const report = id && (await reports.get(id));
  if (report) return report;
  throw new Problem("not_found", `There is no report ${text}. See: quicklink abuse list`);
}

async function requireOpen(core: Core, text: string): Promise<Report> {
  const report = await requireReport(core, text);
  if (report.state === "open") return report;
  throw new Problem("not_found", `${report.id} is closed already: ${report.state} by ${report.closedBy}.`);
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
  if (state === undefined) throw new InvalidArgumentError(`There are ${states.join(", ")}.`);
  return state;
}

function parseLimit(text: string): number {
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > listMost) {
    throw new InvalidArgumentError(`Give a number from 1 to ${listMost}.`);
  }
  return Number(text);
}
