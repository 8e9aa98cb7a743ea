import { Command } from "commander";
import { byCommand } from "../history/history.ts";
import { defaultLimits, type Limits, limitNames } from "../tenants/tenants.ts";
import { withCore } from "./core.ts";
import { addLimitOptions, limitsFrom } from "./limits.ts";
import { type OutputFormat, printRows, say } from "./print.ts";

export function planCommand(): Command {
  const command = new Command("plan");
  command
    .command("list")
    .description('list plans; "-" means no limit')
    .option("--json", "print as JSON")
    .action((format: OutputFormat) =>
      withCore(async ({ tenants }) => {
        const rows = [...(await tenants.plans())].map(([name, limits]) => ({ name, ...limits }));
        printRows(rows, ["name", ...limitNames], format, "");
      }),
    );
  addLimitOptions(command.command("set").argument("<name>"), false)
    .description("create or change a plan; limits not given are those of the default plan")
    .addHelpText("after", "\nExample:\n  $ quicklink plan set team --hits 100000 --links none")
    .action((name: string, given: Record<string, unknown>) =>
      withCore(async ({ tenants }) => {
        const before = (await tenants.plans()).get(name) ?? defaultLimits;
        await tenants.setPlan(name, { ...before, ...limitsFrom(given) } as Limits, byCommand);
        say(`Saved plan "${name}". To assign it: quicklink tenant update NAME --plan ${name}`);
      }),
    );
  return command;
}
