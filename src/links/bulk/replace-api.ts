import { Problem } from "../../base/errors.ts";
import type { TenantId } from "../../base/ids.ts";
import type { Signer } from "../../base/signature.ts";
import { problemBody } from "../../http/problem.ts";
import { type Api, json, jsonBody, problemSchema, requirePermission, route, soughtText, z } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { destinationMost } from "../destination.ts";
import { shortUrl, shownHost } from "../link.ts";
import type { Links } from "../links.ts";
import { type RunSteps, showOutcomes } from "./api.ts";
import { type PlannedLink, planReplacement, type ReplacementParts } from "./replace.ts";
import { bulkEditedSchema, filterSchema, toQuery } from "./schemas.ts";
import type { LinkStep } from "./step.ts";

/** Find and replace in destinations: a preview, and then exactly that. */
const asked = {
  find: soughtText(destinationMost).min(1).openapi({
    description: "Exact text, in `url`, `fallbackUrl` and the URLs of rules and splits.",
    example: "http://old.example.com/",
  }),
  replace: soughtText(destinationMost).openapi({ example: "https://new.example.com/" }),
  filter: filterSchema.optional().openapi({ description: "Only in these links. Default: all." }),
};

type Asked = { readonly find: string; readonly replace: string };
const refine = ({ find, replace }: Asked, { addIssue }: z.core.$RefinementCtx<Asked>): void => {
  if (find !== replace) return;
  addIssue({ code: "custom", path: ["replace"], message: "Must differ from find.", params: { code: "contradiction" } });
};

const previewSchema = z
  .object({
    changes: z.int().openapi({ description: "How many links would change." }),
    invalid: z.int().openapi({ description: "How many links match, but cannot have the new destination." }),
    items: z.array(
      z.object({
        id: z.string(),
        shortUrl: z.string(),
        title: z.string().nullable(),
        version: z.int(),
        fields: z.array(z.object({ field: z.string(), before: z.string(), after: z.string() })),
        problem: problemSchema.optional().openapi({ description: "Why this link stays as it is." }),
      }),
    ),
    token: z.string().nullable().openapi({
      description: "Send it to apply exactly what was counted here. Null: nothing would change.",
    }),
  })
  .openapi("ReplacementPreview");

const routes = {
  preview: route(
    "links:write",
    {
      method: "post",
      path: "/api/links/replace/preview",
      tags: ["Links"],
      operationId: "previewReplacement",
      summary: "Show what find and replace would change in destinations",
      description: "Changes nothing. At most 5,000 links may match. Also requires the scope `links:read`.",
      "x-repeatable": true,
      request: {
        body: jsonBody(
          z
            .strictObject({
              ...asked,
              limit: z.int().min(1).max(100).default(20).openapi({ description: "How many links to list." }),
            })
            .superRefine(refine)
            .openapi("ReplacementQuestion", {
              example: { find: "http://old.example.com/", replace: "https://new.example.com/" },
            }),
        ),
      },
    },
    { 200: json(previewSchema, "How many links would change, and the first of them; invalid ones first") },
    "invalid_input",
    "busy",
  ),
  apply: route(
    "links:write",
    {
      method: "patch",
      path: "/api/links/replace",
      tags: ["Links"],
      operationId: "replaceInLinks",
      summary: "Replace text in destinations, as previewed",
      description:
        "With the parameters and the `token` of the preview. If one of the links was changed since then, nothing happens: the response is 412, and you need a new preview. Links that cannot have the new destination stay as they are.",
      request: {
        body: jsonBody(
          z
            .strictObject({ ...asked, token: z.string().max(200) })
            .superRefine(refine)
            .openapi("ReplacementOrder", {
              example: { find: "http://old.example.com/", replace: "https://new.example.com/", token: "…" },
            }),
        ),
      },
    },
    { 200: json(bulkEditedSchema, "One result per link, and what undoes it") },
    "invalid_input",
    "version_conflict",
    "busy",
  ),
};

export interface ReplaceApi extends ReplacementParts {
  readonly links: Pick<Links, "domainOf" | "tryChange">;
  readonly baseUrl: string;
  readonly signer: Signer;
  readonly now: () => number;
  readonly runSteps: RunSteps;
}

export function replaceRoutes(api: Api, parts: ReplaceApi): void {
  const { links, baseUrl, signer, runSteps, now } = parts;
  const queryOf = ({ limits }: Tenant, filter: z.infer<typeof filterSchema>) =>
    toQuery(filter, links.domainOf, { now: now(), hitsAllowed: limits.hitsPerLinkPerMonth });

  /** What the token stands for. */
  const signed = (tenant: TenantId, { find, replace }: Asked, digest: string): string =>
    JSON.stringify([tenant, find, replace, digest]);

  api.openapi(routes.preview, async (c) => {
    const caller = c.get("caller");
    requirePermission(caller, "links:read");
    const { tenant } = caller;
    const { find, replace, filter = {}, limit } = c.req.valid("json");
    const plan = await planReplacement(parts, tenant, { find, replace }, queryOf(tenant, filter));
    const invalid = plan.links.filter(({ problem }) => problem !== null);
    const changes = plan.links.filter(({ problem }) => problem === null);
    const token = changes.length === 0 ? null : signer.sign(signed(tenant.id, { find, replace }, plan.digest));
    const items = [...invalid, ...changes].slice(0, limit).map((one) => showPlanned(one, baseUrl));
    return c.json({ changes: changes.length, invalid: invalid.length, items, token }, 200);
  });

  api.openapi(routes.apply, async (c) => {
    const caller = c.get("caller");
    const { find, replace, filter = {}, token } = c.req.valid("json");
    const plan = await planReplacement(parts, caller.tenant, { find, replace }, queryOf(caller.tenant, filter));
    if (!signer.isSigned(signed(caller.tenant.id, { find, replace }, plan.digest), token)) {
      throw new Problem(
        "version_conflict",
        "The links that match, or their versions, are not those of your preview. Preview it again.",
      );
    }
    const steps = plan.links.flatMap(({ link: { id, version }, problem }): LinkStep[] =>
      problem === null ? [{ kind: "edit", id, change: { destinations: { find, replace } }, expected: version }] : [],
    );
    const outcomes = await runSteps(caller, steps, c.req.raw.signal);
    const asked = steps.map((step) => ({ id: step.id, step }));
    const shown = showOutcomes(asked, outcomes, (domain) => shownHost(baseUrl, domain));
    return c.json({ ...shown, nextCursor: null }, 200);
  });
}

const showPlanned = ({ link, changes, problem }: PlannedLink, baseUrl: string) => ({
  ...{ id: link.id, shortUrl: shortUrl(baseUrl, link), title: link.title, version: link.version },
  fields: changes.map((change) => ({ ...change })),
  ...(problem !== null && { problem: problemBody(problem) }),
});
