import { Command, InvalidArgumentError } from "commander";
import { createHotStore } from "../clicks/hot-store.ts";
import { cacheKey } from "../links/link.ts";
import { withCore } from "./core.ts";
import { type OutputFormat, printRows } from "./print.ts";

const recentMs = 60_000;

export function hotCommand(): Command {
  return new Command("hot")
    .option("--top <n>", "maximum number of links to list", count, 20)
    .option("--json", "print as JSON")
    .addHelpText("after", "\nA link is marked unusual when it gets at least ten times its average of the last hour.")
    .action((options: OutputFormat & { top: number }) =>
      withCore(async ({ sql, clock }) => {
        const links = await createHotStore(sql, clock).hottest(recentMs, options.top);
        const rows = links.map(({ domain, code, ...link }) => ({
          ...{ ...link, code: cacheKey(domain, code), unusual: link.unusual ? "yes" : "" },
        }));
        const columns = ["code", "perMinute", "usualPerMinute", "unusual"];
        printRows(
          options.json ? links.map((link) => ({ ...link })) : rows,
          columns,
          options,
          "No links were visited in the last minute.",
        );
      }),
    );
}

function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 1_000)
    throw new InvalidArgumentError("Must be a number from 1 to 1000.");
  return value;
}
