import type { ByteRange } from "../../http/mount.ts";

/**
 * Which part of a file a request asks for, by RFC 9110: one range of bytes. Several ranges, and unreadable ones, are
 * ignored as the standard allows, and the whole file is sent.
 */
export type RequestedRange =
  | { readonly kind: "whole" }
  | ({ readonly kind: "part" } & ByteRange)
  | { readonly kind: "beyond" };

const whole: RequestedRange = { kind: "whole" };

export function requestedRange(
  headers: Headers,
  sizeBytes: number,
  etag: string | undefined,
  modified: string,
): RequestedRange {
  const range = headers.get("range");
  const condition = headers.get("if-range");
  if (range === null) return whole;
  // A part of a different version is useless to the client.
  if (condition !== null && condition !== etag && condition !== modified) return whole;
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range.trim()) ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return whole;
  if (first === "") {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? { kind: "beyond" } : { kind: "part", start: sizeBytes - length, length };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return whole;
  if (start >= sizeBytes) return { kind: "beyond" };
  const end = last === "" ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  return { kind: "part", start, length: end - start + 1 };
}

/** `If-None-Match`: the client already has it. */
export function hasAlready(headers: Headers, etag: string | undefined): boolean {
  const known = headers.get("if-none-match");
  if (known === null || etag === undefined) return false;
  return known.trim() === "*" || known.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}
