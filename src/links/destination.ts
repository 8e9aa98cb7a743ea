import { invalid } from "../base/errors.ts";

/**
 * Where a link may lead. The text is parsed once, here, by the rules that browsers use, and the parser's spelling is
 * stored and sent: plain ASCII, safe to use in a header.
 */
export const destinationMost = 2_048;

/** Parses a URL that visitors are sent to, or throws what is wrong with the field. */
export type Admit = (field: string, text: string) => string;

/** Every destination URL goes through this check. */
export function createAdmit(ownHosts: ReadonlySet<string>, isBlocked: (host: string) => boolean): Admit {
  return (field, text) => {
    const { href, hostname: host } = parseUrl(field, text, ownHosts);
    if (!isBlocked(host)) return href;
    throw invalid(field, "blocked_host", `Links to ${host} are blocked on this server. Contact the operator.`);
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters, some of which URL would silently drop.
const control = /[\u0000-\u001f\u007f-\u009f]/;

export const parseDestination = (field: string, text: string, ownHosts: ReadonlySet<string>): string =>
  parseUrl(field, text, ownHosts).href;

function parseUrl(field: string, text: string, ownHosts: ReadonlySet<string>): URL {
  const trimmed = text.trim();
  if (trimmed === "") throw invalid(field, "empty", "Must be a URL, such as https://example.com/page.");
  if (trimmed.length > destinationMost) throw tooLong(field);
  if (control.test(trimmed)) {
    throw invalid(
      field,
      "control_characters",
      "The URL must not contain line breaks, tabs or other control characters.",
    );
  }
  const url = URL.parse(trimmed);
  if (url === null) throw invalid(field, "not_a_url", "Must be a complete URL, such as https://example.com/page.");
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw invalid(field, "scheme_not_allowed", "Must be an http:// or https:// URL.");
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid(field, "credentials", "The URL must not contain a user name or password.");
  }
  if (ownHosts.has(url.host.replace(/\.(?=:|$)/, ""))) {
    throw invalid(field, "own_host", "The URL points to this server; the link would loop.");
  }
  if (url.href.length > destinationMost) throw tooLong(field);
  return url;
}

export function tooLong(field: string) {
  return invalid(
    field,
    "too_long",
    `The URL must have at most ${destinationMost} characters (non-ASCII characters count as %XX).`,
  );
}
