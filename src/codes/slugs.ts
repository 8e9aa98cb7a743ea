/** What people may choose as a code, and what nobody may. */
export const slugPattern = /^[A-Za-z0-9_-]{3,64}$/;

/**
 * Words that are, or may become, addresses of the server itself. Compared without case, so that `/API` never looks like
 * ours and is somebody else's.
 */
const reserved = new Set([
  "about",
  "abuse",
  "account",
  "admin",
  "api",
  "app",
  "assets",
  "auth",
  "billing",
  "dashboard",
  "docs",
  "email",
  "favicon",
  "files",
  "health",
  "healthz",
  "help",
  "invite",
  "login",
  "logout",
  "metrics",
  "openapi",
  "privacy",
  "readyz",
  "report",
  "robots",
  "security",
  "settings",
  "signin",
  "signup",
  "sitemap",
  "static",
  "status",
  "terms",
  "unsubscribe",
  "well-known",
]);

export const isReserved = (code: string): boolean => reserved.has(code.toLowerCase());
