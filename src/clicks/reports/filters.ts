import { invalid } from "../../base/errors.ts";
import { hitReasons } from "../../redirect/decide.ts";
import { type Dimension, dimensions, none, other } from "../click.ts";
import { factValue, shownText } from "../facts/fact-value.ts";

/**
 * Filters of reports: `country=DE,AT` (is one of), `browser!=Chrome` (is none of), `referrer~news` (contains one of, without
 * regard to the case of A to Z). A backslash before a comma makes it part of the value. An empty value means "none".
 * Values of facts may be given as visitors sent them. All filters must hold.
 */
export interface ClickFilter {
  readonly field: FilterField;
  readonly how: "is" | "is not" | "contains";
  readonly values: readonly string[];
}

/** A domain is a host; a link an ID, a code, or host/code on a custom domain. */
export type FilterField = Dimension | (typeof otherFields)[number];
const otherFields = ["link", "domain", "tag", "reason"] as const;
export const filterFields: readonly FilterField[] = [...dimensions, ...otherFields];

export const filtersMost = 20;
export const filterValuesMost = 200;
/** As long as the longest stored value may be. */
const valueMost = 500;

export function parseFilters(texts: readonly string[]): ClickFilter[] {
  if (texts.length > filtersMost) throw bad("too_many", `At most ${filtersMost} filters.`);
  const filters = texts.map(parseFilter);
  const values = filters.reduce((sum, filter) => sum + filter.values.length, 0);
  if (values > filterValuesMost) throw tooManyValues();
  return filters;
}

const pattern = /^([a-z_]{1,20})(=|!=|~)([\s\S]*)$/;
const words = { "=": "is", "!=": "is not", "~": "contains" } as const;

function parseFilter(text: string): ClickFilter {
  const [, name, sign, rest = ""] = pattern.exec(text) ?? [];
  const field = filterFields.find((one) => one === name);
  if (field === undefined || sign === undefined) {
    throw bad(
      "bad_filter",
      `Must be like country=DE,AT or browser!=Chrome or referrer~news, with one of: ${filterFields.join(", ")}.`,
    );
  }
  // No value has a control character, and PostgreSQL stores no NUL.
  if (/\p{Cc}/u.test(rest)) throw bad("control_characters", "Must not contain control characters.");
  const how = words[sign as keyof typeof words];
  const given = splitValues(rest);
  if (given.some((value) => value.length > valueMost))
    throw bad("too_long", `A value has at most ${valueMost} characters.`);
  const values = isSent(field) ? [...new Set(given.map((value) => storedValue(how, value)))] : given;
  if (how === "contains" && values.includes("")) throw bad("blank", "Say what the value must contain.");
  if (how === "contains" && (field === "link" || field === "domain" || field === "tag" || field === "reason")) {
    throw bad("bad_filter", `${field} can be compared with = and != only.`);
  }
  if ((field === "link" || field === "domain") && values.includes("")) throw bad("blank", nameMissing[field]);
  if (field === "reason" && values.some((value) => !hitReasons.some((reason) => reason === value))) {
    throw bad("unknown_reason", `reason is one of: ${hitReasons.join(", ")}.`);
  }
  return { field, how, values };
}

/** Every click has a link and a domain: there is no "none". */
const nameMissing = {
  link: "Name a link: by its code, as host/code on a custom domain, or by its ID.",
  domain: "Name a domain, such as go.example.com. Links on no custom domain are on the host of this server.",
};

/** A fact from a request. Regions and cities are as the operator's file has them. */
const isSent = (field: FilterField): boolean =>
  dimensions.some((one) => one === field) && field !== "region" && field !== "city";

/** As the value is stored. One that never is, such as an email address, matches nothing, and not what has no value. */
function storedValue(how: ClickFilter["how"], value: string): string {
  if (value === other) return value;
  if (how === "contains") return shownText(value);
  const stored = factValue(value);
  return stored === none && shownText(value).trim() !== none ? value : stored;
}

function splitValues(text: string): string[] {
  const values = [""];
  for (let at = 0; at < text.length; at++) {
    if (values.length > filterValuesMost) throw tooManyValues();
    const isEscaped = text[at] === "\\" && (text[at + 1] === "," || text[at + 1] === "\\");
    if (isEscaped) at++;
    if (text[at] === "," && !isEscaped) values.push("");
    else values[values.length - 1] += text[at] ?? "";
  }
  return [...new Set(values)];
}

/** Upper and lower case are the same for A to Z only, as in both databases. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const tooManyValues = () => bad("too_many", `At most ${filterValuesMost} values in all filters.`);
const bad = (code: string, message: string) => invalid("filter", code, message);
