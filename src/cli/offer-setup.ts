import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { Config } from "../config/config.ts";
import { pageUrl } from "../people/person-pages.ts";
import type { SetUp } from "../people/sign-in/setup.ts";
import { say } from "./print.ts";
import { terminal } from "./terminal.ts";

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

export const invitation = ({ baseUrl }: Config, token: string): string => `
QuickLink is running. Create the first account here (works once, for 24 hours):

  ${pageUrl(baseUrl, "setup", token)}
`;
