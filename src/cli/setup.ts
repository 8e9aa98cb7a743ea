import { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Config } from "../config/config.ts";
import { pageUrl } from "../people/person-pages.ts";
import type { SetUp } from "../people/sign-in/setup.ts";
import { withCore } from "./core.ts";
import { say } from "./print.ts";
import { terminal } from "./terminal.ts";

/** `quicklink setup`: for a server whose start was not on a terminal, or was long ago. */
export function setupCommand(): Command {
  return new Command("setup")
    .addHelpText("after", "\nThe address works once, for 24 hours. Whoever opens it becomes operator of this server.")
    .action(() =>
      withCore(async ({ setUp, config }) => {
        const token = await setUp.issue();
        if (token === undefined) {
          throw new OperatorError(
            "This server is set up already. To create another account: quicklink user create EMAIL\n" +
              "  To let somebody choose a new password: quicklink user reset-password EMAIL",
          );
        }
        say(invitation(config, token));
      }),
    );
}

/**
 * Tells the operator how to create the first account. Only a terminal shows the address: a log is read by many, and kept.
 * Workers write to the terminal of their supervisor, and each would show another one.
 */
export async function offerSetUp(
  config: Config,
  setUp: Pick<SetUp, "isOpen" | "issue">,
  log: Logger,
  isAlone: boolean,
): Promise<void> {
  try {
    if (!(await setUp.isOpen())) return;
    const token = isAlone && terminal().stdout.isTTY ? await setUp.issue() : undefined;
    if (token !== undefined) say(invitation(config, token));
    else log.info("there is no operator yet; to create the first account: quicklink setup");
  } catch (error) {
    log.warn({ error: messageOf(error) }, "could not find out whether there is an operator");
  }
}

const invitation = ({ baseUrl }: Config, token: string): string => `
QuickLink is running. Create the first account here (works once, for 24 hours):

  ${pageUrl(baseUrl, "setup", token)}
`;
