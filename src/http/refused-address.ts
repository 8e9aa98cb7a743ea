import { Problem } from "../base/errors.ts";
import { finalPage, page, wantsJson } from "../redirect/error-pages.ts";
import { problemResponse } from "./problem.ts";
import { isApi } from "./request.ts";

/** Responses to requests that are refused by their address alone, before anything else is done. */

/** 421: the name resolves to this server, but is not configured. */
export function misdirected(request: Request, path: string): Response {
  const told = "This server answers to the host of QL_BASE_URL, the names in QL_HOSTS and verified custom domains.";
  const next = "If you run this server, add the name to QL_HOSTS. If this is your domain, add and verify it first.";
  if (isApi(path) || wantsJson(request)) return problemResponse(new Problem("misdirected", `${told} ${next}`));
  const body = told.replace(/QL_\w+/g, "<code>$&</code>");
  return page(
    421,
    "This host is not served here",
    `<p>${body}</p>\n<p>${next.replace("QL_HOSTS", "<code>$&</code>")}</p>`,
  );
}

export const malformedHost = (): Response =>
  problemResponse(new Problem("invalid_host", "Send exactly one Host header with a host name and an optional port."));

/** A path longer than any valid one is not looked up. */
export const tooLongToExist = (request: Request, path: string): Response =>
  isApi(path)
    ? problemResponse(new Problem("not_found", "There is nothing at this URL: its path is too long."))
    : finalPage({ kind: "missing" }, request);

/** The API is addressed by QL_BASE_URL: a custom domain serves its owner's links and nothing else. */
export const apiElsewhere = (baseUrl: string): Response =>
  problemResponse(new Problem("not_found", `The API is not available on custom domains. Call it at ${baseUrl}/api.`));
