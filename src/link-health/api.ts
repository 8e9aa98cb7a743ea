import { Problem } from "../base/errors.ts";
import { type Api, json, route, z } from "../http/route.ts";
import type { DestinationChecks } from "./destination-check.ts";
import type { PreviewImages } from "./preview-image.ts";

/** What is known about a destination, before a link leads there. */
const pageSchema = z
  .object({
    state: z.enum(["ok", "failing", "unchecked"]).openapi({
      description: "`unchecked`: the server did not ask, for example because the address is not public; see `reason`.",
    }),
    httpStatus: z.int().nullable(),
    reason: z.string().nullable(),
    responseMs: z.int().nullable().openapi({ description: "How long the answer took, with redirects." }),
    finalUrl: z.string().nullable().openapi({ description: "After redirects." }),
    title: z.string().nullable(),
    description: z.string().nullable(),
    imageUrl: z.string().nullable().openapi({ description: "The image that social networks show." }),
  })
  .openapi("DestinationPage");

const checkSchema = z
  .object({
    isValid: z.boolean(),
    url: z.string().nullable().openapi({ description: "As it would be stored; null if it is invalid." }),
    errors: z
      .array(z.object({ field: z.string(), code: z.string(), message: z.string() }))
      .openapi({ description: "What `POST /api/links` would say about it, including the operator's blocklist." }),
    page: z
      .union([pageSchema, z.null()])
      .openapi({ description: "Null if the URL is invalid, or if the operator has turned checks off." }),
  })
  .openapi("DestinationCheck");

const urlQuery = z.strictObject({ url: z.string().max(4_000).openapi({ example: "https://example.com/page" }) });

const routes = {
  check: route(
    "links:write",
    {
      method: "get",
      path: "/api/links/check-destination",
      tags: ["Links"],
      operationId: "checkDestination",
      summary: "Check a destination, and read its title and social preview",
      description:
        "Validates the URL as `POST /api/links` does, and requests it once, for at most five seconds. Results are kept for a minute. The server requests public addresses only.",
      request: { query: urlQuery },
    },
    { 200: json(checkSchema, "What is wrong with the URL, or what it leads to") },
    "invalid_input",
    "busy",
  ),
  image: route(
    "links:write",
    {
      method: "get",
      path: "/api/links/check-destination/image",
      tags: ["Links"],
      operationId: "getDestinationImage",
      summary: "Get the social image of a destination",
      description:
        "The image that the page names, if it is a PNG, JPEG, WebP, GIF or AVIF of at most 2 MB. Requested as by `check-destination`.",
      request: { query: urlQuery },
    },
    {
      200: {
        description: "The image",
        content: { "image/*": { schema: z.string().openapi({ format: "binary" }) } },
      },
    },
    "not_found",
    "invalid_input",
    "busy",
  ),
};

export function destinationRoutes(api: Api, checks: DestinationChecks, images: PreviewImages): void {
  api.openapi(routes.check, async (c) => {
    const found = await checks.check(c.get("caller").tenant, c.req.valid("query").url, c.req.raw.signal);
    return found.kind === "invalid"
      ? c.json({ isValid: false, url: null, errors: [...found.errors], page: null }, 200)
      : c.json({ isValid: true, url: found.url, errors: [], page: found.page }, 200);
  });

  api.openapi(routes.image, async (c) => {
    const image = await images.find(c.get("caller").tenant, c.req.valid("query").url, c.req.raw.signal);
    if (image === undefined) throw new Problem("not_found", "The page names no image that can be shown.");
    c.env.headers.set("cache-control", "private, max-age=300");
    // Opened on its own, it must not run anything on our origin, whatever a browser takes it for.
    c.env.headers.set("content-security-policy", "default-src 'none'; sandbox; frame-ancestors 'none'");
    return new Response(new Uint8Array(image.bytes), { headers: { "content-type": image.type } });
  });
}
