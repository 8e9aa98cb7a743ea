/** Which codes users may choose, and which are reserved. */
export const slugPattern = /^[A-Za-z0-9_-]{3,64}$/;

/**
 * Words that are, or may become, paths of the server itself. They are compared without case, so that `/API` cannot
 * belong to a tenant and look like ours.
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
  "brand",
  "clicks",
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
  "s",
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
