import { type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { request as overHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { unpack } from "./decompress.ts";
import { type Failed, type Failure, failed } from "./outcome.ts";
import { plainAddress } from "./public-address.ts";

/**
 * One request to one IP address that was checked before. `lookup` returns only that address, so there is no second DNS
 * query that could answer differently. Each request uses a new connection, which is closed after the first part of the
 * body.
 */
export interface PinnedRequest {
  readonly method: "GET" | "HEAD";
  readonly url: URL;
  readonly address: string;
  readonly userAgent: string;
  readonly bodyMostBytes: number;
  /** Aborts the request at any point. */
  readonly signal: AbortSignal;
  /** Trusted certificate authorities, if not those of the runtime. */
  readonly ca?: SecureContextOptions["ca"];
}

export interface Reply {
  readonly kind: "replied";
  readonly status: number;
  readonly location: string | undefined;
  readonly contentType: string;
  readonly body: Buffer;
}

const headersMostBytes = 16_384;

export function sendPinned(question: PinnedRequest): Promise<Reply | Failed> {
  const { url, address, signal } = question;
  const secure = url.protocol === "https:";
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const options: RequestOptions & SecureContextOptions & { servername?: string } = {
    method: question.method,
    host: isIP(name) === 0 ? name : address,
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      "user-agent": question.userAgent,
      accept: "text/html,application/xhtml+xml,*/*;q=0.5",
      "accept-encoding": "identity",
      connection: "close",
    },
    agent: false,
    lookup: only(address),
    maxHeaderSize: headersMostBytes,
    signal,
    ...(secure && isIP(name) === 0 && { servername: name.replace(/\.$/, "") }),
    ...(question.ca !== undefined && { ca: question.ca }),
  };
  return new Promise((resolve) => {
    const sent = (secure ? overHttps : overHttp)(options);
    sent.on("error", (error) => resolve(failed(failureOf(error, signal))));
    sent.on("response", (response) => {
      const peer = response.socket.remoteAddress;
      // Second check: the runtime was told which address to use, and must have connected to it.
      if (peer !== undefined && plainAddress(peer) !== plainAddress(address)) {
        sent.destroy();
        resolve(failed("no_connection"));
        return;
      }
      read(response, question)
        .then(resolve, (error: unknown) => resolve(failed(failureOf(error, signal))))
        .finally(() => sent.destroy());
    });
    sent.end();
  });
}

function only(address: string): LookupFunction {
  const family = isIP(address);
  return (_name, options, done) => (options.all ? done(null, [{ address, family }]) : done(null, address, family));
}

async function read(response: IncomingMessage, { method, bodyMostBytes }: PinnedRequest): Promise<Reply> {
  const { statusCode: status = 0, headers } = response;
  const isRedirect = status >= 300 && status < 400 && headers.location !== undefined;
  const packed = method === "HEAD" || isRedirect ? Buffer.alloc(0) : await beginning(response, bodyMostBytes);
  return {
    kind: "replied",
    status,
    location: isRedirect ? headers.location : undefined,
    contentType: headers["content-type"] ?? "",
    body: await unpack(packed, headers["content-encoding"], bodyMostBytes),
  };
}

async function beginning(response: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= mostBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, mostBytes);
}

function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return "timeout";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^HPE_|^ERR_HTTP|^ERR_STREAM_PREMATURE_CLOSE|^Z_/.test(code)) return "bad_answer";
  if (/^E[A-Z]+$/.test(code)) return "no_connection";
  return /CERT|SSL|TLS|UNABLE_TO_VERIFY|SELF_SIGNED/.test(code) ? "certificate" : "bad_answer";
}
