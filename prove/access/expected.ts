/**
 * Who may call each route, written by hand and not taken from the program: a route that is not here is unlisted, and one
 * that lets anybody else in is a leak.
 */
export type Right = "read" | "files" | "stats" | "usage" | "mail" | "write" | "upload" | "send" | "manage" | "own";
export type Who = Right | "signed in" | "operators" | "everybody";

/** What a role may do, lowest first: each may also do what those before it may. */
export const rolesOf: Readonly<Record<string, readonly Right[]>> = {
  viewer: ["read", "files", "stats", "usage", "mail"],
  member: ["write", "upload", "send"],
  admin: ["manage"],
  owner: ["own"],
};

/** What a key with this scope alone may do. */
export const scopesOf: Readonly<Record<string, readonly Right[]>> = {
  "links:read": ["read", "stats"],
  "links:write": ["write"],
  "files:read": ["files"],
  "files:write": ["upload"],
  "stats:read": ["stats"],
  "usage:read": ["usage"],
  "email:read": ["mail"],
  "email:send": ["send"],
  admin: ["read", "files", "stats", "usage", "mail", "write", "upload", "send", "manage"],
};

const routes = {
  everybody: `GET /api/auth/options, POST /api/auth/sign-in, POST /api/auth/setup, POST /api/auth/sign-up,
    POST /api/auth/sign-up/complete, POST /api/auth/reset, POST /api/auth/reset/complete, POST /api/auth/verify,
    POST /api/auth/passkey/begin, POST /api/auth/passkey/finish, POST /api/auth/second-factor, POST /api/auth/oidc/begin,
    GET /api/auth/oidc/callback, GET /api/auth/invitations/{token}, POST /api/auth/invitations/{token}/accept`,
  "signed in": `GET /api/account, PATCH /api/account, DELETE /api/account, POST /api/account/password,
    POST /api/account/email, POST /api/account/email/confirm, POST /api/account/verification, DELETE /api/account/session,
    GET /api/account/sessions, DELETE /api/account/sessions, DELETE /api/account/sessions/{id}, GET /api/account/totp,
    POST /api/account/totp, POST /api/account/totp/confirm, POST /api/account/totp/remove, POST /api/account/recovery-codes,
    GET /api/account/devices, DELETE /api/account/devices, DELETE /api/account/devices/{id}, GET /api/account/passkeys,
    POST /api/account/passkeys, POST /api/account/passkeys/begin, PATCH /api/account/passkeys/{id},
    DELETE /api/account/passkeys/{id}, POST /api/account/invitations/{token}/accept, GET /api/account/export,
    GET /api/account/workspaces, POST /api/account/workspaces, PUT /api/account/workspace,
    DELETE /api/account/workspaces/{workspace}, POST /api/account/workspaces/{workspace}/restore`,
  operators: `GET /api/operator/history, GET /api/operator/people, GET /api/operator/people/{person},
    PATCH /api/operator/people/{person}, GET /api/operator/workspaces, GET /api/operator/workspaces/{workspace},
    PATCH /api/operator/workspaces/{workspace}, DELETE /api/operator/workspaces/{workspace},
    PUT /api/operator/workspaces/{workspace}/suspension, DELETE /api/operator/workspaces/{workspace}/suspension,
    POST /api/operator/workspaces/{workspace}/restore, GET /api/operator/plans, PUT /api/operator/plans/{name},
    GET /api/operator/abuse, POST /api/operator/abuse/{id}/dismiss, POST /api/operator/abuse/{id}/suspend,
    GET /api/operator/email, GET /api/operator/jobs, GET /api/operator/health`,
  read: `GET /api/imports, GET /api/imports/{id}, GET /api/imports/{id}/rows, GET /api/branding, GET /api/tags, GET /api/utm-templates, GET /api/links, GET /api/links/counts, GET /api/links/export, GET /api/links/{id}, GET /api/links/{id}/history, GET /api/trash, GET /api/links/{id}/qr,
    GET /api/tenant, GET /api/domains, GET /api/domains/{host}, GET /api/workspace,
    GET /api/members`,
  write: `GET /api/links/check, GET /api/links/check-destination, GET /api/links/check-destination/image, POST /api/links, POST /api/links/bulk, PATCH /api/links/bulk, POST /api/links/replace/preview,
    PATCH /api/links/replace, PATCH /api/tags, DELETE /api/tags,
    POST /api/stats/shares, DELETE /api/stats/shares/{id}, POST /api/imports, PATCH /api/imports/{id}, DELETE /api/imports/{id}, POST /api/annotations, PATCH /api/annotations/{id}, DELETE /api/annotations/{id}, POST /api/utm-templates,
    PATCH /api/utm-templates/{id}, DELETE /api/utm-templates/{id}, PATCH /api/links/{id}, PUT /api/links/{id}, DELETE /api/links/{id},
    POST /api/links/{id}/undo, POST /api/trash/{id}/restore, DELETE /api/trash/{id}`,
  stats:
    "GET /api/links/{id}/stats, GET /api/links/trends, GET /api/stats, GET /api/links/{id}/clicks, GET /api/clicks, GET /api/live, GET /api/stats/settings, GET /api/annotations, GET /api/stats/shares",
  usage: "GET /api/usage",
  files: "GET /api/files, GET /api/files/{id}, GET /api/files/{id}/download",
  upload: "POST /api/files, POST /api/files/{id}/complete, DELETE /api/files/{id}",
  mail: `GET /api/email/stats, GET /api/email/suppressions, GET /api/email/settings, GET /api/email/templates,
    GET /api/email/templates/preview`,
  send: "POST /api/links/{id}/share",
  manage: `PATCH /api/branding, GET /api/keys, POST /api/keys, DELETE /api/keys/{id}, POST /api/domains, PATCH /api/domains/{host},
    DELETE /api/domains/{host}, POST /api/domains/{host}/verify, PATCH /api/stats/settings,
    DELETE /api/email/suppressions/{address}, PATCH /api/email/settings, POST /api/email/webhook/rotate,
    PATCH /api/workspace, GET /api/workspace/export, PATCH /api/members/{person}, DELETE /api/members/{person}, GET /api/invitations,
    POST /api/invitations, POST /api/invitations/{id}/resend, DELETE /api/invitations/{id}, GET /api/history,
    DELETE /api/trash`,
  own: "DELETE /api/workspace, PUT /api/workspace/owner",
} satisfies Record<Who, string>;

/** By `METHOD path`. */
export const expected: ReadonlyMap<string, Who> = new Map(
  Object.entries(routes).flatMap(([who, list]) => list.split(/,\s+/).map((route) => [route, who as Who] as const)),
);
