/** What became of a request to somebody else's server. None of it is an exception: all of it is to be expected. */
export type Fetched = Answered | Refused | Failed;

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  /** Where it was found in the end. */
  readonly url: string;
  readonly contentType: string;
  /** The beginning of it, unpacked. */
  readonly body: Buffer;
}

/** We did not ask, or did not follow. */
export interface Refused {
  readonly kind: "refused";
  readonly reason: Refusal;
}

export type Refusal =
  | "bad_address"
  | "scheme"
  | "credentials"
  | "port"
  /** Not on the public internet, or not only there. */
  | "private_address"
  | "too_many_redirects";

/** It was asked, and there was no answer that can be used. */
export interface Failed {
  readonly kind: "failed";
  readonly reason: Failure;
}

export type Failure = "unknown_host" | "no_connection" | "certificate" | "timeout" | "bad_answer";

export const refused = (reason: Refusal): Refused => ({ kind: "refused", reason });
export const failed = (reason: Failure): Failed => ({ kind: "failed", reason });
