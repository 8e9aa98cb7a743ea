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
  not_found: "Check the address or the id, and that the key is its tenant's.",
  method_not_allowed: "Use one of the methods in the header `Allow`.",
  code_taken: "Choose another code, or leave it out and get a generated one.",
  bulk_refused:
    "Mend or leave out the elements that `errors` names, such as `links.3.url`, and send it again. Without `atomic` the others are made.",
  name_taken: "Choose another name.",
  idempotency_in_flight: "Wait as long as `Retry-After` says, in seconds, and send the same again.",
  idempotency_unknown:
    "Look whether what you asked for is there. If it is not, send the request again with another Idempotency-Key.",
  idempotency_mismatch: "Use a new Idempotency-Key for every new request, and the same one only to repeat one.",
  version_conflict: "Read it again, repeat your change on what you find, and send its new version in `If-Match`.",
  link_expired: "Ask whoever sent you the link for a new one. Its owner can set a later `expiresAt`.",
  rate_limited:
    "Wait as long as `Retry-After` says, in seconds. The headers `RateLimit` and `RateLimit-Policy` say beforehand how many calls are left.",
  too_many_guesses:
    "Wait as long as `Retry-After` says, in seconds. Links that others are using go on working meanwhile, and so do valid keys.",
  limit_reached: "Wait as long as `Retry-After` says, in seconds. The operator can raise the limit.",
  quota_spent: "Wait as long as `Retry-After` says, in seconds. The operator can raise the limit.",
  password_required: "Ask whoever sent you the link for its password.",
  busy: "Wait as long as `Retry-After` says, in seconds, and try again.",
  unavailable:
    "Wait as long as `Retry-After` says, in seconds, and try again. The operator finds the reason in `/readyz`.",
  internal: "Try again once. If it stays, give the operator the `requestId`, which is in the log with the reason.",
};

/** Every `code` inside `errors`. A test finds them in the source and holds this list to it. */
export const fieldCodes: Readonly<Record<string, string>> = {
  above_plan: "More than the tenant's plan allows.",
  bad_code: "A code has 3 to 64 letters, digits, `-` and `_`.",
  bad_cursor: "Not a cursor. Use `nextCursor` of the page before.",
  bad_format: "Not in the form that is asked for, such as a date as `2027-01-31T00:00:00Z`.",
  bad_key: "An `Idempotency-Key` has 1 to 255 visible ASCII characters.",
  bad_name: "A name has 1 to 63 of `a-z`, `0-9` and `-`.",
  bad_unicode: "Half of a character: the text is not valid Unicode.",
  bad_version: '`If-Match` is not a version, such as `"3"`.',
  blank: "Nothing but spaces. Leave it out, or send `null`.",
  built_in: "The plan is built in and cannot be changed.",
  control_characters: "Line breaks, tabs or other control characters where there may be none.",
  credentials: "The address has a user name or password in it.",
  duplicate: "The same thing twice.",
  empty: "Nothing where something is needed.",
  in_the_past: "A time that has passed.",
  not_a_url: "Not a complete address, such as `https://example.com/page`.",
  not_accepted: "Not one of the values that are possible. `message` says which are.",
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
  unknown_field: "There is no such field. Check its spelling.",
  unknown_plan: "There is no such plan.",
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
