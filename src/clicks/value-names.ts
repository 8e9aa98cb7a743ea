import { type BreakdownName, other } from "./click.ts";

/**
 * Values of facts as people read them, in English, for pages that the server writes: `DE` is Germany, and no value is "Direct or unknown".
 * The dashboard says the same in the reader's language (`web/pages/report/values.ts`); a test compares the two.
 */
export function namedValue(field: BreakdownName, value: string): string {
  if (value === "") return noneNames[field];
  if (field === "link") return value;
  if (value === other) return "Other";
  switch (field) {
    case "country":
      return displayName("region", value);
    case "language":
      return displayName("language", value);
    case "region":
    case "city": {
      // `Munich, Bavaria, DE`
      const parts = value.split(", ");
      const country = parts.pop() ?? "";
      return [...parts, displayName("region", country)].join(", ");
    }
    case "variant": {
      const [kind, number = ""] = value.split(" ");
      if (kind === "rule") return `Rule ${number}`;
      return kind === "split" ? `Variant ${number}` : value;
    }
    default:
      return valueNames[field]?.get(value) ?? value;
  }
}

const noneNames: Readonly<Record<BreakdownName, string>> = {
  ...{ link: "Unknown link", country: "Unknown country", region: "Unknown region", city: "Unknown city" },
  ...{ device: "Unknown device", browser: "Unknown browser", os: "Unknown system", language: "Unknown language" },
  ...{ referrer: "Direct or unknown", source: "Unknown", variant: "Main destination", bot: "No known bot" },
  ...{ utm_source: "No UTM source", utm_medium: "No UTM medium", utm_campaign: "No UTM campaign" },
};

const named = (names: Readonly<Record<string, string>>): ReadonlyMap<string, string> => new Map(Object.entries(names));

/** Kinds of bots have none: such pages are about people. */
const valueNames: { readonly [Name in BreakdownName]?: ReadonlyMap<string, string> } = {
  device: named({ mobile: "Phone", tablet: "Tablet", desktop: "Desktop", other: "Other" }),
  os: named({
    ...{ ios: "iOS", android: "Android", windows: "Windows", macos: "macOS" },
    ...{ linux: "Linux", chromeos: "ChromeOS", other: "Other" },
  }),
  browser: named({ other: "Other" }),
  source: named({ qr: "QR code", link: "Link" }),
};

/** Codes of nothing are shown as they are. */
function displayName(type: "region" | "language", code: string): string {
  try {
    return new Intl.DisplayNames("en", { type }).of(code) ?? code;
  } catch {
    return code;
  }
}
