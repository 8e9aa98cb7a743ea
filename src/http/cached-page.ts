import { createHash } from "node:crypto";

/**
 * A response that stays the same as long as the server runs. It is built on the first request and its bytes are kept,
 * so further requests only cost sending them; a browser that has them gets 304.
 */
export type CachedPage = (request: Request) => Response;

export function cachedPage(headers: Readonly<Record<string, string>>, make: () => string): CachedPage {
  let made: { readonly bytes: Uint8Array<ArrayBuffer>; readonly etag: string } | undefined;
  return (request) => {
    made ??= hashed(make());
    const { bytes, etag } = made;
    const all = { ...headers, etag };
    return isNamed(etag, request.headers.get("if-none-match"))
      ? new Response(null, { status: 304, headers: all })
      : new Response(bytes, { headers: all });
  };
}

function hashed(text: string) {
  const bytes = new TextEncoder().encode(text);
  return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` };
}

/** A proxy that compressed the response weakened the tag: `W/"…"`. */
const isNamed = (etag: string, given: string | null): boolean =>
  given?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag) ?? false;
