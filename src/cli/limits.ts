import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { LimitName, Limits } from "../tenants/tenants.ts";

/** The options that set limits, the same for plans and tenants. */
const options: readonly { readonly flag: string; readonly name: LimitName; readonly help: string }[] = [
  { flag: "hits", name: "hitsPerLinkPerMonth", help: "hits per link per month" },
  { flag: "links", name: "linksPerMonth", help: "new links per month" },
  { flag: "storage", name: "storageBytes", help: "file storage in bytes" },
  { flag: "smtp-emails", name: "emailsPerHourSmtp", help: "emails per hour through the platform's mail server" },
  {
    flag: "sendgrid-emails",
    name: "emailsPerHourSendgrid",
    help: "emails per hour through the workspace's SendGrid key",
  },
  { flag: "api", name: "apiPerMinute", help: "API calls per minute" },
  { flag: "event-days", name: "eventDays", help: "days for which single clicks are kept" },
];

// commander treats null as "no value", so the words stay words until the end.
type Given = number | "none" | "plan";

export function addLimitOptions(command: Command, backToPlan: boolean): Command {
  for (const { flag, help } of options) {
    command.option(
      `--${flag} <n>`,
      `${help}: a number${backToPlan ? ", none, or plan to use the plan's limit" : " or none"}`,
      (text: string): Given => {
        if (text === "none") return "none";
        if (text === "plan" && backToPlan) return "plan";
        const value = Number(text);
        if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
          throw new InvalidArgumentError("Must be a whole number or none.");
        return value;
      },
    );
  }
  return command;
}

export function limitsFrom(given: Record<string, unknown>): {
  readonly [Name in LimitName]?: Limits[Name] | undefined;
} {
  const camel = (flag: string) => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const found = options.flatMap(({ flag, name }) => {
    const value = given[camel(flag)] as Given | undefined;
    return value === undefined ? [] : [[name, meaning(value)] as const];
  });
  return Object.fromEntries(found);
}

function meaning(value: Given): number | null | undefined {
  if (value === "plan") return undefined;
  return value === "none" ? null : value;
}
