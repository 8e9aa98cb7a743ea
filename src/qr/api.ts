import { createHash } from "node:crypto";
import { invalid } from "../base/errors.ts";
import type { TenantId } from "../base/ids.ts";
import type { Shares } from "../base/shares.ts";
import { type Api, route, z } from "../http/route.ts";
import { linkId } from "../links/api.ts";
import { scannedUrl } from "../links/link.ts";
import type { Links } from "../links/links.ts";
import { colourPattern } from "./colour.ts";
import { levels } from "./matrix.ts";
import {
  contentTypes,
  drawQr,
  marginMost,
  type QrLogo,
  type QrOptions,
  qrDefaults,
  sizeLeast,
  sizeMost,
} from "./qr.ts";

const colour = z.string().regex(colourPattern, "Must be a colour, such as #1a2b3c or #1a2b3cff.");
const picture = z.string().openapi({ format: "binary" });

/** The options of a QR code, for the API and the command line. */
export const qrOptions = z.strictObject({
  format: z.enum(["svg", "png"]).default(qrDefaults.format),
  size: z.coerce.number().int().min(sizeLeast).max(sizeMost).default(qrDefaults.size).openapi({
    description: "Width and height in pixels, including the margin.",
  }),
  margin: z.coerce.number().int().min(0).max(marginMost).default(qrDefaults.margin).openapi({
    description: "In modules (squares). Scanners need 4.",
  }),
  dark: colour.default(qrDefaults.dark).openapi({ description: "#rrggbb or #rrggbbaa; write # as %23 or omit it." }),
  light: colour.default(qrDefaults.light),
  level: z
    .enum(levels)
    .default(qrDefaults.level)
    .openapi({ description: "Error correction: how much of the code may be damaged." }),
});

const logoParam = z
  .enum(["true", "false"])
  .default("false")
  .openapi({ description: "`true`: with the workspace's logo in the middle, and level H. SVG only." });

/** The logo of a tenant. The hash names its content. */
export type FindLogo = (tenant: TenantId) => Promise<(QrLogo & { readonly hash: string }) | undefined>;

const qrRoute = route(
  "links:read",
  {
    method: "get",
    path: "/api/links/{id}/qr",
    tags: ["Links"],
    operationId: "getLinkQr",
    summary: "Get a link's QR code",
    request: { params: z.object({ id: z.string() }), query: qrOptions.extend({ logo: logoParam }) },
  },
  {
    200: {
      description: "The image",
      content: { "image/svg+xml": { schema: picture }, "image/png": { schema: picture } },
    },
    304: { description: "The image named in `If-None-Match` is current" },
  },
  "not_found",
  "invalid_input",
  "busy",
);

// An SVG is a document. Opened on its own, it must not run anything on our origin.
const sandbox = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'";

/** A QR code takes 2 to 4 ms of the thread, and a very long URL 11 ms, so tenants take turns. */
export function qrRoutes(
  api: Api,
  links: Pick<Links, "get">,
  large: Shares,
  baseUrl: string,
  findLogo: FindLogo,
): void {
  api.openapi(qrRoute, async (c) => {
    const tenant = c.get("caller").tenant.id;
    const link = await links.get(tenant, linkId(c.req.valid("param").id));
    const text = scannedUrl(baseUrl, link);
    const { logo: wantsLogo, ...options } = c.req.valid("query");
    const logo = wantsLogo === "true" ? await findLogo(tenant) : undefined;
    if (wantsLogo === "true" && logo === undefined) {
      throw invalid("logo", "no_logo", "The workspace has no logo. Set one with PATCH /api/branding, or omit it.");
    }
    const etag = etagOf(text, options, logo?.hash);
    c.env.headers.set("cache-control", "private, no-cache");
    if (c.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
    const bytes = await large.run(tenant, () => drawQr(text, options, logo));
    c.env.headers.set("content-security-policy", sandbox);
    return new Response(new Uint8Array(bytes), { headers: { "content-type": contentTypes[options.format], etag } });
  });
}

// Part of the ETag: raise it when a new version draws the image differently.
const drawing = 2;

const etagOf = (text: string, options: QrOptions, logo: string | undefined): string =>
  `"${createHash("sha256")
    .update(JSON.stringify([drawing, text, options, ...(logo === undefined ? [] : [logo])]))
    .digest("base64url")
    .slice(0, 22)}"`;
