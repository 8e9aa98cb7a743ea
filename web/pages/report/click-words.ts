import type { Click } from "../../api/generated.ts";
import { countryName } from "../../format.ts";
import { reportTexts } from "../../texts/report.ts";
import { valueName } from "./values.ts";

const t = reportTexts.live;

export type ClickFacts = Pick<
  Click,
  "reason" | "country" | "region" | "city" | "device" | "browser" | "os" | "referrer" | "source" | "utm_source" | "bot"
>;

export const isCounted = ({ reason }: Pick<Click, "reason">): boolean => reason === "counted";

/** "Berlin, Germany". */
export function placeOf({ city, region, country }: ClickFacts): string {
  const [nearest] = (city ?? region ?? "").split(",");
  const named = [nearest, country === null ? "" : countryName(country)].filter((part) => part !== "");
  return named.length === 0 ? t.unknownPlace : named.join(", ");
}

/** "Safari on iOS". */
export function deviceOf({ browser, os, device }: ClickFacts): string {
  const system = os === null ? undefined : valueName("os", os);
  if (browser !== null && system !== undefined) return t.browserOn(valueName("browser", browser), system);
  return browser ?? system ?? (device === null ? t.unknownDevice : valueName("device", device));
}

/** "newsletter", "instagram.com", "QR code", "direct". */
export function sourceOf({ referrer, source, utm_source }: ClickFacts): string {
  if (source === "qr") return valueName("source", source);
  return utm_source ?? referrer ?? t.direct;
}

/** What a visit was that did not count: "Link preview". */
export const kindOf = ({ reason, bot }: ClickFacts): string =>
  bot === null ? valueName("reason", reason) : valueName("bot", bot);
