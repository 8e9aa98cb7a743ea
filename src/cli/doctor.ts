import { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { loadConfig } from "../config/config.ts";
import { examine } from "../doctor/doctor.ts";
import { type Finding, fail } from "../doctor/finding.ts";
import { type OutputFormat, printRows } from "./print.ts";

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
      if (findings.some(({ status }) => status === "fail")) process.exitCode = 1;
    });
}

async function findingsOf(): Promise<Finding[]> {
  try {
    return await examine(loadConfig());
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [fail("settings", error, "Fix this setting; no other checks were run. All settings: docs/config.md.")];
  }
}
