import { countryName, languageName } from "../../format.ts";
import { reportTexts as t } from "../../texts/report.ts";
import type { FilterField } from "./filters.ts";

type Names = Readonly<Record<string, string>>;

const nameIn = (names: Names, value: string): string => names[value] ?? value;

/** A stored value as people read it: `DE` is Germany, `rule 1` is Rule 1, nothing is "Direct or unknown". */
export function valueName(field: FilterField, value: string): string {
  if (value === "") return t.none[field];
  switch (field) {
    case "country":
      return countryName(value);
    case "region":
    case "city":
      return placeName(value);
    case "language":
      return languageName(value);
    case "device":
      return nameIn(t.devices, value);
    case "os":
      return nameIn(t.systems, value);
    case "source":
      return nameIn(t.sources, value);
    case "bot":
      return nameIn(t.bots, value);
    case "reason":
      return nameIn(t.reasons, value);
    case "variant":
      return variantName(value);
    case "browser":
      return value === "other" ? t.otherValue : value;
    default:
      return value;
  }
}

/** `Munich, Bavaria, DE`: the country in the reader's language. */
function placeName(value: string): string {
  const parts = value.split(", ");
  const country = parts.pop() ?? "";
  return [...parts, countryName(country)].join(", ");
}

function variantName(value: string): string {
  const [kind, number = ""] = value.split(" ");
  if (kind === "rule") return t.rule(number);
  return kind === "split" ? t.variant(number) : value;
}
