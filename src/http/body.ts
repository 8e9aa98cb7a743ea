import type { HonoRequest } from "hono";
import { Problem } from "../base/errors.ts";
import { announcedBytes, type ReadBody, readAnnounced, readBody } from "../base/read-body.ts";
import { targetOf } from "./request.ts";

/**
 * Reads a request's JSON within a size and time limit, whatever its headers claim, and leaves it where the routes find
 * it. Anything that is not JSON ends here, before any route sees it.
 */
const deadlineMs = 10_000;

export async function checkBody(sent: HonoRequest, limitBytes: number): Promise<void> {
  const { raw: request } = sent;
  // Looking at the body makes a stream of it.
  if (announcedBytes(request) === undefined && request.body === null) return;
  const bytes = await readWhole(request, limitBytes);
  if (bytes.length === 0) throw new Problem("invalid_json", "The request body is empty. Send JSON.");
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new Problem(
      "unsupported_media_type",
      "Send the request body as JSON with the header Content-Type: application/json.",
    );
  }
  const text = parse(bytes);
  if (type !== plainType) sent.raw = withPlainType(request);
  sent.bodyCache.text = Promise.resolve(text) as unknown as string; // hono stores promises here, whatever its type says
}

const plainType = "application/json";

/** The routes know one spelling. */
function withPlainType({ url, method, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set("content-type", plainType);
  const { path, query } = targetOf(url);
  return new Request(`http://host${path}${query}`, { method, headers, signal });
}

/** The bytes as received. */
export async function readWhole(request: Request, limitBytes: number): Promise<Uint8Array> {
  const read = await readAny(request, limitBytes);
  switch (read.kind) {
    case "whole":
      return read.bytes;
    case "too_large":
      throw tooLarge(limitBytes);
    case "late":
      throw new Problem(
        "body_timeout",
        `The request body did not arrive within ${deadlineMs / 1_000} s. Send it again.`,
      );
    case "broken_off":
      throw new Problem("body_timeout", "The connection closed before the request body was complete. Send it again.");
  }
}

async function readAny(request: Request, limitBytes: number): Promise<ReadBody> {
  const announced = announcedBytes(request);
  if (announced !== undefined) {
    return announced > limitBytes ? { kind: "too_large" } : await readAnnounced(request, deadlineMs);
  }
  const { body } = request;
  return body === null ? { kind: "whole", bytes: new Uint8Array() } : await readBody(body, limitBytes, deadlineMs);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(bytes: Uint8Array): string {
  try {
    const text = utf8.decode(bytes);
    JSON.parse(text);
    return text;
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw new Problem("invalid_json", `The request body is not valid JSON: ${reason}.`);
  }
}

function tooLarge(limitBytes: number): Problem {
  return new Problem("body_too_large", `The request body must have at most ${limitBytes} bytes.`);
}
