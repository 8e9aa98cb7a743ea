import type { DateHeader } from "../base/date-header.ts";

/**
 * A redirect without a body: the answer to nearly every visit. It can be sent as bytes, by our own socket, or as a `Response`. Each link
 * keeps its own, so that most visits copy nothing: only the date in the bytes is written again, once a second.
 */
export class Redirection {
  readonly status: 301 | 302;
  readonly url: string;
  readonly caching: string | undefined;
  #response: Response | undefined;
  #bytes: Uint8Array | undefined;
  #dated = 0;

  constructor(status: 301 | 302, url: string, caching?: string) {
    this.status = status;
    this.url = url;
    this.caching = caching;
  }

  toResponse(): Response {
    const { status, url, caching } = this;
    this.#response ??= new Response(null, {
      status,
      headers: { Location: url, ...(caching !== undefined && { "Cache-Control": caching }) },
    });
    return new Response(null, this.#response);
  }

  /** The whole answer. The next call changes the date in them: they must be sent, or copied, at once. */
  toBytes(date: DateHeader): Uint8Array {
    this.#bytes ??= encoder.encode(this.#head() + date.text + emptyLine);
    if (this.#dated !== date.second) {
      this.#dated = date.second;
      this.#bytes.set(date.bytes, this.#bytes.length - date.bytes.length - emptyLine.length);
    }
    return this.#bytes;
  }

  #head(): string {
    const { status, url, caching } = this;
    // As `Headers` would: another header must not begin in it.
    if (!printable.test(url)) throw new TypeError("a destination has characters that a header cannot have");
    const cached = caching === undefined ? "" : `Cache-Control: ${caching}\r\n`;
    return `HTTP/1.1 ${status} ${statusTexts[status]}\r\nLocation: ${url}\r\n${cached}Content-Length: 0\r\nDate: `;
  }
}

export type VisitReply = Response | Redirection;

export const toResponse = (reply: VisitReply): Response => (reply instanceof Redirection ? reply.toResponse() : reply);

const statusTexts = { 301: "Moved Permanently", 302: "Found" } as const;
const emptyLine = "\r\n\r\n";
const printable = /^[!-~]*$/;
const encoder = new TextEncoder();
