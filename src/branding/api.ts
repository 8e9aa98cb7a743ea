import { type Api, actorOf, json, jsonBody, route, singleLine, z } from "../http/route.ts";
import { logoPrefix, readableColours } from "./brand.ts";
import type { Branding, BrandingStore } from "./branding.ts";
import { checkLogo, logoMostBytes } from "./logo.ts";

/** How a workspace looks to visitors. */
const coloursSchema = z.object({ light: z.string(), dark: z.string() });

const brandingSchema = z
  .object({
    name: z.string().nullable(),
    colour: z.string().nullable(),
    colours: coloursSchema.nullable().openapi({
      description: "The colour as pages use it: made darker or lighter where it could not be read.",
    }),
    logo: z.object({ url: z.string(), type: z.string() }).nullable(),
  })
  .openapi("Branding");

const base64Most = Math.ceil(logoMostBytes / 3) * 4;

const changeSchema = z
  .strictObject({
    name: singleLine(60).nullable().optional().openapi({ description: "Shown at the top of pages. Null: none." }),
    colour: z
      .string()
      .regex(/^#[0-9a-f]{6}$/i, "Must be a colour such as #2d5bd8.")
      .nullable()
      .optional()
      .openapi({ example: "#2d5bd8" }),
    logo: z
      .string()
      // A little more, so that the message is about the size of the picture.
      .max(base64Most * 2, "Must have at most 64 KB.")
      .refine((text) => /^[A-Za-z0-9+/]*={0,2}$/.test(text), {
        message: "Must be Base64.",
        params: { code: "bad_format" },
      })
      .nullable()
      .optional()
      .openapi({
        description: "PNG, WebP or SVG in Base64, at most 64 KB. SVG must not contain scripts, styles or references.",
      }),
  })
  .openapi("BrandingChange", { example: { name: "Acme", colour: "#2d5bd8" } });

const routes = {
  get: route(
    "links:read",
    {
      method: "get",
      path: "/api/branding",
      tags: ["Branding"],
      operationId: "getBranding",
      summary: "Get name, colour and logo of the pages for visitors",
    },
    { 200: json(brandingSchema, "The branding") },
  ),
  change: route(
    "admin",
    {
      method: "patch",
      path: "/api/branding",
      tags: ["Branding"],
      operationId: "updateBranding",
      summary: "Set name, colour and logo of the pages for visitors",
      description:
        "For the pages that visitors see instead of a redirect: not found, expired, over the limit, suspended, password and preview, and for public statistics. Omitted fields keep their value. Servers show a change within ten seconds.",
      request: { body: jsonBody(changeSchema) },
    },
    { 200: json(brandingSchema, "The branding") },
    "invalid_input",
  ),
};

export function brandingRoutes(api: Api, branding: BrandingStore, baseUrl: string): void {
  api.openapi(routes.get, async (c) => c.json(show(await branding.of(c.get("caller").tenant.id), baseUrl), 200));

  api.openapi(routes.change, async (c) => {
    const caller = c.get("caller");
    const { name, colour, logo } = c.req.valid("json");
    const bytes = logo == null ? undefined : Buffer.from(logo, "base64");
    const picture = bytes === undefined ? (logo as null | undefined) : { bytes, type: await checkLogo(bytes) };
    const change = { name, colour: colour?.toLowerCase() ?? colour, logo: picture };
    return c.json(show(await branding.change(caller.tenant.id, change, actorOf(caller)), baseUrl), 200);
  });
}

const show = ({ name, colour, logoHash, logoType }: Branding, baseUrl: string) => ({
  ...{ name, colour, colours: colour === null ? null : { ...readableColours(colour) } },
  logo: logoHash === null || logoType === null ? null : { url: `${baseUrl}${logoPrefix}${logoHash}`, type: logoType },
});
