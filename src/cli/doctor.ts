import { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { examine } from "../doctor/doctor.ts";
import { type Finding, fail } from "../doctor/finding.ts";
import { type OutputFormat, printRows } from "./print.ts";
import { readConfig, terminal } from "./terminal.ts";

export function doctorCommand(): Command {
  return new Command("doctor")
    .option("--json", "print as JSON")
    .addHelpText("after", "\nExits with 1 if a check fails. Changes nothing.")
    .action(async (format: OutputFormat) => {
      const findings = await findingsOf();
      printRows(
        findings.map((finding) => ({ ...finding })),
        ["status", "check", "found", "advice"],
        format,
        "",
      );
      if (findings.some(({ status }) => status === "fail")) terminal().exitCode = 1;
    });
}

async function findingsOf(): Promise<Finding[]> {
  try {
    return await examine(readConfig());
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [fail("settings", error, "Fix this setting; no other checks were run. All settings: docs/config.md.")];
  }
}
