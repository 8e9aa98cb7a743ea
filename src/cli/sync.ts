import { Command } from "commander";
import { toIso } from "../base/clock.ts";
import { pagesOf } from "../base/pages.ts";
import type { Core } from "../core.ts";
import { storedKey } from "../files/file.ts";
import { createFiles } from "../files/files.ts";
import { createStorageQuota } from "../files/quota/quota.ts";
import { recount } from "../files/quota/storage-total.ts";
import { type QuotaSync, syncQuota } from "../files/quota/sync.ts";
import { createFileStore } from "../files/store.ts";
import { findOrphans, type Orphans } from "../files/upkeep/orphans.ts";
import { type Counters, unavailable } from "../limits/counters.ts";
import { connectCounters, type SharedCounters } from "../server/counters.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { quietLog, requireTenant, withCore } from "./core.ts";
import { complain, type OutputFormat, printJson, printRows, say } from "./print.ts";

interface QuotaOptions extends OutputFormat {
  readonly tenant?: string;
  readonly dryRun?: boolean;
}

interface Found {
  readonly tenants: readonly QuotaSync[];
  /** Only when all tenants are checked. */
  readonly orphans: Orphans | undefined;
  /** Whether the counters could be updated. */
  readonly told: boolean;
}

export function syncCommand(): Command {
  const command = new Command("sync");
  command
    .command("quotas")
    .option("--tenant <slug>", "only this workspace; skips the search for orphaned files")
    .option("--dry-run", "report drift without correcting it")
    .option("--json", "print as JSON")
    .description("recount stored files, correct drift and remove orphaned files")
    .addHelpText("after", "\nExample:\n  $ quicklink sync quotas --dry-run")
    .action((options: QuotaOptions) => withCore(async (core) => print(await syncAll(core, options), options)));
  return command;
}

async function syncAll(core: Core, { tenant: slug, dryRun = false }: QuotaOptions): Promise<Found> {
  const { sql, storage, clock, config, tenants } = core;
  const counters: SharedCounters | undefined =
    config.limitsRedisUrl === undefined ? undefined : await connectCounters(config.limitsRedisUrl, clock);
  try {
    const store = createFileStore(sql);
    const quota = createStorageQuota(counters?.ledger ?? nowhere, store, clock.now);
    const publish = () => {}; // servers follow the feed
    const mostBytes = config.QL_FILE_LIMIT;
    const files = createFiles({ store, storage, quota: quota, clock, log: quietLog(), mostBytes, publish });
    const settings = { recount: (id: Parameters<typeof recount>[1], dry: boolean) => recount(sql, id, dry), quota };
    const synced: QuotaSync[] = [];
    const page = async (limit: number, last: Tenant | undefined) =>
      slug === undefined ? tenants.list(limit, last?.slug) : [await requireTenant(core, slug)];
    for await (const some of pagesOf<Tenant>(page)) {
      for (const tenant of some) synced.push(await syncQuota(settings, tenant, dryRun));
    }
    const orphans = slug === undefined ? await findOrphans({ sql, store, storage, files, clock }, dryRun) : undefined;
    return { tenants: synced, orphans, told: counters !== undefined };
  } finally {
    await counters?.close();
  }
}

/** The counters are in the memory of a running server, which is another process. */
const nowhere: Counters = {
  take: async () => unavailable,
  hold: async () => unavailable,
  holdInSync: async () => unavailable,
  settle: async () => unavailable,
  release: async () => unavailable,
  status: async () => unavailable,
  sync: async () => unavailable,
};

function print({ tenants, orphans, told }: Found, options: QuotaOptions): void {
  const drift = tenants.reduce((sum, one) => sum + Math.abs(one.drift), 0);
  if (options.json) {
    printJson({ drift, tenants, orphans: orphans && showOrphans(orphans) });
    return;
  }
  printRows(
    tenants.map((one) => ({ ...one })),
    ["tenant", "files", "bytes", "drift", "counted", "held"],
    options,
    "No workspaces yet.",
  );
  if (orphans) printOrphans(orphans);
  const dry = options.dryRun ? " (dry run: nothing was changed)" : "";
  say(`tenants=${tenants.length} drift=${drift}${orphans ? totals(orphans) : ""}${dry}`);
  if (!told) {
    complain(
      "Without Redis, the counters are in the server's memory. The server updates them on its next quota check.",
    );
  }
}

function printOrphans({ objects, rows, suspicious }: Orphans): void {
  for (const { key, sizeBytes, modifiedAt } of objects) {
    say(`orphaned object: ${key}, ${sizeBytes} bytes, since ${toIso(modifiedAt)}`);
  }
  for (const file of rows) say(`file without an object: ${storedKey(file)}, ${file.sizeBytes} bytes`);
  if (suspicious) {
    complain("Suspiciously many files have no object, so none were removed. Check QL_DATA or S3_URL.");
  }
}

const totals = ({ objectsFound, removedObjects, rowsFound, removedRows }: Orphans): string =>
  ` orphaned_objects=${objectsFound} removed=${removedObjects} files_without_object=${rowsFound} removed=${removedRows}`;

function showOrphans({ objects, rows, ...rest }: Orphans) {
  return {
    ...rest,
    objects: objects.map((object) => ({ ...object, modifiedAt: toIso(object.modifiedAt) })),
    rows: rows.map(({ id, tenantId, name, sizeBytes }) => ({ id, tenantId, name, sizeBytes })),
  };
}
