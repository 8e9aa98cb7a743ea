import { none } from "../click.ts";
import { factValue } from "./fact-value.ts";

/**
 * The site that a visitor came from: its host without `www.`, in lower case. Nothing else of the Referer header is kept:
 * its path and query may tell what a person read. An app is kept with its scheme: `android-app://com.slack`.
 */
export function referrerHost(header: string): string {
  const text = header.trim();
  const [, scheme = "", app = ""] = appPattern.exec(text) ?? [];
  if (app !== "") return factValue(`${scheme}://${app}`.toLowerCase());
  if (!webPattern.test(text)) return none;
  const url = URL.parse(text);
  return url === null
    ? none
    : factValue(
        url.hostname
          .toLowerCase()
          .replace(/^www\./, "")
          .replace(/\.$/, ""),
      );
}

const webPattern = /^https?:\/\//i;
const appPattern = /^(android-app|ios-app):\/\/([\w.-]{1,100})/i;
