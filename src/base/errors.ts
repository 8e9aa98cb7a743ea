/**
 * Every error that a user can see, in one table: a stable code, its HTTP status, and its general meaning.
 * docs/errors.md is generated from it. A `Problem` is one occurrence, with a sentence that tells this caller what to do
 * and, for bad input, the fields.
 */
export const problems = {
  invalid_input: { status: 422, title: "A field has an invalid value" },
  invalid_json: { status: 400, title: "The request body is not valid JSON" },
  unsupported_media_type: { status: 415, title: "The request body is not sent as application/json" },
  body_too_large: { status: 413, title: "The request body is too large" },
  body_timeout: { status: 408, title: "The request body did not arrive in time" },
  unauthorized: { status: 401, title: "The API key or session is missing, unknown, expired or revoked" },
  forbidden: { status: 403, title: "The API key lacks the required scope, or your role the permission" },
  sign_in_failed: { status: 401, title: "The email address or password is wrong" },
  token_invalid: { status: 410, title: "The link was used before, has expired or is invalid" },
  sign_up_closed: { status: 403, title: "Accounts are created by invitation" },
  email_taken: { status: 409, title: "The email address already has an account" },
  set_up_already: { status: 409, title: "The server is set up already" },
  company_sign_in: { status: 403, title: "This email domain signs in with its company account" },
  proof_required: { status: 403, title: "You must prove again who you are" },
  wrong_origin: { status: 403, title: "The request was sent from a page of another site" },
  workspace_required: { status: 409, title: "The request does not say which workspace it is about" },
  suspended: { status: 403, title: "The operator has suspended this workspace" },
  last_owner: { status: 409, title: "The workspace would be left without an owner" },
  last_operator: { status: 409, title: "The server would be left without an operator" },
  already_member: { status: 409, title: "The person is a member of the workspace already" },
  keys_undecided: { status: 409, title: "The request does not say what becomes of the person's API keys" },
  invalid_host: { status: 400, title: "The Host header is missing or invalid" },
  misdirected: { status: 421, title: "This server does not serve the requested host" },
  not_found: { status: 404, title: "The resource does not exist or belongs to another workspace" },
  method_not_allowed: { status: 405, title: "The route does not support this method" },
  address_expired: { status: 403, title: "The signed URL has expired" },
  address_invalid: { status: 403, title: "The signed URL is invalid" },
  upload_mismatch: { status: 422, title: "The uploaded bytes do not match the announced file" },
  upload_too_large: { status: 413, title: "More bytes were sent than announced" },
  upload_taken: { status: 409, title: "The file has already been uploaded, or another request is uploading it" },
  storage_full: { status: 507, title: "The server has no space left to store files" },
  code_taken: { status: 409, title: "The code is already taken" },
  bulk_refused: { status: 422, title: "Nothing was created, because some elements are invalid" },
  name_taken: { status: 409, title: "The name is already in use" },
  domain_unproven: { status: 409, title: "The domain is not verified yet" },
  domain_taken: { status: 409, title: "The domain belongs to another workspace" },
  domain_in_use: { status: 409, title: "The domain still has links" },
  idempotency_in_flight: { status: 409, title: "The first request with this Idempotency-Key is still running" },
  idempotency_unknown: {
    status: 409,
    title: "A request with this Idempotency-Key was interrupted and may have completed",
  },
  idempotency_mismatch: { status: 422, title: "This Idempotency-Key was used for a different request" },
  version_conflict: { status: 412, title: "The resource was changed since you read it" },
  link_suspended: { status: 451, title: "The operator has suspended this link" },
  link_expired: { status: 410, title: "The link has expired" },
  rate_limited: { status: 429, title: "The rate limit for API calls is exceeded" },
  too_many_guesses: { status: 429, title: "Too many requests for unknown codes or keys from this IP address" },
  too_many_streams: { status: 429, title: "The workspace has too many live streams open" },
  over_quota: { status: 413, title: "The file exceeds the storage quota" },
  upload_missing: { status: 409, title: "The file has not been uploaded yet" },
  collection_full: { status: 409, title: "The maximum number of these resources is reached" },
  limit_reached: { status: 429, title: "The plan's limit is reached" },
  email_limited: { status: 429, title: "The limit for emails is reached" },
  email_suppressed: { status: 409, title: "The recipient is on the suppression list" },
  quota_spent: { status: 429, title: "The link has used its hits for this month" },
  password_required: { status: 401, title: "The link requires a password" },
  wrong_password: { status: 403, title: "The password is wrong" },
  wrong_code: { status: 403, title: "The code is wrong or was used before" },
  passkey_refused: { status: 403, title: "The passkey was not accepted" },
  oidc_refused: { status: 403, title: "The sign-in with the company was not accepted" },
  too_many_attempts: { status: 429, title: "Too many wrong passwords for this link or account" },
  not_set_up: { status: 501, title: "The operator has not configured this feature" },
  busy: { status: 503, title: "The server is busy" },
  unavailable: { status: 503, title: "A service this server depends on is unavailable" },
  internal: { status: 500, title: "Internal server error" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

export interface FieldError {
  /** Path in the input: `url`, `tags.3`. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

interface More {
  readonly errors?: readonly FieldError[];
  readonly retryAfterSeconds?: number;
  /** The numbers of `detail`, for programs. */
  readonly figures?: Readonly<Record<string, number>>;
  /** The link in the trash whose code was asked for. */
  readonly trashedLink?: string;
  /** The methods that the route supports. */
  readonly allow?: readonly string[];
}

export class Problem extends Error {
  readonly status: number;

  constructor(
    readonly code: ProblemCode,
    /** For the caller: what happened and what to do next. Never contains a secret. */
    readonly detail: string,
    readonly more: More = {},
  ) {
    super(`${code}: ${detail}`);
    this.name = "Problem";
    this.status = problems[code].status;
  }
}

/** One invalid field, the most common problem. */
export function invalid(field: string, code: string, message: string): Problem {
  return new Problem("invalid_input", `${field}: ${message}`, { errors: [{ field, code, message }] });
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
