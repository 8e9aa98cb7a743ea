import { Command } from "commander";
import type { Core } from "../core.ts";
import { createStorageQuota } from "../files/quota/quota.ts";
import { createFileStore, type StorageUse } from "../files/store.ts";
import { monthName } from "../limits/window.ts";
import { busiestLinks } from "../links/read/busiest.ts";
import { connectCounters, type SharedCounters } from "../server/counters.ts";
import { createUsage, type Usage } from "../tenants/usage.ts";
import { showUsage } from "../tenants/usage-api.ts";
import { requireTenant, withCore } from "./core.ts";
import { barLines } from "./limit-bars.ts";
import { type OutputFormat, printDrawing, printJson, printRows } from "./print.ts";

export function usageCommand(): Command {
  return new Command("usage")
    .option("--tenant <slug>", "workspace to show", "default")
    .option("--json", "print as JSON")
    .addHelpText("after", "\nExample:\n  $ quicklink usage --tenant acme")
    .action((options: OutputFormat & { tenant: string }) =>
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
    const files = createFileStore(sql);
    const quota = counters && createStorageQuota(counters.ledger, files, clock.now);
    // Without Redis the counters are in the server; they are a copy of what SQL has.
    const storage = quota?.freshFigures ?? (async (id) => storedAndAnnounced(await files.storageUse(id)));
    return await createUsage({ sql, clock, counters, storage, busiest }).of(tenant);
  } finally {
    await counters?.close();
  }
}

const storedAndAnnounced = ({ bytes, pending }: StorageUse) => ({ used: bytes, held: pending });

function print(usage: Usage, core: Core, format: OutputFormat): void {
  const shown = showUsage(usage, core.config.baseUrl);
  if (format.json) {
    printJson(shown);
    return;
  }
  const { stdout } = process;
  if (stdout.isTTY) {
    const terminal = { columns: stdout.columns, colours: stdout.hasColors(), now: core.clock.now() };
    for (const line of barLines(usage, terminal)) printDrawing(line);
    return;
  }
  const columns = ["name", "shortUrl", "used", "held", "limit", "state", "resetsAt", "spentAt"];
  printRows([...shown.limits, ...shown.hitsPerLinkPerMonth], columns, format, "");
}
