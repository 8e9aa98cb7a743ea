import { fromIso, toIso } from "../../base/clock.ts";
import { singleLine, z } from "../../http/route.ts";
import { destinationMost } from "../destination.ts";
import { type ChoiceFields, splitMost } from "./choice.ts";
import { days, devices, type Hours, type Rule, type RuleCondition, rulesMost, systems } from "./rules.ts";
import type { Utm } from "./utm.ts";

/** Rules, splits and parameters as JSON: times as text, the rest as stored. */
const destination = z.string().max(destinationMost + 1_000, "Too long.");

/** A list without duplicates. */
const some = <Item extends z.ZodType>(item: Item, most: number) =>
  z
    .array(item)
    .min(1, "Must contain at least one value.")
    .max(most)
    .refine((list) => new Set(list).size === list.length, {
      message: "Must not contain duplicates.",
      params: { code: "duplicate" },
    });

const moment = z.iso.datetime({
  offset: true,
  message: "Must be a time such as 2026-12-24T18:00:00+01:00: date, time, and Z or a UTC offset.",
});
const minute = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

const hoursSchema = z
  .strictObject({
    zone: z
      .string()
      .max(60)
      .refine((name) => zoneOf(name) !== undefined, {
        message: "Must be a time zone, such as Europe/Berlin.",
        params: { code: "unknown_zone" },
      }),
    days: some(z.enum(days), days.length).optional(),
    from: z.string().regex(minute, "Must be a time of day, such as 09:00."),
    until: z.string().regex(/^24:00$|^(?:[01]\d|2[0-3]):[0-5]\d$/, "Must be a time of day, such as 17:30."),
  })
  .openapi({ description: "In local time of the zone. If `until` is before `from`, it ends on the next day." });

const whenSchema = z.strictObject({
  country: some(z.string().regex(/^[A-Za-z]{2}$/, "Must be a country code, such as DE."), 250)
    .optional()
    .openapi({ description: "ISO 3166-1 codes, such as DE." }),
  device: some(z.enum(devices), devices.length).optional(),
  os: some(z.enum(systems), systems.length).optional(),
  language: some(
    z.string().regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, "Must be a language, such as de or pt-BR."),
    100,
  )
    .optional()
    .openapi({ description: "The browser's preferred language; `de` also matches `de-AT`." }),
  from: moment.optional(),
  until: moment.optional(),
  hours: hoursSchema.optional(),
  query: z.strictObject({ name: singleLine(100), value: z.string().max(200).optional() }).optional(),
});

const ruleSchema = z.strictObject({ when: whenSchema, url: destination }).openapi("Rule", {
  example: { when: { country: ["DE", "AT"], device: ["mobile"] }, url: "https://example.com/de/app" },
});

export const utmSchema = z
  .strictObject({
    source: singleLine(200),
    medium: singleLine(200),
    campaign: singleLine(200),
    term: singleLine(200),
    content: singleLine(200),
  })
  .partial()
  .openapi("Utm", { example: { source: "newsletter", medium: "email" } });

const splitSchema = z.strictObject({ url: destination, weight: z.int().min(1).max(1_000) }).openapi("SplitTarget");

export const choiceFields = {
  rules: z.array(ruleSchema).max(rulesMost).openapi({
    description:
      "Checked in order: the first rule whose conditions all match determines the destination. At most 16 KB.",
  }),
  split: z.array(splitSchema).max(splitMost).openapi({
    description:
      "A/B split, used when no rule matches: destinations by weight; a visitor always gets the same one. 2 to 10 destinations, or null.",
  }),
  utm: utmSchema
    .nullable()
    .openapi({ description: "Added to the destination as utm_source etc., unless it already has them." }),
  forwardQuery: z.boolean().openapi({
    description: "Pass the visitor's query parameters on to the destination, unless it already has them.",
  }),
};

type Sent = Partial<{ [Name in keyof typeof choiceFields]: z.infer<(typeof choiceFields)[Name]> | undefined }>;

/** The fields that were sent. */
export function choiceFromInput({ rules, split, utm, forwardQuery }: Sent): Partial<ChoiceFields> {
  return {
    ...(rules !== undefined && { rules: rules.map(toRule) }),
    ...(split !== undefined && { split }),
    ...(utm !== undefined && { utm: utm === null || Object.keys(utm).length === 0 ? null : (utm as Utm) }),
    ...(forwardQuery !== undefined && { forwardQuery }),
  };
}

function toRule({ when, url }: z.infer<typeof ruleSchema>): Rule {
  const { country, device, os, language, from, until, hours, query } = when;
  return {
    when: {
      ...(country && { country: country.map((code) => code.toUpperCase()) }),
      ...(device && { device }),
      ...(os && { os }),
      ...(language && { language: language.map((tag) => tag.toLowerCase()) }),
      ...(from !== undefined && { from: fromIso(from) }),
      ...(until !== undefined && { until: fromIso(until) }),
      ...(hours && { hours: toHours(hours) }),
      ...(query && { query: { name: query.name, ...(query.value !== undefined && { value: query.value }) } }),
    },
    url,
  };
}

const toHours = ({ zone, days, from, until }: z.infer<typeof hoursSchema>): Hours => ({
  zone: zoneOf(zone) ?? zone,
  ...(days && { days }),
  fromMinute: minuteOf(from),
  untilMinute: minuteOf(until),
});

export function showChoice({ rules, split, utm, forwardQuery }: ChoiceFields) {
  return {
    rules: showRules(rules),
    split: split.map(({ url, weight }) => ({ url, weight })),
    utm: utm && { ...utm },
    forwardQuery,
  };
}

export const showRules = (rules: readonly Rule[]) => rules.map(({ when, url }) => ({ when: showWhen(when), url }));

function showWhen({ country, device, os, language, from, until, hours, query }: RuleCondition) {
  return {
    ...(country && { country: [...country] }),
    ...(device && { device: [...device] }),
    ...(os && { os: [...os] }),
    ...(language && { language: [...language] }),
    ...(from !== undefined && { from: toIso(from) }),
    ...(until !== undefined && { until: toIso(until) }),
    ...(hours && {
      hours: {
        zone: hours.zone,
        ...(hours.days && { days: [...hours.days] }),
        from: timeOf(hours.fromMinute),
        until: timeOf(hours.untilMinute),
      },
    }),
    ...(query && { query: { ...query } }),
  };
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;

/** As spelled in the list of zones. An offset is not accepted: it does not know about daylight saving time. */
function zoneOf(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
