import { countries } from "../../../../src/links/routing/countries.ts";
import type { Rule as StoredRule } from "../../../../src/links/routing/rules.ts";
import { withParameters } from "../../../../src/links/routing/utm.ts";
import { matchRule, type Visitor } from "../../../../src/redirect/match-rules.ts";
import { type LinkForm, utmNames, utmOf, withScheme } from "../link-form.ts";

/** Where a visitor would go, decided by the code that decides it on the server. */
export interface Visit {
  readonly country: string | undefined;
  readonly device: Visitor["device"];
  readonly os: Visitor["os"];
  readonly language: string | undefined;
  readonly at: number;
  /** The query of the short link, without "?". */
  readonly query: string;
}

export type Outcome =
  | { readonly kind: "rule"; readonly place: number; readonly url: string }
  | { readonly kind: "split"; readonly parts: readonly { readonly url: string; readonly share: number }[] }
  | { readonly kind: "default"; readonly url: string };

type Given = Pick<LinkForm, "url" | "rules" | "split" | "utm" | "forwardQuery">;

export function simulate(form: Given, visit: Visit): Outcome {
  const asked = new URLSearchParams(visit.query);
  const visitor: Visitor = {
    ...{ country: visit.country, device: visit.device, os: visit.os, language: visit.language?.toLowerCase() },
    asked: (name) => asked.getAll(name),
  };
  const final = (url: string) => finalUrl(url, form, form.forwardQuery ? visit.query : "");
  const place = matchRule(form.rules.map(storedRule), visitor, visit.at);
  const rule = form.rules[place];
  if (rule !== undefined) return { kind: "rule", place, url: final(rule.url) };
  if (form.split.length > 0) {
    const shares = sharesOf(form.split.map(({ weight }) => weight));
    return { kind: "split", parts: form.split.map(({ url }, at) => ({ url: final(url), share: shares[at] ?? 0 })) };
  }
  return { kind: "default", url: final(form.url) };
}

/** With the link's parameters and the visitor's. What is no address yet stays as it is. */
export function finalUrl(text: string, { utm }: Pick<LinkForm, "utm">, query = ""): string {
  const url = withScheme(text);
  if (!URL.canParse(url)) return url;
  const own = utmOf(utm) ?? {};
  const added = utmNames.flatMap((name): [string, string][] => {
    const value = own[name];
    return value === undefined ? [] : [[`utm_${name}`, value]];
  });
  return withParameters(withParameters(url, added), new URLSearchParams(query));
}

/** Of texts that are being typed: what is no weight counts nothing. */
export function sharesOf(weights: readonly string[]): number[] {
  const values = weights.map((weight) => Math.max(0, Number(weight) || 0));
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total === 0 ? 0 : value / total));
}

function storedRule({ when, url }: LinkForm["rules"][number]): StoredRule {
  const { country, device, os, language, from, until, hours, query } = when;
  return {
    url,
    when: {
      ...(country && { country }),
      ...(device && { device }),
      ...(os && { os }),
      ...(language && { language: language.map((one) => one.toLowerCase()) }),
      ...(from && { from: Date.parse(from) }),
      ...(until && { until: Date.parse(until) }),
      ...(hours && {
        hours: {
          ...{ zone: hours.zone, fromMinute: minuteOf(hours.from), untilMinute: minuteOf(hours.until) },
          ...(hours.days && { days: hours.days }),
        },
      }),
      ...(query && { query: { name: query.name, ...(query.value !== undefined && { value: query.value }) } }),
    },
  };
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

export const allCountries: readonly string[] = [...countries];
