import { Command, Option } from "commander";
import { importedBefore } from "../clicks/reports/imported.ts";
import { storedFilters } from "../clicks/reports/link-filter.ts";
import { comparisons, parseReport, type ReportParams } from "../clicks/reports/query.ts";
import { reportOn } from "../clicks/reports/report.ts";
import { showReport } from "../clicks/reports/schemas.ts";
import { clickSettings, type ReportSubject } from "../clicks/reports/scope.ts";
import { intervals } from "../clicks/reports/zones.ts";
import { shortUrl, shownHost } from "../links/link.ts";
import { printDrawing, printJson } from "./print.ts";
import { statsLines } from "./stats-drawing.ts";
import { findLink, linkArgument, type TenantOption, withTenant } from "./tenant-links.ts";
import { terminal } from "./terminal.ts";

type Given = TenantOption & Omit<ReportParams, "limit" | "breakdown">;

export function statsCommand(): Command {
  return new Command("stats")
    .argument("[code]", `${linkArgument}; without it, all links`)
    .option("--tenant <slug>", "workspace that owns the link", "default")
    .option("--from <time>", "a date, or a time with an offset (default: 30 days ago)")
    .option("--to <time>", "a date, which includes its whole day, or a time (default: now)")
    .option("--zone <name>", "time zone, such as Europe/Berlin (default: the workspace's)")
    .addOption(new Option("--interval <name>", "interval of the series").choices(intervals))
    .addOption(new Option("--compare <period>", "period to compare with").choices(comparisons).default("previous"))
    .option("--filter <filter...>", "such as country=DE,AT or browser!=Chrome or referrer~news")
    .option("--json", "print as JSON")
    .addHelpText(
      "after",
      "\nExample:\n  $ quicklink stats spring --from 2026-03-01 --to 2026-03-31 --filter country=DE",
    )
    .action((code: string | undefined, options: Given) =>
      withTenant(options, async (core, tenant) => {
        const link = code === undefined ? undefined : await findLink(core, tenant, code);
        const subject: ReportSubject = link === undefined ? { kind: "tenant" } : { kind: "link", id: link.id };
        const { zone } = await clickSettings(core.sql, tenant.id);
        const parsed = parseReport(options, zone, core.clock.now());
        const query = { ...parsed, filters: storedFilters(parsed.filters, core.links.domainOf) };
        const report = await reportOn(core.sql, core.clock, tenant.id, subject, query);
        if (options.json) {
          printJson(showReport(report, query, (domain) => shownHost(core.config.baseUrl, domain)));
          return;
        }
        const { stdout } = terminal();
        const layout = {
          columns: stdout.columns || 80,
          colours: stdout.isTTY === true && stdout.hasColors?.() === true,
        };
        const title = link === undefined ? tenant.slug : shortUrl(core.config.baseUrl, link);
        const about = {
          ...{ title, zone: query.zone, interval: query.interval, traffic: query.traffic },
          command: commandOf(code, options),
          importedBefore:
            query.filters.length > 0 ? null : await importedBefore(core.sql, tenant.id, link?.id, query.from),
        };
        for (const line of statsLines(report, about, layout)) printDrawing(line);
      }),
    );
}

/** The same command for another period. A filter is a list, so what follows it must be an option. */
function commandOf(code: string | undefined, { tenant, zone, filter = [] }: Given): string {
  const words = [
    ...["quicklink", "stats", ...(code === undefined ? [] : [code])],
    ...(tenant === "default" ? [] : ["--tenant", tenant]),
    ...(zone === undefined ? [] : ["--zone", zone]),
    ...(filter.length === 0 ? [] : ["--filter", ...filter]),
  ];
  return words.map(inShell).join(" ");
}

/** As a shell reads one word. */
const inShell = (word: string): string => (/^[\w./:,=@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
