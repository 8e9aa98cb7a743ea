import { isReadableLine } from "../http/route.ts";
import { destinationMost } from "./destination.ts";
import type { LinkInput } from "./links.ts";

/**
 * Reads a new link without its schema, if it only has the common fields and each is certainly valid. Otherwise it returns
 * undefined and the schema decides, which also says what is wrong. The schema takes ten times as long: it visits every
 * field that a link may have. `plain-link.test.ts` compares the two.
 */
export function readPlainLink(given: unknown): LinkInput | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const sent = given as Readonly<Record<string, unknown>>;
  const { url, code, title, tags, status, permanent, forwardQuery, clickFacts, expiresAt, domain } = sent;
  if (typeof url !== "string" || url.length > destinationMost) return undefined;
  const input: { -readonly [Name in keyof LinkInput]: LinkInput[Name] } = { url, file: null };
  let read = 1;
  if (code !== undefined) {
    if (typeof code !== "string" || code.length > sentCodeMost) return undefined;
    input.code = code;
    read++;
  }
  if (title !== undefined) {
    if (typeof title !== "string" || !isReadableLine(title, linkTitleMost)) return undefined;
    input.title = title;
    read++;
  }
  if (tags !== undefined) {
    if (!isTags(tags)) return undefined;
    input.tags = tags;
    read++;
  }
  if (status !== undefined) {
    if (status !== "active" && status !== "disabled") return undefined;
    input.status = status;
    read++;
  }
  if (permanent !== undefined) {
    if (typeof permanent !== "boolean") return undefined;
    input.permanent = permanent;
    read++;
  }
  if (forwardQuery !== undefined) {
    if (typeof forwardQuery !== "boolean") return undefined;
    input.forwardQuery = forwardQuery;
    read++;
  }
  if (clickFacts !== undefined) {
    if (typeof clickFacts !== "boolean") return undefined;
    input.clickFacts = clickFacts;
    read++;
  }
  if (expiresAt !== undefined) {
    if (expiresAt !== null) return undefined;
    input.expiresAt = null;
    read++;
  }
  if (domain !== undefined) {
    if (domain !== null) return undefined;
    input.domain = null;
    read++;
  }
  // Another field is one for the schema, known or not.
  return read === Object.keys(sent).length ? input : undefined;
}

export const isPlainLink = (given: unknown): boolean => readPlainLink(given) !== undefined;

export const sentCodeMost = 100;
export const linkTitleMost = 200;
export const linkTagMost = 50;
export const linkTagsMost = 20;

function isTags(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length > linkTagsMost) return false;
  return value.every(
    (tag, place) => typeof tag === "string" && isReadableLine(tag, linkTagMost) && value.indexOf(tag) === place,
  );
}
