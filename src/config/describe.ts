import { type Setting, settingNames, settings } from "./settings.ts";

/** docs/config.md, generated from the table. */
export function describeSettings(): string {
  const rows = settingNames.map((name) => {
    const entry: Setting<unknown> = settings[name];
    const fallback = entry.fallback === undefined ? "" : entry.fallback === "" ? "none" : `\`${entry.fallback}\``;
    return `| \`${name}\` | ${entry.help}${entry.secret ? " Secret." : ""} | ${fallback} | ${example(name, entry)} |`;
  });
  return `# Settings

Generated from the table in \`src/config/settings.ts\` by \`npm run docs\`. A test compares the two.

QuickLink takes a value from the first of these that has one: the command line, the environment, the file named by \`NAME_FILE\`
(secrets only, for example \`QL_CODE_SALT_FILE=/run/secrets/salt\`), \`.env\` in the working folder, the data folder (generated
secrets), the default. \`npm run quicklink -- config\` prints every value in use and its source. With an invalid value, the
server exits with status 2.

| setting | description | default | example |
|---|---|---|---|
${rows.join("\n")}
`;
}

export function example(name: string, entry: Setting<unknown>): string {
  return entry.example.startsWith("the output of: ")
    ? `\`${name}=$(${entry.example.slice("the output of: ".length)})\``
    : `\`${name}=${entry.example}\``;
}

export function showSetting(entry: Setting<unknown>, text: string | undefined): string {
  if (text === undefined) return "";
  if (entry.secret === undefined) return text;
  return entry.secret === "all" ? "(hidden)" : withoutCredentials(text);
}

/**
 * Works on the text, because an address with several hosts is not a URL; where a password could be hidden elsewhere,
 * nothing is shown.
 */
function withoutCredentials(address: string): string {
  const match = /^([a-z-]+:\/\/)([^?#]*@)?([^@?#]*)(\?[^@]*)?$/i.exec(address);
  if (match === null) return "(hidden)";
  const [, scheme = "", credentials, place = "", query] = match;
  return `${scheme}${credentials ? "(hidden)@" : ""}${place}${query ? "?(hidden)" : ""}`;
}
