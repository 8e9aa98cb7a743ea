import type { Rule, SplitTarget, Utm } from "../../api/generated.ts";
import { formatDateTime, formatNumber } from "../../format.ts";
import { historyTexts as t } from "../../texts/edit.ts";
import { sayRule } from "./rules/conditions.ts";

/** The value of a link's field in words, one line or several: for the history, and to compare two versions. */
export function sayValue(field: string, value: unknown, fileName?: (id: string) => string | undefined): string[] {
  const { values } = t;
  if (field === "password") return [passwordOf(value)];
  if (value === null || value === undefined || value === "") return [emptyOf(field)];
  switch (field) {
    case "expiresAt":
      return [formatDateTime(value as string | number)];
    case "hitsPerMonth":
      return [typeof value === "number" ? formatNumber(value) : String(value)];
    case "permanent":
      return [value === true ? values.permanent : values.temporary];
    case "clickFacts":
    case "forwardQuery":
      return [value === true ? values.on : values.off];
    case "status":
      return [value === "active" ? values.active : values.disabled];
    case "file":
      return [fileName?.(String(value)) ?? String(value)];
    case "tags":
      return orEmpty((value as readonly string[]).length === 0 ? [] : [(value as readonly string[]).join(", ")]);
    case "rules":
      return orEmpty((value as readonly Rule[]).map(sayRule));
    case "split":
      return orEmpty((value as readonly SplitTarget[]).map(({ url, weight }) => t.weight(String(weight), url)));
    case "utm":
      return orEmpty(Object.entries(value as NonNullable<Utm>).map(([name, text]) => `utm_${name}=${text}`));
    default:
      return [typeof value === "string" ? value : JSON.stringify(value)];
  }
}

export const fieldName = (field: string): string => t.fields[field as keyof typeof t.fields] ?? field;

const orEmpty = (lines: string[]): string[] => (lines.length === 0 ? [t.empty] : lines);

function emptyOf(field: string): string {
  if (field === "expiresAt") return t.values.never;
  return field === "hitsPerMonth" ? t.values.plan : t.empty;
}

/** The history says "set" or "removed"; a form says what is to become of it. */
function passwordOf(value: unknown): string {
  if (value === "set" || value === true) return t.passwordSet;
  if (value === "removed") return t.passwordRemoved;
  return typeof value === "string" && value !== "" ? t.values.new : t.empty;
}
