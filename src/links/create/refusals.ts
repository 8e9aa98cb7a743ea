import { toIso } from "../../base/clock.ts";
import { invalid, Problem } from "../../base/errors.ts";
import type { LinkId } from "../../base/ids.ts";
import { monthEnd, secondsToMonthEnd } from "../../limits/window.ts";
import type { Tenant } from "../../tenants/tenants.ts";
import type { NewLink, Unfit } from "./new-links.ts";

/** Why there is no such link, or no new one, in the caller's terms. */
export const missing = () => new Problem("not_found", "No such link.");

export const changedMeanwhile = () =>
  new Problem("version_conflict", "The link was changed since you read it. Read it again and repeat your change.");

export function twice(code: string): Problem {
  const message = `The code "${code}" occurs twice in this request. The first one is used.`;
  return new Problem("code_taken", message, { errors: [{ field: "code", code: "duplicate", message }] });
}

export const notMade = () =>
  new Problem("bulk_refused", "This element is valid, but another one is not, so nothing was created.");

export function limitReached(tenant: Tenant, now: number): Problem {
  const most = tenant.limits.linksPerMonth?.toLocaleString("en");
  const next = toIso(monthEnd(now)).slice(0, 10);
  return new Problem(
    "limit_reached",
    `Your plan's ${most} new links for this month are used. You can create links again from ${next} (UTC), or ask the operator to raise the limit.`,
    { retryAfterSeconds: secondsToMonthEnd(now) },
  );
}

export const noFile = () =>
  invalid("file", "unknown_file", "No such file, or it is not uploaded yet. Complete the upload first.");

export const notInTrash = () =>
  new Problem("not_found", "No such link in the trash. Deleted links are kept there for 30 days.");

export const fileGone = () =>
  invalid("file", "unknown_file", "The file that this link leads to was deleted, so the link cannot be restored.");

export const unknownVersion = (version: number) =>
  invalid("version", "unknown_version", `The history of this link has no version ${version}. See its history.`);

/** Why the store did not create it. */
export function refusal(why: Unfit, link: Pick<NewLink, "domain" | "code" | "generated">): Problem {
  switch (why.kind) {
    case "taken":
      return why.trashed === undefined ? taken(link) : inTrash(link, why.trashed);
    case "no_file":
      return noFile();
    case "no_domain":
      return foreignDomain(link.domain);
  }
}

export const foreignDomain = (host: string): Problem =>
  invalid(
    "domain",
    "unknown_domain",
    `"${host}" is not one of your verified domains. Add and verify it first, or omit it.`,
  );

function taken(link: Pick<NewLink, "code" | "generated">): Problem {
  if (link.generated) return new Problem("busy", "No free code was found. Try again.", { retryAfterSeconds: 1 });
  const message = `The code "${link.code}" is taken. Choose another one, or omit it to get a generated code.`;
  return new Problem("code_taken", message, { errors: [{ field: "code", code: "taken", message }] });
}

/** Only its own workspace is told. */
function inTrash({ code }: Pick<NewLink, "code">, trashedLink: LinkId): Problem {
  const message = `The code "${code}" belongs to a deleted link in your trash. Restore it: POST /api/trash/${trashedLink}/restore. To use the code for a new link, delete it for good first: DELETE /api/trash/${trashedLink}.`;
  return new Problem("code_taken", message, { errors: [{ field: "code", code: "in_trash", message }], trashedLink });
}

// The permutation cannot collide with itself, so a generated code is only taken by a custom code or one of an older
// salt: each retry fails with a probability of links / 62^7.
export const generatedTries = 20;
