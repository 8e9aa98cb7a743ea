import { type Api, json, route, z } from "../../http/route.ts";
import { shownHost } from "../link.ts";
import type { Links } from "../links.ts";
import { type CodeCheckParts, checkCode, codeVerdicts, requestedDomain, sayVerdict } from "./code-check.ts";

/** Whether a code is free, before a link is created. */
const codeCheckSchema = z
  .object({
    code: z.string(),
    domain: z.string(),
    isFree: z.boolean(),
    state: z.enum(codeVerdicts).openapi({
      description:
        "`yours`: one of your links has it, see `link`. `in_trash`: a deleted link of yours has it, see `trashedLink`; it can be restored. `taken`: not available.",
    }),
    message: z.string().nullable().openapi({ description: "Why it cannot be used. Null: it is free." }),
    link: z.string().nullable(),
    trashedLink: z.string().nullable(),
    suggestions: z.array(z.string()).openapi({ description: "Up to three free codes, if this one is not free." }),
  })
  .openapi("CodeCheck");

const routes = {
  code: route(
    "links:write",
    {
      method: "get",
      path: "/api/links/check",
      tags: ["Links"],
      operationId: "checkCode",
      summary: "Check whether a code is free",
      description:
        "Reserves nothing: another request may take the code before yours. Says nothing about the links of other workspaces, except that a code is taken.",
      request: {
        query: z.strictObject({
          code: z.string().max(200).openapi({ example: "winter" }),
          domain: z.string().max(300).optional().openapi({
            description: "One of your verified domains, or the server's. Default: your default domain.",
          }),
        }),
      },
    },
    { 200: json(codeCheckSchema, "Whether the code is free, why not, and free ones") },
    "invalid_input",
  ),
};

export interface CheckApi extends CodeCheckParts {
  readonly links: Pick<Links, "domainOf">;
  readonly baseUrl: string;
}

export function checkRoutes(api: Api, parts: CheckApi): void {
  api.openapi(routes.code, async (c) => {
    const { tenant } = c.get("caller");
    const { code, domain: given } = c.req.valid("query");
    const domain = requestedDomain(tenant, given, parts.links.domainOf);
    const { suggestions, ...check } = await checkCode(parts, tenant, domain, code);
    return c.json(
      {
        ...{ code, domain: shownHost(parts.baseUrl, domain), isFree: check.state === "free", ...check },
        message: sayVerdict(check.state, code),
        suggestions: [...suggestions],
      },
      200,
    );
  });
}
