import { Command } from "commander";
import type { Core } from "../core.ts";
import { connectCounters, type SharedCounters } from "../counters.ts";
import { monthName } from "../limits/month.ts";
import { busiestLinks } from "../links/busiest.ts";
import { createUsage, type Usage } from "../tenants/usage.ts";
import { showUsage } from "../tenants/usage-api.ts";
import { barLines } from "./bars.ts";
import { requireTenant, withCore } from "./core.ts";
import { type Format, printJson, printRows } from "./print.ts";

export function usageCommand(): Command {
  return new Command("usage")
    .option("--tenant <slug>", "whose limits", "default")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExample:\n  $ quicklink usage --tenant acme")
    .action((options: Format & { tenant: string }) =>
      withCore(async (core) => print(await usageOf(core, options.tenant), core, options)),
    );
}

async function usageOf(core: Core, slug: string): Promise<Usage> {
  const { sql, clock, config } = core;
  const tenant = await requireTenant(core, slug);
  const counters: SharedCounters | undefined =
    config.limitsRedisUrl === undefined ? undefined : await connectCounters(config.limitsRedisUrl, clock);
  try {
    const month = monthName(clock.now());
    const busiest = () => busiestLinks(sql, tenant.id, tenant.limits.hitsPerLinkPerMonth, month);
    return await createUsage({ sql, clock, counters, busiest }).of(tenant);
  } finally {
    await counters?.close();
  }
}

function print(usage: Usage, core: Core, format: Format): void {
  const shown = showUsage(usage);
  if (format.json) {
    printJson(shown);
    return;
  }
  const { stdout } = process;
  if (stdout.isTTY) {
    const terminal = { columns: stdout.columns, colours: stdout.hasColors(), now: core.clock.now() };
    for (const line of barLines(usage, terminal)) console.log(line);
    return;
  }
  const columns = ["name", "code", "used", "held", "limit", "state", "resetsAt", "spentAt"];
  printRows([...shown.limits, ...shown.hitsPerLinkPerMonth], columns, format, "");
}
