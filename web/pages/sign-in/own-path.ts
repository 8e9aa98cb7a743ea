/**
 * Where people go after they signed in: only to pages of this dashboard, whatever the address asks for. Anything else would let
 * others send them from here to a page that looks like ours.
 */
export function ownPath(wanted: string | null | undefined, origin: string): string | undefined {
  if (!wanted?.startsWith("/app")) return undefined;
  const url = URL.canParse(wanted, origin) ? new URL(wanted, origin) : undefined;
  if (url === undefined || url.origin !== origin) return undefined;
  if (!/^\/app(?:\/|$)/.test(url.pathname) || url.pathname === "/app/sign-in") return undefined;
  return `${url.pathname}${url.search}${url.hash}`.replaceAll("\\", "%5C");
}
