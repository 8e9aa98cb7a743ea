import type { z } from "zod";
import { type FieldError, Problem, problems } from "../base/errors.ts";

/** Problems as RFC 9457 documents, with our stable `code`, the invalid fields, and the request ID. */
export function problemResponse(problem: Problem, requestId?: string): Response {
  const headers = new Headers({
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (problem.more.retryAfterSeconds !== undefined) headers.set("retry-after", String(problem.more.retryAfterSeconds));
  if (problem.more.allow !== undefined) headers.set("allow", problem.more.allow.join(", "));
  if (problem.code === "unauthorized") headers.set("www-authenticate", 'Bearer realm="quicklink"');
  return new Response(JSON.stringify(problemBody(problem, requestId)), { status: problem.status, headers });
}

export const wrongMethod = (...allow: string[]): Response =>
  problemResponse(new Problem("method_not_allowed", `This route supports: ${allow.join(", ")}.`, { allow }));

export function problemBody(problem: Problem, requestId?: string) {
  return {
    type: `urn:quicklink:problem:${problem.code}`,
    title: problems[problem.code].title,
    status: problem.status,
    code: problem.code,
    detail: problem.detail,
    ...problem.more.figures,
    ...(problem.more.trashedLink !== undefined && { trashedLink: problem.more.trashedLink }),
    ...(problem.more.errors && { errors: [...problem.more.errors] }),
    ...(requestId !== undefined && { requestId }),
  };
}

/** zod's findings in our words: one entry per invalid field. */
export function invalidInput(error: z.ZodError, where: string): Problem {
  const errors = error.issues.slice(0, errorsMost).flatMap(toFieldErrors);
  const first = errors[0];
  const detail = first ? `${first.field || where}: ${first.message}` : "The input is invalid.";
  return new Problem("invalid_input", detail, { errors });
}

const errorsMost = 20;

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const field = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, errorsMost).map((key) => ({
      field: [field, key].filter(Boolean).join(".").slice(0, 100),
      code: "unknown_field",
      message: "Unknown field.",
    }));
  }
  return [{ field, code: codeOf(issue), message: messageFor(issue) }];
}

function messageFor(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return isAbsent(issue) ? "Required." : `Must be ${kinds[issue.expected] ?? issue.expected}.`;
    case "too_big":
      return ours(issue, "Too big") ?? `Must ${boundOf(issue.origin, `at most ${issue.maximum}`)}.`;
    case "too_small":
      return ours(issue, "Too small") ?? `Must ${boundOf(issue.origin, `at least ${issue.minimum}`)}.`;
    case "invalid_value":
      return ours(issue, "Invalid") ?? `Must be one of: ${issue.values.map(String).join(", ")}.`;
    default:
      return issue.message;
  }
}

/** The schema's own sentence, if it has one; zod's default texts start with `standard`. */
const ours = (issue: z.core.$ZodIssue, standard: string): string | undefined =>
  issue.message.startsWith(standard) ? undefined : issue.message;

function boundOf(origin: string, bound: string): string {
  if (origin === "string") return `have ${bound} characters`;
  return origin === "array" ? `have ${bound} elements` : `be ${bound}`;
}

const kinds: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

// zod leaves the input out of its issues, so that it is not logged; only the message tells the two cases apart.
const isAbsent = (issue: z.core.$ZodIssueInvalidType): boolean => issue.message.endsWith("received undefined");

function codeOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return isAbsent(issue) ? "required" : "wrong_type";
    case "too_big":
      return issue.origin === "string" ? "too_long" : issue.origin === "array" ? "too_many" : "too_big";
    case "too_small":
      return issue.origin === "string" ? "too_short" : issue.origin === "array" ? "too_few" : "too_small";
    case "invalid_format":
      return "bad_format";
    case "custom":
      return String(issue.params?.code ?? "not_accepted");
    default:
      return "not_accepted";
  }
}
