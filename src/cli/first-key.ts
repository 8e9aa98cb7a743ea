import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { replaceSecret } from "../base/secret-file.ts";
import type { Config } from "../config/config.ts";
import { firstKeyPath, prepareDataFolder } from "../config/data-folder.ts";
import { say } from "./print.ts";
import { terminal } from "./terminal.ts";

/**
 * Shows the key of the first start only to the operator. A terminal shows it once. Any other output is probably a log,
 * which many can read and which is kept: there only the name of a private file appears.
 */
export function showFirstKey(config: Config, key: string, log: Logger): void {
  if (terminal().stdout.isTTY) {
    say(welcome(config, key));
    return;
  }
  const file = firstKeyPath(config.QL_DATA);
  try {
    prepareDataFolder(config);
    replaceSecret(file, key);
    log.warn({ file }, 'created workspace "default"; its API key is in this file: copy it, then delete the file');
  } catch (error) {
    const reason = messageOf(error);
    log.error(
      { file, reason },
      `created workspace "default", but its API key could not be written. Create one: ${command}`,
    );
  }
}

const command = "quicklink key create NAME --tenant default";

function welcome(config: Config, key: string): string {
  const everywhere = config.HOST === "0.0.0.0" || config.HOST === "::";
  const host = everywhere ? "localhost" : config.HOST.includes(":") ? `[${config.HOST}]` : config.HOST;
  const local = `http://${host}:${config.PORT}`;
  return `
Created workspace "default". API key (shown only once):

  ${key}

Create a link with the API:

  curl -s ${local}/api/links -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"url":"https://example.com"}'
`;
}
