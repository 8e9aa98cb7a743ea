import { Command } from "commander";
import { complain, type OutputFormat, printRows } from "./print.ts";
import { readConfig } from "./terminal.ts";

export function configCommand(): Command {
  return new Command("config").option("--json", "print as JSON").action((format: OutputFormat) => {
    const config = readConfig();
    printRows(
      config.shown.map(({ name, value, origin }) => ({ name, value, origin })),
      ["name", "value", "origin"],
      format,
      "",
    );
    for (const name of config.unknown) complain(`${name} is not a QuickLink setting and is ignored.`);
  });
}
