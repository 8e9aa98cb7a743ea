import { createHash } from "node:crypto";
import { type Api, route, z } from "../http/route.ts";
import { linkId } from "../links/api.ts";
import type { Links } from "../links/links.ts";
import { showLink } from "../links/sent.ts";
import { colourPattern } from "./colour.ts";
import { levels } from "./matrix.ts";
import { contentTypes, drawQr, marginMost, type QrOptions, qrDefaults, sizeLeast, sizeMost } from "./qr.ts";

const colour = z.string().regex(colourPattern, "is not a colour such as #1a2b3c or #1a2b3cff");
const picture = z.string().openapi({ format: "binary" });

/** What may be said about a code, wherever it is asked for. */
export const qrOptions = z.strictObject({
  format: z.enum(["svg", "png"]).default(qrDefaults.format),
  size: z.coerce.number().int().min(sizeLeast).max(sizeMost).default(qrDefaults.size).openapi({
    description: "Pixels on each side, with the margin.",
  }),
  margin: z.coerce.number().int().min(0).max(marginMost).default(qrDefaults.margin).openapi({
    description: "In squares of the code. Scanners want 4.",
  }),
  dark: colour.default(qrDefaults.dark).openapi({ description: "#rrggbb or #rrggbbaa; the # as %23, or left out." }),
  light: colour.default(qrDefaults.light),
  level: z.enum(levels).default(qrDefaults.level).openapi({ description: "How much of it may be damaged." }),
});

const qrRoute = route(
  "links:read",
  {
    method: "get",
    path: "/api/links/{id}/qr",
    tags: ["Links"],
    operationId: "getLinkQr",
    summary: "A link's short address as a QR code",
    request: { params: z.object({ id: z.string() }), query: qrOptions },
  },
  {
    200: {
      description: "The picture",
      content: { "image/svg+xml": { schema: picture }, "image/png": { schema: picture } },
    },
    304: { description: "The picture that `If-None-Match` names is still the same" },
  },
  "not_found",
  "invalid_input",
);

// An SVG is a document: whoever opens it by itself must not run anything in our name.
const sandbox = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

export function qrRoutes(api: Api, links: Links, baseUrl: string): void {
  api.openapi(qrRoute, async (c) => {
    const link = await links.get(c.get("caller").tenant.id, linkId(c.req.valid("param").id));
    const { shortUrl } = showLink(link, baseUrl);
    const options = c.req.valid("query");
    const etag = etagOf(shortUrl, options);
    c.env.headers.set("cache-control", "private, no-cache");
    if (c.req.header("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
    const bytes = await drawQr(shortUrl, options);
    c.env.headers.set("content-security-policy", sandbox);
    return new Response(new Uint8Array(bytes), { headers: { "content-type": contentTypes[options.format], etag } });
  });
}

// A picture may be drawn otherwise by another version: raise this with it.
const drawing = 1;

const etagOf = (text: string, options: QrOptions): string =>
  `"${createHash("sha256")
    .update(JSON.stringify([drawing, text, options]))
    .digest("base64url")
    .slice(0, 22)}"`;
