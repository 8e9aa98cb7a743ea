import { type LinkId, parseId, type TenantId } from "../../base/ids.ts";
import type { Pages } from "../../http/pagination.ts";
import { problemBody } from "../../http/problem.ts";
import { type Api, type Caller, json, jsonBody, route } from "../../http/route.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import { missing } from "../create/refusals.ts";
import { type Link, ownDomain, shownHost } from "../link.ts";
import type { Links } from "../links.ts";
import type { LinkQuery } from "../read/find.ts";
import {
  type BulkEditBody,
  bulkEditedSchema,
  bulkEditSchema,
  readUndo,
  showUndo,
  stepsMost,
  toChange,
  toQuery,
} from "./schemas.ts";
import type { LinkStep, StepOutcome } from "./step.ts";

/** Many links in one request: edited, deleted, restored or moved, and back. */
const routes = {
  edit: route(
    "links:write",
    {
      method: "patch",
      path: "/api/links/bulk",
      tags: ["Links"],
      operationId: "editLinks",
      summary: "Edit, delete, restore or move up to 1,000 links, and undo that",
      description:
        "Each link is changed or refused separately, by the rules of a single edit, with its own row in the history. The response has an `undo`: sent to the same route, it takes everything back in one request. Links that were changed meanwhile are not undone.",
      request: { body: jsonBody(bulkEditSchema) },
    },
    { 200: json(bulkEditedSchema, "One result per link") },
    "invalid_input",
    "busy",
  ),
};

export interface BulkEditApi {
  readonly links: Pick<Links, "domainOf">;
  readonly baseUrl: string;
  readonly pages: Pages;
  readonly now: () => number;
  readonly find: (tenant: TenantId, query: LinkQuery) => Promise<readonly Link[]>;
  /** In turns with other large requests, off the serving thread, and published. */
  readonly runSteps: RunSteps;
}

/** `signal`: the caller left. What is done by then stays done. */
export type RunSteps = (caller: Caller, steps: readonly LinkStep[], signal: AbortSignal) => Promise<StepOutcome[]>;

export function bulkEditRoutes(api: Api, parts: BulkEditApi): void {
  const { links, baseUrl, pages, find, runSteps, now } = parts;
  const showDomain = (domain: string) => shownHost(baseUrl, domain);

  /** What is asked for each link. `undefined`: it cannot exist. */
  async function stepsFor(
    { id: tenant, limits }: Tenant,
    body: BulkEditBody,
  ): Promise<Asked & { nextCursor: string | null }> {
    const toStep = stepOf(body, links.domainOf);
    const { ids, filter, cursor } = body;
    if (filter === undefined) {
      const steps = [...new Set(ids)].map((text) => {
        const id = parseId("link", text);
        return { id: text, step: id && toStep(id) };
      });
      return { steps, nextCursor: null };
    }
    const { items, nextCursor } = await pages.page(
      { tenant, name: "links to edit" },
      { limit: stepsMost, cursor },
      (limit, after: readonly [LinkId] | undefined) =>
        find(tenant, {
          ...toQuery(filter, links.domainOf, { now: now(), hitsAllowed: limits.hitsPerLinkPerMonth }),
          ...{ limit, after: after && { value: after[0], id: after[0] } },
        }),
      ({ id }) => [id] as const,
    );
    return { steps: items.map(({ id }) => ({ id, step: toStep(id) })), nextCursor };
  }

  api.openapi(routes.edit, async (c) => {
    const caller = c.get("caller");
    const body = c.req.valid("json");
    const { steps, nextCursor } =
      body.undo !== undefined
        ? { steps: body.undo.map((one) => ({ id: one.id, step: readUndo(one, links.domainOf) })), nextCursor: null }
        : await stepsFor(caller.tenant, body);
    const known = steps.flatMap(({ step }) => step ?? []);
    const outcomes = await runSteps(caller, known, c.req.raw.signal);
    return c.json({ ...showOutcomes(steps, outcomes, showDomain), nextCursor }, 200);
  });
}

interface Asked {
  readonly steps: readonly { readonly id: string; readonly step: LinkStep | undefined }[];
}

function stepOf(body: BulkEditBody, domainOf: (text: string) => string): (id: LinkId) => LinkStep {
  const { action = "edit", domain } = body;
  if (action === "delete" || action === "restore") return (id) => ({ kind: action, id });
  if (action === "edit") {
    const change = toChange(body);
    return (id) => ({ kind: "edit", id, change });
  }
  const to = domain == null ? ownDomain : domainOf(domain);
  return (id) => ({ kind: "move", id, domain: to });
}

export function showOutcomes(
  steps: Asked["steps"],
  outcomes: readonly StepOutcome[],
  showDomain: (domain: string) => string,
) {
  const given = outcomes.values();
  const all = steps.map(({ id, step }) => ({
    id,
    outcome: (step && given.next().value) ?? ({ kind: "failed", problem: missing() } as const),
  }));
  const count = (kind: StepOutcome["kind"]) => all.filter(({ outcome }) => outcome.kind === kind).length;
  const undo = all.flatMap(({ outcome }) => (outcome.kind === "changed" ? [showUndo(outcome.undo, showDomain)] : []));
  return {
    ...{ changed: count("changed"), unchanged: count("unchanged"), failed: count("failed") },
    results: all.map(({ id, outcome }) =>
      outcome.kind === "failed"
        ? { id, state: outcome.kind, problem: problemBody(outcome.problem) }
        : { id, state: outcome.kind, version: outcome.link.version },
    ),
    // The last change first: a link that was changed twice goes back over both.
    undo: undo.reverse(),
  };
}
