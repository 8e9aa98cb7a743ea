/** Filters of a report, as the address of the page and the API write them: `country=DE,AT`, `browser!=Chrome`, `referrer~news`. */
export const filterFields = [
  ...(["referrer", "utm_source", "utm_medium", "utm_campaign", "source", "country", "region", "city"] as const),
  ...(["device", "os", "browser", "language", "variant", "bot", "reason", "link", "domain", "tag"] as const),
] as const;

export type FilterField = (typeof filterFields)[number];
export type FilterKind = "is" | "isNot" | "contains";

export interface Filter {
  readonly field: FilterField;
  readonly kind: FilterKind;
  /** An empty value means "none". */
  readonly values: readonly string[];
}

const signs = { is: "=", isNot: "!=", contains: "~" } as const satisfies Record<FilterKind, string>;
const pattern = /^([a-z_]+)(!=|=|~)(.*)$/s;

export const isFilterField = (text: string): text is FilterField => (filterFields as readonly string[]).includes(text);

/** What is not a filter is left out: people edit addresses. */
export function parseFilter(text: string): Filter | undefined {
  const [, field = "", sign, rest = ""] = pattern.exec(text) ?? [];
  if (!isFilterField(field)) return undefined;
  const kind = sign === "~" ? "contains" : sign === "!=" ? "isNot" : "is";
  return { field, kind, values: splitValues(rest) };
}

export const writeFilter = ({ field, kind, values }: Filter): string =>
  `${field}${signs[kind]}${values.map(escapeValue).join(",")}`;

const escapeValue = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll(",", "\\,");

function splitValues(text: string): string[] {
  const values = [""];
  for (let at = 0; at < text.length; at++) {
    const isEscaped = text[at] === "\\" && (text[at + 1] === "," || text[at + 1] === "\\");
    if (isEscaped) at++;
    if (text[at] === "," && !isEscaped) values.push("");
    else values[values.length - 1] += text[at] ?? "";
  }
  return [...new Set(values)];
}

/** A value that is clicked: taken into its filter, or out of it. */
export function toggleValue(filters: readonly Filter[], field: FilterField, value: string, kind: "is" | "isNot") {
  const at = filters.findIndex((one) => one.field === field && one.kind === kind);
  const found = filters[at];
  if (found === undefined) return [...filters, { field, kind, values: [value] }];
  const values = found.values.includes(value) ? found.values.filter((one) => one !== value) : [...found.values, value];
  return values.length === 0 ? filters.toSpliced(at, 1) : filters.with(at, { ...found, values });
}

export const isChosen = (filters: readonly Filter[], field: FilterField, value: string): boolean =>
  filters.some((one) => one.field === field && one.kind === "is" && one.values.includes(value));
