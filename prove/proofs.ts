import { access } from "./access.ts";
import { attackOnClicks } from "./attack-on-clicks.ts";
import { clicks } from "./clicks.ts";
import { codes } from "./codes.ts";
import { coherence } from "./coherence.ts";
import { crash } from "./crash.ts";
import { email } from "./email.ts";
import { fairness } from "./fairness.ts";
import { idempotency } from "./idempotency.ts";
import { importing } from "./import.ts";
import { limits } from "./limits.ts";
import { outage } from "./outage.ts";
import type { Proof } from "./proof.ts";
import { quota } from "./quota.ts";
import { redirect } from "./redirect.ts";
import { regions } from "./regions.ts";
import { signIn } from "./sign-in.ts";
import { ssrf } from "./ssrf.ts";
import { storage } from "./storage.ts";
import { zones } from "./zones.ts";

/** Every proof, in the order in which they run. */
export const proofs: readonly Proof[] = [
  ...[
    access,
    attackOnClicks,
    clicks,
    codes,
    coherence,
    crash,
    email,
    fairness,
    idempotency,
    importing,
    limits,
    outage,
    quota,
    redirect,
  ],
  ...[regions, signIn, ssrf, storage, zones],
];
