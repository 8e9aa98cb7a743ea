import type { Clock } from "../base/clock.ts";
import type { Passwords } from "../base/passwords.ts";
import { readForm } from "../base/read-body.ts";
import { networkOf } from "../limits/network.ts";
import type { PasswordAttempts } from "../limits/password-attempts.ts";
import { splitKey } from "../links/link.ts";
import type { Passes } from "./pass-cookie.ts";
import type { VisitRequest } from "./visit-request.ts";

/**
 * Guards links with a password. A password session is checked on every visit, which costs one hash and no I/O. A
 * submitted password is checked last because that is expensive: after the form's origin, its size and the number of
 * attempts. Only then is the hash read from SQL; it is never cached and goes no further than here.
 */
export interface PasswordGate {
  isOpen(request: VisitRequest, key: string, version: number): boolean;
  tryPassword(request: Request, key: string): Promise<PasswordOutcome>;
}

export type PasswordOutcome =
  /** Right; `pass` is the header that starts the password session. */
  | { readonly kind: "open"; readonly version: number; readonly pass: string }
  | { readonly kind: "wrong_password" }
  /** The link no longer has a password. */
  | { readonly kind: "unprotected" }
  /** A form on another site's page, or no form at all. */
  | { readonly kind: "not_ours" }
  | { readonly kind: "attempts" | "busy"; readonly retryAfterSeconds: number };

export interface StoredPassword {
  readonly version: number;
  readonly hash: string | null;
}

export interface PasswordGateSettings {
  readonly passwordOf: (key: string) => Promise<StoredPassword | undefined>;
  readonly passwords: Passwords;
  readonly attempts: PasswordAttempts;
  readonly passes: Passes;
  readonly addressOf: (request: VisitRequest) => string | undefined;
  /** The public URL of the server: `https://s.example`. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

const bodyBytes = 1_024;
const bodyMs = 5_000;
const busySeconds = 2;
const passwordMost = 200;

export function createPasswordGate(settings: PasswordGateSettings): PasswordGate {
  const { passwordOf, passwords, attempts, passes, addressOf, clock } = settings;
  const ownHost = new URL(settings.baseUrl).host;

  /** Browsers send the origin of a form. Programs send none, but a stranger's page cannot make them send one. */
  function isOurs(request: Request): boolean {
    const site = request.headers.get("sec-fetch-site");
    if (site !== null) return site === "same-origin" || site === "none";
    const origin = request.headers.get("origin");
    if (origin === null) return true;
    if (!URL.canParse(origin)) return false;
    const { host } = new URL(origin);
    return host === ownHost || host === request.headers.get("host");
  }

  return {
    isOpen: (request, key, version) => passes.isGood(request.headers.get("cookie"), key, version, clock.now()),

    async tryPassword(request, key) {
      const form = isOurs(request) ? await readForm(request, bodyBytes, bodyMs) : undefined;
      const password = form?.get("password") ?? undefined;
      if (password === undefined) return { kind: "not_ours" };
      const address = addressOf(request);
      const attempt = await attempts.begin(key, address);
      if (attempt.kind === "denied") return { kind: "attempts", retryAfterSeconds: attempt.retryAfterSeconds };
      if (attempt.kind === "unavailable") return { kind: "busy", retryAfterSeconds: attempt.retryAfterSeconds };
      const stored = await passwordOf(key);
      if (stored === undefined || stored.hash === null) return { kind: "unprotected" };
      // If the address is unknown, visitors of one link share.
      const holder = (address && networkOf(address)) ?? key;
      const right =
        password.length <= passwordMost && (await passwords.matches(password, stored.hash, holder, request.signal));
      if (right === false) return { kind: "wrong_password" };
      if (right === "busy") {
        await attempt.undo();
        return { kind: "busy", retryAfterSeconds: busySeconds };
      }
      await attempt.right();
      const { version } = stored;
      return { kind: "open", version, pass: passes.issue(key, splitKey(key).code, version, clock.now()) };
    },
  };
}
