/**
 * What a subject answers outside the API: everything below one path, for any method. The server tries mounts after
 * redirects and the API. A handler answers its own errors; what it throws becomes a 500.
 */
export interface Mount {
  /** `/files/`, or a single path: `/report`. Its first part must be a reserved code. */
  readonly prefix: string;
  /** Whether it also answers on custom domains. What is addressed by QL_BASE_URL does not. */
  readonly onCustomDomains: boolean;
  handle(request: Request, tools: MountTools): Response | Promise<Response>;
}

/** What only the server can do, so that handlers do not depend on a particular one. */
export interface MountTools {
  /** Path of the request, without its query. */
  readonly path: string;
  /** The domain of the request: empty for the server's own. */
  readonly domain: string;
  /** The client's address, if it can be trusted. */
  readonly address: string | undefined;
  /** Until the handler answers or throws, a silent connection is not closed: the handler has its own deadline. */
  patient(): void;
  /**
   * Watches the response while it is sent, and disconnects a client that takes nothing for too long, too little in any
   * window, or not all of it in time. Resolves when it has ended, either way.
   */
  sending(limits: SendingLimits): Promise<void>;
  /** A file, or part of it, as a body that is read as fast as the client takes it. */
  file(path: string, part?: ByteRange): Blob;
}

export interface SendingLimits {
  /** At most 240 s. The kernel hands its buffer to the client in steps, on a fast line of more than a megabyte. */
  readonly stallMs: number;
  /** Measured per window, after the first second. Known on Linux only: elsewhere the deadline decides. */
  readonly leastBytesPerSecond: number;
  readonly windowMs: number;
  readonly deadlineMs: number;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}
