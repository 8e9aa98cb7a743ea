import type { Draws } from "../limits/leases.ts";
import type { Verdict } from "../limits/verdict.ts";
import type { Target } from "../links/link.ts";

/**
 * The answer to a redirect, decided without I/O. First `decide`, from what is known about the link and the request; it
 * may say that the answer draws on a limit. Then the caller asks that limit, and `complete` turns its verdict into the
 * final outcome.
 */
export interface VisitFacts {
  readonly head: boolean;
  /** Prefetched by a browser; perhaps never shown. */
  readonly prefetch: boolean;
  readonly bot: boolean;
  /** `/{code}+`: show the destination instead of redirecting. */
  readonly preview: boolean;
  /** The link's password was given. */
  readonly unlocked: boolean;
  /** The tenant of the link is suspended or deleted. */
  readonly stopped: boolean;
}

/** Why a hit was counted the way it was. Hits are recorded by their index in this list. */
export const hitReasons = ["counted", "bot", "head", "prefetch", "preview", "fallback", "over_quota"] as const;
export type HitReason = (typeof hitReasons)[number];

export interface Answer {
  /** To a URL, to a file, or to a preview page. */
  readonly kind: "redirect" | "download" | "preview";
  readonly url: string;
  readonly status: 301 | 302;
  readonly reason: HitReason;
  readonly draws: Draws;
}

export type FinalRefusal =
  | { readonly kind: "missing" }
  | { readonly kind: "suspended" }
  | { readonly kind: "expired" }
  | { readonly kind: "password" }
  | { readonly kind: "spent"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number };

export type Decision = Answer | FinalRefusal;

const missing: FinalRefusal = { kind: "missing" };
const suspended: FinalRefusal = { kind: "suspended" };
const expired: FinalRefusal = { kind: "expired" };
const password: FinalRefusal = { kind: "password" };

/**
 * In this order: suspended, preview, password, expiry. A preview redirects no visitor, and shows nothing of a link with
 * a password. Such a link answers nothing else before the password was given, not even its fallback.
 */
export function decide(target: Target | undefined, facts: VisitFacts, now: number): Decision {
  if (target === undefined) return missing;
  if (target.suspended || facts.stopped) return suspended;
  if (facts.preview) return target.password ? password : preview(target, now);
  if (target.password && !facts.unlocked) return password;
  if (isExpired(target, now)) {
    return target.fallbackUrl === null ? expired : fallback(target.fallbackUrl, "fallback");
  }
  const reason = reasonOf(facts);
  return {
    kind: target.file === null ? "redirect" : "download",
    url: target.url,
    // Never a 301 if the next visitor may get another answer or must be asked for a password; nor for a file, whose URL
    // is valid for minutes.
    status: target.permanent && target.file === null && target.choice === null && !target.password ? 301 : 302,
    reason,
    draws: reason === "counted" ? "hits" : "exempt",
  };
}

export const isExpired = ({ expiresAt }: Target, now: number): boolean => expiresAt !== null && expiresAt <= now;

/** The current destination: an expired link no longer shows its own URL. */
function preview(target: Target, now: number): Decision {
  const url = isExpired(target, now) ? target.fallbackUrl : target.url;
  if (url === null) return expired;
  return { kind: "preview", url, status: 302, reason: "preview", draws: "exempt" };
}

/**
 * A denied visit may still be sent to the fallback, which draws on the exempt limit: the result can be another
 * `Answer`.
 */
export function complete(target: Target, answer: Answer, verdict: Verdict): Decision {
  switch (verdict.kind) {
    case "granted":
      return answer;
    case "unavailable":
      return { kind: "unavailable", retryAfterSeconds: verdict.retryAfterSeconds };
    case "denied":
      return answer.draws === "hits" && target.fallbackUrl !== null
        ? fallback(target.fallbackUrl, "over_quota")
        : { kind: "spent", retryAfterSeconds: verdict.retryAfterSeconds };
  }
}

function reasonOf(facts: VisitFacts): HitReason {
  if (facts.head) return "head";
  if (facts.prefetch) return "prefetch";
  return facts.bot ? "bot" : "counted";
}

// Never a 301: next month the link itself answers again.
function fallback(url: string, reason: "fallback" | "over_quota"): Answer {
  return { kind: "redirect", url, status: 302, reason, draws: "exempt" };
}
