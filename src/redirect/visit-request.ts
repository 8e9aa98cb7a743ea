/**
 * What a redirect reads of a request. Bun's `Request` has it, and so has the leaner one of our own socket
 * (`http/socket/plain-request.ts`).
 */
export interface VisitRequest {
  readonly method: string;
  /** Absolute, or from the path on. */
  readonly url: string;
  /** The query without its question mark, if it was found already. */
  readonly query?: string;
  readonly headers: Pick<Headers, "get" | "has">;
}
