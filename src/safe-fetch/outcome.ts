/** The outcome of a request to another server. All outcomes are expected, so none is an exception. */
export type Fetched = Answered | Refused | Failed;

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  /** The URL after all redirects. */
  readonly url: string;
  readonly contentType: string;
  /** The first part of the body, decompressed. */
  readonly body: Buffer;
}

/** The request was not made, or a redirect not followed. */
export interface Refused {
  readonly kind: "refused";
  readonly reason: FetchRefusal;
}

export type FetchRefusal =
  | "bad_address"
  | "scheme"
  | "credentials"
  | "port"
  /** At least one of its addresses is not public. */
  | "private_address"
  | "too_many_redirects";

/** The request was made, but there was no usable response. */
export interface Failed {
  readonly kind: "failed";
  readonly reason: Failure;
}

export type Failure = "unknown_host" | "no_connection" | "certificate" | "timeout" | "bad_answer";

export const refused = (reason: FetchRefusal): Refused => ({ kind: "refused", reason });
export const failed = (reason: Failure): Failed => ({ kind: "failed", reason });
