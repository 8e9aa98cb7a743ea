import { Command, InvalidArgumentError, Option } from "commander";
import { type ClickSettings, createClickSettings } from "../clicks/settings.ts";
import { byCommand } from "../history/history.ts";
import { requireTenant, withCore } from "./core.ts";
import { type OutputFormat, printFields } from "./print.ts";

interface Given extends OutputFormat {
  readonly zone?: string;
  readonly facts?: "on" | "off";
  readonly eventDays?: number | "plan";
  readonly tags?: string;
  readonly tag?: readonly string[];
}

/** `quicklink tenant clicks`: what a tenant has set about its clicks. */
export function clickSettingsCommand(): Command {
  return new Command("clicks")
    .argument("<slug>")
    .option("--zone <name>", "time zone of its days, such as Europe/Berlin")
    .addOption(new Option("--facts <state>", "record facts about visitors").choices(["on", "off"]))
    .option("--event-days <n>", "days for which single clicks are kept, or plan", parseDays)
    .option("--tags <list>", "tags with totals of their own, separated by commas")
    .option("--tag <tag>", "such a tag as it is, even with a comma; repeat it for several", collect)
    .option("--json", "print as JSON")
    .description("show or change a workspace's click settings")
    .addHelpText(
      "after",
      "\nExample:\n  $ quicklink tenant clicks default --zone Europe/Berlin --facts off --tag spring --tag 'sale, 50% off'",
    )
    .action((slug: string, { zone, facts, eventDays, tags, tag, ...format }: Given) =>
      withCore(async (core) => {
        const tenant = await requireTenant(core, slug);
        const settings = await createClickSettings(core.sql, core.clock).change(
          tenant,
          {
            ...(zone !== undefined && { timeZone: zone }),
            ...(facts !== undefined && { facts: facts === "on" }),
            ...(eventDays !== undefined && { eventDays: eventDays === "plan" ? null : eventDays }),
            ...((tags ?? tag) !== undefined && {
              tags: [...new Set([...listed(tags), ...(tag ?? []).filter(Boolean)])],
            }),
          },
          byCommand,
        );
        printFields(show(settings), format);
      }),
    );
}

const collect = (tag: string, before: readonly string[] = []): readonly string[] => [...before, tag];

const listed = (tags = ""): string[] =>
  tags
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);

/** A tag with a comma is quoted, so that it does not read like two. */
const show = ({ tags, ...others }: ClickSettings) => ({
  ...others,
  tags: tags.map((tag) => (tag.includes(",") ? JSON.stringify(tag) : tag)).join(", "),
});

function parseDays(text: string): number | "plan" {
  if (text === "plan") return "plan";
  const days = Number(text);
  if (!/^\d{1,5}$/.test(text) || days === 0) throw new InvalidArgumentError("Must be a whole number of days, or plan.");
  return days;
}
