import { type Clock, fromIso, toIso } from "../base/clock.ts";
import { invalid, Problem } from "../base/errors.ts";
import { type LinkId, parseId, type ShareId, type TenantId } from "../base/ids.ts";
import type { Passwords } from "../base/passwords.ts";
import { type BreakdownName, breakdownNames, quarterMs } from "../clicks/click.ts";
import { storedFilters } from "../clicks/reports/link-filter.ts";
import { parseReport, type ReportQuery } from "../clicks/reports/query.ts";
import type { ReportSubject } from "../clicks/reports/scope.ts";
import { type Pages, pageParams, pageSchema } from "../http/pagination.ts";
import { type Api, actorOf, json, jsonBody, requirePermission, route, singleLine, z } from "../http/route.ts";
import type { Links } from "../links/links.ts";
import { visitorPassword } from "../links/schemas.ts";
import {
  type SharedSubject,
  type StatsShare,
  type StatsShares,
  sharePrefix,
  sharesMost,
  shareToken,
} from "./shares.ts";

/** Public pages with statistics. */
const shownBreakdown = z.enum(breakdownNames as [BreakdownName, ...BreakdownName[]]);
/** The pages are about people. Shares from before may have the others. */
const newBreakdown = shownBreakdown.exclude(["bot"]);
const usualBreakdowns = ["country", "referrer", "device", "browser"] as const;

const shareSchema = z
  .object({
    id: z.string(),
    url: z.string().openapi({ description: "The page. Add `.json` for the same as JSON." }),
    link: z.string().nullable(),
    tag: z.string().nullable(),
    title: z.string().nullable(),
    days: z.int(),
    filters: z.array(z.string()),
    breakdowns: z.array(shownBreakdown),
    password: z.boolean().openapi({ description: "Whether visitors need a password." }),
    expiresAt: z.string().nullable(),
    createdAt: z.string(),
  })
  .openapi("StatsShare");

const newShareSchema = z
  .strictObject({
    link: z.string().max(100).optional().openapi({ description: "The ID of a link. Give either `link` or `tag`." }),
    tag: singleLine(50).optional(),
    title: singleLine(100).nullable().optional().openapi({ description: "Default: that of the link, or the tag." }),
    days: z.int().min(1).max(400).default(30).openapi({ description: "How many days the page covers, up to now." }),
    filters: z.array(z.string().max(2_000)).max(10).default([]).openapi({
      description: "As in reports, such as `country=DE`. Only clicks that match are shown, and nobody can change that.",
    }),
    breakdowns: z
      .array(newBreakdown)
      .max(10)
      .default([...usualBreakdowns])
      .openapi({
        description: "What the clicks are broken down by. `link` is for tags, and shows their codes and titles.",
      }),
    password: visitorPassword.optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
  })
  .superRefine(({ link, tag, breakdowns }, { addIssue }) => {
    if ((link === undefined) === (tag === undefined)) {
      addIssue({
        code: "custom",
        path: ["link"],
        message: "Give either link or tag.",
        params: { code: "contradiction" },
      });
    }
    if (link !== undefined && breakdowns.includes("link")) {
      const message = "A link cannot be broken down by link.";
      addIssue({ code: "custom", path: ["breakdowns"], message, params: { code: "contradiction" } });
    }
  })
  .openapi("NewStatsShare", { example: { tag: "spring", days: 90, filters: ["country=DE,AT"] } });

const routes = {
  list: route(
    "stats:read",
    {
      method: "get",
      path: "/api/stats/shares",
      tags: ["Shares"],
      operationId: "listStatsShares",
      summary: "List public pages with statistics, newest first",
      request: {
        query: z.strictObject({
          ...pageParams,
          link: z.string().max(100).optional().openapi({ description: "Only those of this link." }),
        }),
      },
    },
    { 200: json(pageSchema(shareSchema, "StatsSharePage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  create: route(
    "links:write",
    {
      method: "post",
      path: "/api/stats/shares",
      tags: ["Shares"],
      operationId: "createStatsShare",
      summary: "Publish the statistics of a link or a tag",
      description: `Whoever has the \`url\` sees the figures, in a page that needs no script. At most ${sharesMost} per workspace. Also requires the scope \`stats:read\`.`,
      "x-repeatable": true,
      request: { body: jsonBody(newShareSchema) },
    },
    { 201: json(shareSchema, "The share") },
    "invalid_input",
    "not_found",
    "collection_full",
    "busy",
  ),
  revoke: route(
    "links:write",
    {
      method: "delete",
      path: "/api/stats/shares/{id}",
      tags: ["Shares"],
      operationId: "revokeStatsShare",
      summary: "Stop publishing statistics",
      description: "The page answers 404 at once, on all servers.",
      request: { params: z.object({ id: z.string().openapi({ example: "shr_01k9a0b1c2d3e4f5g6h7j8k9m0" }) }) },
    },
    { 204: { description: "Revoked" } },
    "not_found",
  ),
};

export interface StatsShareApi {
  readonly shares: StatsShares;
  readonly passwords: Passwords;
  readonly pages: Pages;
  readonly links: Pick<Links, "domainOf">;
  readonly report: (tenant: TenantId, subject: ReportSubject, query: ReportQuery) => Promise<unknown>;
  readonly clock: Pick<Clock, "now">;
  readonly baseUrl: string;
}

export function statsShareRoutes(api: Api, settings: StatsShareApi): void {
  const { shares, passwords, pages, clock, baseUrl } = settings;

  api.openapi(routes.list, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const { limit, cursor, link } = c.req.valid("query");
    const about = link === undefined ? undefined : linkOf(link);
    const page = await pages.page(
      { tenant, name: "shares" },
      { limit, cursor },
      (most, after: readonly [ShareId] | undefined) => shares.list(tenant, most, { link: about, before: after?.[0] }),
      ({ id }) => [id] as const,
    );
    return c.json({ ...page, items: page.items.map((item) => show(item, baseUrl)) }, 200);
  });

  api.openapi(routes.create, async (c) => {
    const caller = c.get("caller");
    // Nobody publishes what they may not read.
    requirePermission(caller, "stats:read");
    const { link, tag, title = null, days, filters, breakdowns, password, expiresAt } = c.req.valid("json");
    const subject: SharedSubject =
      link === undefined ? { kind: "tag", name: tag ?? "" } : { kind: "link", id: linkOf(link) };
    await checkFilters(settings, caller.tenant.id, subject, filters);
    const ends = expiresAt == null ? null : fromIso(expiresAt);
    if (ends !== null && ends <= clock.now()) throw invalid("expiresAt", "in_the_past", "Must be in the future.");
    const passwordHash = password == null ? null : await passwords.hash(password, caller.tenant.id);
    if (passwordHash === "busy") {
      throw new Problem("busy", "Too many passwords are being set or checked. Try again shortly.", {
        retryAfterSeconds: 1,
      });
    }
    const once = c.get("once");
    const share = await shares.create(
      caller.tenant.id,
      {
        ...{ id: once?.id("share"), token: once && shareToken(once.secret("share")) },
        ...{ subject, title, days, filters, breakdowns: [...new Set(breakdowns)], passwordHash, expiresAt: ends },
      },
      actorOf(caller),
    );
    return c.json(show(share, baseUrl), 201);
  });

  api.openapi(routes.revoke, async (c) => {
    const caller = c.get("caller");
    const id = parseId("share", c.req.valid("param").id);
    const isGone = id !== undefined && (await shares.revoke(caller.tenant.id, id, actorOf(caller)));
    if (!isGone) throw new Problem("not_found", "No such share.");
    return c.body(null, 204);
  });
}

/**
 * In the words of reports, at the field of this route. The report of the page is asked for, on its last quarter of an hour: only the
 * database knows whether a link or domain of a filter exists, and a page whose report is refused is 404 for ever.
 */
async function checkFilters(
  { links, report, clock }: StatsShareApi,
  tenant: TenantId,
  subject: SharedSubject,
  filter: readonly string[],
): Promise<void> {
  if (filter.length === 0) return;
  const now = clock.now();
  try {
    const parsed = parseReport({ filter, from: toIso(now - quarterMs), breakdown: "" }, "UTC", now);
    await report(tenant, subject, { ...parsed, filters: storedFilters(parsed.filters, links.domainOf) });
  } catch (error) {
    const [first] = error instanceof Problem ? (error.more.errors ?? []) : [];
    throw first === undefined ? error : invalid("filters", first.code, first.message);
  }
}

function linkOf(text: string): LinkId {
  const id = parseId("link", text);
  if (id === undefined) throw invalid("link", "unknown_link", "Must be the ID of a link.");
  return id;
}

function show(share: StatsShare, baseUrl: string) {
  const { id, subject, title, days, filters, breakdowns, passwordHash, expiresAt, createdAt, token } = share;
  return {
    ...{ id, url: `${baseUrl}${sharePrefix}${token}` },
    link: subject.kind === "link" ? subject.id : null,
    tag: subject.kind === "tag" ? subject.name : null,
    ...{ title, days, filters: [...filters], breakdowns: [...breakdowns], password: passwordHash !== null },
    ...{ expiresAt: expiresAt === null ? null : toIso(expiresAt), createdAt: toIso(createdAt) },
  };
}
