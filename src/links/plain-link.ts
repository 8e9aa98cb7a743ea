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
  const { url } = sent;
  if (typeof url !== "string" || url.length > destinationMost) return undefined;
  const input: { -readonly [Name in keyof LinkInput]: LinkInput[Name] } = { url, file: null };
  for (const name in sent) {
    const value = sent[name];
    if (name === "url") continue;
    if (name === "code") {
      if (typeof value !== "string" || value.length > sentCodeMost) return undefined;
      input.code = value;
    } else if (name === "title") {
      if (typeof value !== "string" || !isReadableLine(value, linkTitleMost)) return undefined;
      input.title = value;
    } else if (name === "tags") {
      if (!isTags(value)) return undefined;
      input.tags = value;
    } else if (name === "status") {
      if (value !== "active" && value !== "disabled") return undefined;
      input.status = value;
    } else if (name === "permanent" || name === "forwardQuery" || name === "clickFacts") {
      if (typeof value !== "boolean") return undefined;
      input[name] = value;
    } else if (name === "expiresAt" || name === "domain") {
      if (value !== null) return undefined;
      input[name] = null;
    } else return undefined;
  }
  return input;
}

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
