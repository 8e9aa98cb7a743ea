import { Problem } from "../../base/errors.ts";
import type { PersonId } from "../../base/ids.ts";
import type { RefusalReason } from "../sign-in/refused-sign-ins.ts";

/** Why a sign-in with the company was refused. The sign-in page has a sentence for each: an address never carries a text. */
export type OidcRefusal = keyof typeof refusals;

const refusals = {
  foreign: {
    reason: "browser",
    detail: "This sign-in was begun in another browser, too long ago, or used before. Sign in again.",
  },
  refused: { reason: "provider", detail: "Your company's sign-in was not completed. Sign in again." },
  unverified: {
    reason: "unverified",
    detail: "Your company's sign-in did not confirm your email address. Ask your administrator.",
  },
  outside: {
    reason: "domain",
    detail: "Your email address is not of a domain that signs in with this company. Sign in otherwise.",
  },
  moved: {
    reason: "domain",
    detail: "Your account has an address outside of the company now. Sign in otherwise.",
  },
  taken: {
    reason: "identity",
    detail: "The account with this address belongs to somebody else of your company. Ask an operator to free it.",
  },
  uninvited: {
    reason: "uninvited",
    detail: "You have no account here. Ask an owner or admin of your workspace for an invitation.",
  },
} as const satisfies Readonly<Record<string, { readonly reason: RefusalReason; readonly detail: string }>>;

export class OidcRefused extends Problem {
  readonly refusal: OidcRefusal;
  /** For the history. */
  readonly reason: RefusalReason;
  /** What is known of whose sign-in it is. Undefined: nothing was begun here, so that anybody can cause it. */
  readonly who: { readonly person?: PersonId; readonly mailbox?: string | undefined } | undefined;

  constructor(refusal: OidcRefusal, who: OidcRefused["who"] = {}) {
    super("oidc_refused", refusals[refusal].detail);
    this.refusal = refusal;
    this.reason = refusals[refusal].reason;
    this.who = who;
  }

  /** Of a state that is unknown here: no row of the history. */
  static unbegun(): OidcRefused {
    const refused = new OidcRefused("foreign");
    return Object.assign(refused, { who: undefined });
  }
}

/** What the address of the sign-in page says about a failed sign-in with the company. */
export function refusalOf(error: Problem): string {
  if (error instanceof OidcRefused) return error.refusal;
  return error.code === "unavailable" ? "unavailable" : "other";
}
