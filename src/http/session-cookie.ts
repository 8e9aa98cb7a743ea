/**
 * The cookie of a session. Under https its name begins with `__Host-`: browsers accept it from this very host only, over
 * https, for all paths. Over plain http that name would be refused, so it is a plain one.
 */
export interface SessionCookie {
  readonly name: string;
  /** The token in a `Cookie` header. */
  read(header: string | null): string | undefined;
  /** `Set-Cookie`. Without `maxAgeSeconds` it ends with the browser. */
  write(token: string, maxAgeSeconds?: number): string;
  readonly clear: string;
}

const cookiesMost = 8_192;

export function createSessionCookie(baseUrl: string, plainName = "quicklink-session"): SessionCookie {
  const secure = baseUrl.startsWith("https:");
  const name = secure ? `__Host-${plainName}` : plainName;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return {
    name,
    read(header) {
      if (header === null || header.length > cookiesMost) return undefined;
      for (const cookie of header.split(";")) {
        const text = cookie.trim();
        if (text.startsWith(`${name}=`)) return text.slice(name.length + 1);
      }
      return undefined;
    },
    write: (token, maxAgeSeconds) =>
      `${name}=${token}; ${attributes}${maxAgeSeconds === undefined ? "" : `; Max-Age=${maxAgeSeconds}`}`,
    clear: `${name}=; ${attributes}; Max-Age=0`,
  };
}
