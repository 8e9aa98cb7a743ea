/**
 * Everything that can go wrong and that somebody outside may see, in one table: a stable code, the HTTP status it maps
 * to, and what it means in general. docs/errors.md is printed from it. A `Problem` is one occurrence, with the sentence
 * that tells this caller what to do and, where input was bad, the fields.
 */
export const problems = {
  invalid_input: { status: 422, title: "A field has a value that cannot be accepted" },
  invalid_json: { status: 400, title: "The body is not JSON" },
  unsupported_media_type: { status: 415, title: "The body is not sent as application/json" },
  body_too_large: { status: 413, title: "The body is larger than this server accepts" },
  body_timeout: { status: 408, title: "The body did not arrive whole and in time" },
  unauthorized: { status: 401, title: "The API key is missing, unknown, expired or revoked" },
  forbidden: { status: 403, title: "This needs a right that you do not have" },
  suspended: { status: 403, title: "The operator has stopped this tenant" },
  invalid_host: { status: 400, title: "The Host header is not one host name" },
  misdirected: { status: 421, title: "This server does not serve that host" },
  not_found: { status: 404, title: "There is nothing here, or it is not yours" },
  method_not_allowed: { status: 405, title: "This address does not take that method" },
  address_expired: { status: 403, title: "The signed address was good for a time that is over" },
  address_invalid: { status: 403, title: "The signed address is not as it was given out" },
  upload_mismatch: { status: 422, title: "What was sent is not what was announced" },
  upload_too_large: { status: 413, title: "More bytes were sent than were announced" },
  upload_taken: { status: 409, title: "This upload has arrived already, or is arriving" },
  storage_full: { status: 507, title: "The server has no room left to store files" },
  code_taken: { status: 409, title: "Another link already has this code" },
  bulk_refused: { status: 422, title: "Nothing was made, because some of it cannot be" },
  name_taken: { status: 409, title: "This name is already in use" },
  domain_unproven: { status: 409, title: "Nothing shows yet that the domain is yours" },
  domain_taken: { status: 409, title: "The domain belongs to another tenant" },
  domain_in_use: { status: 409, title: "Links are still on the domain" },
  idempotency_in_flight: { status: 409, title: "The first request with this Idempotency-Key is still being worked on" },
  idempotency_unknown: {
    status: 409,
    title: "A request with this Idempotency-Key was cut off, and may have been done",
  },
  idempotency_mismatch: { status: 422, title: "This Idempotency-Key was used for another request" },
  version_conflict: { status: 412, title: "Somebody changed it since you read it" },
  link_suspended: { status: 451, title: "The operator has stopped this link" },
  link_expired: { status: 410, title: "The link has expired" },
  rate_limited: { status: 429, title: "More API calls than the limit allows" },
  too_many_guesses: { status: 429, title: "Too many codes or keys from this address do not exist" },
  over_quota: { status: 413, title: "The file does not fit into what the plan gives for files" },
  upload_missing: { status: 409, title: "The file has not been uploaded yet" },
  collection_full: { status: 409, title: "You have as many of these as a tenant may have" },
  limit_reached: { status: 429, title: "The plan gives no more of this for now" },
  email_limited: { status: 429, title: "No more emails can be sent for now" },
  email_suppressed: { status: 409, title: "The address gets no more email from this tenant" },
  quota_spent: { status: 429, title: "The link's hits for this month are spent" },
  password_required: { status: 401, title: "The link asks for a password" },
  wrong_password: { status: 403, title: "That is not the link's password" },
  too_many_attempts: { status: 429, title: "Too many wrong passwords for this link" },
  not_set_up: { status: 501, title: "The operator has not set up what this needs" },
  busy: { status: 503, title: "Too much is going on right now" },
  unavailable: { status: 503, title: "A part that this needs does not answer right now" },
  internal: { status: 500, title: "Something went wrong on our side" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

export interface FieldError {
  /** Where in the input: `url`, `tags.3`. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

interface More {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** What the sentence says in numbers, for programs. */
  readonly figures?: Readonly<Record<string, number>>;
  /** The methods that an address does take. */
  readonly allow?: readonly string[];
}

export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    /** For the caller: what happened and what to do next. Never holds a secret. */
    readonly detail: string,
    readonly more: More = {},
  ) {
    super(`${code}: ${detail}`);
    this.name = "Problem";
    this.status = problems[code].status;
  }
}

/** One bad field, the commonest problem of all. */
export function invalid(field: string, code: string, message: string): Problem {
  return new Problem("invalid_input", message, { errors: [{ field, code, message }] });
}

/** For the operator at the command line: what is wrong, what to do, and the exit status. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = 1,
  ) {
    super(message);
    this.name = "OperatorError";
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
