import type { Clock } from "../base/clock.ts";
import { Problem } from "../base/errors.ts";
import type { SignedIn } from "./sessions.ts";

/** How long a sign-in counts as proof of who somebody is. */
export const provedForMs = 15 * 60_000;

/** For steps that are hard to undo: throws unless the person proved who they are a short time ago. */
export const freshness =
  (clock: Clock) =>
  ({ session }: SignedIn): void => {
    if (clock.now() - session.provedAt < provedForMs) return;
    throw new Problem("proof_required", "Sign in again, then repeat this within 15 minutes.");
  };
