import type { Signer } from "../base/signature.ts";

/**
 * A password session: what a browser keeps after the password was entered, so that it is asked once a day. It contains
 * no password and no person; only its end, signed together with the link and its version. So it opens no other link,
 * and every change of the link ends it.
 *
 * It is sent to the link's URL only (`Path`), not with every request to this server; the prefix `__Host-` would forbid
 * that, so under https it is `__Secure-`. What `__Host-` protects against, a cookie set by a sibling host, is useless
 * without the signature.
 */
export interface Passes {
  /** A `Set-Cookie` header. */
  issue(key: string, code: string, version: number, now: number): string;
  isGood(cookies: string | null, key: string, version: number, now: number): boolean;
}

const lifeSeconds = 86_400;
const cookiesMost = 8_192;

export function createPasses(signer: Signer, secure: boolean): Passes {
  const name = secure ? "__Secure-quicklink-pass" : "quicklink-pass";

  const textOf = (key: string, version: number, until: string): string => `${key}\n${version}\n${until}`;

  return {
    issue(key, code, version, now) {
      const until = String(Math.floor(now / 1_000) + lifeSeconds);
      const value = `${until}.${signer.sign(textOf(key, version, until))}`;
      const attributes = `Path=/${code}; Max-Age=${lifeSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
      return `${name}=${value}; ${attributes}`;
    },

    isGood(cookies, key, version, now) {
      if (cookies === null || cookies.length > cookiesMost) return false;
      return cookies.split(";").some((cookie) => {
        const [given, value = ""] = cookie.trim().split("=", 2);
        const [until = "", signature = ""] = value.split(".", 2);
        if (given !== name || !/^\d{1,12}$/.test(until) || Number(until) * 1_000 <= now) return false;
        return signer.isSigned(textOf(key, version, until), signature);
      });
    },
  };
}
