import { type ProblemCode, problems } from "../src/base/errors.ts";

/** docs/errors.md: the table of problems in `src/base/errors.ts`, and what the caller can do about each. */
const whatToDo: Readonly<Record<ProblemCode, string>> = {
  invalid_input: "Fix the fields listed in `errors` and send the request again.",
  invalid_json: "Send valid JSON in UTF-8. `detail` shows where parsing failed.",
  unsupported_media_type: "Send the header `Content-Type: application/json`.",
  body_too_large: "Send less data per request. The operator can raise `QL_BODY_LIMIT`.",
  body_timeout: "Send the request again. On a slow connection, send smaller requests.",
  unauthorized:
    "Send `Authorization: Bearer ql_…` with a valid key, or sign in. To create a key: `quicklink key create`.",
  forbidden: "Use a key with the scope named in `detail`, or ask for a role that has it.",
  sign_in_failed:
    "Check the address and the password. The answer is the same whether there is no such account, it is disabled, or the password is wrong.",
  token_invalid: "Request a new link. A link works once and for a limited time.",
  sign_up_closed: "Ask a member of the workspace for an invitation. The operator can change `QL_SIGN_UP`.",
  email_taken: "Sign in, or use another address.",
  set_up_already: "Sign in, or ask an operator for an invitation. On the machine: `quicklink user create`.",
  company_sign_in:
    "Sign in with your company: `POST /api/auth/oidc/begin`. While the operator requires it for your email domain, passwords and passkeys are refused.",
  proof_required:
    "Send what `detail` names with the request: your password, or a code of your second factor. Without either, sign in again and repeat it soon after.",
  wrong_origin: "Send the header `Origin` of this server. Browsers do so on its own pages.",
  workspace_required: "Name the workspace in the header `QL-Workspace`, by its slug or ID.",
  suspended: "Contact the operator. All API keys and links of the workspace are stopped.",
  last_owner: "Make another member owner first, or delete the workspace.",
  last_operator: "Make another person operator first.",
  already_member: "Change the person's role instead.",
  keys_undecided: "Repeat the request with `keys=keep` or `keys=revoke`. `keys` in the answer is their number.",
  invalid_host: "Send exactly one `Host` header with a host name and an optional port.",
  misdirected:
    "Use the server's address or a verified custom domain. The operator can add names to `QL_HOSTS`; see [custom domains](domains.md).",
  not_found: "Check the URL or ID, and that the key belongs to the right workspace.",
  method_not_allowed: "Use one of the methods in the `Allow` header.",
  address_expired: "Get a new URL: start the upload again, or open the download link again.",
  address_invalid: "Use the URL exactly as you received it.",
  upload_mismatch: "Send exactly the announced size, `Content-Type` and, if given, SHA-256.",
  upload_too_large: "Send exactly the announced number of bytes. If the file has changed, start a new upload.",
  upload_taken:
    "Nothing was changed. Complete the upload, or start a new one. With `Retry-After`, another request is still sending the file: wait for it to finish.",
  storage_full: "Try again later. The operator must free storage space.",
  code_taken:
    "Choose another code, or omit it to get a generated one. With `trashedLink`, a deleted link of yours has the code: restore it, or delete it for good.",
  bulk_refused:
    "Fix or remove the elements listed in `errors`, such as `links.3.url`, and send the request again. Without `atomic`, the valid elements are created.",
  name_taken: "Choose another name.",
  domain_unproven:
    "Publish the TXT record or the file listed under `proof` in `GET /api/domains/{host}`, wait for DNS, and verify again.",
  domain_taken:
    "Ask the other workspace to delete the links and remove the domain. A domain belongs to one workspace at a time.",
  domain_in_use: "Delete the links on the domain first.",
  idempotency_in_flight: "Wait for the number of seconds in `Retry-After` and send the same request again.",
  idempotency_unknown: "Check whether the request had its effect. If not, send it again with a new Idempotency-Key.",
  idempotency_mismatch: "Use a new Idempotency-Key for every new request, and the same key only to repeat a request.",
  version_conflict: "Read the resource again, repeat your change, and send the new version in `If-Match`.",
  link_suspended: "The owner can contact the operator. Editing the link does not restore it.",
  link_expired: "Ask the sender for a new link. The owner can set a later `expiresAt`.",
  rate_limited:
    "Wait for the number of seconds in `Retry-After`. The headers `RateLimit` and `RateLimit-Policy` show the calls left.",
  too_many_guesses:
    "Wait for the number of seconds in `Retry-After`. Popular links and valid keys keep working meanwhile.",
  too_many_streams: "Close a stream that you no longer need, or let your programs share one.",
  over_quota:
    "Delete files or send a smaller one: `used`, `held`, `limit` and `missing` are in bytes. The operator can raise the limit.",
  upload_missing: "Send the bytes to the upload URL, then complete the upload.",
  collection_full: "Remove resources you no longer need, as `detail` says. Waiting does not help.",
  limit_reached: "Wait for the number of seconds in `Retry-After`. The operator can raise the limit.",
  email_limited:
    "Wait for the number of seconds in `Retry-After`. `GET /api/email/stats` shows how many emails are left.",
  email_suppressed:
    "Do not send to this address. If the recipient wants your emails again, remove it from the list: `DELETE /api/email/suppressions/{address}`.",
  quota_spent: "Wait for the number of seconds in `Retry-After`. The operator can raise the limit.",
  password_required: "Ask the sender of the link for its password.",
  wrong_password: "Check the password with the sender. It is case-sensitive.",
  wrong_code:
    "Wait for the next code of your app, which changes every 30 seconds, and check the clock of your phone. A recovery code works once.",
  passkey_refused: "Try again, or sign in otherwise. A passkey works only on the address where it was created.",
  oidc_refused: "Follow `detail`, and sign in again. If it keeps happening, ask the administrator of your company.",
  too_many_attempts:
    "Wait for the number of seconds in `Retry-After`. Browsers and networks that opened the link that day are not affected by others' attempts.",
  not_set_up: "Ask the operator to configure what `detail` names.",
  busy: "Wait for the number of seconds in `Retry-After` and try again.",
  unavailable:
    "Wait for the number of seconds in `Retry-After` and try again. The operator finds the cause in `/readyz`.",
  internal: "Try again once. If it persists, give the operator the `requestId`; the log has the cause under it.",
};

/** Every `code` inside `errors`. A test compares this list with the source. */
export const fieldCodes: Readonly<Record<string, string>> = {
  above_plan: "Exceeds the limit of the workspace's plan.",
  bad_address: "Not an email address, such as `ann@example.com`.",
  bad_code: "A code must have 3 to 64 letters, digits, `-` and `_`.",
  bad_cursor: "Not a valid cursor. Use the `nextCursor` of the previous page.",
  bad_domain: "Not a host name of this server or a custom domain.",
  bad_file_name: "The name contains `/` or `\\`, consists of dots, or contains bidirectional control characters.",
  bad_filter: "Not a filter, such as `country=DE,AT`. `message` lists the fields.",
  bad_format: "Not in the required format, such as `2027-01-31T00:00:00Z` for a time.",
  bad_key: "An `Idempotency-Key` must have 1 to 255 visible ASCII characters.",
  bad_name: "A name must have 1 to 63 characters: `a-z`, `0-9` and `-`.",
  bad_path: "Not a path of this server, such as `/app/links`.",
  bad_time: "Not a date, such as `2026-01-31`, or a time with an offset, such as `2026-01-31T10:00:00Z`.",
  bad_unicode: "Not valid Unicode.",
  bad_version: '`If-Match` is not a version, such as `"3"`.',
  before_from: "The end of the range is not after its start.",
  blank: "Only spaces. Omit the field or send `null`.",
  blocked_host: "The operator blocks links to this host.",
  built_in: "The plan is built in and cannot be changed.",
  common_password: "The password is among the first that are tried. Choose another one.",
  contradiction: "Fields that exclude each other, or conditions with which a rule would never match.",
  control_characters: "Contains line breaks, tabs or other control characters.",
  credentials: "The URL contains a user name or password.",
  duplicate: "The same value occurs twice.",
  empty: "Must not be empty.",
  in_the_future: "The time is in the future.",
  in_the_past: "The time is in the past.",
  key_lacks_scope: "SendGrid accepts the key, but it cannot send email.",
  key_refused: "SendGrid does not accept the key.",
  low_contrast: "The colours are too similar for a camera.",
  no_logo: "The workspace has no logo.",
  not_a_url: "Not a complete URL, such as `https://example.com/page`.",
  not_accepted: "Not one of the possible values. `message` lists them.",
  not_active: "The link is disabled or has expired.",
  not_in_bulk: "Not supported in bulk requests. Create this link separately.",
  out_of_range: "The time is not in the years that reports cover.",
  bad_host: "Not a host name, such as `links.example.com`.",
  unverified: "The domain must be verified first.",
  own_data: "The password is your email address or name. Choose another one.",
  own_host: "The URL points to this server; the link would loop.",
  required: "The field is missing.",
  reserved: "The word is reserved by the server.",
  scheme_not_allowed: "The URL must start with `http://` or `https://`.",
  svg_only: "Only possible with `format=svg`.",
  taken: "Already in use.",
  too_big: "The number is too large.",
  too_late: "The time is too far in the future. `message` says how far it may be.",
  too_few: "The list has too few elements.",
  too_long: "The text has too many characters, or the range too many days.",
  too_many: "The list has too many elements.",
  too_many_matches: "The filter matches too many values. Be more specific.",
  too_short: "The text has too few characters.",
  too_small: "The number is too small.",
  unknown_domain: "Not one of your verified domains. Add and verify it first, or omit it.",
  unknown_country: "Not an ISO 3166-1 country code, such as `DE`.",
  unknown_dimension: "Not a fact about clicks, or not a breakdown of this report. `message` lists them.",
  in_trash: "The code belongs to a deleted link in your trash. Restore that link, or delete it for good.",
  unknown_field: "Unknown field. Check the spelling.",
  unknown_file: "No such file, or it is not uploaded yet.",
  unknown_link: "No link of yours has this ID or code.",
  unknown_plan: "No such plan.",
  unknown_version: "The history of the link does not have this version.",
  unknown_reason: "Not a reason of a click. `message` lists them.",
  unknown_zone: "Not an IANA time zone name, such as `Europe/Berlin`.",
  unreachable: "The rule can never match, because an earlier rule matches the same visitors.",
  url_and_file: "Give either a URL or a file, not both.",
  wrong_checksum: "The uploaded bytes have a different SHA-256 than announced.",
  wrong_content: "The uploaded bytes are not of the announced type.",
  wrong_size: "The number of uploaded bytes differs from the announced size.",
  wrong_type: "Wrong JSON type, such as a string instead of a number. `message` says which type is required.",
};

export function describeErrors(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, title }]) => `| \`${code}\` | ${status} | ${title}. | ${whatToDo[code as ProblemCode]} |`,
  );
  const fields = Object.entries(fieldCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `# Errors

Generated from the table in \`src/base/errors.ts\` by \`npm run docs\`. A test compares the two.

An error is a problem document (RFC 9457), sent as \`application/problem+json\`:

\`\`\`json
{
  "type": "urn:quicklink:problem:invalid_input",
  "title": "${problems.invalid_input.title}",
  "status": ${problems.invalid_input.status},
  "code": "invalid_input",
  "detail": "url: Must be an http:// or https:// URL.",
  "errors": [{ "field": "url", "code": "scheme_not_allowed", "message": "Must be an http:// or https:// URL." }],
  "requestId": "req_1zFqL0pXw2Yk"
}
\`\`\`

\`code\` is for programs and never changes its meaning. \`detail\` and \`message\` are for people; their wording may change.
Quote the \`requestId\` when you ask the operator about an error. \`Retry-After\` is in seconds.

| code | status | meaning | what to do |
|---|---|---|---|
${rows.join("\n")}

## Fields

With \`invalid_input\`, \`errors\` has an element for each invalid field: \`field\` is its path, such as \`url\` or \`tags.3\`, and
\`code\` is one of these.

| code | meaning |
|---|---|
${fields.join("\n")}
`;
}
