import { once } from "node:events";
import { closeSync, createWriteStream, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import type { Writable } from "node:stream";
import { Command, Option } from "commander";
import { systemClock } from "../base/clock.ts";
import type { Core } from "../core.ts";
import { type ExportFormat, exportLinks } from "../import-export/export.ts";
import { exportWorkspacePart } from "../import-export/workspace-export.ts";
import type { Tenant } from "../tenants/tenants.ts";
import { requireTenant, withCore } from "./core.ts";
import { lowerPriority } from "./low-priority.ts";
import { say } from "./print.ts";
import { createProgress } from "./progress.ts";
import { terminal } from "./terminal.ts";

interface ExportOptions {
  readonly tenant: string;
  readonly format: ExportFormat;
  readonly all?: true;
  readonly out?: string;
}

export function exportCommand(): Command {
  return new Command("export")
    .option("--tenant <slug>", "workspace to export", "default")
    .addOption(new Option("--format <name>", "csv or jsonl (JSON lines)").choices(["csv", "jsonl"]).default("csv"))
    .option(
      "--all",
      "the whole workspace as JSON lines: links, trash, members, domains, files, settings, clicks by day",
    )
    .option("--out <file>", "write to a file; it appears once complete")
    .addHelpText(
      "after",
      "\nExample:\n  $ quicklink export --tenant acme --out links.csv\n  $ quicklink export --tenant acme --all --out acme.jsonl",
    )
    .action((options: ExportOptions) =>
      withCore(async (core) => run(core, await requireTenant(core, options.tenant), options)),
    );
}

async function run(core: Core, tenant: Tenant, { format, out, all }: ExportOptions): Promise<void> {
  lowerPriority();
  const progress = createProgress(terminal().stderr, systemClock.elapsed);
  let links = 0;
  async function write(to: Writable): Promise<void> {
    const pages = all ? wholeWorkspace(core, tenant) : exportLinks(core.store, tenant.id, format);
    for await (const page of pages) {
      links += page.links;
      if (!to.write(page.text)) await once(to, "drain");
      progress.show(undefined, `${links.toLocaleString("en")} links`);
    }
    progress.end();
  }
  if (out === undefined) return write(terminal().stdout);
  const draft = `${out}.${process.pid}`;
  try {
    const file = createWriteStream(draft, { mode: 0o600 });
    await once(file, "open");
    await write(file);
    await once(file.end(), "close");
    flush(draft);
    renameSync(draft, out);
  } finally {
    rmSync(draft, { force: true });
  }
  say(`Exported ${links.toLocaleString("en")} links to ${out}`);
}

async function* wholeWorkspace(core: Core, tenant: Tenant): ReturnType<typeof exportLinks> {
  for (let place: string | null = null; ; ) {
    const { lines, next } = await exportWorkspacePart(core, tenant, place);
    const links = lines.filter((line) => line.startsWith('{"record":"link"')).length;
    yield { text: lines.join(""), links };
    if (next === null) return;
    place = next;
  }
}

function flush(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}
