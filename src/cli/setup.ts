import { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { withCore } from "./core.ts";
import { invitation } from "./offer-setup.ts";
import { say } from "./print.ts";

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
