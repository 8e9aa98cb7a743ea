import { pageParams, pageSchema } from "../../http/pagination.ts";
import { singleLine, z } from "../../http/route.ts";
import { hitReasons } from "../../redirect/decide.ts";
import { breakdownNames, dimensions } from "../click.ts";
import { filterFields, filtersMost, filterValuesMost } from "./filters.ts";
import type { ListedClick } from "./list.ts";
import { breakdownLimit, breakdownMost, comparisons, type ReportQuery, type Span, traffics } from "./query.ts";
import type { BreakdownValue, ClickReport, SeriesPoint } from "./report.ts";
import type { ReportedSubject } from "./scope.ts";
import type { TopLink } from "./top-links.ts";
import { intervals, toLocalIso } from "./zones.ts";

/** Reports and clicks as JSON: what may be asked, and what is returned. */
const moment = z.string().max(40).optional();
const filters = z.array(z.string().max(20_000)).max(100);

const range = {
  from: moment.openapi({
    description: "A date in the zone, or a time with an offset. Default: 30 days.",
    example: "2026-11-01",
  }),
  to: moment.openapi({ description: "Exclusive if it is a time; a date includes its whole day. Default: now." }),
  zone: z
    .string()
    .max(100)
    .optional()
    .openapi({ description: "IANA time zone. Default: the workspace's.", example: "Europe/Berlin" }),
  filter: z
    .preprocess((given) => (typeof given === "string" ? [given] : given), filters)
    .optional()
    .openapi({
      type: "array",
      items: { type: "string" },
      description: `\`country=DE,AT\` (is), \`browser!=Chrome\` (is not), \`referrer~news\` (contains). Repeat it for several; all must hold. Write a comma in a value as \`\\,\`. At most ${filtersMost} filters with ${filterValuesMost} values. Fields: ${filterFields.join(", ")}.`,
    }),
};

const report = {
  ...range,
  interval: z.enum(intervals).optional().openapi({ description: "Default: by the length of the range." }),
  traffic: z.enum(traffics).optional().openapi({
    description:
      "`people`: clicks that count. `bots`: all others, which are bots, previews and prefetches, but also people who were sent to a fallback. Default: people, or all with a filter on `bot` or `reason`.",
  }),
  breakdown: z
    .string()
    .max(500)
    .optional()
    .openapi({
      description: `Comma separated: ${breakdownNames.join(", ")}. Default: all. \`link\` is for reports on several links.`,
    }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(breakdownMost)
    .default(breakdownLimit)
    .openapi({ description: "Values of each breakdown." }),
  compare: z.enum(comparisons).optional().openapi({
    description: "Also count the period before, the same weekdays before, or the same dates a year before.",
  }),
  format: z.enum(["json", "csv"]).optional().openapi({
    description:
      "`csv`: the series, with `compare` both; the values of a dimension if `breakdown` names a single one. A column `visitorsCapped` or `sampleRate` is added where it applies. Or `Accept: text/csv`.",
  }),
};

const group = {
  domain: z.string().max(300).optional().openapi({ description: "Only clicks on links of this domain." }),
  tag: singleLine(50).optional().openapi({ description: "Only clicks on links that had this tag." }),
};

const list = {
  ...range,
  ...pageParams,
  format: z.enum(["json", "csv", "jsonl"]).optional().openapi({
    description:
      "`csv` and `jsonl` stream all matching clicks, without a sample: `limit` and `cursor` do not apply. A download that takes more than five minutes breaks off. Clicks of a day with more than 125,000 come in no order.",
  }),
};

export const linkReportParams = z.strictObject(report);
export const tenantReportParams = z.strictObject({ ...report, ...group });
export const linkClicksParams = z.strictObject(list);
export const tenantClicksParams = z.strictObject({ ...list, ...group });

const subjectSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tenant") }),
  z.object({ kind: z.literal("link"), id: z.string(), domain: z.string(), code: z.string() }),
  z.object({ kind: z.literal("domain"), name: z.string() }),
  z.object({ kind: z.literal("tag"), name: z.string() }),
]);
const totalsSchema = z.object({ clicks: z.int(), visitors: z.int(), bots: z.int() });
const seriesSchema = z.array(z.object({ start: z.string(), clicks: z.int(), visitors: z.int() }));

const itemisedSchema = z.object({ clicks: z.int(), of: z.int(), notInSeries: z.int() }).nullable().openapi({
  description:
    "With filters: of how many of all clicks in the range it is known whether they match; `notInSeries`: matches that the series lacks.",
});
const sampledSchema = z.object({ rate: z.number(), error: z.number() }).nullable().openapi({
  description: "Not null if events were sampled. `error`: relative error of the total that 95 of 100 samples keep.",
});
const cappedSchema = z
  .array(z.object({ from: z.string(), to: z.string() }))
  .nullable()
  .openapi({
    description:
      "Not null if new visitors were not recognised for a time, because the workspace had too many that day: `visitors` is too low there, and clicks are complete.",
  });

const topLinkSchema = z
  .object({
    id: z.string().nullable(),
    domain: z.string().nullable(),
    code: z.string().nullable(),
    title: z.string().nullable(),
  })
  .openapi({
    description:
      "In the breakdown `link`. A deleted link has no `id` and no `title`; 400 days after its last click its code is not known either.",
  });

const breakdownValueSchema = z.object({
  value: z.string().openapi({ description: "What a filter takes for it." }),
  clicks: z.int(),
  visitors: z.int(),
  link: topLinkSchema.optional(),
  previousClicks: z.int().nullable().optional().openapi({
    description:
      "In the breakdown `link`, with `compare`: its clicks in that period. Null if it is not among the links that were kept apart then, or if none of its clicks is known to match the filters and `previous.itemised` is not complete.",
  }),
});

export const reportSchema = z
  .object({
    subject: subjectSchema,
    from: z.string(),
    to: z.string(),
    zone: z.string(),
    interval: z.enum(intervals),
    traffic: z.enum(traffics),
    totals: totalsSchema.openapi({
      description:
        "`visitors` is the sum of daily visitors. `bots`: all clicks that do not count, those of people who were sent to a fallback too; `reasons` tells them apart.",
    }),
    reasons: z.record(z.string(), z.int()).openapi({
      description:
        "Clicks by reason. `fallback`: after the link expired, and `over_quota`: beyond its limit; both were sent to the fallback. `unknown`: only their number is known.",
    }),
    series: seriesSchema,
    breakdowns: z.record(
      z.string(),
      z.object({
        values: z.array(breakdownValueSchema),
        none: z.int(),
        other: z.int(),
        notItemised: z.int(),
      }),
    ),
    previous: z
      .object({
        ...{ from: z.string(), to: z.string(), totals: totalsSchema, series: seriesSchema },
        ...{ itemised: itemisedSchema, sampled: sampledSchema, visitorsCapped: cappedSchema },
      })
      .nullable(),
    itemised: itemisedSchema,
    sampled: sampledSchema,
    visitorsCapped: cappedSchema,
    imported: z
      .object({ clicks: z.int(), visitors: z.int(), undated: z.int(), series: seriesSchema })
      .nullable()
      .openapi({
        description: "Clicks from another shortener, not part of the totals. `undated`: those whose day is not known.",
      }),
  })
  .openapi("ClickReport");

const clickSchema = z
  .object({
    at: z.string(),
    link: z.object({
      value: z.string().openapi({ description: "What a filter `link=` takes for this link, even if it was deleted." }),
      ...{ id: z.string().nullable(), domain: z.string(), code: z.string() },
    }),
    reason: z.enum(hitReasons),
    first: z.boolean().nullable().openapi({
      description:
        "The visitor's first click of the day. False if visitors are not recognised, such as bots; null if it came too late to tell, or the day had too many visitors.",
    }),
    weight: z.int().openapi({ description: "How many clicks it stands for: above 1 if there are too many to list." }),
    ...Object.fromEntries(dimensions.map((name) => [name, z.string().nullable()])),
  })
  .openapi("Click");

export const clickPageSchema = pageSchema(clickSchema, "ClickPage");

/** Times as the clock of the report's zone shows them. */
export function showReport(
  found: ClickReport,
  { zone, interval, traffic }: ReportQuery,
  host: (domain: string) => string,
) {
  const time = (at: number) => toLocalIso(zone, at);
  const spans = (some: readonly Span[] | null) =>
    some?.map(({ from, to }) => ({ from: time(from), to: time(to) })) ?? null;
  const series = (points: readonly SeriesPoint[]) => points.map((point) => ({ ...point, start: time(point.start) }));
  const { subject, previous, breakdowns, reasons, imported, ...rest } = found;
  const showValue = ({ link, ...value }: BreakdownValue) =>
    link === undefined ? value : { ...value, link: showTopLink(link, host) };
  return {
    subject: showSubject(subject, host),
    ...rest,
    ...{ zone, interval, traffic },
    from: time(found.from),
    to: time(found.to),
    reasons: { ...reasons },
    series: series(found.series),
    visitorsCapped: spans(found.visitorsCapped),
    breakdowns: Object.fromEntries(
      Object.entries(breakdowns).map(([name, one]) => [name, { ...one, values: one.values.map(showValue) }]),
    ),
    previous: previous && {
      ...previous,
      from: time(previous.from),
      to: time(previous.to),
      series: series(previous.series),
      visitorsCapped: spans(previous.visitorsCapped),
    },
    imported: imported && { ...imported, series: series(imported.series) },
  };
}

const showTopLink = (link: TopLink, host: (domain: string) => string): TopLink => ({
  ...link,
  domain: link.domain === null ? null : host(link.domain),
});

function showSubject(subject: ReportedSubject, host: (domain: string) => string) {
  if (subject.kind === "link") return { ...subject, domain: host(subject.domain) };
  return subject.kind === "domain" ? { ...subject, name: host(subject.name) } : subject;
}

export function showClick(
  { at, link, reason, first, weight, facts }: ListedClick,
  zone: string,
  host: (domain: string) => string,
) {
  return {
    at: toLocalIso(zone, at),
    link: { ...link, domain: host(link.domain) },
    ...{ reason, first, weight },
    ...Object.fromEntries(dimensions.map((name) => [name, facts[name] === "" ? null : facts[name]])),
  };
}
