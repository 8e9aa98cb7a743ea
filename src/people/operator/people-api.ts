import { toIso } from "../../base/clock.ts";
import { Problem } from "../../base/errors.ts";
import { type PersonId, parseId, type TenantId } from "../../base/ids.ts";
import { type Pages, pageParams, pageSchema } from "../../http/pagination.ts";
import { type Api, json, jsonBody, route, z } from "../../http/route.ts";
import { personSchema, showPerson } from "../account-api.ts";
import type { Account, People } from "../people.ts";
import { roles } from "../roles.ts";
import type { Sessions, SignedIn } from "../sessions.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { Operators } from "./operators.ts";

/** People of this server, for its operators. */
const searchMost = 100;
export const operatorList = "" as TenantId;
export const searchParams = {
  ...pageParams,
  search: z
    .string()
    .min(1)
    .max(searchMost)
    .optional()
    .openapi({ description: "Text that a name or address contains." }),
};

const accountSchema = personSchema
  .extend({ disabledAt: z.string().nullable().openapi({ description: "Null: enabled." }) })
  .openapi("PersonAccount");

const detailSchema = accountSchema
  .extend({
    sessions: z.int(),
    workspaces: z.array(z.object({ id: z.string(), slug: z.string(), name: z.string(), role: z.enum(roles) })),
  })
  .openapi("PersonDetail");

const about = { tags: ["Operator"] };
const params = z.object({ person: z.string() });

const routes = {
  list: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/people", operationId: "listPeople", ...about },
      summary: "List and search people",
      request: { query: z.strictObject(searchParams) },
    },
    { 200: json(pageSchema(accountSchema, "PersonPage"), "A page; `nextCursor` is null on the last page") },
    "invalid_input",
  ),
  get: route(
    "operator",
    {
      ...{ method: "get", path: "/api/operator/people/{person}", operationId: "getPerson", ...about },
      summary: "Get a person and their workspaces",
      request: { params },
    },
    { 200: json(detailSchema, "The person") },
    "not_found",
  ),
  change: route(
    "operator",
    {
      ...{ method: "patch", path: "/api/operator/people/{person}", operationId: "changePerson", ...about },
      summary: "Disable or enable an account, make or unmake an operator",
      description: "Disabling ends all sessions. An operator always remains.",
      request: {
        params,
        body: jsonBody(
          z
            .strictObject({ disabled: z.boolean().optional(), operator: z.boolean().optional() })
            .openapi("PersonChange"),
        ),
      },
    },
    { 200: json(accountSchema, "The person") },
    ...(["invalid_input", "not_found", "last_operator", "proof_required", "wrong_origin"] as const),
  ),
};

export interface OperatorPeopleApi {
  readonly operators: Operators;
  readonly people: Pick<People, "byId">;
  readonly sessions: Pick<Sessions, "list">;
  readonly workspaces: Pick<Workspaces, "ofPerson">;
  readonly pages: Pages;
  /** Throws unless the person proved a short time ago who they are. */
  readonly requireFresh: (signedIn: SignedIn) => void;
}

export function operatorPeopleRoutes(api: Api, settings: OperatorPeopleApi): void {
  const { operators, people, sessions, workspaces, pages, requireFresh } = settings;

  api.openapi(routes.list, async (c) => {
    const { search, ...asked } = c.req.valid("query");
    const { items, nextCursor } = await pages.page(
      { tenant: operatorList, name: `people ${search ?? ""}` },
      asked,
      (limit, after: readonly [PersonId] | undefined) => operators.list(limit, after?.[0], search),
      ({ person }) => [person.id] as const,
    );
    return c.json({ items: items.map(showAccount), nextCursor }, 200);
  });

  api.openapi(routes.get, async (c) => {
    const account = await people.byId(requireId(c.req.valid("param").person));
    if (account === undefined) throw noPerson();
    const { id } = account.person;
    const own = await workspaces.ofPerson(id);
    const shown = own.map(({ id, slug, name, role }) => ({ id, slug, name, role }));
    return c.json({ ...showAccount(account), sessions: (await sessions.list(id)).length, workspaces: shown }, 200);
  });

  api.openapi(routes.change, async (c) => {
    const signedIn = c.get("signedIn");
    const { disabled: isDisabled, operator: isOperator } = c.req.valid("json");
    if (isOperator) requireFresh(signedIn);
    const id = requireId(c.req.valid("param").person);
    const by = { kind: "person", id: signedIn.person.id } as const;
    return c.json(showAccount(await operators.change(id, { isDisabled, isOperator }, by)), 200);
  });
}

const noPerson = (): Problem => new Problem("not_found", "There is no such person.");

function requireId(text: string): PersonId {
  const id = parseId("person", text);
  if (id === undefined) throw noPerson();
  return id;
}

const showAccount = ({ person, disabledAt }: Account) => ({
  ...showPerson(person),
  disabledAt: disabledAt === null ? null : toIso(disabledAt),
});
