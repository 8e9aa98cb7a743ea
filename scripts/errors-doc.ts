import { type ProblemCode, problems } from "../src/base/errors.ts";

/** docs/errors.md: the table of problems in `src/base/errors.ts`, and what whoever meets one can do. */
const whatToDo: Readonly<Record<ProblemCode, string>> = {
  invalid_input: "Mend the fields that `errors` names, and send it again.",
  invalid_json: "Send valid JSON in UTF-8. `detail` says where it stops making sense.",
  unsupported_media_type: "Send the header `Content-Type: application/json`.",
  body_too_large: "Send less at once. The operator can raise `QL_BODY_LIMIT`.",
  body_timeout: "Send it again, without a pause. A slow connection may need smaller requests.",
  unauthorized: "Send `Authorization: Bearer ql_…` with a key that works. `quicklink key create` makes one.",
  forbidden: "Use a key that has the scope which `detail` names.",
  suspended: "Ask the operator why. No key of the tenant works, and none of its links.",
  invalid_host: "Send exactly one `Host` header, with a host name and at most a port.",
  misdirected:
    "Use the server's own address, or a verified custom domain. The operator can add a name to `QL_HOSTS`; see [custom domains](domains.md).",
  not_found: "Check the address or the id, and that the key is its tenant's.",
  method_not_allowed: "Use one of the methods in the header `Allow`.",
  address_expired: "Ask for a new address: for an upload begin it again, for a download open its link again.",
  address_invalid: "Use the address exactly as it was given out, to its last character.",
  upload_mismatch: "Send exactly what was announced: its size, its `Content-Type` and, if you gave one, its SHA-256.",
  upload_too_large: "Send as many bytes as were announced. Begin a new upload if the file has grown.",
  upload_taken:
    "Nothing was changed. Complete the upload, or begin a new one. With `Retry-After`, another request is still sending it: wait for that one to end.",
  storage_full: "Try again later. The operator must make room where files are stored.",
  code_taken: "Choose another code, or leave it out and get a generated one.",
  bulk_refused:
    "Mend or leave out the elements that `errors` names, such as `links.3.url`, and send it again. Without `atomic` the others are made.",
  name_taken: "Choose another name.",
  domain_unproven:
    "Publish the TXT record or the file that `GET /api/domains/{host}` names under `proof`, wait for DNS, and verify again.",
  domain_taken: "Ask whoever has it to delete its links and remove it. A domain belongs to one tenant at a time.",
  domain_in_use: "Delete the links on the domain first.",
  idempotency_in_flight: "Wait as long as `Retry-After` says, in seconds, and send the same again.",
  idempotency_unknown:
    "Look whether what you asked for is there. If it is not, send the request again with another Idempotency-Key.",
  idempotency_mismatch: "Use a new Idempotency-Key for every new request, and the same one only to repeat one.",
  version_conflict: "Read it again, repeat your change on what you find, and send its new version in `If-Match`.",
  link_suspended: "Its owner can ask the operator why. An edit does not change it.",
  link_expired: "Ask whoever sent you the link for a new one. Its owner can set a later `expiresAt`.",
  rate_limited:
    "Wait as long as `Retry-After` says, in seconds. The headers `RateLimit` and `RateLimit-Policy` say beforehand how many calls are left.",
  too_many_guesses:
    "Wait as long as `Retry-After` says, in seconds. Links that others are using go on working meanwhile, and so do valid keys.",
  over_quota:
    "Delete files that are no longer needed, or send a smaller one: `used`, `held`, `limit` and `missing` say how many bytes. The operator can raise the limit.",
  upload_missing: "Send the bytes to the address that the upload was given, then complete it.",
  collection_full: "Remove what is no longer needed, as `detail` says. Waiting does not help.",
  limit_reached: "Wait as long as `Retry-After` says, in seconds. The operator can raise the limit.",
  email_limited:
    "Wait as long as `Retry-After` says, in seconds. `GET /api/email/stats` says beforehand how many are left.",
  email_suppressed:
    "Do not send there. If its owner wants your emails after all, remove it: `DELETE /api/email/suppressions/{address}`.",
  quota_spent: "Wait as long as `Retry-After` says, in seconds. The operator can raise the limit.",
  password_required: "Ask whoever sent you the link for its password.",
  wrong_password: "Check the password with whoever sent it to you. Capital and small letters differ.",
  too_many_attempts:
    "Wait as long as `Retry-After` says, in seconds. Browsers and networks from which the link was opened that day are not kept waiting by others.",
  not_set_up: "Ask the operator to set what `detail` names.",
  busy: "Wait as long as `Retry-After` says, in seconds, and try again.",
  unavailable:
    "Wait as long as `Retry-After` says, in seconds, and try again. The operator finds the reason in `/readyz`.",
  internal: "Try again once. If it stays, give the operator the `requestId`, which is in the log with the reason.",
};

/** Every `code` inside `errors`. A test finds them in the source and holds this list to it. */
export const fieldCodes: Readonly<Record<string, string>> = {
  above_plan: "More than the tenant's plan allows.",
  bad_address: "Not an email address, such as `ann@example.com`.",
  bad_code: "A code has 3 to 64 letters, digits, `-` and `_`.",
  bad_cursor: "Not a cursor. Use `nextCursor` of the page before.",
  bad_file_name: "A name with `/` or `\\\\`, of dots alone, or with characters that turn the direction of writing.",
  bad_format: "Not in the form that is asked for, such as a date as `2027-01-31T00:00:00Z`.",
  bad_key: "An `Idempotency-Key` has 1 to 255 visible ASCII characters.",
  bad_name: "A name has 1 to 63 of `a-z`, `0-9` and `-`.",
  bad_unicode: "Half of a character: the text is not valid Unicode.",
  bad_version: '`If-Match` is not a version, such as `"3"`.',
  blank: "Nothing but spaces. Leave it out, or send `null`.",
  blocked_host: "The operator does not let links lead to this host.",
  built_in: "The plan is built in and cannot be changed.",
  contradiction: "Two things that cannot both be, so that nobody would ever fit.",
  control_characters: "Line breaks, tabs or other control characters where there may be none.",
  credentials: "The address has a user name or password in it.",
  duplicate: "The same thing twice.",
  empty: "Nothing where something is needed.",
  in_the_past: "A time that has passed.",
  key_lacks_scope: "The key is known at SendGrid, and may not send email.",
  key_refused: "SendGrid does not accept the key.",
  low_contrast: "Two colours that a camera could not tell apart.",
  not_a_url: "Not a complete address, such as `https://example.com/page`.",
  not_accepted: "Not one of the values that are possible. `message` says which are.",
  not_active: "The link is disabled or has expired.",
  not_in_bulk: "Not possible when many links are made at once; make this one by itself.",
  bad_host: "Not a host name such as `links.example.com`.",
  unverified: "The domain must be verified first.",
  own_host: "The address is this server's own; the link would lead in a circle.",
  required: "Left out, and needed.",
  reserved: "A word that the server keeps for itself.",
  scheme_not_allowed: "Neither `http://` nor `https://`.",
  taken: "Somebody has it already.",
  too_big: "A number above the largest that is possible.",
  too_few: "A list with fewer elements than are needed.",
  too_long: "More characters than are possible.",
  too_many: "A list with more elements than are possible.",
  too_short: "Fewer characters than are needed.",
  too_small: "A number below the smallest that is possible.",
  unknown_domain: "None of your verified domains. Add and verify it first, or leave it out.",
  unknown_country: "Not a country's code in ISO 3166-1, such as `DE`.",
  unknown_field: "There is no such field. Check its spelling.",
  unknown_file: "There is no such file, or it is not stored yet.",
  unknown_plan: "There is no such plan.",
  unknown_zone: "Not a time zone by its IANA name, such as `Europe/Berlin`.",
  unreachable: "A rule that never has its turn, because one before it fits everybody who fits this one.",
  url_and_file: "A link leads to an address or to a file, not to both.",
  wrong_checksum: "The bytes that arrived have another SHA-256 than was announced.",
  wrong_content: "The bytes are not of the type that was announced.",
  wrong_size: "More or fewer bytes arrived than were announced.",
  wrong_type: "A text where a number is needed, or the like. `message` says which.",
};

export function describeErrors(): string {
  const rows = Object.entries(problems).map(
    ([code, { status, title }]) => `| \`${code}\` | ${status} | ${title}. | ${whatToDo[code as ProblemCode]} |`,
  );
  const fields = Object.entries(fieldCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `# Errors

Generated from the table in \`src/base/errors.ts\` by \`npm run docs\`; a test keeps it so.

An error is a problem document (RFC 9457), sent as \`application/problem+json\`:

\`\`\`json
{
  "type": "urn:quicklink:problem:invalid_input",
  "title": "${problems.invalid_input.title}",
  "status": ${problems.invalid_input.status},
  "code": "invalid_input",
  "detail": "Links may lead to http:// and https:// addresses only.",
  "errors": [{ "field": "url", "code": "scheme_not_allowed", "message": "Links may lead to http:// and https:// addresses only." }],
  "requestId": "req_1zFqL0pXw2Yk"
}
\`\`\`

\`code\` is for programs, and never changes its meaning. \`detail\` and \`message\` are for people, and may be worded anew.
Quote the \`requestId\` when you ask the operator about an error. \`Retry-After\` is in seconds.

| code | status | what it means | what you can do |
|---|---|---|---|
${rows.join("\n")}

## Fields

Where input cannot be accepted, \`errors\` has an element for each bad field: \`field\` is its place, such as \`url\` or
\`tags.3\`, and \`code\` is one of these.

| code | what is wrong |
|---|---|
${fields.join("\n")}
`;
}
