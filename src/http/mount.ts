/**
 * What a subject answers itself, outside the API: everything below one path, whatever the method. The server tries these
 * after redirects and the API. A handler answers its own errors; what it throws is a 500.
 */
export interface Mount {
  /** `/files/`, or one address: `/report`. Its first part must be a reserved code. */
  readonly prefix: string;
  /** Whether it answers on custom domains too. What is addressed by QL_BASE_URL does not. */
  readonly onCustomDomains: boolean;
  handle(request: Request, tools: MountTools): Response | Promise<Response>;
}

/** What only the server can do, so that nobody else needs to know which one it is. */
export interface MountTools {
  /** Of the request's address, without its query. */
  readonly path: string;
  /** That the request came to: empty for the server's own. */
  readonly domain: string;
  /** Who asks, as far as they can be held to it. */
  readonly address: string | undefined;
  /** Until the handler answers or throws, a silent connection is not cut off: the handler has a deadline of its own. */
  patient(): void;
  /**
   * Watches the answer while it is sent, and hangs up on a client that takes nothing for too long, too little of it in any
   * window, or not all of it in time. Resolves when it is over, whichever way.
   */
  sending(limits: SendingLimits): Promise<void>;
  /** A file, or a part of it, as a body that is read as fast as the client takes it. */
  file(path: string, part?: ByteRange): Blob;
}

export interface SendingLimits {
  /** At most 240 s. What the machine holds for the client is taken in steps, on a fast line of more than a megabyte. */
  readonly stallMs: number;
  /** In each window, from the second on that it takes to begin. Known on Linux only: elsewhere the deadline decides. */
  readonly leastBytesPerSecond: number;
  readonly windowMs: number;
  readonly deadlineMs: number;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}
